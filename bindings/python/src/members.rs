//! The classes whose objects are one value of the core: constructor, properties, and what `copy` and `pickle` take, made of the
//! value's members. What each kind of member is in Python stands here once.

use std::borrow::Cow;

use agenthost::protocol::{DEFAULT_CANCEL_REASON, FreeJson, Metadata, Resolution, RunStatus};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::json::{self, Argument};
use crate::loads::loads;
use crate::{enums, values};

/// Writes the methods of a class, for [`agenthost::members!`]: of its signature, the member that holds JSON (which has a second
/// property, with the text), and how `repr` shows it. The class has `of`, which takes the core's value, and `inner`, which lends it; the
/// kinds of its members are in scope.
macro_rules! methods {
    (
        { $signature:tt $(json $json:ident $json_text:ident)? repr $repr:expr }
        $class:ident { $($name:ident = $field:ident: $kind:ident,)* }
    ) => {
        #[pymethods]
        impl $class {
            #[new]
            #[pyo3(signature = $signature)]
            #[allow(clippy::too_many_arguments, reason = "keyword arguments, one for each member of the contract")]
            fn new(
                $($name: <$kind as Kind>::Argument<'_>,)*
                $($json_text: Option<&Bound<'_, PyAny>>,)?
            ) -> PyResult<Self> {
                let inner = agenthost::service::$class {
                    $($field: <$kind as Kind>::read(
                        name_of(stringify!($name)),
                        $name,
                    )?,)*
                };
                $(let inner = agenthost::service::$class {
                    $json: $crate::json::free_json_or_text(stringify!($json), inner.$json, $json_text)?,
                    ..inner
                };)?
                Ok($class::of(inner))
            }

            $(
                #[getter]
                fn $name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    <$kind as Kind>::get(py, &self.inner().$field)
                }
            )*

            $(
                #[getter]
                fn $json_text<'py>(&self, py: Python<'py>) -> Bound<'py, pyo3::types::PyBytes> {
                    pyo3::types::PyBytes::new(py, self.inner().$json.as_str().as_bytes())
                }
            )?

            fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<$crate::context::NewArguments<'py>> {
                let named = pyo3::types::PyDict::new(py);
                $(<$kind as Kind>::put(
                    name_of(stringify!($name)),
                    &self.inner().$field,
                    &named,
                )?;)*
                Ok((pyo3::types::PyTuple::empty(py), named))
            }

            fn __repr__(&self) -> String {
                let shown: fn(&agenthost::service::$class<'static>) -> String = $repr;
                shown(self.inner())
            }
        }
    };
}

pub(crate) use methods;

/// Rust's own words have `r#` before them.
pub(crate) fn name_of(name: &str) -> &str {
    name.trim_start_matches("r#")
}

/// A kind of member, in Python. The types are called as [`agenthost::members!`] calls them.
pub(crate) trait Kind {
    /// The core's.
    type Value;
    /// What the constructor takes.
    type Argument<'py>;

    fn read(name: &str, given: Self::Argument<'_>) -> PyResult<Self::Value>;

    fn get<'py>(py: Python<'py>, value: &Self::Value) -> PyResult<Bound<'py, PyAny>>;

    /// Puts it among the arguments of which a copy is made.
    fn put(name: &str, value: &Self::Value, named: &Bound<'_, PyDict>) -> PyResult<()> {
        named.set_item(name, Self::get(named.py(), value)?)
    }
}

type Required<'py> = Bound<'py, PyAny>;
type Optional<'py> = Option<Bound<'py, PyAny>>;
type Text = Cow<'static, str>;

macro_rules! kinds {
    ($(
        $kind:ident: $value:ty, $argument:ty,
        |$name:ident, $given:ident| $read:expr,
        |$py:ident, $shown:ident| $get:expr;
    )*) => {
        $(
            #[allow(non_camel_case_types, reason = "called as the core calls it")]
            pub(crate) enum $kind {}

            impl Kind for $kind {
                type Value = $value;
                type Argument<'py> = $argument;

                fn read($name: &str, $given: Self::Argument<'_>) -> PyResult<Self::Value> {
                    $read
                }

                fn get<'py>($py: Python<'py>, $shown: &Self::Value) -> PyResult<Bound<'py, PyAny>> {
                    $get
                }
            }
        )*
    };
}

kinds! {
    text: Text, Required<'py>,
        |name, given| values::text(name, &given).map(Cow::Owned),
        |py, value| value.into_bound_py_any(py);
    optional_text: Text, Optional<'py>,
        |name, given| values::text_or_empty(name, given.as_ref()),
        |py, value| value.into_bound_py_any(py);
    cancel_reason: Text, Optional<'py>,
        |name, given| given.map_or(Ok(DEFAULT_CANCEL_REASON.into()), |reason| text::read(name, reason)),
        |py, value| value.into_bound_py_any(py);
    unsigned: u64, Required<'py>,
        |name, given| values::unsigned(name, &given),
        |py, value| value.into_bound_py_any(py);
    time: i64, Optional<'py>,
        |name, given| values::optional_unix_ms(name, given.as_ref()).map(Option::unwrap_or_default),
        |py, value| value.into_bound_py_any(py);
    optional_time: Option<i64>, Optional<'py>,
        |name, given| values::optional_unix_ms(name, given.as_ref()),
        |py, value| value.into_bound_py_any(py);
    run_status: RunStatus, Required<'py>,
        |_name, given| values::run_status(&given),
        |py, value| enums::run_status(py, *value);
    resolution: Resolution, Required<'py>,
        |_name, given| values::resolution(&given),
        |py, value| enums::resolution(py, *value);
    metadata: Metadata<'static>, Optional<'py>,
        |name, given| values::metadata(name, given.as_ref()),
        |py, value| Ok(values::dict(py, value)?.into_any());
}

/// Any JSON. A copy is made of its text: it is not parsed for that.
#[allow(non_camel_case_types, reason = "called as the core calls it")]
pub(crate) enum free_json {}

impl Kind for free_json {
    type Value = FreeJson<'static>;
    type Argument<'py> = Argument<'py>;

    fn read(name: &str, given: Argument<'_>) -> PyResult<FreeJson<'static>> {
        json::free_json(name, given, None, FreeJson::NULL)
    }

    fn get<'py>(py: Python<'py>, value: &FreeJson<'static>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, value.as_str())
    }

    fn put(name: &str, value: &FreeJson<'static>, named: &Bound<'_, PyDict>) -> PyResult<()> {
        named.set_item(format!("{name}_json"), PyBytes::new(named.py(), value.as_str().as_bytes()))
    }
}
