//! Tells the linker that Node brings the N-API symbols.

fn main() {
    napi_build::setup();
}
