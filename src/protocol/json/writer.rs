//! Writes JSON text into one buffer.

use super::FreeJson;
use super::scan::plain_length;
use crate::protocol::Metadata;

/// A buffer that JSON is written into, front to back. It puts the commas; who writes closes what he opens.
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
        String::from_utf8(out.text).unwrap_or_default()
    }

    /// What has been written.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.text
    }

    /// The number of bytes written.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn open_object(&mut self) {
        self.text.push(b'{');
    }

    pub(crate) fn close_object(&mut self) {
        self.text.push(b'}');
    }

    pub(crate) fn open_array(&mut self) {
        self.text.push(b'[');
    }

    pub(crate) fn close_array(&mut self) {
        self.text.push(b']');
    }

    /// A comma, unless the container is still empty. The last byte tells: values never end in a bracket that opens.
    #[inline]
    pub(crate) fn separate(&mut self) {
        if !matches!(self.text.last(), Some(b'{' | b'[') | None) {
            self.text.push(b',');
        }
    }

    /// The name of a member; its value comes next. `name` needs no escape, and has at most 28 bytes: a longer one panics. Inlined,
    /// so that its length is known and all of it is written at once.
    #[inline(always)]
    pub(crate) fn name(&mut self, name: &'static str) {
        let end = name.len() + 4;
        let mut member = [0; 32];
        member[..2].copy_from_slice(b",\"");
        member[2..end - 2].copy_from_slice(name.as_bytes());
        member[end - 2..end].copy_from_slice(b"\":");
        let starts = matches!(self.text.last(), Some(b'{' | b'[') | None);
        if starts { self.text.extend_from_slice(&member[1..end]) } else { self.text.extend_from_slice(&member[..end]) }
    }

    /// A member whose value is a string.
    #[inline(always)]
    pub(crate) fn member(&mut self, name: &'static str, value: &str) {
        self.name(name);
        self.string(value);
    }

    /// A member whose value is one of the contract's own words, which need no escape.
    #[inline(always)]
    pub(crate) fn word(&mut self, name: &'static str, value: &'static str) {
        self.name(name);
        self.text.reserve(value.len() + 2);
        self.text.push(b'"');
        self.text.extend_from_slice(value.as_bytes());
        self.text.push(b'"');
    }

    /// A string (RFC 8259, section 7): only what has to be escaped is.
    pub(crate) fn string(&mut self, value: &str) {
        let bytes = value.as_bytes();
        if bytes.is_empty() {
            // Most members of a view that are not known.
            return self.text.extend_from_slice(b"\"\"");
        }
        self.text.reserve(bytes.len() + 2);
        self.text.push(b'"');
        let plain = plain_length(bytes);
        self.text.extend_from_slice(&bytes[..plain]);
        if plain < bytes.len() {
            self.escaped(&bytes[plain..]);
        }
        self.text.push(b'"');
    }

    /// What is left of a string from its first byte on that has to be escaped.
    #[cold]
    fn escaped(&mut self, mut rest: &[u8]) {
        while let Some((&byte, after)) = rest.split_first() {
            self.escape(byte);
            let plain = plain_length(after);
            self.text.extend_from_slice(&after[..plain]);
            rest = &after[plain..];
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
        self.text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    pub(crate) fn signed(&mut self, value: i64) {
        self.text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    pub(crate) fn nullable_signed(&mut self, value: Option<i64>) {
        match value {
            Some(value) => self.signed(value),
            None => self.null(),
        }
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.text.extend_from_slice(if value { b"true" } else { b"false" });
    }

    pub(crate) fn null(&mut self) {
        self.text.extend_from_slice(b"null");
    }

    /// Free JSON, as it is.
    pub(crate) fn free_json(&mut self, value: &FreeJson<'_>) {
        self.text.extend_from_slice(value.as_str().as_bytes());
    }

    /// The pairs whose name `keep` accepts, as an object.
    pub(crate) fn metadata(&mut self, metadata: &Metadata<'_>, keep: impl Fn(&str) -> bool) {
        self.open_object();
        for (name, value) in metadata.iter().filter(|(name, _)| keep(name)) {
            self.separate();
            self.string(name);
            self.text.push(b':');
            self.string(value);
        }
        self.close_object();
    }
}

#[cfg(test)]
mod tests;
