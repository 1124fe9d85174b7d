//! Values of every kind that the contract allows: strings with every kind of character, free JSON in every spelling,
//! metadata of every size, requests, and answers that fit them.

use agenthost::protocol::{
    ErrorCode, ExecutionContext, FreeJson, HostError, MAX_IDENTITY_BYTES, MAX_PAGE_EVENTS, MAX_UNIX_MS, MAX_UNSIGNED, Metadata,
    Resolution, RunStatus,
};
use agenthost::service::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Characters that JSON, C or a terminal treats in a way of its own, and all others.
pub(crate) fn character() -> impl Strategy<Value = char> + Clone {
    prop_oneof![
        4 => prop::char::range('a', 'z'),
        2 => prop::sample::select(vec![
            '"', '\\', '/', '\0', '\u{1}', '\u{8}', '\t', '\n', '\u{b}', '\u{c}', '\r', '\u{1b}', '\u{1f}', ' ', '\u{7f}',
            '\u{80}', 'é', '\u{2028}', '\u{d7ff}', '\u{e000}', '\u{feff}', '\u{fffd}', '\u{ffff}', '\u{10000}', '🦀',
            '\u{10ffff}', '{', '[', ':', ',', '.', '…',
        ]),
        1 => any::<char>(),
    ]
}

pub(crate) fn text() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        60 => vec(character(), 0..24).prop_map(String::from_iter),
        1 => vec(character(), 0..1000).prop_map(String::from_iter),
    ]
}

fn not_empty() -> impl Strategy<Value = String> {
    text().prop_map(|text| if text.is_empty() { "x".into() } else { text })
}

/// An identity; sometimes as long as one may be.
pub(crate) fn identity() -> impl Strategy<Value = String> {
    let filled = (vec(character(), 1..300), any::<bool>()).prop_map(|(characters, fill)| {
        let mut name = String::from("r");
        for character in characters.into_iter().filter(|character| *character != '\0') {
            if name.len() + character.len_utf8() <= MAX_IDENTITY_BYTES {
                name.push(character);
            }
        }
        if fill { name.clone() + &"x".repeat(MAX_IDENTITY_BYTES - name.len()) } else { name }
    });
    prop_oneof![3 => "[a-z0-9-]{1,36}", 1 => filled]
}

fn counter() -> impl Strategy<Value = u64> {
    prop_oneof![1..100u64, Just(1), Just(MAX_UNSIGNED), 1..=MAX_UNSIGNED]
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0), Just(-1), Just(MAX_UNIX_MS), Just(-MAX_UNIX_MS), -MAX_UNIX_MS..=MAX_UNIX_MS]
}

/// A number in any spelling that a double can hold.
pub(crate) fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(|number| format!("{number:e}")),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?",
        prop::sample::select(vec!["-0", "0e0", "-0.0", "1E+2", "1e-400", "0e999", "1.7976931348623157e308", "5e-324"])
            .prop_map(String::from),
    ]
}

/// A string as JSON, with any of its characters escaped.
pub(crate) fn string_literal() -> impl Strategy<Value = String> {
    vec((character(), any::<bool>()), 0..20).prop_map(|characters| {
        let mut literal = String::from("\"");
        for (character, escape) in characters {
            match character {
                '"' | '\\' => literal.extend(['\\', character]),
                _ if escape || character < ' ' => {
                    let mut units = [0; 2];
                    for (index, unit) in character.encode_utf16(&mut units).iter().enumerate() {
                        literal += &if index == 0 { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") };
                    }
                }
                _ => literal.push(character),
            }
        }
        literal + "\""
    })
}

fn white_space() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(""), 1 => prop::sample::select(vec![" ", "\n", "\t\r\n  "])]
}

/// Valid JSON text of every kind: names given twice, any spelling, up to 100 levels.
pub(crate) fn json_text() -> impl Strategy<Value = String> {
    let scalar =
        prop_oneof![Just("null".to_owned()), Just("true".to_owned()), Just("false".to_owned()), number(), string_literal(),];
    let tree = scalar.prop_recursive(6, 60, 6, |inner| {
        let member = (prop_oneof![Just("\"a\"".to_owned()), string_literal()], white_space(), inner.clone());
        prop_oneof![
            (vec(inner, 0..6), white_space()).prop_map(|(values, space)| format!("[{space}{}{space}]", values.join(","))),
            (vec(member, 0..6), white_space()).prop_map(|(members, space)| {
                let members: Vec<String> =
                    members.into_iter().map(|(name, space, value)| format!("{name}{space}:{space}{value}")).collect();
                format!("{{{space}{}{space}}}", members.join(","))
            }),
        ]
    });
    prop_oneof![
        9 => tree,
        1 => (0..=100usize).prop_map(|levels| "[".repeat(levels) + if levels == 0 { "1" } else { "" } + &"]".repeat(levels)),
    ]
}

