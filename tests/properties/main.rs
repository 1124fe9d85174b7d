//! What holds for every value: requests and results survive the way over the wire unchanged, and the strict reader takes
//! nothing that an ordinary JSON parser would read differently.

mod reader;
mod strategies;
mod wire;

use proptest::prelude::ProptestConfig;

/// `cases`, or as many as `PROPTEST_CASES` says. Failing cases are printed with their smallest form, and become unit tests; no file remembers them.
fn config(cases: u32) -> ProptestConfig {
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default().cases } else { cases };
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}
