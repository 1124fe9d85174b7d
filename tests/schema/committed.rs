//! `docs/schema` holds what the types give. `AGENTHOST_UPDATE_SCHEMAS=1` writes it anew.

use std::path::PathBuf;

use agenthost::schema::documents;

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/schema");
    let update = std::env::var_os("AGENTHOST_UPDATE_SCHEMAS").is_some();
    let mut names = Vec::new();
    for (name, schema) in documents() {
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        let file = folder.join(name);
        if update {
            std::fs::write(&file, &text).expect("write a schema");
        }
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(committed == text, "docs/schema/{name} differs from the types: run with AGENTHOST_UPDATE_SCHEMAS=1");
        names.push(name.to_owned());
    }
    let mut found: Vec<String> = std::fs::read_dir(&folder)
        .expect("docs/schema")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    found.sort();
    assert_eq!(found, names, "docs/schema holds the schemas and nothing else");
}
