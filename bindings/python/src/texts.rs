//! Texts that belong together, in one piece of memory: a call has several, and seldom are any of them read.

/// A list of texts.
#[derive(PartialEq)]
pub(crate) struct Texts {
    all: String,
    ends: Vec<usize>,
}

impl Texts {
    /// A copy of the texts that the iterator gives, the same ones each time.
    pub(crate) fn of<'a, I: Iterator<Item = &'a str>>(texts: impl Fn() -> I) -> Texts {
        let (bytes, count) = texts().fold((0, 0), |(bytes, count), text| (bytes + text.len(), count + 1));
        let mut copied = Texts { all: String::with_capacity(bytes), ends: Vec::with_capacity(count) };
        texts().for_each(|text| {
            copied.all.push_str(text);
            copied.ends.push(copied.all.len());
        });
        copied
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text at that place, which there is.
    pub(crate) fn get(&self, place: usize) -> &str {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.all[start..self.ends[place]]
    }
}
