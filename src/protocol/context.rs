//! The execution context: where a run comes from and whose it is.

use std::borrow::Cow;

use super::json::{ReadResult, Reader, Slot, Writer, slot};
use super::{Metadata, Path};
#[cfg(feature = "schema")]
use crate::protocol::schema;

/// Where a run comes from. Every string is empty where nothing is known; all but `run_id` are free text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct ExecutionContext<'a> {
    /// The run. An identity, and required, in `create_run`; may be empty in a view.
    #[cfg_attr(feature = "schema", schemars(default, with = "schema::OptionalIdentity"))]
    pub run_id: Cow<'a, str>,
    /// The trace that the run belongs to.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub trace_id: Cow<'a, str>,
    /// The application's request that led to the run; not the protocol's `requestId`.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub request_id: Cow<'a, str>,
    /// The tenant that the run is for.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub tenant_id: Cow<'a, str>,
    /// The user that the run is for.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub user_id: Cow<'a, str>,
    /// The application that submitted it.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub application_id: Cow<'a, str>,
    /// The workspace that it works in.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub workspace_id: Cow<'a, str>,
    /// The conversation that it belongs to.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub conversation_id: Cow<'a, str>,
    /// The agent that is to do it.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub agent_id: Cow<'a, str>,
    /// A language tag such as `en-US`.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub locale: Cow<'a, str>,
    /// When the run has to end, in milliseconds since the Unix epoch, within 8.64e15 of it.
    #[cfg_attr(feature = "schema", schemars(default, with = "Option<schema::UnixMs>"))]
    pub deadline_unix_ms: Option<i64>,
    /// Strings without secrets: in `create_run` a sensitive name refuses the request.
    #[cfg_attr(feature = "schema", schemars(default = "schema::empty_object", with = "schema::SafeMetadata"))]
    pub metadata: Metadata<'a>,
}

/// The members that are strings, in the order in which [`ExecutionContext::read`] takes them apart.
const STRINGS: [&str; 10] = [
    "runId",
    "traceId",
    "requestId",
    "tenantId",
    "userId",
    "applicationId",
    "workspaceId",
    "conversationId",
    "agentId",
    "locale",
];

impl<'a> ExecutionContext<'a> {
    /// Reads the object that comes next; its rules depend on where it stands and are checked there.
    pub(crate) fn read(reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<ExecutionContext<'a>> {
        if reader.peek() != Some(b'{') {
            return slot::wrong_type(reader, path, "an object");
        }
        let mut strings: [Slot<Cow<'a, str>>; STRINGS.len()] = Default::default();
        let (mut deadline, mut metadata) = (Slot::Absent, Slot::Absent);
        reader.enter_object()?;
        let mut first = true;
        while let Some(name) = reader.next_member(&mut first)? {
            if let Some(index) = STRINGS.iter().position(|known| *known == name) {
                strings[index].fill_string(reader, path.member(STRINGS[index]))?;
            } else {
                match &*name {
                    "deadlineUnixMs" => deadline.fill(reader, path.member("deadlineUnixMs"), slot::nullable_unix_ms)?,
                    "metadata" => metadata.fill(reader, path.member("metadata"), slot::metadata)?,
                    _ => reader.skip_member(path.member(&name))?,
                }
            }
        }
        Ok((move || {
            let [run, trace, request, tenant, user, application, workspace, conversation, agent, locale] = strings;
            Ok(ExecutionContext {
                run_id: run.or_default()?,
                trace_id: trace.or_default()?,
                request_id: request.or_default()?,
                tenant_id: tenant.or_default()?,
                user_id: user.or_default()?,
                application_id: application.or_default()?,
                workspace_id: workspace.or_default()?,
                conversation_id: conversation.or_default()?,
                agent_id: agent.or_default()?,
                locale: locale.or_default()?,
                deadline_unix_ms: deadline.or_default()?,
                metadata: metadata.or_default()?,
            })
        })())
    }

    /// Writes every member. `keep` says which metadata names may leave.
    pub(crate) fn write(&self, out: &mut Writer, keep: impl Fn(&str) -> bool) {
        out.open_object();
        out.member("runId", &self.run_id);
        out.member("traceId", &self.trace_id);
        out.member("requestId", &self.request_id);
        out.member("tenantId", &self.tenant_id);
        out.member("userId", &self.user_id);
        out.member("applicationId", &self.application_id);
        out.member("workspaceId", &self.workspace_id);
        out.member("conversationId", &self.conversation_id);
        out.member("agentId", &self.agent_id);
        out.member("locale", &self.locale);
        out.name("deadlineUnixMs");
        out.nullable_signed(self.deadline_unix_ms);
        out.name("metadata");
        out.metadata(&self.metadata, keep);
        out.close_object();
    }

    /// About how many bytes [`ExecutionContext::write`] writes.
    pub(crate) fn size_hint(&self) -> usize {
        let ids = self.run_id.len() + self.trace_id.len() + self.request_id.len() + self.tenant_id.len() + self.user_id.len();
        let strings = ids
            + self.application_id.len()
            + self.workspace_id.len()
            + self.conversation_id.len()
            + self.agent_id.len()
            + self.locale.len();
        240 + strings + self.metadata.size_hint()
    }

    /// The same context, owned.
    pub fn into_owned(self) -> ExecutionContext<'static> {
        let own = |text: Cow<'a, str>| Cow::Owned(text.into_owned());
        ExecutionContext {
            run_id: own(self.run_id),
            trace_id: own(self.trace_id),
            request_id: own(self.request_id),
            tenant_id: own(self.tenant_id),
            user_id: own(self.user_id),
            application_id: own(self.application_id),
            workspace_id: own(self.workspace_id),
            conversation_id: own(self.conversation_id),
            agent_id: own(self.agent_id),
            locale: own(self.locale),
            deadline_unix_ms: self.deadline_unix_ms,
            metadata: self.metadata.into_owned(),
        }
    }
}

