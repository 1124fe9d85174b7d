//! From the typed requests of clients to commands and reads: what durable runs ask of them beyond the contract, and the
//! fingerprint.

use std::sync::Arc;

use super::command::{Command, CommandOutput, NewRun, Retry, Target};
use super::executor::Executor;
use super::fingerprint::{Fingerprint, Repeated};
use super::names::{check_approval_metadata, check_metadata, check_name, check_optional_name, checked_principal};
use super::promise::{ResultFuture, RunFuture};
use super::read;
use super::refuse::{self, Refusal};
use super::views;
use crate::protocol::{Path, SensitiveNames};
use crate::service::{Answer, Call, CreateRun, Request, RunSubmission};
use crate::store::KeyScope;

/// The side of clients.
pub(crate) struct ClientApi {
    pub(crate) executor: Arc<Executor>,
    pub(crate) sensitive: SensitiveNames,
    pub(crate) require_principal: bool,
}

impl ClientApi {
    /// Serves a client's call: checks it on this thread, has it done by the store, and gives the answer later.
    pub(crate) fn serve(&self, call: &Call<'_>, request: &Request<'_>) -> ResultFuture<Answer<'static>> {
        let begun = self.admit(call, request).and_then(|principal| self.begin(call, request, principal));
        begun.unwrap_or_else(|refusal| RunFuture::ready_with(Err(refusal), self.executor.log().clone()))
    }

    /// Refuses what no store should see; else says who calls (empty: nobody).
    fn admit(&self, call: &Call<'_>, request: &Request<'_>) -> Result<String, Refusal> {
        let principal = checked_principal(call.principal.as_deref())?;
        if principal.is_empty() && self.require_principal {
            return Err(refuse::unauthorized("these runs require an authenticated principal"));
        }
        let body = Path::ROOT.member("body");
        request.check(body, &self.sensitive).map_err(|violation| refuse::invalid(&violation))?;
        let context = body.member("context");
        let run_id_place = if let Request::CreateRun(_) = request { context.member("runId") } else { body.member("runId") };
        check_name(run_id_place, request.run_id())?;
        if request.operation().mutates() {
            check_name(Path::ROOT.member("idempotencyKey"), &call.idempotency_key)?;
        }
        match request {
            Request::CreateRun(request) => {
                check_optional_name(context.member("agentId"), &request.context.agent_id)?;
                check_metadata(body.member("metadata"), &request.metadata, &self.sensitive)?;
            }
            Request::ResolveApproval(request) => {
                check_name(body.member("approvalId"), &request.approval_id)?;
                check_approval_metadata(body.member("metadata"), &request.metadata, &self.sensitive)?;
            }
            Request::ResumeRun(request) => check_name(body.member("approvalId"), &request.approval_id)?,
            Request::GetRun(_) | Request::CancelRun(_) | Request::ListEvents(_) => {}
        }
        Ok(principal.to_owned())
    }

    fn begin(&self, call: &Call<'_>, request: &Request<'_>, principal: String) -> Result<ResultFuture<Answer<'static>>, Refusal> {
        let run_id = request.run_id().to_owned();
        match request {
            Request::GetRun(_) => {
                let rules = self.executor.rules().clone();
                Ok(self
                    .executor
                    .read(move |reader| read::run(reader, &rules, &principal, &run_id))
                    .map(|found| found.map(Answer::Run)))
            }
            Request::ListEvents(request) => {
                let (after, limit) = (request.after_sequence, request.limit);
                let rules = self.executor.rules().clone();
                let page = self.executor.read(move |reader| read::page(reader, &rules, &principal, &run_id, after, limit));
                Ok(page.map(|found| found.map(|(page, _)| Answer::Page(page))))
            }
            _ => {
                let command = command(call, request, principal)?;
                Ok(self.executor.write(command).map(move |output| match output? {
                    CommandOutput::Submission { revision, status } => {
                        Ok(Answer::Submission(RunSubmission { run_id: run_id.into(), revision, status }))
                    }
                    _ => Err(refuse::internal("a client's command came to something else")),
                }))
            }
        }
    }
}

