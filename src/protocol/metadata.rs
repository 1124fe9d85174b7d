//! Metadata: a map of strings, in the order in which it came, each name once.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// A map of strings in the order of insertion. Decoded metadata borrows from the message.
///
/// `Debug` shows the names and never a value.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Metadata<'a> {
    pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

/// From this many pairs on a set finds repeated names; below it a look at all is faster.
const LINEAR_UP_TO: usize = 16;

impl<'a> Metadata<'a> {
    /// No pairs.
    pub const fn new() -> Metadata<'a> {
        Metadata { pairs: Vec::new() }
    }

    /// The value of `name`. Takes time in proportion to the number of pairs.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }

    /// Sets `name`, and gives its former value back. Takes time in proportion to the number of pairs.
    pub fn insert(&mut self, name: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) -> Option<Cow<'a, str>> {
        let (name, value) = (name.into(), value.into());
        match self.pairs.iter_mut().find(|(key, _)| *key == name) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                self.pairs.push((name, value));
                None
            }
        }
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The pairs, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(key, value)| (&**key, &**value))
    }

    /// The same pairs, owned.
    pub fn into_owned(self) -> Metadata<'static> {
        let own = |text: Cow<'a, str>| Cow::Owned(text.into_owned());
        Metadata { pairs: self.pairs.into_iter().map(|(key, value)| (own(key), own(value))).collect() }
    }

    /// About how many bytes the pairs take as JSON.
    pub(crate) fn size_hint(&self) -> usize {
        2 + self.pairs.iter().map(|(key, value)| key.len() + value.len() + 6).sum::<usize>()
    }

    /// Keeps only the pairs whose name `keep` accepts.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.pairs.retain(|(key, _)| keep(key));
    }

    /// Takes pairs that may repeat a name: the first repeated name is the error. Linear in their number.
    pub fn from_pairs(pairs: Vec<(Cow<'a, str>, Cow<'a, str>)>) -> Result<Metadata<'a>, Cow<'a, str>> {
        let repeated = if pairs.len() <= LINEAR_UP_TO {
            (1..pairs.len()).find(|&later| pairs[..later].iter().any(|(key, _)| *key == pairs[later].0))
        } else {
            let mut seen = HashSet::with_capacity(pairs.len());
            pairs.iter().position(|(key, _)| !seen.insert(&**key))
        };
        match repeated {
            Some(index) => Err(pairs.into_iter().nth(index).map(|(key, _)| key).unwrap_or_default()),
            None => Ok(Metadata { pairs }),
        }
    }
}

/// Of equal names the last value stays, at the place of the first. Linear in the number of pairs.
impl<'a, K: Into<Cow<'a, str>>, V: Into<Cow<'a, str>>> FromIterator<(K, V)> for Metadata<'a> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut places: HashMap<Cow<'a, str>, usize> = HashMap::new();
        let mut metadata = Metadata::new();
        for (name, value) in pairs {
            let (name, value) = (name.into(), value.into());
            if metadata.len() < LINEAR_UP_TO {
                metadata.insert(name, value);
                continue;
            }
            if places.is_empty() {
                places = metadata.pairs.iter().enumerate().map(|(place, (name, _))| (name.clone(), place)).collect();
            }
            match places.entry(name) {
                Entry::Occupied(known) => metadata.pairs[*known.get()].1 = value,
                Entry::Vacant(new) => {
                    metadata.pairs.push((new.key().clone(), value));
                    new.insert(metadata.pairs.len() - 1);
                }
            }
        }
        metadata
    }
}

impl fmt::Debug for Metadata<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.pairs.iter().map(|(key, _)| (key, format_args!("…")))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_name_is_found_in_short_and_long_maps() {
        for length in [2, LINEAR_UP_TO, LINEAR_UP_TO + 1, 1000] {
            let mut pairs: Vec<(Cow<'_, str>, Cow<'_, str>)> =
                (0..length).map(|i| (format!("k{i}").into(), "v".into())).collect();
            assert_eq!(Metadata::from_pairs(pairs.clone()).unwrap().len(), length);
            pairs[length - 1].0 = "k0".into();
            assert_eq!(Metadata::from_pairs(pairs).unwrap_err(), "k0");
        }
    }

    #[test]
    fn collected_pairs_keep_their_order_and_the_last_value_of_a_name() {
        for length in [1, LINEAR_UP_TO - 1, LINEAR_UP_TO, LINEAR_UP_TO + 1, 100] {
            let pairs = (0..length).chain([length, 0, length, length / 2]).enumerate();
            let metadata: Metadata<'_> = pairs.map(|(place, key)| (format!("k{key}"), place.to_string())).collect();
            assert_eq!(metadata.len(), length + 1);
            assert_eq!(metadata.get("k0"), Some(&*(length + if length / 2 == 0 { 3 } else { 1 }).to_string()));
            assert_eq!(metadata.get(&format!("k{length}")), Some(&*(length + 2).to_string()));
            assert!(metadata.iter().map(|(name, _)| name.to_owned()).eq((0..=length).map(|key| format!("k{key}"))));
        }
    }

    #[test]
    fn pairs_are_set_read_and_dropped_by_name() {
        let mut metadata = Metadata::new();
        assert!(metadata.is_empty());
        assert_eq!((metadata.insert("a", "1"), metadata.insert("b", "2")), (None, None));
        assert_eq!(metadata.insert("a", "3").as_deref(), Some("1"));
        assert_eq!((metadata.get("a"), metadata.get("c"), metadata.len(), metadata.is_empty()), (Some("3"), None, 2, false));
        assert!(metadata.iter().eq([("a", "3"), ("b", "2")]));
        metadata.retain(|name| name != "a");
        assert!(metadata.clone().into_owned().iter().eq([("b", "2")]));
        assert_eq!(metadata, [("b", "2")].into_iter().collect());
        assert_ne!(metadata, Metadata::new());
    }

    #[test]
    fn the_hint_is_the_size_of_plain_pairs() {
        let metadata: Metadata<'_> = [("ab", "cde"), ("f", "")].into_iter().collect();
        assert_eq!(metadata.size_hint(), r#"{"ab":"cde","f":"",}"#.len());
        assert_eq!(Metadata::new().size_hint(), "{}".len());
    }

    #[test]
    fn debug_shows_names_and_no_value() {
        let metadata: Metadata<'_> = [("region", "hidden")].into_iter().collect();
        let shown = format!("{metadata:?}");
        assert!(shown.contains("region") && !shown.contains("hidden"));
    }
}
