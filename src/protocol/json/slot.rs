//! What was found for one named member. Whether a member counts may be known only later (the operation can stand behind
//! the body), so a wrong type is kept here and only told when somebody asks for the member.

use std::borrow::Cow;

use super::reader::{ReadResult, Reader};
use super::token::Malformed;
use crate::protocol::{MAX_UNIX_MS, Metadata, Path, Violation};

/// A member: not there, read, or refused for its type or for being there twice.
#[derive(Debug, Default)]
pub(crate) enum Slot<T> {
    #[default]
    Absent,
    Read(T),
    Refused(Box<Violation>),
}

impl<T> Slot<T> {
    /// Reads the member's value with `read`. A second time refuses the member.
    #[inline]
    pub(crate) fn fill<'a>(
        &mut self,
        reader: &mut Reader<'a>,
        path: Path<'_>,
        read: impl FnOnce(&mut Reader<'a>, Path<'_>) -> ReadResult<T>,
    ) -> Result<(), Malformed> {
        let found = read(reader, path)?;
        reader.locate(path);
        *self = match (&self, found) {
            (Slot::Absent, Ok(value)) => Slot::Read(value),
            (Slot::Absent, Err(violation)) => Slot::Refused(violation),
            _ => Slot::Refused(Violation::new(path, "expected the member once, found it again")),
        };
        Ok(())
    }

    /// The value when it is there and of the right type.
    pub(crate) fn as_read(&self) -> Option<&T> {
        match self {
            Slot::Read(value) => Some(value),
            _ => None,
        }
    }

    /// The value, or `None` when the member is absent.
    pub(crate) fn optional(self) -> Result<Option<T>, Box<Violation>> {
        match self {
            Slot::Absent => Ok(None),
            Slot::Read(value) => Ok(Some(value)),
            Slot::Refused(violation) => Err(violation),
        }
    }

    /// The value, which has to be there; `expected` says what.
    #[inline]
    pub(crate) fn required(self, path: Path<'_>, expected: &str) -> Result<T, Box<Violation>> {
        match self {
            Slot::Read(value) => Ok(value),
            other => Err(other.missing(path, expected)),
        }
    }

    /// The same, the value being left where it is.
    #[inline]
    pub(crate) fn required_in_place(&mut self, path: Path<'_>, expected: &str) -> Result<&mut T, Box<Violation>> {
        match self {
            Slot::Read(value) => Ok(value),
            other => Err(std::mem::take(other).missing(path, expected)),
        }
    }

    /// Why there is no value.
    #[cold]
    fn missing(self, path: Path<'_>, expected: &str) -> Box<Violation> {
        match self {
            Slot::Refused(violation) => violation,
            _ => Violation::new(path, format!("expected {expected}, the member is missing")),
        }
    }
}

impl<'a> Slot<Cow<'a, str>> {
    /// Like [`Slot::fill`], for a string.
    #[inline]
    pub(crate) fn fill_string(&mut self, reader: &mut Reader<'a>, path: Path<'_>) -> Result<(), Malformed> {
        match self {
            // What most members are; a string nests nothing, so nothing has to be located.
            Slot::Absent if reader.peek() == Some(b'"') => *self = Slot::Read(reader.string()?),
            _ => self.fill(reader, path, string)?,
        }
        Ok(())
    }
}

impl<T: Default> Slot<T> {
    /// The value, or its default when the member is absent.
    pub(crate) fn or_default(self) -> Result<T, Box<Violation>> {
        Ok(self.optional()?.unwrap_or_default())
    }
}

/// Skips a value of the wrong type, and says so.
#[cold]
pub(crate) fn wrong_type<T>(reader: &mut Reader<'_>, path: Path<'_>, expected: &str) -> ReadResult<T> {
    let found = reader.kind();
    reader.skip_value()?;
    Ok(Err(Violation::new(path, format!("expected {expected}, found {found}"))))
}

/// A string.
#[inline]
pub(crate) fn string<'a>(reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<Cow<'a, str>> {
    match reader.peek() {
        Some(b'"') => Ok(Ok(reader.string()?)),
        _ => wrong_type(reader, path, "a string"),
    }
}