/// The command of a mutation.
fn command(call: &Call<'_>, request: &Request<'_>, principal: String) -> Result<Command, Refusal> {
    let mut fingerprint = Fingerprint::of(request.operation().name());
    let retry = |fingerprint: &Fingerprint| Retry {
        scope: KeyScope::new(principal, request.operation(), &*call.idempotency_key),
        fingerprint: fingerprint.digest(),
    };
    let target = |run_id: &str, expected_revision| Target { run_id: run_id.to_owned(), expected_revision };
    let body = Path::ROOT.member("body");
    Ok(match request {
        Request::CreateRun(request) => {
            let path = body.member("input");
            fingerprint
                .context(&request.context)
                .metadata(&request.metadata)
                .json(&request.input, path, Repeated::Refused)
                .map_err(|violation| refuse::invalid(&violation))?;
            Command::Create { retry: retry(&fingerprint), run: new_run(request) }
        }
        Request::CancelRun(request) => {
            fingerprint.string(&request.run_id).unsigned(request.expected_revision).string(&request.reason);
            let target = target(&request.run_id, request.expected_revision);
            Command::Cancel { retry: retry(&fingerprint), target, reason: request.reason.to_string() }
        }
        Request::ResolveApproval(request) => {
            fingerprint
                .string(&request.run_id)
                .unsigned(request.expected_revision)
                .string(&request.approval_id)
                .string(request.resolution.name())
                .string(&request.reason)
                .metadata(&request.metadata);
            Command::Resolve {
                retry: retry(&fingerprint),
                target: target(&request.run_id, request.expected_revision),
                approval_id: request.approval_id.to_string(),
                resolution: request.resolution,
                reason: request.reason.to_string(),
                metadata: views::pairs(&request.metadata),
            }
        }
        Request::ResumeRun(request) => {
            let mut input = Fingerprint::of("input");
            for fingerprint in [&mut input, &mut fingerprint] {
                fingerprint
                    .json(&request.input, body.member("input"), Repeated::Refused)
                    .map_err(|violation| refuse::invalid(&violation))?;
            }
            fingerprint.string(&request.run_id).unsigned(request.expected_revision).string(&request.approval_id);
            Command::Resume {
                retry: retry(&fingerprint),
                target: target(&request.run_id, request.expected_revision),
                approval_id: request.approval_id.to_string(),
                input: request.input.as_str().to_owned(),
                input_fingerprint: input.digest(),
            }
        }
        Request::GetRun(_) | Request::ListEvents(_) => return Err(refuse::internal("a read is no command")),
    })
}

fn new_run(request: &CreateRun<'_>) -> NewRun {
    NewRun {
        run_id: request.context.run_id.to_string(),
        agent_id: request.context.agent_id.to_string(),
        deadline: request.context.deadline_unix_ms,
        context: views::context_text(&request.context),
        input: request.input.as_str().to_owned(),
        metadata: views::metadata_text(&request.metadata),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{ErrorCode, FreeJson, Metadata};
    use crate::runs::access::AccessRule;
    use crate::runs::decide::Rules;
    use crate::runs::log::Log;
    use crate::service::{CancelRun, GetRun};
    use crate::store::MemoryStore;

    fn client(require_principal: bool) -> ClientApi {
        let rules = Rules { max_takeovers: 1, key_ttl_ms: 1000, access: AccessRule::default() };
        let executor = Executor::new(Box::new(MemoryStore::new(Arc::new(|| 1))), rules, Log::default(), Box::new(|_| {}));
        ClientApi { executor: Arc::new(executor), sensitive: SensitiveNames::built_in(), require_principal }
    }

    fn call(request: &Request<'_>, key: &'static str, principal: Option<&'static str>) -> Call<'static> {
        Call {
            operation: request.operation(),
            request_id: "r".into(),
            idempotency_key: key.into(),
            metadata: Metadata::new(),
            principal: principal.map(Into::into),
        }
    }

    fn create(run_id: &'static str, input: &'static str) -> Request<'static> {
        let mut request =
            CreateRun { context: Default::default(), input: FreeJson::new(input).unwrap(), metadata: Metadata::new() };
        request.context.run_id = run_id.into();
        Request::CreateRun(request)
    }

    #[test]
    fn what_no_store_should_see_is_refused_before_it() {
        let (client, strict) = (client(false), client(true));
        for client in [&client, &strict] {
            // Everything that reaches the store is `unavailable` from here on.
            client.executor.close();
        }
        let code = |client: &ClientApi, key, principal, request: Request<'_>| {
            client.serve(&call(&request, key, principal), &request).wait().unwrap_err().code
        };
        let get = || Request::GetRun(GetRun { run_id: "run".into() });
        assert_eq!(code(&client, "", None, get()), ErrorCode::Unavailable);
        assert_eq!(code(&strict, "", None, get()), ErrorCode::Unauthorized);
        assert_eq!(code(&strict, "", Some("alice"), get()), ErrorCode::Unavailable);
        assert_eq!(code(&client, "", Some("a\0"), get()), ErrorCode::Unauthorized);
        assert_eq!(code(&client, "k", None, create("run", "{}")), ErrorCode::Unavailable);
        assert_eq!(code(&client, "k\n", None, create("run", "{}")), ErrorCode::InvalidRequest);
        assert_eq!(code(&client, "k", None, create("r\n", "{}")), ErrorCode::InvalidRequest);
        assert_eq!(code(&client, "k", None, create("run", r#"{"a":1,"a":2}"#)), ErrorCode::InvalidRequest);
    }

    #[test]
    fn a_call_is_answered_by_what_the_store_has() {
        let client = client(false);
        let serve = |key, request: Request<'_>| client.serve(&call(&request, key, None), &request).wait();
        let Ok(Answer::Submission(created)) = serve("k", create("run", "{}")) else { panic!("it was not created") };
        assert_eq!((created.revision, serve("k", create("run", "{}"))), (1, Ok(Answer::Submission(created))));
        let cancel = CancelRun { run_id: "run".into(), expected_revision: 1, reason: "stop".into() };
        let Ok(Answer::Submission(cancelled)) = serve("c", Request::CancelRun(cancel)) else { panic!("it was not cancelled") };
        assert_eq!(cancelled.revision, 2);
        let Ok(Answer::Run(run)) = serve("", Request::GetRun(GetRun { run_id: "run".into() })) else { panic!("it is not there") };
        assert_eq!((run.revision, &*run.error), (2, "stop"));
    }
}
