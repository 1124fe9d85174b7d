//! `include/agenthost.h` is what cbindgen makes of `src/capi`. `AGENTHOST_UPDATE=1` writes it.

use std::path::{Path, PathBuf};

/// The files whose items are the header, in reading order.
const FILES: [&str; 12] =
    ["status", "text", "words", "live", "requests", "results", "service", "reply", "host", "dispatch", "request", "response"];

fn generated() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for name in FILES.into_iter().chain(["runs", "outcome", "worker", "operator", "library"]) {
        builder = builder.with_src(root.join(format!("src/capi/{name}.rs")));
    }
    let mut text = Vec::new();
    builder.generate().expect("the items of src/capi make a header").write(&mut text);
    String::from_utf8(text).expect("text")
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include/agenthost.h")
}

#[test]
fn the_committed_header_is_what_the_items_make() {
    let generated = generated();
    if std::env::var_os("AGENTHOST_UPDATE").is_some() {
        std::fs::write(path(), &generated).expect("the header is writable");
    }
    let committed = std::fs::read_to_string(path()).unwrap_or_default();
    assert!(committed == generated, "include/agenthost.h is out of date: run with AGENTHOST_UPDATE=1");
}

#[test]
fn every_export_stands_in_the_header() {
    let header = generated();
    let mut exports = 0;
    for name in FILES.into_iter().chain(["runs", "outcome", "worker", "operator", "library"]) {
        let source =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/capi/{name}.rs"))).expect(name);
        for export in source.split("extern \"C\" fn ").skip(1).filter_map(|rest| rest.split('(').next()) {
            exports += 1;
            assert!(header.contains(&format!("{export}(")), "{export} is not in the header");
        }
    }
    assert!(exports > 50, "only {exports} exports were found");
}

#[test]
fn the_header_names_this_version() {
    assert!(generated().contains(&format!("#define AGENTHOST_VERSION \"{}\"", env!("CARGO_PKG_VERSION"))));
}