pub(crate) fn free_json() -> impl Strategy<Value = FreeJson<'static>> {
    json_text().prop_map(|text| FreeJson::new(text).expect("free JSON that the contract allows"))
}

fn name() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        4 => text(),
        2 => "[a-z]{1,8}(\\.[a-z_]{1,8})?",
        1 => prop::sample::select(vec!["max_tokens", "tokenizer", "keys", "tok\u{e9}n", ""]).prop_map(String::from),
    ]
}

fn metadata_of(name: impl Strategy<Value = String> + Clone + 'static) -> impl Strategy<Value = Metadata<'static>> {
    let pair = (name, text());
    let many = vec(("[a-z]{1,3}", "[a-z]{0,3}"), 100..200);
    let pairs = prop_oneof![12 => vec(pair.clone(), 0..4), 3 => vec(pair, 15..19), 1 => many];
    pairs.prop_map(|pairs| pairs.into_iter().collect())
}

/// Metadata with any names.
pub(crate) fn metadata() -> impl Strategy<Value = Metadata<'static>> {
    let sensitive = prop::sample::select(vec!["token", "X-Api-Key", "db password", "authTokens", "COOKIE", "bearer\u{e9}"]);
    metadata_of(prop_oneof![6 => name(), 1 => sensitive.prop_map(String::from)])
}

/// Metadata that may stand in the context of a request.
fn safe_metadata() -> impl Strategy<Value = Metadata<'static>> {
    metadata().prop_map(|metadata| {
        let sensitive = agenthost::protocol::SensitiveNames::built_in();
        let safe = metadata.iter().filter(|(name, _)| !sensitive.contains(name));
        safe.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    })
}

fn context(
    run_id: impl Strategy<Value = String>,
    metadata: impl Strategy<Value = Metadata<'static>>,
) -> impl Strategy<Value = ExecutionContext<'static>> {
    let strings = vec(text(), 9);
    (run_id, strings, option::of(time()), metadata).prop_map(|(run_id, strings, deadline_unix_ms, metadata)| {
        let mut strings = strings.into_iter().map(Into::into);
        let mut next = || strings.next().unwrap_or_default();
        ExecutionContext {
            run_id: run_id.into(),
            trace_id: next(),
            request_id: next(),
            tenant_id: next(),
            user_id: next(),
            application_id: next(),
            workspace_id: next(),
            conversation_id: next(),
            agent_id: next(),
            locale: next(),
            deadline_unix_ms,
            metadata,
        }
    })
}

/// Each of the six requests.
pub(crate) fn request() -> impl Strategy<Value = Request<'static>> {
    let create = (context(identity(), safe_metadata()), free_json(), metadata())
        .prop_map(|(context, input, metadata)| Request::CreateRun(CreateRun { context, input, metadata }));
    let get = identity().prop_map(|run_id| Request::GetRun(GetRun { run_id: run_id.into() }));
    let cancel = (identity(), counter(), text()).prop_map(|(run_id, expected_revision, reason)| {
        Request::CancelRun(CancelRun { run_id: run_id.into(), expected_revision, reason: reason.into() })
    });
    let decision = prop::sample::select(vec![Resolution::Approved, Resolution::Denied]);
    let resolve = (identity(), counter(), identity(), decision, text(), metadata()).prop_map(
        |(run_id, expected_revision, approval_id, resolution, reason, metadata)| {
            Request::ResolveApproval(ResolveApproval {
                run_id: run_id.into(),
                expected_revision,
                approval_id: approval_id.into(),
                resolution,
                reason: reason.into(),
                metadata,
            })
        },
    );
    let resume = (identity(), counter(), identity(), free_json()).prop_map(|(run_id, expected_revision, approval_id, input)| {
        Request::ResumeRun(ResumeRun { run_id: run_id.into(), expected_revision, approval_id: approval_id.into(), input })
    });
    let after = prop_oneof![Just(0), Just(MAX_UNSIGNED - 1), Just(MAX_UNSIGNED), 0..10_000u64];
    let list = (identity(), after, prop_oneof![Just(1), Just(MAX_PAGE_EVENTS), 1..=MAX_PAGE_EVENTS]).prop_map(
        |(run_id, after_sequence, limit)| Request::ListEvents(ListEvents { run_id: run_id.into(), after_sequence, limit }),
    );
    prop_oneof![create, get, cancel, resolve, resume, list]
}

