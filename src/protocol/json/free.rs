//! Free JSON: what the contract carries without looking into it, as text that every host language can parse.

use std::borrow::Cow;
use std::fmt;

use super::reader::{ReadResult, Reader, read_all};
use super::writer::Writer;
use crate::protocol::{MAX_FREE_JSON_DEPTH, Path, Violation};

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
            Cow::Owned(text) => match FreeJson::new(&*text)? {
                value if value.as_str().len() < text.len() => Ok(value.into_owned()),
                _ => Ok(FreeJson(Cow::Owned(text))),
            },
        }
    }

    /// Checks bytes, naming `path` when they are refused.
    pub(crate) fn read(text: &'a str, path: Path<'_>) -> Result<FreeJson<'a>, Box<Violation>> {
        read_all(text, path, FreeJson::from_reader)
    }

    /// The reader's next value, as the text that came.
    pub(crate) fn from_reader(reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<FreeJson<'a>> {
        let (text, levels) = reader.raw()?;
        if levels > MAX_FREE_JSON_DEPTH {
            return Ok(Err(Violation::new(
                path,
                format!("expected at most {MAX_FREE_JSON_DEPTH} levels of nesting, found {levels}"),
            )));
        }
        Ok(Ok(FreeJson(Cow::Borrowed(text))))
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

impl Writer {
    /// Free JSON, as it is.
    pub(crate) fn free_json(&mut self, value: &FreeJson<'_>) {
        self.json_text(value.as_str());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_kept_as_it_is_without_the_white_space_around_it() {
        for text in ["null", "{}", "[1, 2.50 ]", "\"\\u0061\"", "{\"a\":1,\"a\":2}", "-0"] {
            let padded = format!(" \t\r\n{text}\n ");
            assert_eq!(FreeJson::new(padded.as_str()).unwrap().as_str(), text);
            assert_eq!(FreeJson::new(padded).unwrap().into_owned().to_string(), text);
            assert_eq!(FreeJson::new(text).unwrap().borrowed(), FreeJson::new(text.to_owned()).unwrap());
        }
    }

    #[test]
    fn text_that_the_contract_refuses_is_refused_with_its_place() {
        for text in ["", " ", "{", "1 2", "nul", "\"\\ud800\"", "1e999", "{\"a\":1,}", "\u{feff}1"] {
            assert!(FreeJson::new(text).unwrap_err().expected().starts_with("expected JSON text: "), "{text:?}");
            assert!(FreeJson::new(text.to_owned()).is_err(), "{text:?}");
        }
        let path = Path::ROOT.member("data");
        for (levels, expected) in [(101, "100 levels"), (129, "128 levels")] {
            let text = "[".repeat(levels) + &"]".repeat(levels);
            let refused = FreeJson::read(&text, path).unwrap_err();
            assert_eq!(refused.path(), "data");
            assert!(refused.expected().contains(expected), "{refused}");
        }
        assert_eq!(FreeJson::read("[1 2]", path).unwrap_err().to_string(), "data: expected JSON text: \",\" or \"]\" at byte 3");
    }

    #[test]
    fn debug_shows_the_size_and_not_the_text() {
        assert_eq!(format!("{:?}", FreeJson::new("\"secret\"").unwrap()), "FreeJson(8 bytes)");
    }

    #[test]
    fn values_are_serialized_and_parsed() {
        let value = FreeJson::from_serialize(&vec![Some(1), None]).unwrap();
        assert_eq!(value.as_str(), "[1,null]");
        assert_eq!(value.parse::<Vec<Option<u8>>>().unwrap(), [Some(1), None]);
        assert!(value.parse::<String>().is_err());
        let keys = std::collections::BTreeMap::from([(vec![1], 1)]);
        assert!(FreeJson::from_serialize(&keys).unwrap_err().expected().contains("a value that serializes to JSON"));
        assert_eq!(FreeJson::written(|out| out.unsigned(7)).as_str(), "7");
        assert_eq!((FreeJson::NULL.as_str(), FreeJson::EMPTY_OBJECT.as_str()), ("null", "{}"));
    }

    #[test]
    fn a_double_is_parsed_to_the_nearest_one() {
        for text in ["0.1", "5e-324", "2.2250738585072011e-308", "123456789012345678901234567890.5e-10"] {
            let nearest: f64 = text.parse().unwrap();
            assert_eq!(FreeJson::new(text).unwrap().parse::<f64>().unwrap().to_bits(), nearest.to_bits(), "{text}");
        }
    }
}
