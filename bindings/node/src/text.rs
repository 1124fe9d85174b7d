//! Text between the core and JavaScript.

use agenthost::protocol::Metadata;
use napi::JsString;
use napi::bindgen_prelude::{Env, Result};

/// UTF-8 as a string of JavaScript. Most of it is ASCII, which takes less looking at.
pub(crate) fn js_string<'e>(env: &'e Env, utf8: &[u8]) -> Result<JsString<'e>> {
    if utf8.is_ascii() {
        env.create_string_latin1(utf8)
    } else {
        env.create_string(std::str::from_utf8(utf8).unwrap_or_default())
    }
}

/// A response as text: what the core writes is UTF-8.
pub(crate) fn response_text(response: Vec<u8>) -> String {
    String::from_utf8(response).unwrap_or_default()
}

/// Metadata from names and values in turn.
pub(crate) fn metadata(names_and_values: Vec<String>) -> Metadata<'static> {
    let mut texts = names_and_values.into_iter();
    std::iter::from_fn(|| Some((texts.next()?, texts.next()?))).collect()
}
