//! `include/agenthost.h` is what cbindgen makes of `src/capi`. `AGENTHOST_UPDATE=1` writes it.

use std::path::{Path, PathBuf};

/// The source of each module of `src/capi`, in the order of its list, which is the header's.
fn modules() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/capi");
    let list = std::fs::read_to_string(folder.join("mod.rs")).expect("the list of modules");
    let names = list.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    names.map(|name| folder.join(format!("{name}.rs"))).collect()
}

fn generated() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for module in modules() {
        builder = builder.with_src(module);
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
    for module in modules() {
        let source = std::fs::read_to_string(module).expect("a module");
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
