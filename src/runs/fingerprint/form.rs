//! How strings stand in the canonical form.

/// A string, behind its tag.
pub(super) fn write_string(form: &mut Vec<u8>, value: &str) {
    form.push(b's');
    write_bytes(form, value.as_bytes());
}

/// Bytes behind their length, seven bits of it at a time, the lowest first.
pub(super) fn write_bytes(form: &mut Vec<u8>, bytes: &[u8]) {
    let mut rest = bytes.len();
    while rest > 0x7f {
        form.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    form.push(rest as u8);
    form.extend_from_slice(bytes);
}
