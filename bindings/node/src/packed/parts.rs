//! The parts of an answer as `lib/scratch.js` writes them: seven-bit bytes and UTF-8, so that one look checks all of it.

use std::borrow::Cow;

use agenthost::protocol::Metadata;

/// Stands before a length of five digits; any smaller byte is the length itself.
const LONG: u8 = 0x7f;
const DIGIT_BITS: u32 = 7;
/// The digits of a long length.
const LENGTH_DIGITS: usize = 5;
/// The digits of a number. It has a byte for its sign before them.
const NUMBER_DIGITS: usize = 8;

/// The parts that are left. A part that is not what it has to be is `None`.
pub(super) struct Parts<'a>(&'a str);

impl<'a> Parts<'a> {
    pub(super) fn new(packed: &'a [u8]) -> Option<Parts<'a>> {
        std::str::from_utf8(packed).ok().map(Parts)
    }

    #[inline]
    pub(super) fn text(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        self.take(length)
    }

    #[inline]
    pub(super) fn cow(&mut self) -> Option<Cow<'a, str>> {
        self.text().map(Cow::Borrowed)
    }

    /// How many bytes or things follow.
    #[inline]
    pub(super) fn count(&mut self) -> Option<usize> {
        match self.byte()? {
            LONG => self.digits(LENGTH_DIGITS).and_then(|length| usize::try_from(length).ok()),
            short => Some(usize::from(short)),
        }
    }

    pub(super) fn unsigned(&mut self) -> Option<u64> {
        match self.byte()? {
            1 => self.digits(NUMBER_DIGITS),
            _ => None,
        }
    }

    pub(super) fn signed(&mut self) -> Option<i64> {
        self.optional()?
    }

    /// A number or nothing.
    pub(super) fn optional(&mut self) -> Option<Option<i64>> {
        let sign = match self.byte()? {
            0 => return Some(None),
            1 => 1,
            2 => -1,
            _ => return None,
        };
        Some(Some(sign * i64::try_from(self.digits(NUMBER_DIGITS)?).ok()?))
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// Names and values: first how many pairs.
    pub(super) fn metadata(&mut self) -> Option<Metadata<'a>> {
        let pairs = self.count()?;
        if pairs == 0 {
            return Some(Metadata::new());
        }
        // Each takes two bytes at the least: what is said to follow and does not takes no memory.
        let mut found = Vec::with_capacity(pairs.min(self.0.len() / 2));
        for _ in 0..pairs {
            found.push((self.cow()?, self.cow()?));
        }
        Metadata::from_pairs(found).ok()
    }

    /// Whether nothing is left.
    pub(super) fn end(self) -> bool {
        self.0.is_empty()
    }

    /// At the most as many bytes as are left.
    pub(super) fn left(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn take(&mut self, length: usize) -> Option<&'a str> {
        let (part, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(part)
    }

    #[inline]
    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte.as_bytes()[0])
    }

    /// The lowest digit first.
    #[inline]
    fn digits(&mut self, digits: usize) -> Option<u64> {
        let digits = self.take(digits)?;
        Some(digits.bytes().rev().fold(0, |number, digit| number << DIGIT_BITS | u64::from(digit)))
    }
}
