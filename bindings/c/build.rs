//! Gives the shared library its SONAME: programs link against the interface, not against one build.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if os == "linux" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libagenthost.so.0");
    }
}
