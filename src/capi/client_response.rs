//! The client's side: responses.

use std::ptr;

use super::client_request::agenthost_request;
use super::constants::{Constant, agenthost_operation};
use super::export::{Place, StatusResult, guarded};
use super::failure::{Failure, Why};
use super::handles::{OwnedHandle, borrowed, read_or};
use super::host::agenthost_host;
use super::live::{AGENTHOST_LIVE_RESPONSES, Live};
use super::pointed_to::PointedTo;
use super::request_structs::agenthost_context;
use super::result_structs::{agenthost_approval, agenthost_error, agenthost_event, agenthost_run, agenthost_submission};
use super::status::{AGENTHOST_BAD_RESPONSE, agenthost_status};
use super::text::{agenthost_buffer, agenthost_str};
use super::values_from_c;
use super::values_to_c::{self, Pairs};
use crate::client::{BadResponse, Outcome, Response, parse_any};
use crate::protocol::{Path, SensitiveNames, negotiate_version};
use crate::service::Answer;

/// A response that was checked. One owner; any number of threads may read it; ends with `agenthost_response_free`.
pub struct agenthost_response {
    /// Everything below borrows from it. It is never changed.
    response: Box<Response<'static>>,
    result: ResultStructs,
    _live: Live<AGENTHOST_LIVE_RESPONSES>,
}

impl OwnedHandle for agenthost_response {}

/// The result or error as C sees it, with what it leads to. None of it moves when the response does.
enum ResultStructs {
    Error(Box<agenthost_error>, #[allow(dead_code, reason = "the error leads to it")] Pairs),
    Submission(Box<agenthost_submission>),
    Run(RunStructs),
    Page {
        events: Vec<agenthost_event>,
        #[allow(dead_code, reason = "the events lead to them")]
        pairs: Vec<Pairs>,
        next_sequence: u64,
        has_more: bool,
    },
}

/// A run, and what it leads to.
#[allow(dead_code, reason = "the run leads to the others")]
struct RunStructs {
    run: Box<agenthost_run>,
    context: PointedTo<agenthost_context>,
    approval: Option<PointedTo<agenthost_approval>>,
    pairs: [Pairs; 3],
}

impl ResultStructs {
    fn of(outcome: &Outcome<'_>) -> ResultStructs {
        match outcome {
            Outcome::Error(error) => {
                let pairs = Pairs::of(&error.metadata);
                ResultStructs::Error(Box::new(values_to_c::error(error, &pairs)), pairs)
            }
            Outcome::Success(Answer::Submission(submission)) => {
                ResultStructs::Submission(Box::new(values_to_c::submission(submission)))
            }
            Outcome::Success(Answer::Run(run)) => {
                let approval = run.approval.as_ref();
                let none = crate::protocol::Metadata::new();
                let of_approval = approval.map_or(&none, |approval| &approval.metadata);
                let pairs = [Pairs::of(&run.metadata), Pairs::of(&run.context.metadata), Pairs::of(of_approval)];
                let context = PointedTo::new(values_to_c::context(&run.context, &pairs[1]));
                let approval = approval.map(|approval| PointedTo::new(values_to_c::approval(approval, &pairs[2])));
                let approval_pointer = approval.as_ref().map_or(ptr::null(), PointedTo::as_ptr);
                let run = Box::new(values_to_c::run(run, context.as_ptr(), approval_pointer, &pairs[0]));
                ResultStructs::Run(RunStructs { run, context, approval, pairs })
            }
            Outcome::Success(Answer::Page(page)) => {
                let pairs: Vec<_> = page.events.iter().map(|event| Pairs::of(&event.metadata)).collect();
                let events = page.events.iter().zip(&pairs).map(|(event, pairs)| values_to_c::event(event, pairs)).collect();
                ResultStructs::Page { events, pairs, next_sequence: page.next_sequence, has_more: page.has_more }
            }
        }
    }
}

/// # Safety
/// As [`Place::of`] and [`values_from_c::bytes`].
unsafe fn parse_with(
    message: agenthost_str,
    response: *mut *mut agenthost_response,
    why: *mut *mut agenthost_buffer,
    parse: impl for<'a> FnOnce(&'a [u8]) -> StatusResult<Result<Response<'a>, BadResponse>>,
) -> agenthost_status {
    // SAFETY: by this function's own contract.
    guarded(|| unsafe {
        let why = Why::of(why);
        let place = Place::of(response)?;
        let parsed = parse(values_from_c::bytes(message)?)?;
        let parsed = parsed.map_err(|bad| Failure::new(AGENTHOST_BAD_RESPONSE, bad.to_string()).explain(&why))?;
        let response = Box::new(parsed.into_owned());
        let result = ResultStructs::of(&response.outcome);
        place.put(agenthost_response { response, result, _live: Live::new() }.into_raw());
        Ok(())
    })
}

/// Checks that `message` answers `request`, and takes it apart. `message` is copied. A well-formed refusal is OK, with
/// `agenthost_response_error`. `AGENTHOST_BAD_RESPONSE`: not an answer to this request, and `*why` (which may be NULL) says which rule
/// it breaks. Of metadata what has a sensitive name is dropped. `*response` is yours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_parse(
    request: *const agenthost_request,
    message: agenthost_str,
    response: *mut *mut agenthost_response,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe { parse_with(message, response, why, |message| Ok(borrowed(request)?.prepared.parse(message))) }
}

