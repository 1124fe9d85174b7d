//! Python objects of JSON text that the core has judged already.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use crate::{collector, enums};

/// The Python objects of free JSON: what `json.loads` makes of it.
pub(crate) fn loads<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    collector::paused(py, || built(py, text))
}

fn built<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    if is_for_python(text) {
        let (value, _end): (Bound<'py, PyAny>, usize) = enums::scan_json(py)?.call1((text, 0))?.extract()?;
        return Ok(value);
    }
    let mut builder = Builder { py, names: Names::of(text), values: Vec::new() };
    builder.deserialize(&mut serde_json::Deserializer::from_str(text)).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Whether there may be a number that serde reads as a float where Python keeps an exact integer: one with more digits than 64
/// bits hold, or `-0`.
fn is_for_python(text: &str) -> bool {
    const SAFE_DIGITS: usize = 18;
    let bytes = text.as_bytes();
    let mut run = 0;
    for (index, byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_digit() {
            run = 0;
            continue;
        }
        run += 1;
        let negative_zero = run == 1
            && *byte == b'0'
            && index > 0
            && bytes[index - 1] == b'-'
            && bytes.get(index + 1).is_none_or(|next| !matches!(next, b'.' | b'e' | b'E' | b'0'..=b'9'));
        if run > SAFE_DIGITS || negative_zero {
            return true;
        }
    }
    false
}

/// Builds a Python object of the value that comes next.
struct Builder<'py, 'de> {
    py: Python<'py>,
    names: Names<'py, 'de>,
    /// The elements of the lists that are not complete, those of the innermost last.
    values: Vec<Bound<'py, PyAny>>,
}

impl<'py, 'de> DeserializeSeed<'de> for &mut Builder<'py, 'de> {
    type Value = Bound<'py, PyAny>;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'py, 'de> Visitor<'de> for &mut Builder<'py, 'de> {
    type Value = Bound<'py, PyAny>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Ok(self.py.None().into_bound(self.py))
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(PyBool::new(self.py, value).to_owned().into_any())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(PyInt::new(self.py, value).into_any())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(PyInt::new(self.py, value).into_any())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(PyFloat::new(self.py, value).into_any())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(PyString::new(self.py, value).into_any())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Self::Value, A::Error> {
        let start = self.values.len();
        while let Some(value) = values.next_element_seed(&mut *self)? {
            self.values.push(value);
        }
        let list = PyList::new(self.py, self.values.drain(start..)).map_err(serde::de::Error::custom)?;
        Ok(list.into_any())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let dict = PyDict::new(self.py);
        while let Some(name) = members.next_key_seed(Name(self))? {
            dict.set_item(&name, &members.next_value_seed(&mut *self)?).map_err(serde::de::Error::custom)?;
        }
        Ok(dict.into_any())
    }
}

/// Builds the string of the name that comes next.
struct Name<'a, 'py, 'de>(&'a mut Builder<'py, 'de>);

impl<'py, 'de> DeserializeSeed<'de> for Name<'_, 'py, 'de> {
    type Value = Bound<'py, PyString>;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'py, 'de> Visitor<'de> for Name<'_, 'py, 'de> {
    type Value = Bound<'py, PyString>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(self.0.names.get(self.0.py, name))
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(PyString::new(self.0.py, name))
    }
}

/// Names seen in a text, with their strings: objects of one kind have the same ones again and again.
struct Names<'py, 'de>(Vec<Option<(&'de str, Bound<'py, PyString>)>>);

/// How many names are remembered.
const NAMES: usize = 64;
/// In a text with fewer bytes it does not pay to remember them.
const REPETITIVE: usize = 1 << 10;

impl<'py, 'de> Names<'py, 'de> {
    fn of(text: &'de str) -> Self {
        let mut names = Vec::new();
        names.resize_with(if text.len() < REPETITIVE { 0 } else { NAMES }, || None);
        Names(names)
    }

    fn get(&mut self, py: Python<'py>, name: &'de str) -> Bound<'py, PyString> {
        match self.0.get_mut(Names::place(name)) {
            Some(Some((known, string))) if *known == name => string.clone(),
            Some(place) => place.insert((name, PyString::new(py, name))).1.clone(),
            None => PyString::new(py, name),
        }
    }

    /// Where a name is remembered. Another one with the same place takes it over.
    fn place(name: &str) -> usize {
        let bytes = name.as_bytes();
        let byte = |index: usize| usize::from(bytes.get(index).copied().unwrap_or_default());
        let (first, middle, last) = (byte(0), byte(bytes.len() / 2), byte(bytes.len().saturating_sub(1)));
        (bytes.len() + first * 5 + middle * 17 + last * 37) % NAMES
    }
}
