//! Which library this is.

use std::ffi::c_char;

/// The interface's version: major << 16 | minor. A library serves every header of its own major whose minor is not above its
/// own.
pub const AGENTHOST_ABI_VERSION: u32 = 0x0000_0001;

/// The library's version, for example `0.1.0`. Static text, NUL-terminated.
#[unsafe(no_mangle)]
pub extern "C" fn agenthost_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The library's `AGENTHOST_ABI_VERSION`, to compare with the header's.
#[unsafe(no_mangle)]
pub extern "C" fn agenthost_abi_version() -> u32 {
    AGENTHOST_ABI_VERSION
}