/// Like `agenthost_response_parse`, of a response whose request is not known (in a log, in a proxy): everything but "it
/// answers this request" is checked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_parse_any(
    message: agenthost_str,
    response: *mut *mut agenthost_response,
    why: *mut *mut agenthost_buffer,
) -> agenthost_status {
    // SAFETY: the caller keeps the header's rules.
    unsafe { parse_with(message, response, why, |message| Ok(parse_any(message))) }
}

/// The operation that the response names. 0 for NULL, and when it is a refusal of a version that this library does not speak
/// with an operation that it does not know.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_operation(response: *const agenthost_response) -> agenthost_operation {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(response, 0, |response| response.response.operation.map_or(0, Constant::to_number)) }
}

/// The request that it answers; empty in a refusal whose request could not be read. Borrowed from the response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_request_id(response: *const agenthost_response) -> agenthost_str {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(response, values_to_c::text(""), |response| values_to_c::text(&response.response.request_id)) }
}

/// The version that it is written in. Borrowed from the response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_protocol_version(response: *const agenthost_response) -> agenthost_str {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(response, values_to_c::text(""), |response| values_to_c::text(&response.response.protocol_version)) }
}

/// The error, or NULL. After a mutation `AGENTHOST_CODE_INTERNAL` and `AGENTHOST_CODE_UNAVAILABLE` mean that the outcome is not known: send
/// the same bytes again. Borrowed from the response, like what the next three return; at most one of the four is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_error(response: *const agenthost_response) -> *const agenthost_error {
    let found = |response: &agenthost_response| match &response.result {
        ResultStructs::Error(error, _) => &raw const **error,
        _ => ptr::null(),
    };
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(response, ptr::null(), found) }
}

/// The result of a mutation, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_submission(response: *const agenthost_response) -> *const agenthost_submission {
    let found = |response: &agenthost_response| match &response.result {
        ResultStructs::Submission(submission) => &raw const **submission,
        _ => ptr::null(),
    };
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(response, ptr::null(), found) }
}

/// The result of `get_run`, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_run(response: *const agenthost_response) -> *const agenthost_run {
    let found = |response: &agenthost_response| match &response.result {
        ResultStructs::Run(structs) => &raw const *structs.run,
        _ => ptr::null(),
    };
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(response, ptr::null(), found) }
}

/// 1 when it is the result of `list_events`, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_is_page(response: *const agenthost_response) -> u32 {
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(response, 0, |response| u32::from(matches!(response.result, ResultStructs::Page { .. }))) }
}

/// The number of events of the page; 0 when it is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_event_count(response: *const agenthost_response) -> usize {
    let found = |response: &agenthost_response| match &response.result {
        ResultStructs::Page { events, .. } => events.len(),
        _ => 0,
    };
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(response, 0, found) }
}

/// An event of the page by its place from 0, or NULL when there is none. Borrowed from the response.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_event(response: *const agenthost_response, index: usize) -> *const agenthost_event {
    let found = |response: &agenthost_response| match &response.result {
        ResultStructs::Page { events, .. } => events.get(index).map_or(ptr::null(), |event| &raw const *event),
        _ => ptr::null(),
    };
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(response, ptr::null(), found) }
}

/// The cursor for the next page; 0 when it is no page.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_next_sequence(response: *const agenthost_response) -> u64 {
    let found = |response: &agenthost_response| match &response.result {
        ResultStructs::Page { next_sequence, .. } => *next_sequence,
        _ => 0,
    };
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(response, 0, found) }
}

/// 1 when more events are there already, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_has_more(response: *const agenthost_response) -> u32 {
    let found = |response: &agenthost_response| match &response.result {
        ResultStructs::Page { has_more, .. } => u32::from(*has_more),
        _ => 0,
    };
    // SAFETY: the caller keeps the header's rules.
    unsafe { read_or(response, 0, found) }
}

/// Frees a response, and everything that was borrowed from it. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_response_free(response: *mut agenthost_response) {
    // SAFETY: the owner gives the response up.
    unsafe { agenthost_response::free(response) };
}

/// The most preferred supported version that is offered; `data` is NULL when there is none (then negotiation fails), or when
/// `offered` is NULL or not readable. Static.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_negotiate_version(offered: *const agenthost_str, count: usize) -> agenthost_str {
    const NONE: agenthost_str = agenthost_str { data: ptr::null(), len: 0 };
    // SAFETY: the caller keeps the header's rules.
    let offered = unsafe { values_from_c::array(offered, count) }.unwrap_or_default();
    // SAFETY: as above. What is no text is no version.
    let texts = offered.iter().filter_map(|text| unsafe { values_from_c::text(*text, Path::ROOT) }.ok());
    negotiate_version(texts).map_or(NONE, values_to_c::text)
}

/// 1 when `name` looks as if its value were a secret: by the built-in names, and a host's own when `host` is not NULL. A name
/// that is not UTF-8 is judged by its ASCII letters and digits like any other. Else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agenthost_is_sensitive_name(host: *const agenthost_host, name: agenthost_str) -> u32 {
    // SAFETY: the caller keeps the header's rules.
    let name = unsafe { values_from_c::bytes(name) }.unwrap_or_default();
    let name = String::from_utf8_lossy(name);
    // SAFETY: as above.
    let sensitive = match unsafe { host.as_ref() } {
        Some(host) => host.host().is_sensitive_name(&name),
        None => SensitiveNames::built_in().contains(&name),
    };
    u32::from(sensitive)
}
