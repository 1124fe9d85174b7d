//! Whether two requests are the same (durable runs, "Idempotency"): a digest of what a request means, not of how it is
//! written. Member order, white space and escapes do not count, numbers compare by their exact decimal value.
//!
//! The canonical form: a version byte, then values, each with a tag; strings and keys carry their length, so that no value can
//! be read as two others. An object stands as the digest of its members in the order of their names' bytes, so that sorting
//! moves 32 bytes for each nested object and the whole stays linear in the text, whatever it nests.

mod decimal;
mod form;

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use crate::protocol::json::{Malformed, Reader};
use crate::protocol::{ExecutionContext, FreeJson, Metadata, Path, Violation, quoted};
use crate::store::Digest;
use form::write_string;

/// The form that is hashed. A change of the form is a new version: old records then match no request, and say so.
const VERSION: u8 = 1;

/// What to do with a name that an object of free JSON holds twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeated {
    /// Parsers differ on what it means, so two requests could not be compared.
    Refused,
    /// The members stay in their order.
    Kept,
}

/// A fingerprint in the making: the same calls in the same order with the same values give the same digest.
pub(crate) struct Fingerprint {
    form: Vec<u8>,
}

/// The fingerprint of `{}` as the input of a resume.
pub(crate) fn empty_input() -> Digest {
    let mut fingerprint = Fingerprint::of("input");
    // An empty object has no member that could be there twice.
    let _ = fingerprint.json(&FreeJson::EMPTY_OBJECT, Path::ROOT, Repeated::Refused);
    fingerprint.digest()
}

impl Fingerprint {
    /// The fingerprint of an operation.
    pub(crate) fn of(operation: &str) -> Fingerprint {
        let mut fingerprint = Fingerprint { form: vec![VERSION] };
        fingerprint.string(operation);
        fingerprint
    }

    pub(crate) fn string(&mut self, value: &str) -> &mut Fingerprint {
        write_string(&mut self.form, value);
        self
    }

    pub(crate) fn unsigned(&mut self, value: u64) -> &mut Fingerprint {
        self.form.push(b'u');
        self.form.extend(value.to_be_bytes());
        self
    }

    fn optional_signed(&mut self, value: Option<i64>) -> &mut Fingerprint {
        match value {
            None => self.form.push(b'n'),
            Some(value) => {
                self.form.push(b'i');
                self.form.extend(value.to_be_bytes());
            }
        }
        self
    }

    pub(crate) fn metadata(&mut self, metadata: &Metadata<'_>) -> &mut Fingerprint {
        let mut pairs: Vec<_> = metadata.iter().collect();
        pairs.sort_unstable();
        self.unsigned(pairs.len() as u64);
        for (name, value) in pairs {
            self.string(name).string(value);
        }
        self
    }

    /// All of a context but `requestId` and `traceId`: they name the attempt, not the work.
    pub(crate) fn context(&mut self, context: &ExecutionContext<'_>) -> &mut Fingerprint {
        let ExecutionContext {
            run_id,
            trace_id: _,
            request_id: _,
            tenant_id,
            user_id,
            application_id,
            workspace_id,
            conversation_id,
            agent_id,
            locale,
            deadline_unix_ms,
            metadata,
        } = context;
        for value in [run_id, tenant_id, user_id, application_id, workspace_id, conversation_id, agent_id, locale] {
            self.string(value);
        }
        self.optional_signed(*deadline_unix_ms).metadata(metadata)
    }

    /// Free JSON, whose place is `path`.
    pub(crate) fn json(
        &mut self,
        value: &FreeJson<'_>,
        path: Path<'_>,
        repeated: Repeated,
    ) -> Result<&mut Fingerprint, Box<Violation>> {
        let mut canonical = Canonical { reader: Reader::new(value.as_str()), form: &mut self.form, repeated };
        match canonical.value(path) {
            Ok(()) => Ok(self),
            Err(Refused::Repeated(violation)) => Err(violation),
            Err(Refused::Malformed(malformed)) => Err(malformed.violation(path)),
        }
    }

    pub(crate) fn digest(&self) -> Digest {
        Sha256::digest(&self.form).into()
    }
}

