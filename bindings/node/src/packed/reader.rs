//! Reads the members of a packed answer in turn, as `lib/packed/numbers.js` writes them: numbers, and the texts that some of them
//! measure. JavaScript has looked at the numbers: each is a whole one, or NaN where there may be none.

use std::borrow::Cow;

use agenthost::protocol::Metadata;

/// A number as the bytes of a double.
pub(crate) type NumberBytes = [u8; 8];

/// Texts behind each other, in UTF-8.
pub(crate) struct Texts {
    utf8: String,
    is_ascii: bool,
}

impl Texts {
    /// None: there is a lone surrogate in it.
    pub(crate) fn new(utf16: &[u16]) -> Option<Texts> {
        let is_ascii = utf16.iter().fold(0, |seen, unit| seen | unit) < 0x80;
        let utf8 = if is_ascii {
            String::from_utf8(utf16.iter().map(|unit| *unit as u8).collect()).ok()?
        } else {
            String::from_utf16(utf16).ok()?
        };
        Some(Texts { utf8, is_ascii })
    }
}

/// The members that are left. One that is not what it has to be is `None`.
pub(super) struct Reader<'a> {
    numbers: &'a [NumberBytes],
    texts: &'a str,
    is_ascii: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(numbers: &'a [NumberBytes], texts: &'a Texts) -> Reader<'a> {
        Reader { numbers, texts: &texts.utf8, is_ascii: texts.is_ascii }
    }

    #[inline]
    pub(super) fn str(&mut self) -> Option<&'a str> {
        let units = self.count()?;
        let length = if self.is_ascii { units } else { utf8_length(self.texts, units)? };
        let (part, rest) = self.texts.split_at_checked(length)?;
        self.texts = rest;
        Some(part)
    }

    #[inline]
    pub(super) fn text(&mut self) -> Option<Cow<'a, str>> {
        self.str().map(Cow::Borrowed)
    }

    #[inline]
    pub(super) fn optional_text(&mut self) -> Option<Cow<'a, str>> {
        self.text()
    }

    /// How many things follow, or units.
    #[inline]
    pub(super) fn count(&mut self) -> Option<usize> {
        self.number().map(|count| count as u32 as usize)
    }

    #[inline]
    pub(super) fn unsigned(&mut self) -> Option<u64> {
        self.time().and_then(|number| u64::try_from(number).ok())
    }

    #[inline]
    pub(super) fn time(&mut self) -> Option<i64> {
        self.optional_time()?
    }

    /// A number or nothing.
    #[inline]
    pub(super) fn optional_time(&mut self) -> Option<Option<i64>> {
        self.number().map(|number| (!number.is_nan()).then_some(number as i64))
    }

    #[inline]
    pub(super) fn flag(&mut self) -> Option<bool> {
        self.number().map(|flag| flag != 0.0)
    }

    /// Names and values: first how many pairs.
    pub(super) fn metadata(&mut self) -> Option<Metadata<'a>> {
        let pairs = self.count()?;
        if pairs == 0 {
            return Some(Metadata::new());
        }
        // Each takes two numbers at the least: what is said to follow and does not takes no memory.
        let mut found = Vec::with_capacity(pairs.min(self.left() / 2));
        for _ in 0..pairs {
            found.push((self.text()?, self.text()?));
        }
        Metadata::from_pairs(found).ok()
    }

    /// Whether nothing is left.
    pub(super) fn end(self) -> bool {
        self.numbers.is_empty() && self.texts.is_empty()
    }

    /// How many numbers are left.
    pub(super) fn left(&self) -> usize {
        self.numbers.len()
    }

    #[inline]
    fn number(&mut self) -> Option<f64> {
        let (number, rest) = self.numbers.split_first()?;
        self.numbers = rest;
        Some(f64::from_ne_bytes(*number))
    }
}

/// How many bytes the first `units` UTF-16 units of a text take. None: they end inside of a character, or behind the text.
fn utf8_length(text: &str, units: usize) -> Option<usize> {
    let (mut left, mut length) = (units, 0);
    let mut characters = text.chars();
    while left > 0 {
        let character = characters.next()?;
        left = left.checked_sub(character.len_utf16())?;
        length += character.len_utf8();
    }
    Some(length)
}
