//! A pull reader over one JSON document: the caller asks for what the contract expects next.
//!
//! Two kinds of trouble. `Malformed` ends the reading: the text is no JSON document that every host language can parse, so
//! nothing in it can be trusted. Too many levels are only noted, with the member that nests them, and the reading goes on: an
//! unsupported protocol version must be answered before them.

use std::borrow::Cow;

use super::Found;
use super::scan::{is_special, plain_length};
use crate::protocol::{MAX_MESSAGE_DEPTH, Path, Violation};

/// The text is not a JSON document: the byte where that shows, and what was expected there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) offset: usize,
    pub(crate) expected: &'static str,
}

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
    deepest: usize,
    too_deep: bool,
    refusal: Option<Box<Violation>>,
}

type Parsed<T> = Result<T, Malformed>;

/// Reads all of `text` as the one value that stands at `path`.
pub(crate) fn read_all<'a, T>(
    text: &'a str,
    path: Path<'_>,
    read: impl FnOnce(&mut Reader<'a>, Path<'_>) -> Found<T>,
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
        Reader { text, position: 0, depth: 0, deepest: 0, too_deep: false, refusal: None }
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
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.position) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.position += 1;
        }
        None
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
    #[inline]
    pub(crate) fn next_member(&mut self, first: &mut bool) -> Parsed<Option<Cow<'a, str>>> {
        if !self.another(b'}', first)? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
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

    /// The string that starts here, borrowed where it holds no escape.
    #[inline]
    pub(crate) fn string(&mut self) -> Parsed<Cow<'a, str>> {
        self.expect(b'"', "a string")?;
        let start = self.position;
        self.position += plain_length(&self.text.as_bytes()[start..]);
        if self.text.as_bytes().get(self.position) == Some(&b'"') {
            let plain = &self.text[start..self.position];
            self.position += 1;
            return Ok(Cow::Borrowed(plain));
        }
        self.escaped_string(start).map(Cow::Owned)
    }

    /// The literal of the number that starts here.
    pub(crate) fn number(&mut self) -> Parsed<&'a str> {
        let start = self.position;
        self.skip_number()?;
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
        self.peek();
        let start = self.position;
        let outer = std::mem::replace(&mut self.deepest, self.depth);
        self.skip_value()?;
        let levels = self.deepest - self.depth;
        self.deepest = self.deepest.max(outer);
        Ok((&self.text[start..self.position], levels))
    }

    /// Skips the value of a member that nobody asks for. Its place still counts when it nests too many levels.
    pub(crate) fn skip_member(&mut self, path: Path<'_>) -> Parsed<()> {
        self.skip_value()?;
        self.locate(path);
        Ok(())
    }

    /// Skips the next value, of any kind and depth, without recursion.
    pub(crate) fn skip_value(&mut self) -> Parsed<()> {
        let mut open = Open::default();
        loop {
            match self.peek() {
                Some(b'"') => self.skip_string()?,
                Some(b'{') => {
                    self.position += 1;
                    self.deeper();
                    if self.peek() == Some(b'}') {
                        self.position += 1;
                        self.depth -= 1;
                    } else {
                        open.push(true);
                        self.skip_name()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.position += 1;
                    self.deeper();
                    if self.peek() == Some(b']') {
                        self.position += 1;
                        self.depth -= 1;
                    } else {
                        open.push(false);
                        continue;
                    }
                }
                Some(b'-' | b'0'..=b'9') => self.skip_number()?,
                Some(b't') => self.literal("true")?,
                Some(b'f') => self.literal("false")?,
                Some(b'n') => self.literal("null")?,
                _ => return self.malformed("a value"),
            }
            // A value has ended: on to the next one, out of every container that ends here.
            loop {
                let Some(in_object) = open.innermost() else {
                    return Ok(());
                };
                match (self.peek(), in_object) {
                    (Some(b','), true) => {
                        self.position += 1;
                        self.skip_name()?;
                        break;
                    }
                    (Some(b','), false) => {
                        self.position += 1;
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.position += 1;
                        self.depth -= 1;
                        open.pop();
                    }
                    (_, true) => return self.malformed("\",\" or \"}\""),
                    (_, false) => return self.malformed("\",\" or \"]\""),
                }
            }
        }
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
        self.deepest = self.deepest.max(self.depth);
        self.too_deep |= self.depth > MAX_MESSAGE_DEPTH;
    }

    #[cold]
    fn malformed<T>(&self, expected: &'static str) -> Parsed<T> {
        Err(Malformed { offset: self.position, expected })
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
        if !self.text.as_bytes()[self.position..].starts_with(word.as_bytes()) {
            return self.malformed("a value");
        }
        self.position += word.len();
        Ok(())
    }

    #[inline]
    fn skip_name(&mut self) -> Parsed<()> {
        if self.peek() != Some(b'"') {
            return self.malformed("a member's name");
        }
        self.skip_string()?;
        self.expect(b':', "\":\"")
    }

    /// Skips the string that starts here.
    #[inline]
    fn skip_string(&mut self) -> Parsed<()> {
        self.position += 1;
        loop {
            self.position += plain_length(&self.text.as_bytes()[self.position..]);
            match self.text.as_bytes().get(self.position) {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.escape()?;
                }
                _ => return self.string_end(),
            }
        }
    }

    /// The rest of a string that holds an escape; `start` is its first byte.
    fn escaped_string(&mut self, start: usize) -> Parsed<String> {
        let mut owned = self.text[start..self.position].to_owned();
        loop {
            match self.text.as_bytes().get(self.position) {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(owned);
                }
                Some(b'\\') => owned.push(self.escape()?),
                Some(&byte) if !is_special(byte) => {
                    let plain = self.position;
                    self.position += plain_length(&self.text.as_bytes()[plain..]);
                    owned.push_str(&self.text[plain..self.position]);
                }
                _ => return self.string_end(),
            }
        }
    }

    #[cold]
    fn string_end<T>(&self) -> Parsed<T> {
        if self.position >= self.text.len() {
            self.malformed("the end of a string")
        } else {
            self.malformed("no control character in a string")
        }
    }

    /// The character of the escape that starts here.
    fn escape(&mut self) -> Parsed<char> {
        self.position += 1;
        let character = match self.text.as_bytes().get(self.position) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.position += 1;
                return self.unicode_escape();
            }
            _ => return self.malformed("an escape character"),
        };
        self.position += 1;
        Ok(character)
    }

    /// The character of a `\u` escape whose digits start here, with the second half of a surrogate pair.
    fn unicode_escape(&mut self) -> Parsed<char> {
        let first = self.four_digits()?;
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        let pair_follows = self.text.as_bytes()[self.position..].starts_with(b"\\u");
        if (0xd800..0xdc00).contains(&first) && pair_follows {
            self.position += 2;
            let second = self.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        self.malformed("no surrogate without its pair")
    }

    fn four_digits(&mut self) -> Parsed<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.text.as_bytes().get(self.position).and_then(|&byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return self.malformed("four hexadecimal digits");
            };
            code = code * 16 + digit;
            self.position += 1;
        }
        Ok(code)
    }

    /// Skips the number that starts here (RFC 8259, section 6). One that overflows a double is refused.
    #[inline]
    fn skip_number(&mut self) -> Parsed<()> {
        let bytes = self.text.as_bytes();
        let start = self.position;
        if bytes.get(self.position) == Some(&b'-') {
            self.position += 1;
        }
        match bytes.get(self.position) {
            Some(b'0') => self.position += 1,
            Some(b'1'..=b'9') => self.skip_digits(),
            _ => return self.malformed("a digit"),
        }
        if bytes.get(self.position) == Some(&b'.') {
            self.position += 1;
            self.some_digits()?;
        }
        let mut exponent_digits = 0;
        if let Some(b'e' | b'E') = bytes.get(self.position) {
            self.position += 1;
            if let Some(b'+' | b'-') = bytes.get(self.position) {
                self.position += 1;
            }
            exponent_digits = self.position;
            self.some_digits()?;
            exponent_digits = self.position - exponent_digits;
        }
        // Under 200 characters and with an exponent of two digits at most it cannot reach 1e308.
        if self.position - start >= 200 || exponent_digits > 2 {
            return self.check_range(start);
        }
        Ok(())
    }

    #[cold]
    fn check_range(&mut self, start: usize) -> Parsed<()> {
        if self.text[start..self.position].parse::<f64>().is_ok_and(f64::is_infinite) {
            return self.malformed("numbers within the range of a double");
        }
        Ok(())
    }

    #[inline]
    fn skip_digits(&mut self) {
        let digits = self.text.as_bytes()[self.position..].iter();
        self.position += digits.take_while(|byte| byte.is_ascii_digit()).count();
    }

    fn some_digits(&mut self) -> Parsed<()> {
        let start = self.position;
        self.skip_digits();
        if self.position == start { self.malformed("a digit") } else { Ok(()) }
    }
}

/// Which containers are open, as one bit each: set for an object. Any depth, without a cost for the usual one.
#[derive(Default)]
struct Open {
    bits: u128,
    count: usize,
    outer: Vec<u128>,
}

impl Open {
    fn push(&mut self, object: bool) {
        if self.count == u128::BITS as usize {
            self.outer.push(self.bits);
            self.count = 0;
        }
        self.bits = self.bits << 1 | u128::from(object);
        self.count += 1;
    }

    fn pop(&mut self) {
        self.bits >>= 1;
        self.count -= 1;
        if self.count == 0
            && let Some(bits) = self.outer.pop()
        {
            self.bits = bits;
            self.count = u128::BITS as usize;
        }
    }

    #[inline]
    fn innermost(&self) -> Option<bool> {
        (self.count > 0).then_some(self.bits & 1 == 1)
    }
}

#[cfg(test)]
mod tests;
