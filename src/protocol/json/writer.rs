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

    /// The name of a member; its value comes next. `name` needs no escape. Inlined, so that its length is known.
    #[inline(always)]
    pub(crate) fn name(&mut self, name: &'static str) {
        self.separate();
        self.text.push(b'"');
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
    }

    /// A string (RFC 8259, section 7): only what has to be escaped is.
    pub(crate) fn string(&mut self, value: &str) {
        let mut rest = value.as_bytes();
        if rest.is_empty() {
            // Most members of a view that are not known.
            self.text.extend_from_slice(b"\"\"");
            return;
        }
        self.text.reserve(rest.len() + 2);
        self.text.push(b'"');
        loop {
            let plain = plain_length(rest);
            self.text.extend_from_slice(&rest[..plain]);
            let Some(&byte) = rest.get(plain) else { break };
            self.escape(byte);
            rest = &rest[plain + 1..];
        }
        self.text.push(b'"');
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
