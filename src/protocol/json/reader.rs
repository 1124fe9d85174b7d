//! A pull reader over one JSON document: the caller asks for what the contract expects next.
//!
//! Two kinds of trouble. `Malformed` ends the reading: the text is no JSON document that every host language can parse, so
//! nothing in it can be trusted. Too many levels are only noted, with the member that nests them, and the reading goes on: an
//! unsupported protocol version must be answered before them.

use std::borrow::Cow;

use super::scan::plain_length;
use super::skip::value_end;
use super::token::{Malformed, Parsed, escape, literal_end, malformed, number_end, space_end, string_breaks};
use crate::protocol::{MAX_MESSAGE_DEPTH, Path, Violation};

/// A value of the right type, or why it is not; the outer error ends the reading.
pub(crate) type ReadResult<T> = Result<Result<T, Box<Violation>>, Malformed>;

impl Malformed {
    /// As a broken rule of `path`, the text's own place.
    pub(crate) fn violation(self, path: Path<'_>) -> Box<Violation> {
        Violation::new(path, format!("expected JSON text: {} at byte {}", self.expected, self.offset))
    }
}

/// Reads one document from front to back.
pub(crate) struct Reader<'a> {
    text: &'a str,
    position: usize,
    depth: usize,
    too_deep: bool,
    refusal: Option<Box<Violation>>,
}

