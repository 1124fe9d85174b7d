//! Names that look as if their value were a secret (protocol, "Sensitive names").

use super::violation::quoted;

/// A name is sensitive when its ASCII letters and digits, in lower case, end with one of these.
pub(crate) const SENSITIVE_ENDINGS: [&str; 29] = [
    "token",
    "secret",
    "secrets",
    "password",
    "passwords",
    "passwd",
    "pwd",
    "passphrase",
    "credential",
    "credentials",
    "apikey",
    "apikeys",
    "accesskey",
    "accesskeys",
    "privatekey",
    "privatekeys",
    "secretkey",
    "secretkeys",
    "cookie",
    "cookies",
    "authorization",
    "authorizationheader",
    "jwt",
    "bearer",
    "accesstokens",
    "refreshtokens",
    "authtokens",
    "apitokens",
    "bearertokens",
];

/// For each letter, the endings whose last it is: a bit for each. Most names are told apart by their last letter.
const ENDING_WITH: [u32; 26] = {
    let (mut endings, mut index) = ([0; 26], 0);
    while index < SENSITIVE_ENDINGS.len() {
        if let Some(last) = SENSITIVE_ENDINGS[index].as_bytes().last() {
            endings[(*last - b'a') as usize] |= 1 << index;
        }
        index += 1;
    }
    endings
};

/// The names that are kept out of metadata: the built-in ones, and those that a host adds. None can be removed.
#[derive(Clone, Debug, Default)]
pub struct SensitiveNames {
    added: Vec<String>,
}

/// A name that cannot be added to [`SensitiveNames`]: it has no ASCII letter or digit, so every name would end with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a sensitive name needs at least one ASCII letter or digit, found {}", quoted(.0))]
pub struct InvalidSensitiveName(String);

impl SensitiveNames {
    /// The built-in names and no others.
    pub const fn built_in() -> SensitiveNames {
        SensitiveNames { added: Vec::new() }
    }

    /// The built-in names and `added`. An added name is compared like the built-in ones: by its ASCII letters and digits
    /// in lower case, at the end of a name.
    pub fn with<S: AsRef<str>>(added: impl IntoIterator<Item = S>) -> Result<SensitiveNames, InvalidSensitiveName> {
        let mut names = Vec::new();
        for name in added {
            let ending: String = name.as_ref().bytes().filter_map(kept).map(char::from).collect();
            if ending.is_empty() {
                return Err(InvalidSensitiveName(name.as_ref().to_owned()));
            }
            names.push(ending);
        }
        Ok(SensitiveNames { added: names })
    }

    /// Whether `name` looks as if its value were a secret.
    pub fn contains(&self, name: &str) -> bool {
        let Some(last) = name.bytes().rev().find_map(kept) else { return false };
        let mut endings = ENDING_WITH.get(usize::from(last.wrapping_sub(b'a'))).copied().unwrap_or(0);
        while endings != 0 {
            if ends_with(name, SENSITIVE_ENDINGS[endings.trailing_zeros() as usize]) {
                return true;
            }
            endings &= endings - 1;
        }
        self.added.iter().any(|ending| ends_with(name, ending))
    }
}

/// Whether the letters and digits of `name`, in lower case, end with `ending`.
fn ends_with(name: &str, ending: &str) -> bool {
    let mut rest = name.bytes().rev().filter_map(kept);
    ending.bytes().rev().all(|wanted| rest.next() == Some(wanted))
}

/// A letter in lower case, a digit as it is, nothing else.
fn kept(byte: u8) -> Option<u8> {
    byte.is_ascii_alphanumeric().then(|| byte.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_judged_by_how_its_letters_and_digits_end() {
        let names = SensitiveNames::built_in();
        for name in
            ["token", "accessToken", "x-api-key", "AUTHORIZATION", "db.pass_word", "to\u{0}ken", "tokén-token", "refresh_tokens"]
        {
            assert!(names.contains(name), "{name}");
        }
        for name in ["tokens", "max_tokens", "tokenizer", "", "passworde", "key", "tökén"] {
            assert!(!names.contains(name), "{name}");
        }
    }

    #[test]
    fn every_ending_of_the_contract_counts_and_no_prefix_of_one() {
        let singular_and_plural =
            ["secret", "password", "credential", "apikey", "accesskey", "privatekey", "secretkey", "cookie"];
        let alone = ["token", "passwd", "pwd", "passphrase", "authorization", "authorizationheader", "jwt", "bearer"];
        let tokens_of = ["access", "refresh", "auth", "api", "bearer"];
        let expected: std::collections::BTreeSet<String> = singular_and_plural
            .iter()
            .flat_map(|word| [(*word).to_owned(), format!("{word}s")])
            .chain(alone.iter().map(|word| (*word).to_owned()))
            .chain(tokens_of.iter().map(|word| format!("{word}tokens")))
            .collect();
        assert!(SENSITIVE_ENDINGS.iter().all(|ending| expected.contains(*ending)));
        assert_eq!(SENSITIVE_ENDINGS.len(), expected.len());
        let names = SensitiveNames::built_in();
        for ending in &expected {
            let spaced: String = ending.to_uppercase().chars().flat_map(|letter| ['é', letter, '-']).collect();
            assert!(names.contains(ending) && names.contains(&spaced) && names.contains(&format!("my{ending}")), "{ending}");
            let shorter = &ending[1..];
            let still = expected.iter().any(|other| shorter.ends_with(other.as_str()));
            assert_eq!(names.contains(shorter), still, "{shorter}");
            assert!(!names.contains(&format!("{ending}1")), "{ending}1");
        }
    }

    #[test]
    fn a_host_adds_names_and_removes_none() {
        let names = SensitiveNames::with(["Session-ID"]).unwrap();
        assert!(names.contains("my_session_id") && names.contains("password") && !names.contains("session"));
        assert!(SensitiveNames::with(["日本"]).unwrap_err().to_string().contains("日本"));
    }
}
