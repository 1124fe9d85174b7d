//! The pattern for sensitive names says what [`SensitiveNames`] says.

use agenthost::protocol::SensitiveNames;
use agenthost::schema::documents;
use proptest::prelude::*;
use serde_json::json;

use crate::validator;

/// Names that are nearly sensitive: an ending in any case, with other characters around and within.
fn names() -> impl Strategy<Value = String> {
    let words = "(to|tok|token|tokens|api|access|auth|bearer|refresh|key|keys|secret|s|pass|word|pwd|cookie|jwt|credential|credentials|authorization|header|private)";
    let word = (words, any::<u32>()).prop_map(|(word, upper): (String, u32)| {
        let cased = word
            .chars()
            .enumerate()
            .map(|(place, letter)| if upper >> (place % 32) & 1 == 1 { letter.to_ascii_uppercase() } else { letter });
        cased.collect::<String>()
    });
    let other = prop_oneof![Just(String::new()), "[-_ .0-9\\n\u{0}éſK日\\PC]{0,2}"];
    prop::collection::vec((word, other), 0..4)
        .prop_map(|parts| parts.into_iter().map(|(word, other)| word + &other).collect::<String>())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn the_pattern_knows_exactly_the_sensitive_names(name in names()) {
        thread_local! {
            static CONTEXT: jsonschema::Validator = validator(
                documents().into_iter().find(|(name, _)| *name == "create_run.json").expect("create_run.json").1,
            );
        }
        let body = json!({"context": {"runId": "run-1", "metadata": {name.as_str(): "value"}}});
        let accepted = CONTEXT.with(|context| context.is_valid(&body));
        prop_assert_eq!(accepted, !SensitiveNames::built_in().contains(&name));
    }
}