/// The context of `create_run`, which names the run.
#[cfg(feature = "schema")]
pub(crate) struct SubmittedContext;
#[cfg(feature = "schema")]
schema::schema!(SubmittedContext, "SubmittedContext", |generator| {
    let mut schema = generator.subschema_for::<ExecutionContext<'_>>();
    let run_id = generator.subschema_for::<schema::Identity>();
    schema.insert("properties".into(), serde_json::json!({"runId": run_id}));
    schema.insert("required".into(), serde_json::json!(["runId"]));
    schema
});

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> ExecutionContext<'static> {
        ExecutionContext {
            run_id: "run".into(),
            trace_id: "trace".into(),
            request_id: "request".into(),
            tenant_id: "tenant".into(),
            user_id: "user".into(),
            application_id: "application".into(),
            workspace_id: "workspace".into(),
            conversation_id: "conversation".into(),
            agent_id: "agent".into(),
            locale: "en-US".into(),
            deadline_unix_ms: Some(-8_640_000_000_000_000),
            metadata: [("zone", "b"), ("api-key", "s")].into_iter().collect(),
        }
    }

    fn written(context: &ExecutionContext<'_>) -> String {
        let mut out = Writer::with_capacity(0);
        context.write(&mut out, |name| name != "api-key");
        String::from_utf8(out.into_bytes()).unwrap()
    }

    fn read(text: &str) -> Result<ExecutionContext<'_>, String> {
        let found = ExecutionContext::read(&mut Reader::new(text), Path::ROOT.member("context"));
        found.unwrap().map_err(|violation| violation.to_string())
    }

    #[test]
    fn every_member_is_written_and_read_back() {
        let text = written(&full());
        assert_eq!(
            text,
            concat!(
                r#"{"runId":"run","traceId":"trace","requestId":"request","tenantId":"tenant","userId":"user","#,
                r#""applicationId":"application","workspaceId":"workspace","conversationId":"conversation","agentId":"agent","#,
                r#""locale":"en-US","deadlineUnixMs":-8640000000000000,"metadata":{"zone":"b"}}"#
            )
        );
        let metadata = [("zone", "b")].into_iter().collect();
        assert_eq!(read(&text).unwrap(), ExecutionContext { metadata, ..full() });
        assert_eq!(full().into_owned(), full());
    }

    #[test]
    fn absent_members_are_empty_and_others_ignored() {
        for text in ["{}", r#"{"deadlineUnixMs":null}"#, r#"{"RunId":7,"x":{"runId":1},"x":[]}"#] {
            assert_eq!(read(text).unwrap(), ExecutionContext::default(), "{text}");
        }
    }

    #[test]
    fn every_member_has_one_type_and_comes_once() {
        for name in STRINGS {
            for value in ["null", "1", "{}", "[\"x\"]"] {
                let refused = read(&format!("{{\"{name}\":{value}}}")).unwrap_err();
                assert!(refused.starts_with(&format!("context.{name}: expected a string")), "{refused}");
            }
            let twice = format!(r#"{{"{name}":"a","{name}":"a"}}"#);
            assert_eq!(read(&twice), Err(format!("context.{name}: expected the member once, found it again")));
        }
        for (member, value) in [("deadlineUnixMs", "-0"), ("deadlineUnixMs", "\"1\""), ("metadata", "null"), ("metadata", "[]")] {
            let text = format!("{{\"{member}\":{value}}}");
            assert!(read(&text).unwrap_err().starts_with(&format!("context.{member}: expected")), "{text}");
        }
        assert_eq!(read("null"), Err("context: expected an object, found null".into()));
        assert_eq!(read(r#"{"metadata":{"a":null}}"#), Err("context.metadata.a: expected a string, found null".into()));
    }

    #[test]
    fn the_hint_is_enough_for_plain_text() {
        for context in [ExecutionContext::default(), full()] {
            let (written, hint) = (written(&context).len(), context.size_hint());
            assert!(written <= hint && hint <= written + 70, "{written} {hint}");
        }
    }
}