/// A boolean.
pub(crate) fn boolean(reader: &mut Reader<'_>, path: Path<'_>) -> ReadResult<bool> {
    match reader.peek() {
        Some(b't' | b'f') => Ok(Ok(reader.boolean()?)),
        _ => wrong_type(reader, path, "a boolean"),
    }
}

/// An unsigned integer literal of 64 bits. Its range is checked where the member's rule stands.
pub(crate) fn unsigned(reader: &mut Reader<'_>, path: Path<'_>) -> ReadResult<u64> {
    const EXPECTED: &str = "an unsigned integer without fraction or exponent";
    match reader.peek() {
        Some(b'0'..=b'9') => Ok(reader
            .number()?
            .parse()
            .map_err(|_| Violation::new(path, format!("expected {EXPECTED}, at most 2^53-1, found another number")))),
        Some(b'-') => {
            reader.number()?;
            Ok(Err(Violation::new(path, format!("expected {EXPECTED}, found a negative number"))))
        }
        _ => wrong_type(reader, path, EXPECTED),
    }
}

/// A time: a signed integer literal of milliseconds, at most 8.64e15 from the epoch. `-0` is none.
pub(crate) fn unix_ms(reader: &mut Reader<'_>, path: Path<'_>) -> ReadResult<i64> {
    match reader.peek() {
        Some(b'-' | b'0'..=b'9') => {
            let literal = reader.number()?;
            let value = if literal == "-0" { None } else { literal.parse().ok() };
            let value = value.filter(|value: &i64| value.unsigned_abs() <= MAX_UNIX_MS.unsigned_abs());
            Ok(value.ok_or_else(|| {
                let expected =
                    "expected milliseconds as an integer without fraction or exponent, within 8640000000000000 of the epoch";
                Violation::new(path, expected)
            }))
        }
        _ => wrong_type(reader, path, "milliseconds as an integer"),
    }
}

/// A time or null.
pub(crate) fn nullable_unix_ms(reader: &mut Reader<'_>, path: Path<'_>) -> ReadResult<Option<i64>> {
    if reader.null()? {
        return Ok(Ok(None));
    }
    Ok(unix_ms(reader, path)?.map(Some))
}

/// An array of at most `most` values; what lies beyond is read over and refused.
pub(crate) fn array<'a, T>(
    reader: &mut Reader<'a>,
    path: Path<'_>,
    most: usize,
    element: impl Fn(&mut Reader<'a>, Path<'_>) -> ReadResult<T>,
) -> ReadResult<Vec<T>> {
    if reader.peek() != Some(b'[') {
        return wrong_type(reader, path, "an array");
    }
    reader.enter_array()?;
    let (mut first, mut values, mut refusal) = (true, Vec::new(), None);
    while reader.next_element(&mut first)? {
        if refusal.is_some() {
            reader.skip_value()?;
            continue;
        }
        let place = path.element(values.len());
        if values.len() == most {
            refusal = Some(Violation::new(path, format!("expected at most {most} elements")));
            reader.skip_value()?;
            continue;
        }
        match element(reader, place)? {
            Ok(value) => values.push(value),
            Err(violation) => refusal = Some(violation),
        }
        reader.locate(place);
    }
    Ok(refusal.map_or(Ok(values), Err))
}

/// An object of strings, each name once.
pub(crate) fn metadata<'a>(reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<Metadata<'a>> {
    if reader.peek() != Some(b'{') {
        return wrong_type(reader, path, "an object of strings");
    }
    reader.enter_object()?;
    let (mut first, mut pairs, mut refusal) = (true, Vec::new(), None);
    while let Some(name) = reader.next_member(&mut first)? {
        let place = path.member(&name);
        let found = string(reader, place)?;
        reader.locate(place);
        match found {
            Ok(value) => pairs.push((name, value)),
            Err(violation) => refusal = refusal.or(Some(violation)),
        }
    }
    if let Some(violation) = refusal {
        return Ok(Err(violation));
    }
    Ok(Metadata::from_pairs(pairs).map_err(|name| Violation::new(path.member(&name), "expected the name once, found it again")))
}

#[cfg(test)]
mod tests;