fn status() -> impl Strategy<Value = RunStatus> {
    prop::sample::select(RunStatus::ALL.to_vec())
}

fn approval() -> impl Strategy<Value = ApprovalView<'static>> {
    let times = (time(), time());
    (identity(), not_empty(), not_empty(), prop::sample::select(Resolution::ALL.to_vec()), text(), times, metadata()).prop_map(
        |(approval_id, tool_call_id, tool_name, resolution, reason, (created_at_unix_ms, resolved), metadata)| ApprovalView {
            approval_id: approval_id.into(),
            tool_call_id: tool_call_id.into(),
            tool_name: tool_name.into(),
            resolution,
            reason: reason.into(),
            created_at_unix_ms,
            resolved_at_unix_ms: (resolution != Resolution::Pending).then_some(resolved),
            metadata,
        },
    )
}

fn run(run_id: String) -> impl Strategy<Value = RunView<'static>> {
    let of_view = prop_oneof![Just(String::new()), Just(run_id.clone())];
    let head = (counter(), status(), context(of_view, metadata()));
    let times = (time(), time(), option::of(time()));
    (head, times, option::of(approval()), free_json(), text(), metadata()).prop_map(
        move |((revision, status, context), (created, updated, completed), approval, result, error, metadata)| RunView {
            run_id: run_id.clone().into(),
            revision,
            status,
            context,
            created_at_unix_ms: created,
            updated_at_unix_ms: updated,
            completed_at_unix_ms: completed,
            approval,
            result,
            error: error.into(),
            metadata,
        },
    )
}

fn event(run_id: String) -> impl Strategy<Value = Event<'static>> {
    let texts = (not_empty(), text(), text());
    (texts, status(), time(), free_json(), metadata()).prop_map(
        move |((event_type, step_id, tool_call_id), status, timestamp_unix_ms, data, metadata)| Event {
            run_id: run_id.clone().into(),
            sequence: 0,
            event_type: event_type.into(),
            status,
            step_id: step_id.into(),
            tool_call_id: tool_call_id.into(),
            timestamp_unix_ms,
            data,
            metadata,
        },
    )
}

fn page(request: ListEvents<'static>) -> impl Strategy<Value = EventPage<'static>> {
    let ListEvents { run_id, after_sequence, limit } = request;
    let most = limit.min(MAX_UNSIGNED - after_sequence).min(6) as usize;
    let sequenced = vec((event(run_id.into_owned()), 1..5u64), 0..=most);
    (sequenced, any::<bool>()).prop_map(move |(events, more)| {
        let mut sequence = after_sequence;
        let mut left = events.len() as u64;
        let events: Vec<Event<'static>> = events
            .into_iter()
            .map(|(event, step)| {
                left -= 1;
                sequence = (sequence + step).min(MAX_UNSIGNED - left);
                Event { sequence, ..event }
            })
            .collect();
        EventPage { has_more: more && !events.is_empty(), next_sequence: sequence, events }
    })
}

/// An answer that fits the request.
fn answer(request: &Request<'static>) -> BoxedStrategy<Answer<'static>> {
    let run_id = request.run_id().to_owned();
    match request {
        Request::GetRun(_) => run(run_id).prop_map(Answer::Run).boxed(),
        Request::ListEvents(request) => page(request.clone()).prop_map(Answer::Page).boxed(),
        _ => (counter(), status())
            .prop_map(move |(revision, status)| {
                Answer::Submission(RunSubmission { run_id: run_id.clone().into(), revision, status })
            })
            .boxed(),
    }
}

/// A request, and an answer that fits it.
pub(crate) fn exchange() -> impl Strategy<Value = (Request<'static>, Answer<'static>)> {
    request().prop_flat_map(|request| {
        let answer = answer(&request);
        (Just(request), answer)
    })
}

/// What a service can fail with.
pub(crate) fn error() -> impl Strategy<Value = HostError<'static>> {
    let code = prop::sample::select(ErrorCode::ALL.to_vec());
    (code, text(), any::<bool>(), free_json(), metadata()).prop_map(|(code, message, retryable, details, metadata)| {
        HostError::new(code, message).with_retryable(retryable).with_details(details).with_metadata(metadata)
    })
}
