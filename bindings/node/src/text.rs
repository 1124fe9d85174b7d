//! Strings of JavaScript, read without a look at their length first and without a new piece of memory each time.

use std::cell::RefCell;

use napi::bindgen_prelude::{Error, JsValue, Result, Status};
use napi::{JsString, sys};

/// Longer strings are read in the usual way.
const SHORT: usize = 16384;
/// The most bytes of UTF-8 that one more unit of UTF-16 can take: below it a string cannot have been cut off.
const LONGEST: usize = 4;

thread_local! {
    static PLACE: RefCell<Box<[u8]>> = RefCell::new(vec![0; SHORT].into());
}

/// Gives `read` the string as UTF-8. It runs no JavaScript.
pub(crate) fn with<T>(string: &JsString<'_>, read: impl FnOnce(&str) -> T) -> Result<T> {
    PLACE.with_borrow_mut(|place| {
        let value = string.value();
        let mut written = 0;
        // SAFETY: `value` is a string of this environment, for this callback; the place has as many bytes as is said, and
        // nobody else has it.
        let status = unsafe {
            sys::napi_get_value_string_utf8(value.env, value.value, place.as_mut_ptr().cast(), place.len(), &raw mut written)
        };
        if status != sys::Status::napi_ok {
            return Err(Error::new(Status::from(status), "a string cannot be read"));
        }
        if written + LONGEST >= place.len() {
            return Ok(read(string.into_utf8()?.as_str()?));
        }
        let text = std::str::from_utf8(&place[..written]);
        text.map(read).map_err(|_| Error::new(Status::GenericFailure, "a string is not UTF-8"))
    })
}
