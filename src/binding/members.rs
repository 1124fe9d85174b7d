//! The members of the contract's types, once, for code that is the same for every member.

/// Calls a macro with the members of a type, in the contract's order: `members!(Event => then! { what before })` becomes
/// `then! { { what before } Event { run_id = run_id: text, sequence = sequence: unsigned, r#type = event_type: text, ... } }`: the
/// contract's name in snake case, the field's name, and its kind. A member that is missing here does not compile where a binding makes
/// the type of its members.
///
/// The kinds: `text` has to be there; `optional_text` is empty where there is none; `unsigned` is a number from 0; `time` is in
/// milliseconds since the Unix epoch, 0 where there is none; `optional_time` may be nothing; `run_status` and `resolution` are words of
/// the contract; `cancel_reason` is a text with the contract's default; `free_json` is any JSON; `metadata`, `context`, `approval` are
/// what they say; `approval` may be nothing.
#[macro_export]
macro_rules! members {
    (ExecutionContext => $then:ident! $before:tt) => {
        $crate::members! { @ $then $before ExecutionContext [] {
            run_id: optional_text,
            trace_id: optional_text,
            request_id: optional_text,
            tenant_id: optional_text,
            user_id: optional_text,
            application_id: optional_text,
            workspace_id: optional_text,
            conversation_id: optional_text,
            agent_id: optional_text,
            locale: optional_text,
            deadline_unix_ms: optional_time,
            metadata: metadata,
        } }
    };
    (CancelRun => $then:ident! $before:tt) => {
        $crate::members! { @ $then $before CancelRun [] { run_id: text, expected_revision: unsigned, reason: cancel_reason, } }
    };
    (ResolveApproval => $then:ident! $before:tt) => {
        $crate::members! { @ $then $before ResolveApproval [] {
            run_id: text,
            expected_revision: unsigned,
            approval_id: text,
            resolution: resolution,
            reason: optional_text,
            metadata: metadata,
        } }
    };
    (RunSubmission => $then:ident! $before:tt) => {
        $crate::members! { @ $then $before RunSubmission [] { run_id: text, revision: unsigned, status: run_status, } }
    };
    (ApprovalView => $then:ident! $before:tt) => {
        $crate::members! { @ $then $before ApprovalView [] {
            approval_id: text,
            tool_call_id: text,
            tool_name: text,
            resolution: resolution,
            reason: optional_text,
            created_at_unix_ms: time,
            resolved_at_unix_ms: optional_time,
            metadata: metadata,
        } }
    };
    (RunView => $then:ident! $before:tt) => {
        $crate::members! { @ $then $before RunView [] {
            run_id: text,
            revision: unsigned,
            status: run_status,
            context: context,
            created_at_unix_ms: time,
            updated_at_unix_ms: time,
            completed_at_unix_ms: optional_time,
            approval: approval,
            result: free_json,
            error: optional_text,
            metadata: metadata,
        } }
    };
    (Event => $then:ident! $before:tt) => {
        $crate::members! { @ $then $before Event [] {
            run_id: text,
            sequence: unsigned,
            event_type as r#type: text,
            status: run_status,
            step_id: optional_text,
            tool_call_id: optional_text,
            timestamp_unix_ms: time,
            data: free_json,
            metadata: metadata,
        } }
    };
    // Gives each member both of its names, one after the other.
    (@ $then:ident $before:tt $type:ident [$($named:tt)*] { $field:ident: $kind:ident, $($rest:tt)* }) => {
        $crate::members! { @ $then $before $type [$($named)* $field = $field: $kind,] { $($rest)* } }
    };
    (@ $then:ident $before:tt $type:ident [$($named:tt)*] { $field:ident as $name:ident: $kind:ident, $($rest:tt)* }) => {
        $crate::members! { @ $then $before $type [$($named)* $name = $field: $kind,] { $($rest)* } }
    };
    (@ $then:ident $before:tt $type:ident [$($named:tt)*] {}) => {
        $then! { $before $type { $($named)* } }
    };
}

