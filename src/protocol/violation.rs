//! A broken rule: which member, and what was expected. Names get in here, cut short; what the values of free text are does not.

use std::fmt;

/// The longest name that a message or path repeats, in bytes (protocol, promise 4).
const MAX_NAME_BYTES: usize = 256;

/// A rule of the contract that a message or an answer breaks.
///
/// Of what was sent it holds the names of members, and of values only an unknown version or operation and numbers out of
/// their range; each cut to 256 bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Violation {
    path: String,
    expected: String,
}

impl Violation {
    /// `expected` says what the rule wants, and what stood there instead, without the value.
    pub(crate) fn new(path: Path<'_>, expected: impl Into<String>) -> Box<Violation> {
        Box::new(Violation { path: shortened(&path.to_string()).into_owned(), expected: expected.into() })
    }

    /// The member, dotted from the root of the message, for example `body.expectedRevision`; empty for the message itself.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What was expected there.
    pub fn expected(&self) -> &str {
        &self.expected
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.expected) } else { write!(f, "{}: {}", self.path, self.expected) }
    }
}

/// Where a reader stands: a list of names that lives on the stack and is only spelled out when a rule is broken.
#[derive(Clone, Copy)]
pub(crate) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Name(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// The message itself.
    pub(crate) const ROOT: Path<'static> = Path { parent: None, step: Step::Name("") };

    /// The member `name` of what this path leads to.
    pub(crate) fn member(&'p self, name: &'p str) -> Path<'p> {
        Path { parent: Some(self), step: Step::Name(name) }
    }

    /// The element `index` of what this path leads to.
    pub(crate) fn element(&'p self, index: usize) -> Path<'p> {
        Path { parent: Some(self), step: Step::Index(index) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else {
            return Ok(());
        };
        if parent.parent.is_some() {
            write!(f, "{parent}.")?;
        }
        match self.step {
            Step::Name(name) => f.write_str(&shortened(name)),
            Step::Index(index) => write!(f, "{index}"),
        }
    }
}

/// `name`, cut to 256 bytes at a character; a cut is shown by an ellipsis within them.
pub(crate) fn shortened(name: &str) -> std::borrow::Cow<'_, str> {
    const ELLIPSIS: &str = "…";
    if name.len() <= MAX_NAME_BYTES {
        return name.into();
    }
    let mut end = MAX_NAME_BYTES - ELLIPSIS.len();
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{ELLIPSIS}", &name[..end]).into()
}

/// `name` in quotation marks, for a message; cut like [`shortened`].
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", shortened(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_dotted_from_the_root() {
        let body = Path::ROOT.member("body");
        let events = body.member("events");
        let event = events.element(3);
        assert_eq!(event.member("type").to_string(), "body.events.3.type");
        assert_eq!(Path::ROOT.to_string(), "");
    }

    #[test]
    fn a_violation_says_where_and_what() {
        let violation = Violation::new(Path::ROOT.member("body"), "expected more");
        assert_eq!((violation.path(), violation.expected()), ("body", "expected more"));
        assert_eq!(violation.to_string(), "body: expected more");
        assert_eq!(Violation::new(Path::ROOT, "expected JSON").to_string(), "expected JSON");
        assert_eq!(quoted("a\"b"), "\"a\"b\"");
        assert_eq!(quoted(&"x".repeat(300)).len(), 258);
    }

    #[test]
    fn a_path_of_many_long_names_is_cut_as_a_whole() {
        let long = "n".repeat(200);
        let first = Path::ROOT.member(&long);
        let violation = Violation::new(first.member(&long), "x");
        assert_eq!(violation.path().len(), 256);
        assert!(violation.path().starts_with(&format!("{long}.nnn")) && violation.path().ends_with('…'));
    }

    #[test]
    fn names_are_cut_to_256_bytes_at_a_character() {
        let exact = "é".repeat(128);
        assert_eq!(shortened(&exact), exact);
        let long = "é".repeat(129);
        let cut = shortened(&long);
        assert!(cut.len() <= 256 && cut.len() > 250 && cut.ends_with('…'));
        let body = Path::ROOT.member("body");
        assert!(Violation::new(body.member(&long), "x").path().len() <= 256);
    }
}
