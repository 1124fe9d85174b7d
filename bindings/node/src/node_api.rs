//! Functions as Node-API itself has them, for those that every call takes. What the framework does around a function, to keep
//! track of borrows and to look at types, costs as much as they do.
//!
//! Everything that a callback is given is valid until it returns, and no other thread runs JavaScript meanwhile. No function
//! here runs JavaScript, so that nobody can take memory away or write to it while it is lent.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use napi::bindgen_prelude::{Env, Error, FromNapiValue, JsObjectValue, Object, Result, Status, ToNapiValue};
use napi::{JsError, sys};

/// The most arguments that a function here takes.
const MOST: usize = 4;

/// A function of the library.
pub(crate) trait Function {
    /// As JavaScript knows it.
    const NAME: &'static str;

    /// Runs it. An error is thrown as an exception, and so is a panic.
    fn call(given: &mut Arguments) -> Result<Returned>;
}

/// Gives a function to JavaScript.
pub(crate) fn export<F: Function>(exports: &mut Object<'_>) -> Result<()> {
    exports.create_named_method(F::NAME, callback::<F>)
}

unsafe extern "C" fn callback<F: Function>(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    let run = || {
        let mut given = Arguments { env, values: [ptr::null_mut(); MOST], count: MOST };
        // SAFETY: Node-API calls with an environment and the information of this call. The array has as many places as is said.
        done(unsafe {
            sys::napi_get_cb_info(env, info, &raw mut given.count, given.values.as_mut_ptr(), ptr::null_mut(), ptr::null_mut())
        })?;
        F::call(&mut given)
    };
    let outcome = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(panicked(&*panic)));
    match outcome {
        Ok(returned) => returned.0,
        Err(error) => {
            // SAFETY: the environment of this call, on its thread.
            unsafe { JsError::from(error).throw_into(env) };
            ptr::null_mut()
        }
    }
}

/// What a function was called with.
pub(crate) struct Arguments {
    env: sys::napi_env,
    /// `undefined` where nothing was given.
    values: [sys::napi_value; MOST],
    count: usize,
}

/// What a function returns.
pub(crate) struct Returned(sys::napi_value);

impl Arguments {
    pub(crate) fn env(&self) -> Env {
        Env::from_raw(self.env)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn number(&self, index: usize) -> Result<u32> {
        let mut number = 0;
        // SAFETY: a value of this call.
        done(unsafe { sys::napi_get_value_uint32(self.env, self.values[index], &raw mut number) })?;
        Ok(number)
    }

    pub(crate) fn text(&self, index: usize) -> Result<String> {
        // SAFETY: a value of this call.
        unsafe { String::from_napi_value(self.env, self.values[index]) }
    }

    /// A string's UTF-16 units, lone surrogates too.
    pub(crate) fn utf16(&self, index: usize) -> Result<Vec<u16>> {
        let (env, value, mut length) = (self.env, self.values[index], 0);
        // SAFETY: a value of this call. Without a place to write to only the length is written.
        done(unsafe { sys::napi_get_value_string_utf16(env, value, ptr::null_mut(), 0, &raw mut length) })?;
        // A null is written behind the units.
        let mut units = Vec::with_capacity(length + 1);
        // SAFETY: a value of this call, and as much room as is said.
        done(unsafe { sys::napi_get_value_string_utf16(env, value, units.as_mut_ptr(), length + 1, &raw mut length) })?;
        // SAFETY: so many units are written, fewer than there is room for.
        unsafe { units.set_len(length) };
        Ok(units)
    }

    /// Lends the bytes of a typed array. None: it is something else, or its memory is shared with other threads.
    pub(crate) fn bytes<T>(&self, index: usize, read: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        let (mut kind, mut length, mut data, mut memory, mut offset) = (0, 0, ptr::null_mut(), ptr::null_mut(), 0);
        // SAFETY: a value of this call; of another kind than a typed array it is refused.
        let status = unsafe {
            sys::napi_get_typedarray_info(
                self.env,
                self.values[index],
                &raw mut kind,
                &raw mut length,
                &raw mut data,
                &raw mut memory,
                &raw mut offset,
            )
        };
        if status != sys::Status::napi_ok || kind != sys::TypedarrayType::uint8_array {
            return Ok(None);
        }
        let mut is_own = false;
        // SAFETY: the value was given for this call.
        done(unsafe { sys::napi_is_arraybuffer(self.env, memory, &raw mut is_own) })?;
        if !is_own {
            return Ok(None);
        }
        // SAFETY: `length` bytes are there, as the array has bytes for elements. Nobody else can write to memory that is not
        // shared before this returns.
        let bytes = if length == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) } };
        Ok(Some(read(bytes)))
    }

    /// Lends the memory of an `ArrayBuffer`. No other memory is lent meanwhile: two arguments may be the same.
    pub(crate) fn memory<T>(&mut self, index: usize, with: impl FnOnce(&mut [u8]) -> T) -> Result<T> {
        let (mut data, mut length) = (ptr::null_mut(), 0);
        // SAFETY: a value of this call; anything but memory of its own is refused.
        done(unsafe { sys::napi_get_arraybuffer_info(self.env, self.values[index], &raw mut data, &raw mut length) })?;
        // SAFETY: `length` bytes are there, and initialized as any memory of JavaScript. Nobody else can look at them before this
        // returns.
        let memory = if length == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(data.cast::<u8>(), length) } };
        Ok(with(memory))
    }

    /// A value for JavaScript.
    pub(crate) fn give(&self, value: impl ToNapiValue) -> Result<Returned> {
        // SAFETY: the environment of this call.
        unsafe { ToNapiValue::to_napi_value(self.env, value) }.map(Returned)
    }
}

fn done(status: sys::napi_status) -> Result<()> {
    if status == sys::Status::napi_ok {
        return Ok(());
    }
    Err(Error::new(Status::from(status), "a value is not what the library expects"))
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let message = panic.downcast_ref::<&str>().map(ToString::to_string).or_else(|| panic.downcast_ref::<String>().cloned());
    Error::new(Status::GenericFailure, message.unwrap_or_else(|| "a panic without a message".to_owned()))
}
