//! Hosts: the two halves of a dispatch, between which JavaScript runs the service.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use agenthost::binding::{HostSettings, LogQueue};
use agenthost::dispatch::UnavailableReason;
use agenthost::host::{Host, OpenCall, Opened};
use agenthost::protocol::{ErrorCode, FreeJson, HostError};
use agenthost::service::{Answer, Request};
use napi::JsString;
use napi::bindgen_prelude::{BufferSlice, Either, Env, Error, Null, Object, Result};
use napi_derive::napi;
use serde_json::Value;
use slab::Slab;

use crate::environment::{self, AtEnd};
use crate::log;
use crate::misuse::invalid;
use crate::node_api::{self, Arguments, Function, Returned};
use crate::packed::{self, NumberBytes, PackedCall, Texts};
use crate::registry::Registry;
use crate::text::{js_string, metadata, response_text};

/// A response; when the host has logged something, the records as JSON behind it.
type Settled = Either<String, Vec<String>>;

/// What became of a message, as `open` returns it.
type Strings<'e> = Either<JsString<'e>, Vec<JsString<'e>>>;

/// One host of this thread.
struct NodeHost {
    host: Host,
    /// The calls that JavaScript serves, by the numbers that it knows them by.
    calls: RefCell<Slab<OpenCall>>,
    /// What the host has logged since JavaScript was last given it.
    records: Arc<LogQueue>,
    /// The environment that made it.
    environment: usize,
}

