//! Free JSON: what the contract carries without looking into it, as text that every host language can parse.

use std::borrow::Cow;
use std::fmt;

use super::{Writer, read_all, slot};
use crate::protocol::{Path, Violation};

/// A JSON value as text: `input`, `result`, `data`, `details`.
///
/// It is RFC 8259 text without lone surrogates or numbers that overflow a double, and nests at most 100 levels. A name
/// may occur twice in an object of it: parsers take the last one.
///
/// `Debug` shows the number of bytes, not the text: it may hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct FreeJson<'a>(Cow<'a, str>);

impl<'a> FreeJson<'a> {
    /// `null`.
    pub const NULL: FreeJson<'static> = FreeJson(Cow::Borrowed("null"));
    /// `{}`.
    pub const EMPTY_OBJECT: FreeJson<'static> = FreeJson(Cow::Borrowed("{}"));

    /// Checks `text`. White space around the value is dropped.
    ///
    /// # Errors
    /// The text is not one JSON value, or one that the contract refuses (protocol, promise 2).
    pub fn new(text: impl Into<Cow<'a, str>>) -> Result<FreeJson<'a>, Violation> {
        match text.into() {
            Cow::Borrowed(text) => FreeJson::read(text, Path::ROOT).map_err(|violation| *violation),
            Cow::Owned(text) => Ok(FreeJson::new(&*text)?.into_owned()),
        }
    }

    /// Checks bytes, naming `path` when they are refused.
    pub(crate) fn read(text: &'a str, path: Path<'_>) -> Result<FreeJson<'a>, Box<Violation>> {
        read_all(text, path, slot::free_json)
    }

    /// Text that a reader has already checked.
    pub(super) fn of_checked(text: &'a str) -> FreeJson<'a> {
        FreeJson(Cow::Borrowed(text))
    }

    /// What `write` writes: one value.
    pub(crate) fn written(write: impl FnOnce(&mut Writer)) -> FreeJson<'static> {
        FreeJson(Cow::Owned(Writer::text(write)))
    }

    /// What `value` serializes to.
    ///
    /// # Errors
    /// It does not serialize, or to JSON that the contract refuses (more than 100 levels).
    pub fn from_serialize<T: serde::Serialize + ?Sized>(value: &T) -> Result<FreeJson<'static>, Violation> {
        match serde_json::to_string(value) {
            Ok(text) => FreeJson::new(text),
            Err(error) => Err(*Violation::new(Path::ROOT, format!("expected a value that serializes to JSON: {error}"))),
        }
    }

    /// The value, parsed. Of a name that an object holds twice, most types take the last.
    ///
    /// # Errors
    /// The JSON does not have the shape of `T`.
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same value, owned.
    pub fn into_owned(self) -> FreeJson<'static> {
        FreeJson(Cow::Owned(self.0.into_owned()))
    }

    /// The same value, borrowed from this one.
    pub fn borrowed(&self) -> FreeJson<'_> {
        FreeJson(Cow::Borrowed(&self.0))
    }
}

impl fmt::Display for FreeJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for FreeJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FreeJson({} bytes)", self.0.len())
    }
}
