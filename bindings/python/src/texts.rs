//! Texts out of a message. A call has several, and seldom is any of them read, so those of a small message are not copied: the
//! message is kept, and where they are in it. Others are copied into one piece of memory.

use agenthost::protocol::Metadata;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::collector;
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
    /// These texts, and then name and value of the metadata by turns. They were read out of `source` when there is one.
    #[inline]
    pub(crate) fn of(source: Option<Source<'_, '_>>, texts: &[&str], metadata: &Metadata<'_>) -> Self {
        match source.and_then(|source| Some((source, Places::of(source, texts, metadata)?))) {
            Some((source, places)) => Texts(Kind::InMessage(source.keep(), places)),
            None => Texts::copied(texts, metadata),
        }
    }

    #[cold]
    fn copied(texts: &[&str], metadata: &Metadata<'_>) -> Self {
        let pairs = metadata.iter().flat_map(|(name, value)| [name, value]);
        let texts: Vec<&str> = texts.iter().copied().chain(pairs).collect();
        let ends = texts.iter().scan(0, |end, text| {
            *end += text.len();
            Some(*end)
        });
        Texts(Kind::Own(texts.concat().into(), ends.collect()))
    }

    fn len(&self) -> usize {
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

    /// The metadata that begins at that place, as a new dict.
    pub(crate) fn dict<'py>(&self, py: Python<'py>, start: usize) -> PyResult<Bound<'py, PyDict>> {
        let dict = collector::paused(py, || PyDict::new(py));
        for index in (start..self.len()).step_by(2) {
            dict.set_item(self.get(py, index)?, self.get(py, index + 1)?)?;
        }
        Ok(dict)
    }

    /// The metadata that begins at that place, copied as the core wants it.
    pub(crate) fn metadata(&self, py: Python<'_>, start: usize) -> PyResult<Metadata<'static>> {
        let pair = |index| Ok((self.get(py, index)?.to_owned(), self.get(py, index + 1)?.to_owned()));
        (start..self.len()).step_by(2).map(pair).collect()
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
    fn of(source: Source<'_, '_>, texts: &[&str], metadata: &Metadata<'_>) -> Option<Places<N>> {
        if source.bytes.len() > MOST_KEPT {
            return None;
        }
        let mut found = Places { count: 0, places: [Place::default(); N] };
        for text in texts {
            found.add(source, text)?;
        }
        for (name, value) in metadata.iter() {
            found.add(source, name)?;
            found.add(source, value)?;
        }
        Some(found)
    }

    #[inline]
    fn add(&mut self, source: Source<'_, '_>, text: &str) -> Option<()> {
        let place = source.place(text)?;
        let (start, end) = (u16::try_from(place.start).ok()?, u16::try_from(place.end).ok()?);
        *self.places.get_mut(self.count)? = Place { start, end };
        self.count += 1;
        Some(())
    }
}