thread_local! {
    static HOSTS: Registry<NodeHost> = const { Registry::new("host") };
    /// The environments at whose end [`environment_ended`] is called.
    static ENVIRONMENTS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn host(number: u32) -> Result<Rc<NodeHost>> {
    HOSTS.with(|hosts| hosts.get(number))
}

/// Makes a host whose service JavaScript runs. When the environment ends, each of its waiting calls is answered `unavailable`.
#[napi(catch_unwind)]
pub(crate) fn create_host(
    env: Env,
    max_message_bytes: f64,
    sensitive_names: Vec<String>,
    require_principal: bool,
) -> Result<u32> {
    let max_message_bytes = Some(max_message_bytes as usize);
    let settings = HostSettings { max_message_bytes, sensitive_names, require_principal, default_timeout: None };
    make_host(&settings, environment::name(&env), environment::end_of(&env))
}

fn make_host(settings: &HostSettings, environment: usize, at_end: impl FnOnce(AtEnd) -> Result<()>) -> Result<u32> {
    let records = Arc::new(LogQueue::default());
    let host = Host::without_service(settings.options(Some(records.hook())).map_err(invalid)?);
    watch(environment, at_end)?;
    Ok(HOSTS.with(|hosts| hosts.add(NodeHost { host, calls: RefCell::default(), records, environment })))
}

/// Has the hosts of an environment closed at its end. Asks Node once for each environment.
fn watch(environment: usize, at_end: impl FnOnce(AtEnd) -> Result<()>) -> Result<()> {
    if !ENVIRONMENTS.with_borrow(|known| known.contains(&environment)) {
        at_end(Box::new(move || environment_ended(environment)))?;
        ENVIRONMENTS.with_borrow_mut(|known| known.push(environment));
    }
    Ok(())
}

/// Closes the hosts of an environment that ends: each of their waiting calls is answered.
fn environment_ended(environment: usize) {
    ENVIRONMENTS.with_borrow_mut(|known| known.retain(|other| *other != environment));
    for host in HOSTS.with(|hosts| hosts.all(|host| host.environment == environment)) {
        // No callback is on this thread's stack, and no other thread knows the host: it closes at once.
        let _ = host.host.close(Some(Duration::ZERO));
        let calls = std::mem::take(&mut *host.calls.borrow_mut());
        drop(calls);
    }
}

/// Lets go of a host that JavaScript has lost.
#[napi(catch_unwind)]
pub(crate) fn release_host(number: u32) {
    drop(HOSTS.with(|hosts| hosts.remove(number)));
}

/// Gives JavaScript the functions that every call takes.
#[napi(module_exports)]
pub(crate) fn export(mut exports: Object<'_>) -> Result<()> {
    node_api::export::<Open>(&mut exports)?;
    node_api::export::<OpenText>(&mut exports)?;
    node_api::export::<CompletePacked>(&mut exports)
}

/// `open(host, message, numbers, principal)`, the first half of a dispatch; the principal may be left out. A string that begins with
/// `{` is the response. Any other is a call as [`packed::pack`] packs it, whose numbers are put into `numbers`; where the request has an
/// input, it is the first of two strings, and the input the second. Null: the message is no `Uint8Array` that this thread alone can
/// write to.
struct Open;

impl Function for Open {
    const NAME: &'static str = "open";

    fn call(given: &mut Arguments) -> Result<Returned> {
        let (host, principal) = (host(given.number(0)?)?, principal(given)?);
        let env = given.env();
        match given.bytes(1, |message| host.open(&env, message, principal))? {
            Some(opened) => give_opened(given, opened?),
            None => given.give(Null),
        }
    }
}

/// Like `open`, with a message as a string.
struct OpenText;

impl Function for OpenText {
    const NAME: &'static str = "openText";

    fn call(given: &mut Arguments) -> Result<Returned> {
        let (host, principal) = (host(given.number(0)?)?, principal(given)?);
        let env = given.env();
        let opened = host.open(&env, given.text(1)?.as_bytes(), principal)?;
        give_opened(given, opened)
    }
}

fn principal(given: &Arguments) -> Result<Option<String>> {
    if given.count() > 3 { given.text(3).map(Some) } else { Ok(None) }
}

fn give_opened(given: &mut Arguments, (strings, packed): (Strings<'_>, Option<PackedCall>)) -> Result<Returned> {
    if let Some(packed) = packed {
        given.memory(2, |numbers| packed.write_numbers(numbers))?;
    }
    given.give(strings)
}

/// `completePacked(numbers, texts, place)`, the second half: the result as [`packed::unpack`] reads it. The header of the numbers is
/// how many follow, the host, the call, and an offset. Null: the result cannot be read, the call waits for it as JSON. The response
/// goes into `place` from the offset on, and its length is returned; where it has no room there it is returned itself. When the host has
/// logged something, it is returned like [`Settled`].
struct CompletePacked;

impl Function for CompletePacked {
    const NAME: &'static str = "completePacked";

    fn call(given: &mut Arguments) -> Result<Returned> {
        let texts = Texts::new(&given.utf16(1)?);
        let (host, offset, response) = given.memory(0, |numbers| {
            let ([count, number, call, offset, ..], numbers) =
                packed::split(numbers).ok_or_else(|| invalid("there is no header"))?;
            let host = host(number)?;
            let numbers = numbers.get(..count as usize).unwrap_or_default();
            let response = host.complete_packed(call, numbers, texts.as_ref())?;
            Ok::<_, Error>((host, offset as usize, response))
        })??;
        let Some(response) = response else { return given.give(Null) };
        if let Some(records) = host.take_records() {
            return given.give(vec![response_text(response), records]);
        }
        let written = given.memory(2, |place| {
            let room = place.get_mut(offset..).and_then(|rest| rest.get_mut(..response.len()));
            room.map(|room| room.copy_from_slice(&response)).is_some()
        })?;
        if written { given.give(response.len() as u32) } else { given.give(&BufferSlice::copy_from(&given.env(), response)?) }
    }
}

fn no_call(call: u32) -> Error {
    invalid(format!("there is no call {call}"))
}

/// The second half: the result as JSON text. `free[0]` is a run's `result`, `free[i]` the `data` of event `i`, where the
/// service gave them as text.
#[napi(catch_unwind)]
pub(crate) fn complete(number: u32, call: u32, body: String, free: Option<Vec<Option<String>>>) -> Result<Settled> {
    host(number)?.settle(call, |open| match free {
        None => open.complete_json(&body),
        Some(free) => complete_with(open, &body, &free),
    })
}

fn complete_with(open: OpenCall, body: &str, free: &[Option<String>]) -> Vec<u8> {
    let mut answer = match Answer::from_json(open.operation(), body) {
        Ok(answer) => answer,
        Err(violation) => return open.complete_broken(violation),
    };
    for (index, text) in free.iter().enumerate() {
        let Some(text) = text else { continue };
        let (place, member) = match &mut answer {
            Answer::Run(run) => (Some(&mut run.result), "resultJson".to_owned()),
            Answer::Page(page) => (page.events.get_mut(index).map(|event| &mut event.data), format!("events.{index}.dataJson")),
            Answer::Submission(_) => (None, String::new()),
        };
        match (place, FreeJson::new(text.as_str())) {
            (Some(place), Ok(value)) => *place = value,
            (None, _) => {}
            (_, Err(violation)) => {
                let rule = format!("{member}: {}", violation.expected());
                return open.fail("the answer breaks a rule of the contract", &[("rule", &rule)]);
            }
        }
    }
    open.complete(Ok(answer))
}

/// The second half when the service answers with an error of a known code. `texts` is its metadata, names and values in turn.
#[napi(catch_unwind)]
pub(crate) fn complete_error(
    number: u32,
    call: u32,
    code: String,
    message: String,
    retryable: bool,
    details: Option<String>,
    texts: Vec<String>,
) -> Result<Settled> {
    host(number)?.settle(call, |open| {
        let Some(code) = ErrorCode::from_name(&code) else {
            return open.fail("the service answered with an error of an unknown code", &[]);
        };
        let details = match details.as_deref().map(FreeJson::new) {
            None => FreeJson::EMPTY_OBJECT,
            Some(Ok(details)) => details,
            Some(Err(violation)) => {
                let rule = format!("error.details: {}", violation.expected());
                return open.fail("the answer breaks a rule of the contract", &[("rule", &rule)]);
            }
        };
        let error = HostError::new(code, message).with_retryable(retryable).with_details(details);
        open.complete(Err(error.with_metadata(metadata(texts))))
    })
}

/// The second half when the service failed: `internal` out, the cause to the log.
#[napi(catch_unwind)]
pub(crate) fn fail(number: u32, call: u32, cause: String) -> Result<Settled> {
    host(number)?.settle(call, |open| open.fail(&cause, &[]))
}

/// The second half when nobody waits for the service any more; after `close_host` the answer of the closed host.
#[napi(catch_unwind)]
pub(crate) fn give_up(number: u32, call: u32, timed_out: bool) -> Result<Settled> {
    let why = if timed_out { UnavailableReason::Timeout } else { UnavailableReason::Cancelled };
    host(number)?.settle(call, |open| open.give_up(why))
}

/// Refuses new calls from here on.
#[napi(catch_unwind)]
pub(crate) fn refuse_calls(number: u32) -> Result<()> {
    host(number)?.host.drain(Some(Duration::ZERO)).map(drop).map_err(invalid)
}

/// Closes a host: the calls that still wait are answered, JavaScript collects the responses by `give_up`. The records, as JSON.
#[napi(catch_unwind)]
pub(crate) fn close_host(number: u32) -> Result<String> {
    let host = host(number)?;
    host.host.close(Some(Duration::ZERO)).map_err(invalid)?;
    Ok(host.take_records().unwrap_or_else(|| "[]".to_owned()))
}

/// Whether the host keeps a name out of metadata.
#[napi(catch_unwind)]
pub(crate) fn is_sensitive_for(number: u32, name: String) -> Result<bool> {
    Ok(host(number)?.host.is_sensitive_name(&name))
}

impl NodeHost {
    fn open<'e>(&self, env: &'e Env, message: &[u8], principal: Option<String>) -> Result<(Strings<'e>, Option<PackedCall>)> {
        match self.host.open(message, principal.map(Into::into)).map_err(invalid)? {
            Opened::Answered(response) => Ok((Either::A(js_string(env, &response)?), None)),
            Opened::Call(call, mut request, open) => {
                let input = take_input(&mut request);
                let number = self.calls.borrow_mut().insert(open);
                let packed = packed::pack(number, &call, &request);
                let text = js_string(env, &packed.text)?;
                let strings = match input {
                    None => Either::A(text),
                    Some(input) => Either::B(vec![text, js_string(env, input.as_str().as_bytes())?]),
                };
                Ok((strings, Some(packed)))
            }
        }
    }

    /// None: the answer cannot be read as packed, and the call goes on.
    fn complete_packed(&self, call: u32, numbers: &[NumberBytes], texts: Option<&Texts>) -> Result<Option<Vec<u8>>> {
        let mut calls = self.calls.borrow_mut();
        let operation = calls.get(call as usize).map(OpenCall::operation).ok_or_else(|| no_call(call))?;
        let Some(answer) = texts.and_then(|texts| packed::unpack(operation, numbers, texts)) else { return Ok(None) };
        Ok(Some(calls.remove(call as usize).complete_answer(&answer)))
    }

    fn settle(&self, call: u32, settle: impl FnOnce(OpenCall) -> Vec<u8>) -> Result<Settled> {
        let open = self.calls.borrow_mut().try_remove(call as usize);
        let open = open.ok_or_else(|| no_call(call))?;
        let response = response_text(settle(open));
        Ok(match self.take_records() {
            None => Either::A(response),
            Some(records) => Either::B(vec![response, records]),
        })
    }

    fn take_records(&self) -> Option<String> {
        if self.records.is_empty() {
            return None;
        }
        Some(Value::from_iter(self.records.take_all().iter().map(log::to_json)).to_string())
    }
}

/// Takes the input out of a request; null stays in its place.
fn take_input<'m>(request: &mut Request<'m>) -> Option<FreeJson<'m>> {
    match request {
        Request::CreateRun(request) => Some(std::mem::replace(&mut request.input, FreeJson::NULL)),
        Request::ResumeRun(request) => Some(std::mem::replace(&mut request.input, FreeJson::NULL)),
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const GET_RUN: &[u8] =
        br#"{"protocolVersion":"2026-07-01","requestId":"r-1","operation":"get_run","body":{"runId":"a"}}"#;

    fn call(number: u32) -> OpenCall {
        match host(number).unwrap().host.open(GET_RUN, None).unwrap() {
            Opened::Call(_, _, open) => open,
            Opened::Answered(response) => panic!("{}", response_text(response)),
        }
    }

    #[test]
    fn a_waiting_call_is_answered_when_its_environment_ends() {
        let mut asked = Vec::new();
        let mut make = |environment| {
            make_host(&HostSettings::default(), environment, |ended| {
                asked.push((environment, ended));
                Ok(())
            })
        };
        let (first, second, other) = (make(1).unwrap(), make(1).unwrap(), make(2).unwrap());
        // What JavaScript would complete. The host in the other environment goes on.
        let (waiting, served) = (vec![call(first), call(second)], call(other));

        assert_eq!(asked.iter().map(|(environment, _)| *environment).collect::<Vec<_>>(), [1, 2], "once for each environment");
        let (_, ended) = asked.remove(0);
        ended();
        for open in waiting {
            assert!(open.is_abandoned());
            let response =
                response_text(open.complete_json(r#"{"runId":"a","revision":1,"status":"running","context":{"runId":"a"}}"#));
            assert!(response.contains(r#""requestId":"r-1""#) && response.contains(r#""reason":"closed""#), "{response}");
        }
        assert!(!served.is_abandoned());
        drop(served);
    }
}