enum Refused {
    Repeated(Box<Violation>),
    Malformed(Malformed),
}

impl From<Malformed> for Refused {
    fn from(malformed: Malformed) -> Refused {
        Refused::Malformed(malformed)
    }
}

/// Writes the canonical form of one text. Free JSON nests 100 levels at most, so recursion is bounded.
struct Canonical<'a, 'f> {
    reader: Reader<'a>,
    form: &'f mut Vec<u8>,
    repeated: Repeated,
}

impl Canonical<'_, '_> {
    fn value(&mut self, path: Path<'_>) -> Result<(), Refused> {
        match self.reader.peek() {
            Some(b'{') => self.object(path)?,
            Some(b'[') => {
                self.reader.enter_array()?;
                self.form.push(b'[');
                let (mut first, mut index) = (true, 0);
                while self.reader.next_element(&mut first)? {
                    self.value(path.element(index))?;
                    index += 1;
                }
                self.form.push(b']');
            }
            Some(b'"') => {
                let text = self.reader.string()?;
                write_string(self.form, &text);
            }
            Some(b't' | b'f') => {
                let tag = if self.reader.boolean()? { b't' } else { b'f' };
                self.form.push(tag);
            }
            Some(b'n') => {
                self.reader.null()?;
                self.form.push(b'n');
            }
            _ => decimal::write_canonical(self.reader.number()?, self.form),
        }
        Ok(())
    }

    fn object(&mut self, path: Path<'_>) -> Result<(), Refused> {
        self.reader.enter_object()?;
        let start = self.form.len();
        let mut members: Vec<Member> = Vec::new();
        let mut first = true;
        while let Some(name) = self.reader.next_member(&mut first)? {
            let name_start = self.form.len();
            self.form.extend_from_slice(name.as_bytes());
            let name_range = name_start..self.form.len();
            self.value(path.member(&name))?;
            members.push(Member { value: name_range.end..self.form.len(), name: name_range });
        }
        let form = &*self.form;
        // Stable: of equal names the first stays first.
        members.sort_by(|a, b| form[a.name.clone()].cmp(&form[b.name.clone()]));
        if self.repeated == Repeated::Refused {
            let twice = members.windows(2).find(|pair| form[pair[0].name.clone()] == form[pair[1].name.clone()]);
            if let Some(pair) = twice {
                let name = String::from_utf8_lossy(&form[pair[0].name.clone()]);
                let expected = format!("expected the member {} once, found it again", quoted(&name));
                return Err(Refused::Repeated(Violation::new(path, expected)));
            }
        }
        let mut hash = Sha256::new();
        for member in &members {
            hash.update((member.name.len() as u64).to_be_bytes());
            hash.update(&form[member.name.clone()]);
            hash.update(&form[member.value.clone()]);
        }
        let digest = hash.finalize();
        self.form.truncate(start);
        self.form.push(b'{');
        self.form.extend_from_slice(&digest);
        Ok(())
    }
}

/// Where a member stands in the form.
struct Member {
    name: Range<usize>,
    value: Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> Result<Digest, String> {
        let json = FreeJson::new(text).map_err(|violation| violation.to_string())?;
        let mut fingerprint = Fingerprint::of("test");
        let path = Path::ROOT.member("input");
        let digest = fingerprint.json(&json, path, Repeated::Refused).map(|fingerprint| fingerprint.digest());
        digest.map_err(|violation| violation.to_string())
    }

    fn assert_same(texts: &[&str]) {
        for text in &texts[1..] {
            assert_eq!(digest(text).unwrap(), digest(texts[0]).unwrap(), "{} and {text}", texts[0]);
        }
    }

    fn assert_different(texts: &[&str]) {
        for (index, text) in texts.iter().enumerate() {
            for other in &texts[index + 1..] {
                assert_ne!(digest(text).unwrap(), digest(other).unwrap(), "{text} and {other}");
            }
        }
    }

