//! Writes JSON text into one buffer.

use super::scan::{ends_plain, plain_length};
use crate::protocol::Metadata;

/// A buffer that JSON is written into, front to back. Behind each value it puts a comma, whose place is taken by the bracket that
/// closes; who writes closes what he opens.
pub(crate) struct Writer {
    text: Vec<u8>,
}

impl Writer {
    /// A buffer with room for `capacity` bytes.
    pub(crate) fn with_capacity(capacity: usize) -> Writer {
        Writer { text: Vec::with_capacity(capacity) }
    }

    /// What `write` writes.
    pub(crate) fn text(write: impl FnOnce(&mut Writer)) -> String {
        let mut out = Writer::with_capacity(256);
        write(&mut out);
        // Only whole strings are ever written.
        String::from_utf8(out.into_bytes()).unwrap_or_default()
    }

    /// The value that has been written.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.text.truncate(self.len());
        self.text
    }

    /// The number of bytes written, not counting a comma that nothing follows yet.
    pub(crate) fn len(&self) -> usize {
        self.text.len() - usize::from(self.text.last() == Some(&b','))
    }

    pub(crate) fn open_object(&mut self) {
        self.text.push(b'{');
    }

    pub(crate) fn close_object(&mut self) {
        self.close(b'}');
    }

    pub(crate) fn open_array(&mut self) {
        self.text.push(b'[');
    }

    pub(crate) fn close_array(&mut self) {
        self.close(b']');
    }

    #[inline]
    fn close(&mut self, bracket: u8) {
        match self.text.last_mut() {
            Some(last) if *last == b',' => *last = bracket,
            _ => self.text.push(bracket),
        }
        self.text.push(b',');
    }

    /// The name of a member; its value comes next. `name` needs no escape, and has at most 30 bytes: a longer one panics. Inlined,
    /// so that its length is known and all of it is written at once.
    #[inline(always)]
    pub(crate) fn name(&mut self, name: &'static str) {
        let (member, end) = named(name);
        self.text.extend_from_slice(&member[..end]);
    }

    /// A member whose value is a string.
    #[inline(always)]
    pub(crate) fn member(&mut self, name: &'static str, value: &str) {
        let (member, end) = named(name);
        if value.is_empty() {
            // Most members of a view that are not known.
            return self.text.extend_from_slice(&member[..end + 3]);
        }
        self.text.extend_from_slice(&member[..=end]);
        self.end_string(value, *b"\",");
    }

    /// A member whose value is one of the contract's own words, which need no escape.
    #[inline(always)]
    pub(crate) fn word(&mut self, name: &'static str, value: &'static str) {
        let (member, end) = named(name);
        self.text.extend_from_slice(&member[..=end]);
        self.text.extend_from_slice(value.as_bytes());
        self.text.extend_from_slice(b"\",");
    }

    /// A string (RFC 8259, section 7): only what has to be escaped is.
    pub(crate) fn string(&mut self, value: &str) {
        self.text.push(b'"');
        self.end_string(value, *b"\",");
    }

    /// A string behind its first quotation mark, up to `end`, which begins with its last one.
    fn end_string(&mut self, value: &str, end: [u8; 2]) {
        self.text.extend_from_slice(value.as_bytes());
        if !ends_plain(&self.text, value.len()) {
            self.escape_last(value.len());
        }
        self.text.extend_from_slice(&end);
    }

    /// Writes the last `length` bytes anew: something in them has to be escaped.
    #[cold]
    #[inline(never)]
    fn escape_last(&mut self, length: usize) {
        let last = self.text.split_off(self.text.len() - length);
        let mut rest = &*last;
        loop {
            let plain = plain_length(rest);
            self.text.extend_from_slice(&rest[..plain]);
            let Some((&byte, after)) = rest[plain..].split_first() else { return };
            self.escape(byte);
            rest = after;
        }
    }

    fn escape(&mut self, byte: u8) {
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            0x08 => b'b',
            0x0c => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                self.text.extend_from_slice(b"\\u00");
                self.text.push(HEX[usize::from(byte >> 4)]);
                self.text.push(HEX[usize::from(byte & 15)]);
                return;
            }
        };
        self.text.extend_from_slice(&[b'\\', short]);
    }

    pub(crate) fn unsigned(&mut self, value: u64) {
        self.json_text(itoa::Buffer::new().format(value));
    }

    pub(crate) fn signed(&mut self, value: i64) {
        self.json_text(itoa::Buffer::new().format(value));
    }

    pub(crate) fn nullable_signed(&mut self, value: Option<i64>) {
        match value {
            Some(value) => self.signed(value),
            None => self.null(),
        }
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.text.extend_from_slice(if value { b"true," } else { b"false," });
    }

    pub(crate) fn null(&mut self) {
        self.text.extend_from_slice(b"null,");
    }

    /// A value that is JSON text already.
    pub(crate) fn json_text(&mut self, json: &str) {
        self.text.extend_from_slice(json.as_bytes());
        self.text.push(b',');
    }

    /// The pairs whose name `keep` accepts, as an object.
    pub(crate) fn metadata(&mut self, metadata: &Metadata<'_>, keep: impl Fn(&str) -> bool) {
        self.open_object();
        for (name, value) in metadata.iter().filter(|(name, _)| keep(name)) {
            self.text.push(b'"');
            self.end_string(name, *b"\":");
            self.string(value);
        }
        self.close_object();
    }
}

/// A member's name with all that may stand around it: the value of an empty string, too. The place is behind the colon.
#[inline(always)]
fn named(name: &'static str) -> ([u8; 36], usize) {
    let mut member = [0; 36];
    let end = name.len() + 3;
    member[0] = b'"';
    member[1..end - 2].copy_from_slice(name.as_bytes());
    member[end - 2..end + 3].copy_from_slice(b"\":\"\",");
    (member, end)
}

#[cfg(test)]
mod tests;