/// A member's name as messages have it: `run_id` is `runId`. For names of at most 40 bytes, all ASCII; used where constants are made.
///
/// # Panics
/// When the name is longer.
pub const fn wire_name(name: &str) -> WireName {
    let (name, mut at) = (name.as_bytes(), 0);
    if let [b'r', b'#', ..] = name {
        at = 2;
    }
    let mut wire = WireName { bytes: [0; 40], length: 0 };
    while at < name.len() {
        let upper = name[at] == b'_';
        at += upper as usize;
        wire.bytes[wire.length] = if upper { name[at].to_ascii_uppercase() } else { name[at] };
        wire.length += 1;
        at += 1;
    }
    wire
}

/// What [`wire_name`] makes.
#[derive(Clone, Copy, Debug)]
pub struct WireName {
    bytes: [u8; 40],
    length: usize,
}

impl WireName {
    /// The name.
    pub const fn as_str(&self) -> &str {
        match str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(name) => name,
            // It is made of a whole string, in which only ASCII changed.
            Err(_) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::protocol::{ExecutionContext, FreeJson, Metadata, Resolution, RunStatus};
    use crate::service::{Answer, ApprovalView, CancelRun, Event, EventPage, Request, ResolveApproval, RunSubmission, RunView};

    /// Makes a value of a type's members, and the names of its members in camel case.
    macro_rules! sample {
        ({} $type:ident { $($name:ident = $field:ident: $kind:ident,)* }) => {{
            let names: Vec<String> = [$(stringify!($name)),*].map(|name| crate::binding::wire_name(name).as_str().to_owned()).into();
            ($type { $($field: value::$kind()),* }, names)
        }};
    }

    mod value {
        use super::*;

        pub(super) fn text<'a>() -> std::borrow::Cow<'a, str> {
            "x".into()
        }

        pub(super) use {text as cancel_reason, text as optional_text};

        pub(super) fn unsigned() -> u64 {
            1
        }

        pub(super) fn time() -> i64 {
            1
        }

        pub(super) fn optional_time() -> Option<i64> {
            Some(1)
        }

        pub(super) fn run_status() -> RunStatus {
            RunStatus::Running
        }

        pub(super) fn resolution() -> Resolution {
            Resolution::Approved
        }

        pub(super) fn free_json() -> FreeJson<'static> {
            FreeJson::NULL
        }

        pub(super) fn metadata() -> Metadata<'static> {
            Metadata::new()
        }

        pub(super) fn context() -> ExecutionContext<'static> {
            members!(ExecutionContext => sample! {}).0
        }

        pub(super) fn approval() -> Option<ApprovalView<'static>> {
            Some(members!(ApprovalView => sample! {}).0)
        }
    }

    /// The members of the object at a place in some JSON text.
    fn written(text: &str, place: &str) -> Vec<String> {
        let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let object = value.pointer(place).and_then(serde_json::Value::as_object).expect("an object");
        sorted(object.keys().cloned().collect())
    }

    fn sorted(mut names: Vec<String>) -> Vec<String> {
        names.sort();
        names
    }

    #[test]
    fn the_members_are_those_that_the_contract_writes() {
        let (request, names) = members!(CancelRun => sample! {});
        assert_eq!(written(&Request::CancelRun(request).to_json(), ""), sorted(names));
        let (request, names) = members!(ResolveApproval => sample! {});
        assert_eq!(written(&Request::ResolveApproval(request).to_json(), ""), sorted(names));
        let (submission, names) = members!(RunSubmission => sample! {});
        assert_eq!(written(&Answer::Submission(submission).to_json(), ""), sorted(names));
        let (run, names) = members!(RunView => sample! {});
        let run = Answer::Run(run).to_json();
        assert_eq!(written(&run, ""), sorted(names));
        assert_eq!(written(&run, "/approval"), sorted(members!(ApprovalView => sample! {}).1));
        assert_eq!(written(&run, "/context"), sorted(members!(ExecutionContext => sample! {}).1));
        let (event, names) = members!(Event => sample! {});
        let page = EventPage { events: vec![event], next_sequence: 1, has_more: false };
        assert_eq!(written(&Answer::Page(page).to_json(), "/events/0"), sorted(names));
    }
}
