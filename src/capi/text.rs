//! Text across the border: borrowed slices, and buffers that the library made.

use std::ffi::c_char;

use super::handles::{OwnedHandle, read_or};
use super::live::{AGENTHOST_LIVE_BUFFERS, Live};

/// Borrowed UTF-8 text: pointer and length in bytes, not NUL-terminated, may contain U+0000. Length 0 ignores the pointer. What
/// the library hands out is valid until the function or callback that brought it returns, unless it says otherwise.
/// Frozen for ever: may be embedded and used in arrays.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_str {
    /// The first byte.
    pub data: *const c_char,
    /// The number of bytes.
    pub len: usize,
}

/// A name and its value. Frozen for ever.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_pair {
    /// The name.
    pub key: agenthost_str,
    /// The value.
    pub value: agenthost_str,
}

/// A map of strings; the names are distinct. Frozen for ever.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_pairs {
    /// The first pair; ignored when `count` is 0.
    pub items: *const agenthost_pair,
    /// The number of pairs.
    pub count: usize,
}

/// A number that may be null. Frozen for ever.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_optional_i64 {
    /// 0: null. 1: `value` counts.
    pub present: u64,
    /// The number.
    pub value: i64,
}

/// Bytes that the library made and you own. One owner; ends with `agenthost_buffer_free`.
pub struct agenthost_buffer {
    bytes: Vec<u8>,
    _live: Live<AGENTHOST_LIVE_BUFFERS>,
}

impl agenthost_buffer {
    pub(super) fn new(bytes: Vec<u8>) -> agenthost_buffer {
        agenthost_buffer { bytes, _live: Live::new() }
    }
}

impl OwnedHandle for agenthost_buffer {}

/// The buffer's first byte; valid until it is freed. Not NUL-terminated. NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_buffer_data(buffer: *const agenthost_buffer) -> *const c_char {
    // SAFETY: the caller hands in NULL or a buffer that is not freed.
    unsafe { read_or(buffer, std::ptr::null(), |buffer| buffer.bytes.as_ptr().cast()) }
}

/// The number of bytes in the buffer. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_buffer_len(buffer: *const agenthost_buffer) -> usize {
    // SAFETY: the caller hands in NULL or a buffer that is not freed.
    unsafe { read_or(buffer, 0, |buffer| buffer.bytes.len()) }
}

/// Frees a buffer. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_buffer_free(buffer: *mut agenthost_buffer) {
    // SAFETY: the caller owns the buffer and gives it up.
    unsafe { agenthost_buffer::free(buffer) };
}
