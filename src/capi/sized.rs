//! Structs that grow at their end: they carry their size first, so that a program and a library of different ages understand
//! each other.

use super::entry::Done;
use super::status::{AGENTHOST_INVALID_SIZE, AGENTHOST_NULL_ARGUMENT};

/// A struct of the header that grows.
///
/// # Safety
/// `repr(C)`, without padding, its first member a `usize` that holds the size; every bit pattern, zeros too, is a value of it.
pub(super) unsafe trait Sized: Copy {
    /// The size in the first release that had the struct: less is refused.
    const FIRST_SIZE: usize;
}

/// Reads a struct as far as both sides know it; what the caller does not know is 0.
///
/// # Safety
/// `pointer` is NULL, or points to a `usize` that says how many bytes, itself included, may be read there.
pub(super) unsafe fn read<T: Sized>(pointer: *const T) -> Done<T> {
    if pointer.is_null() {
        return Err(AGENTHOST_NULL_ARGUMENT);
    }
    // SAFETY: the first member is the size, as the trait demands, and the caller vouches for the pointer.
    let size = unsafe { pointer.cast::<usize>().read() };
    if size < T::FIRST_SIZE {
        return Err(AGENTHOST_INVALID_SIZE);
    }
    if size == size_of::<T>() {
        // SAFETY: exactly that many bytes may be read.
        return Ok(unsafe { pointer.read() });
    }
    let known = size.min(size_of::<T>());
    // SAFETY: `size` bytes may be read, and the tail begins within them.
    let tail = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>().add(known), size - known) };
    if tail.iter().any(|&byte| byte != 0) {
        return Err(AGENTHOST_INVALID_SIZE);
    }
    // SAFETY: zeros are a value of T, `known` bytes fit both sides, and they do not overlap.
    unsafe {
        let mut value: T = std::mem::zeroed();
        std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), (&raw mut value).cast::<u8>(), known);
        Ok(value)
    }
}
