//! The words of the contract as JSON Schema (draft 2020-12). Ranges, names and endings come from the constants and tables
//! that the reader and the checks use; what a schema cannot say (bytes instead of characters, members given twice,
//! nesting, the spelling of numbers) is said in the descriptions.

use schemars::{Schema, json_schema};
use serde_json::{Value, json};

use super::sensitive::SENSITIVE_ENDINGS;
use super::{
    DEFAULT_CANCEL_REASON, DEFAULT_PAGE_EVENTS, FreeJson, MAX_FREE_JSON_DEPTH, MAX_IDENTITY_BYTES, MAX_PAGE_EVENTS, MAX_UNIX_MS,
    MAX_UNSIGNED, Metadata, Operation, Resolution, RunStatus, SUPPORTED_VERSIONS,
};

/// Gives a type its schema. One with a name stands once in a document, under `$defs`; one without wherever it is used.
macro_rules! schema {
    ($type:ty, named $name:literal, |$generator:ident| $schema:expr) => {
        $crate::protocol::schema::schema!(@ $type, $name, false, |$generator| $schema);
    };
    ($type:ty, $name:literal, |$generator:ident| $schema:expr) => {
        $crate::protocol::schema::schema!(@ $type, $name, true, |$generator| $schema);
    };
    (@ $type:ty, $name:literal, $inline:literal, |$generator:ident| $schema:expr) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn inline_schema() -> bool {
                $inline
            }

            fn json_schema($generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}

pub(crate) use schema;

/// `requestId`, `idempotencyKey`, `runId`, `approvalId`.
pub(crate) struct Identity;
schema!(Identity, "Identity", |_generator| identity(1));

/// An identity that may be empty.
pub(crate) struct OptionalIdentity;
schema!(OptionalIdentity, "OptionalIdentity", |_generator| identity(0));

fn identity(shortest: usize) -> Schema {
    json_schema!({
        "type": "string",
        "minLength": shortest,
        "maxLength": MAX_IDENTITY_BYTES,
        "pattern": r"^[^\x00]*$",
        "$comment": format!("the limit is {MAX_IDENTITY_BYTES} bytes of UTF-8"),
    })
}

/// A string that is not empty.
pub(crate) struct NotEmpty;
schema!(NotEmpty, "NotEmpty", |_generator| json_schema!({"type": "string", "minLength": 1}));

/// A revision or the sequence of an event.
pub(crate) struct Counter;
schema!(Counter, "Counter", |_generator| integer(1, MAX_UNSIGNED as i64));

/// A place between events: the sequence of one, or 0.
pub(crate) struct Cursor;
schema!(Cursor, "Cursor", |_generator| integer(0, MAX_UNSIGNED as i64));

/// The `limit` of `list_events`.
pub(crate) struct PageLimit;
schema!(PageLimit, "PageLimit", |_generator| integer(1, MAX_PAGE_EVENTS as i64));

/// A time, in milliseconds since the Unix epoch.
pub(crate) struct UnixMs;
schema!(UnixMs, "UnixMs", |_generator| integer(-MAX_UNIX_MS, MAX_UNIX_MS));

fn integer(least: i64, most: i64) -> Schema {
    json_schema!({
        "type": "integer",
        "minimum": least,
        "maximum": most,
        "$comment": "written as an integer: no fraction, no exponent, no -0",
    })
}

schema!(FreeJson<'_>, "FreeJson", |_generator| json_schema!({
    "$comment": format!("any JSON, at most {MAX_FREE_JSON_DEPTH} levels deep")
}));

schema!(Metadata<'_>, named "Metadata", |_generator| metadata());

fn metadata() -> Schema {
    json_schema!({
        "description": "A map of strings, each name once.",
        "type": "object",
        "additionalProperties": {"type": "string"},
    })
}

/// Metadata without sensitive names.
pub(crate) struct SafeMetadata;
schema!(SafeMetadata, named "SafeMetadata", |_generator| {
    let mut schema = metadata();
    schema.insert("description".into(), "A map of strings, each name once, none of which looks like a secret's.".into());
    schema.insert("propertyNames".into(), json!({"not": {"pattern": sensitive_pattern()}}));
    schema
});

/// A pattern of the names that are sensitive: those whose ASCII letters and digits end, in either case, with one of the
/// endings, whatever other characters stand between and after them.
fn sensitive_pattern() -> String {
    const OTHERS: &str = "[^0-9A-Za-z]*";
    let ending = |ending: &&str| {
        let characters = ending.chars().map(|character| match character.to_ascii_uppercase() {
            upper if upper == character => character.to_string(),
            upper => format!("[{upper}{character}]"),
        });
        characters.collect::<Vec<_>>().join(OTHERS)
    };
    let endings: Vec<String> = SENSITIVE_ENDINGS.iter().map(ending).collect();
    format!("(?:{}){OTHERS}$", endings.join("|"))
}

schema!(Operation, named "Operation", |_generator| {
    one_of("One of the six operations of the protocol.", Operation::ALL.map(Operation::name))
});
schema!(RunStatus, named "RunStatus", |_generator| {
    one_of("The state of a run; the last four are terminal.", RunStatus::ALL.map(RunStatus::name))
});
schema!(Resolution, named "Resolution", |_generator| {
    one_of("What became of an approval.", Resolution::ALL.map(Resolution::name))
});

/// What `resolve_approval` can decide.
pub(crate) struct Decision;
schema!(Decision, named "Decision", |_generator| {
    let decided = Resolution::ALL.into_iter().filter(|resolution| *resolution != Resolution::Pending);
    one_of("What an approval can be resolved to.", decided.map(Resolution::name))
});

/// A protocol version that this library speaks.
pub(crate) struct Version;
schema!(Version, named "ProtocolVersion", |_generator| one_of("A supported version of the protocol.", SUPPORTED_VERSIONS));

pub(super) fn one_of(description: &str, names: impl IntoIterator<Item = &'static str>) -> Schema {
    json_schema!({
        "description": description,
        "type": "string",
        "enum": names.into_iter().collect::<Vec<_>>(),
    })
}

/// An approval has a time of resolution exactly when it is resolved.
pub(crate) fn resolved_once_decided(schema: &mut Schema) {
    let pending = json!({"properties": {"resolution": {"const": Resolution::Pending.name()}}});
    schema.insert("if".into(), pending);
    schema.insert("then".into(), json!({"properties": {"resolvedAtUnixMs": {"type": "null"}}}));
    schema.insert(
        "else".into(),
        json!({"properties": {"resolvedAtUnixMs": {"type": "integer"}}, "required": ["resolvedAtUnixMs"]}),
    );
}

/// A page without events does not claim that there are more.
pub(crate) fn nothing_after_no_events(schema: &mut Schema) {
    schema.insert("if".into(), json!({"properties": {"events": {"maxItems": 0}}}));
    schema.insert("then".into(), json!({"properties": {"hasMore": {"const": false}}}));
}

// Defaults, as they stand in the schemas.

pub(crate) fn empty_object() -> Value {
    json!({})
}

pub(crate) fn null() -> Value {
    Value::Null
}

pub(crate) fn zero() -> u64 {
    0
}

pub(crate) fn page_limit() -> u64 {
    DEFAULT_PAGE_EVENTS
}

pub(crate) fn cancel_reason() -> &'static str {
    DEFAULT_CANCEL_REASON
}
