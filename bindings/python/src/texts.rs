//! Texts out of a message. A call has several, and seldom is any of them read, so those of a small message are not copied: the
//! message is kept, and where they are in it. Others are copied into one piece of memory.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::message::{Source, utf8};

/// A message with more bytes is not kept for the texts in it: whoever keeps a call would keep what nobody wants.
const MOST_KEPT: usize = 4 << 10;

/// A list of texts, of which `N` need no copy.
pub(crate) struct Texts<const N: usize>(Kind<N>);

enum Kind<const N: usize> {
    InMessage(Py<PyBytes>, Places<N>),
    /// The texts one after the other, and where each ends.
    Own(Box<str>, Box<[usize]>),
}

impl<const N: usize> Texts<N> {
    /// The texts that the iterator gives, the same ones each time. They were read out of `source` when there is one.
    #[inline]
    pub(crate) fn of<'a, I: Iterator<Item = &'a str>>(source: Option<Source<'_, '_>>, texts: impl Fn() -> I) -> Self {
        match source.and_then(|source| Some((source, Places::of(source, texts())?))) {
            Some((source, places)) => Texts(Kind::InMessage(source.keep(), places)),
            None => Texts::copied(texts),
        }
    }

    #[cold]
    fn copied<'a, I: Iterator<Item = &'a str>>(texts: impl Fn() -> I) -> Self {
        let (mut all, mut ends) = (String::with_capacity(texts().map(str::len).sum()), Vec::with_capacity(texts().count()));
        for text in texts() {
            all.push_str(text);
            ends.push(all.len());
        }
        Texts(Kind::Own(all.into(), ends.into()))
    }

    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Kind::InMessage(_, places) => places.count,
            Kind::Own(_, ends) => ends.len(),
        }
    }

    /// The text at that place, which there is.
    pub(crate) fn get<'a>(&'a self, py: Python<'a>, index: usize) -> PyResult<&'a str> {
        match &self.0 {
            Kind::InMessage(message, places) => {
                let Place { start, end } = places.places[index];
                utf8(&message.as_bytes(py)[start.into()..end.into()])
            }
            Kind::Own(all, ends) => Ok(&all[if index == 0 { 0 } else { ends[index - 1] }..ends[index]]),
        }
    }

    /// Whether both have the same texts.
    pub(crate) fn equal(&self, other: &Texts<N>, py: Python<'_>) -> PyResult<bool> {
        if self.len() != other.len() {
            return Ok(false);
        }
        for index in 0..self.len() {
            if self.get(py, index)? != other.get(py, index)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Where up to `N` texts are in a small message.
struct Places<const N: usize> {
    count: usize,
    places: [Place; N],
}

#[derive(Clone, Copy, Default)]
struct Place {
    start: u16,
    end: u16,
}

impl<const N: usize> Places<N> {
    /// None: there are more texts, or one that is not in the message as it is.
    #[inline]
    fn of<'a>(source: Source<'_, '_>, mut texts: impl Iterator<Item = &'a str>) -> Option<Places<N>> {
        if source.bytes.len() > MOST_KEPT {
            return None;
        }
        let mut found = Places { count: 0, places: [Place::default(); N] };
        texts.try_for_each(|text| {
            let place = source.place(text)?;
            let (start, end) = (u16::try_from(place.start).ok()?, u16::try_from(place.end).ok()?);
            *found.places.get_mut(found.count)? = Place { start, end };
            found.count += 1;
            Some(())
        })?;
        Some(found)
    }
}
