//! The tokens of JSON text (RFC 8259): where a string, a number or a literal ends. Nothing here knows how they nest.

use super::scan::plain_length;

/// The text is not a JSON document: the byte where that shows, and what was expected there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) offset: usize,
    pub(crate) expected: &'static str,
}

pub(super) type Parsed<T> = Result<T, Malformed>;

#[cold]
pub(super) fn malformed<T>(offset: usize, expected: &'static str) -> Parsed<T> {
    Err(Malformed { offset, expected })
}

/// Behind the white space that starts at `at`.
#[inline(always)]
pub(super) fn space_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Behind the string whose first character stands at `at`.
#[inline(always)]
pub(super) fn string_end(bytes: &[u8], at: usize) -> Parsed<usize> {
    let end = at + plain_length(&bytes[at..]);
    if bytes.get(end) == Some(&b'"') { Ok(end + 1) } else { escaped_string_end(bytes, end) }
}

/// The same where a character is not plain: at an escape, or where no string can go on.
fn escaped_string_end(bytes: &[u8], mut at: usize) -> Parsed<usize> {
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at = escape(bytes, at)?.1,
            _ => return string_breaks(bytes, at),
        }
        at += plain_length(&bytes[at..]);
    }
}

#[cold]
pub(super) fn string_breaks<T>(bytes: &[u8], at: usize) -> Parsed<T> {
    malformed(at, if at >= bytes.len() { "the end of a string" } else { "no control character in a string" })
}

/// The character of the escape that starts at `at`, and where the escape ends.
pub(super) fn escape(bytes: &[u8], at: usize) -> Parsed<(char, usize)> {
    let at = at + 1;
    let character = match bytes.get(at) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(bytes, at + 1),
        _ => return malformed(at, "an escape character"),
    };
    Ok((character, at + 1))
}

/// The character of a `\u` escape whose digits start at `at`, with the second half of a surrogate pair, and where it ends.
fn unicode_escape(bytes: &[u8], at: usize) -> Parsed<(char, usize)> {
    let (first, end) = (four_digits(bytes, at)?, at + 4);
    if let Some(character) = char::from_u32(first) {
        return Ok((character, end));
    }
    let pair_follows = bytes[end..].starts_with(b"\\u");
    if (0xd800..0xdc00).contains(&first) && pair_follows {
        let (second, end) = (four_digits(bytes, end + 2)?, end + 6);
        if (0xdc00..0xe000).contains(&second) {
            let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok((char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), end));
        }
        return malformed(end, "no surrogate without its pair");
    }
    malformed(end, "no surrogate without its pair")
}

fn four_digits(bytes: &[u8], at: usize) -> Parsed<u32> {
    let mut code = 0;
    for place in at..at + 4 {
        match bytes.get(place).and_then(|&byte| char::from(byte).to_digit(16)) {
            Some(digit) => code = code * 16 + digit,
            None => return malformed(place, "four hexadecimal digits"),
        }
    }
    Ok(code)
}

/// Behind the literal `word`, which starts at `at`.
#[inline(always)]
pub(super) fn literal_end(bytes: &[u8], at: usize, word: &'static str) -> Parsed<usize> {
    if bytes[at..].starts_with(word.as_bytes()) { Ok(at + word.len()) } else { malformed(at, "a value") }
}

/// Behind the number that starts at `start` (RFC 8259, section 6). One that overflows a double is refused.
#[inline(always)]
pub(super) fn number_end(bytes: &[u8], start: usize) -> Parsed<usize> {
    let integer = start + usize::from(bytes.get(start) == Some(&b'-'));
    let at = match bytes.get(integer) {
        Some(b'0') => integer + 1,
        _ => some_digits_end(bytes, integer)?,
    };
    match bytes.get(at) {
        Some(b'.' | b'e' | b'E') => fraction_end(bytes, start, at),
        _ if at - start < SURELY_IN_RANGE => Ok(at),
        _ => in_range(bytes, start, at),
    }
}

/// A number of fewer characters whose exponent has at most two digits cannot reach 1e308.
const SURELY_IN_RANGE: usize = 200;

/// Behind the number that starts at `start` and whose fraction or exponent starts at `at`.
fn fraction_end(bytes: &[u8], start: usize, mut at: usize) -> Parsed<usize> {
    if bytes.get(at) == Some(&b'.') {
        at = some_digits_end(bytes, at + 1)?;
    }
    let mut exponent_digits = 0;
    if let Some(b'e' | b'E') = bytes.get(at) {
        let digits = if let Some(b'+' | b'-') = bytes.get(at + 1) { at + 2 } else { at + 1 };
        at = some_digits_end(bytes, digits)?;
        exponent_digits = at - digits;
    }
    if at - start < SURELY_IN_RANGE && exponent_digits <= 2 { Ok(at) } else { in_range(bytes, start, at) }
}

/// The end of a number, when a double can hold it.
#[cold]
fn in_range(bytes: &[u8], start: usize, end: usize) -> Parsed<usize> {
    let value = str::from_utf8(&bytes[start..end]).ok().and_then(|number| number.parse::<f64>().ok());
    if value.is_some_and(f64::is_infinite) { malformed(end, "numbers within the range of a double") } else { Ok(end) }
}

#[inline]
fn some_digits_end(bytes: &[u8], start: usize) -> Parsed<usize> {
    let mut at = start;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    if at == start { malformed(at, "a digit") } else { Ok(at) }
}