/// Reads all of `text` as the one value that stands at `path`.
pub(crate) fn read_all<'a, T>(
    text: &'a str,
    path: Path<'_>,
    read: impl FnOnce(&mut Reader<'a>, Path<'_>) -> ReadResult<T>,
) -> Result<T, Box<Violation>> {
    let mut reader = Reader::new(text);
    let found = read(&mut reader, path).and_then(|found| reader.finish().map(|()| found));
    let found = found.map_err(|malformed| malformed.violation(path))?;
    reader.locate(path);
    match reader.into_refusal() {
        Some(refusal) => Err(refusal),
        None => found,
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Reader<'a> {
        Reader { text, position: 0, depth: 0, too_deep: false, refusal: None }
    }

    /// The refusal of a text that nests too many levels, with the innermost known member that does.
    pub(crate) fn into_refusal(mut self) -> Option<Box<Violation>> {
        self.locate(Path::ROOT);
        self.refusal
    }

    /// Says that what has been read since the last call was inside `path`. The first place of too many levels counts.
    #[inline]
    pub(crate) fn locate(&mut self, path: Path<'_>) {
        if self.too_deep && self.refusal.is_none() {
            self.refusal =
                Some(Violation::new(path, format!("expected at most {MAX_MESSAGE_DEPTH} levels of nesting in a message")));
        }
    }

    /// The first byte of the next value (or whatever stands there), white space skipped.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.position = space_end(self.text.as_bytes(), self.position);
        self.here()
    }

    /// The byte at the reader's position.
    #[inline]
    fn here(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    /// What the next value is, for a message: `a number`.
    pub(crate) fn kind(&mut self) -> &'static str {
        match self.peek() {
            Some(b'"') => "a string",
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        }
    }

    /// Nothing but white space is left.
    pub(crate) fn finish(&mut self) -> Parsed<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.malformed("the end of the text"),
        }
    }

    /// Enters the object that starts here.
    pub(crate) fn enter_object(&mut self) -> Parsed<()> {
        self.expect(b'{', "an object")?;
        self.deeper();
        Ok(())
    }

    /// The name of the object's next member, its value being next; `None` leaves the object. `first` starts as true.
    #[inline(always)]
    pub(crate) fn next_member(&mut self, first: &mut bool) -> Parsed<Option<Cow<'a, str>>> {
        if !self.another(b'}', first)? {
            return Ok(None);
        }
        if self.here() != Some(b'"') {
            return self.malformed("a member's name");
        }
        let name = self.string()?;
        self.expect(b':', "\":\"")?;
        Ok(Some(name))
    }

    /// Enters the array that starts here.
    pub(crate) fn enter_array(&mut self) -> Parsed<()> {
        self.expect(b'[', "an array")?;
        self.deeper();
        Ok(())
    }

    /// Whether the array has another element, which is then next; false leaves the array. `first` starts as true.
    pub(crate) fn next_element(&mut self, first: &mut bool) -> Parsed<bool> {
        self.another(b']', first)
    }

    /// The string whose quotation mark was just peeked, borrowed where it holds no escape.
    #[inline(always)]
    pub(crate) fn string(&mut self) -> Parsed<Cow<'a, str>> {
        debug_assert_eq!(self.here(), Some(b'"'), "peeked");
        let start = self.position + 1;
        self.position = start + plain_length(&self.text.as_bytes()[start..]);
        if self.here() == Some(b'"') {
            let plain = &self.text[start..self.position];
            self.position += 1;
            return Ok(Cow::Borrowed(plain));
        }
        self.escaped_string(start).map(Cow::Owned)
    }

    /// The rest of a string that holds an escape at the reader's position; `start` is its first byte.
    #[cold]
    #[inline(never)]
    fn escaped_string(&mut self, start: usize) -> Parsed<String> {
        let bytes = self.text.as_bytes();
        let mut owned = self.text[start..self.position].to_owned();
        loop {
            match bytes.get(self.position) {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(owned);
                }
                Some(b'\\') => {
                    let (character, end) = escape(bytes, self.position)?;
                    owned.push(character);
                    self.position = end + plain_length(&bytes[end..]);
                    owned.push_str(&self.text[end..self.position]);
                }
                _ => return string_breaks(bytes, self.position),
            }
        }
    }

    /// The literal of the number that starts here.
    pub(crate) fn number(&mut self) -> Parsed<&'a str> {
        let start = self.position;
        self.position = number_end(self.text.as_bytes(), start)?;
        Ok(&self.text[start..self.position])
    }

    /// Skips `null` when it is next, and says whether it was.
    pub(crate) fn null(&mut self) -> Parsed<bool> {
        if self.peek() != Some(b'n') {
            return Ok(false);
        }
        self.literal("null").map(|()| true)
    }

    /// The boolean that starts here.
    pub(crate) fn boolean(&mut self) -> Parsed<bool> {
        if self.peek() == Some(b't') { self.literal("true").map(|()| true) } else { self.literal("false").map(|()| false) }
    }

    /// The text of the next value, and how deep it nests on its own (0 for a scalar).
    pub(crate) fn raw(&mut self) -> Parsed<(&'a str, usize)> {
        let start = space_end(self.text.as_bytes(), self.position);
        let (end, levels) = value_end(self.text.as_bytes(), start)?;
        self.position = end;
        self.too_deep |= self.depth + levels > MAX_MESSAGE_DEPTH;
        Ok((&self.text[start..end], levels))
    }

    /// Skips the value of a member that nobody asks for. Its place still counts when it nests too many levels.
    pub(crate) fn skip_member(&mut self, path: Path<'_>) -> Parsed<()> {
        self.skip_value()?;
        self.locate(path);
        Ok(())
    }

    /// Skips the next value.
    pub(crate) fn skip_value(&mut self) -> Parsed<()> {
        self.raw().map(|_| ())
    }

    /// Whether a container goes on after its start or after a value, up to `close`, which is then behind us.
    #[inline]
    fn another(&mut self, close: u8, first: &mut bool) -> Parsed<bool> {
        match self.peek() {
            Some(byte) if byte == close => {
                self.position += 1;
                self.depth -= 1;
                Ok(false)
            }
            _ if std::mem::take(first) => Ok(true),
            Some(b',') => {
                self.position += 1;
                if self.peek() == Some(close) { self.malformed("a value or a member after \",\"") } else { Ok(true) }
            }
            _ if close == b'}' => self.malformed("\",\" or \"}\""),
            _ => self.malformed("\",\" or \"]\""),
        }
    }

    #[inline]
    fn deeper(&mut self) {
        self.depth += 1;
        self.too_deep |= self.depth > MAX_MESSAGE_DEPTH;
    }

    #[cold]
    fn malformed<T>(&self, expected: &'static str) -> Parsed<T> {
        malformed(self.position, expected)
    }

    #[inline]
    fn expect(&mut self, byte: u8, expected: &'static str) -> Parsed<()> {
        if self.peek() != Some(byte) {
            return self.malformed(expected);
        }
        self.position += 1;
        Ok(())
    }

    fn literal(&mut self, word: &'static str) -> Parsed<()> {
        self.position = literal_end(self.text.as_bytes(), self.position, word)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
