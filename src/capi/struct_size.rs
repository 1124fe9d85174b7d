//! Structs that grow at their end: they carry their size first, so that a program and a library of different ages understand
//! each other.

use super::export::StatusResult;
use super::status::{AGENTHOST_INVALID_SIZE, AGENTHOST_NULL_ARGUMENT, agenthost_status};

/// The largest `struct_size`, several times that of any struct: a larger one is a mistake, whose tail is not read.
pub(super) const MAX_STRUCT_SIZE: usize = 4096;

/// What is wrong with a struct that grew beyond this library.
pub(super) const UNKNOWN_TAIL: &str = "struct_size: expected zeros behind what this library knows";

/// A struct of the header that grows.
///
/// # Safety
/// `repr(C)`, without padding, its first member a `usize` that holds the size; every bit pattern, zeros too, is a value of it.
pub(super) unsafe trait SizedStruct: Copy {
    /// The size in the first release that had the struct: less is refused.
    const FIRST_SIZE: usize;
}

macro_rules! sized_structs {
    ($($name:ident),* $(,)?) => {
        $(
            // SAFETY: `repr(C)` of a size, pointers and integers, without padding (the layout test computes it).
            unsafe impl $crate::capi::struct_size::SizedStruct for $name {
                const FIRST_SIZE: usize = size_of::<$name>();
            }
        )*
    };
}
pub(super) use sized_structs;

/// Reads a struct as far as both sides know it; what the caller does not know is 0.
///
/// # Safety
/// `pointer` is NULL, or points to a `usize` that says how many bytes, itself included, may be read there.
pub(super) unsafe fn read<T: SizedStruct>(pointer: *const T) -> StatusResult<T> {
    if pointer.is_null() {
        return Err(AGENTHOST_NULL_ARGUMENT);
    }
    // SAFETY: the first member is the size, as the trait demands, and the caller vouches for the pointer.
    let size = unsafe { pointer.cast::<usize>().read() };
    if !(T::FIRST_SIZE..=MAX_STRUCT_SIZE).contains(&size) {
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

/// A struct that is read as far as it can be, so that what it owns is ended whatever comes.
pub(super) enum Taken<T> {
    /// Nothing can be read, for this reason.
    Unreadable(agenthost_status),
    /// All that is known here; with a status when what is not known is not 0.
    Read(T, Option<agenthost_status>),
}

/// # Safety
/// As [`read`].
pub(super) unsafe fn take<T: SizedStruct>(pointer: *const T) -> Taken<T> {
    // SAFETY: by this function's own contract.
    match unsafe { read(pointer) } {
        Ok(value) => Taken::Read(value, None),
        Err(AGENTHOST_INVALID_SIZE) => {
            // SAFETY: by this function's own contract the size may be read.
            let size = unsafe { pointer.cast::<usize>().read() };
            if !(size_of::<T>()..=MAX_STRUCT_SIZE).contains(&size) {
                return Taken::Unreadable(AGENTHOST_INVALID_SIZE);
            }
            // SAFETY: that many bytes may be read, which hold all that this library knows.
            Taken::Read(unsafe { pointer.read() }, Some(AGENTHOST_INVALID_SIZE))
        }
        Err(status) => Taken::Unreadable(status),
    }
}