    #[test]
    fn member_order_and_white_space_do_not_count_and_array_order_does() {
        assert_same(&[r#"{"a":1,"b":{"c":2,"d":[]}}"#, r#" { "b" : {"d":[ ],"c":2} , "a":1}"#]);
        assert_different(&["[1,2]", "[2,1]", "[[1],2]", "[1,[2]]", "[12]", "[]", "{}", "[{}]", "[[]]"]);
    }

    #[test]
    fn numbers_compare_by_their_exact_decimal_value() {
        assert_same(&["1", "1.0", "1e0", "10e-1", "0.1E+1", "1.000", "100e-00000002"]);
        assert_same(&["0", "-0", "0.0", "-0.000e5", "0e999999999999999999999999"]);
        assert_same(&["-1200", "-12e2", "-1.2e3", "-0.12e+4", "-1200.0"]);
        assert_different(&["9007199254740991", "9007199254740992", "9007199254740993", "9007199254740994"]);
        assert_different(&["0.1", "0.10000000000000001", "1", "-1", "10", "\"1\""]);
        assert_different(&["1e-400", "1e-401", "0"]);
    }

    #[test]
    fn null_absent_empty_and_false_differ() {
        assert_different(&[r#"{"a":null}"#, "{}", r#"{"a":false}"#, r#"{"a":0}"#, r#"{"a":""}"#, r#"{"a":[]}"#, r#"{"a":{}}"#]);
    }

    #[test]
    fn escapes_compare_decoded_and_normal_forms_differ() {
        assert_same(&[r#""é/😀\n""#, r#""\u00e9\/\ud83d\ude00\u000a""#]);
        assert_same(&[r#"{"\u0061":1}"#, r#"{"a":1}"#]);
        assert_different(&["\"\u{e9}\"", "\"e\u{301}\""]);
    }

    #[test]
    fn a_member_given_twice_is_refused_with_its_place() {
        let refused = digest(r#"{"list":[{},{"b":1,"a":2,"\u0062":3}]}"#).unwrap_err();
        assert_eq!(refused, "input.list.1: expected the member \"b\" once, found it again");
        assert!(digest(r#"{"a":{"a":{"a":1}},"b":{"a":1}}"#).is_ok());
    }

    #[test]
    fn values_cannot_be_taken_for_others() {
        assert_different(&[r#"["ab","c"]"#, r#"["a","bc"]"#, r#"["abc"]"#, r#"["ab]","c"]"#]);
        assert_different(&[r#"{"ab":"c"}"#, r#"{"a":"bc"}"#, r#"{"a":"b","c":""}"#]);
    }

    #[test]
    fn exponents_of_any_length_take_bounded_time() {
        let nines = "9".repeat(1000);
        assert_same(&[&format!("1e-{nines}"), &format!("10e-1{}", "0".repeat(1000)), &format!("0.1e-{}8", &nines[1..])]);
        assert_different(&[&format!("1e-{nines}"), &format!("1e-{}8", &nines[1..])]);
        // A million digits in one exponent, and a million zeros before the point: one pass each.
        let long = "9".repeat(1 << 20);
        assert_different(&[&format!("1e-{long}"), &format!("2e-{long}")]);
        let zeros = format!("0.{}1", "0".repeat((1 << 20) - 1));
        assert_same(&[&zeros, "1e-1048576"]);
    }

    #[test]
    fn a_megabyte_of_nested_objects_is_linear_work() {
        let mut text = String::from("[");
        while text.len() < 1 << 20 {
            text.push_str(r#"{"id":12345,"name":"a name","tags":{"z":[1,2,3],"a":null}},"#);
        }
        text.push_str("0]");
        let deep = format!("{}{}{}", r#"{"a":"#.repeat(99), text.len(), r#","b":1}"#.repeat(99));
        assert!(digest(&deep).is_ok());
        let started = std::time::Instant::now();
        digest(&text).unwrap();
        // A bound against quadratic work, ten times what an unoptimized build needs on a busy machine.
        assert!(started.elapsed() < std::time::Duration::from_secs(60));
    }

    #[test]
    fn the_form_is_kept() {
        // Digests are stored: the form of a version never changes.
        let digest = digest(r#"{"b":[1.50,null,true,"x"],"a":{}}"#).unwrap();
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "930273a7e61474d1bb7ff76dd7cff4f91afc9d663993a85fd29dbd5d7e827a11");
    }
}
