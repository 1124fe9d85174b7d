//! Reads what C hands in. Nothing is copied: the values borrow from C until the export returns. What is broken about the
//! pointers is a status; what is broken about the values is a violation, which names the member.

use std::borrow::Cow;

use super::constants::{Constant, agenthost_resolution, agenthost_run_status};
use super::request_structs::{
    agenthost_cancel_run, agenthost_context, agenthost_create_run, agenthost_get_run, agenthost_list_events,
    agenthost_resolve_approval, agenthost_resume_run,
};
use super::result_structs::{agenthost_approval, agenthost_error, agenthost_event, agenthost_run, agenthost_submission};
use super::status::{AGENTHOST_INVALID_ARGUMENT, AGENTHOST_NULL_ARGUMENT, agenthost_status};
use super::struct_size::{self, SizedStruct};
use super::text::{agenthost_optional_i64, agenthost_pairs, agenthost_str};
use crate::binding::wire_name;
use crate::members;
use crate::protocol::{
    DEFAULT_CANCEL_REASON, DEFAULT_PAGE_EVENTS, ExecutionContext, FreeJson, HostError, Metadata, Path, Resolution, RunStatus,
    Violation,
};
use crate::service::{
    ApprovalView, CancelRun, CreateRun, Event, GetRun, ListEvents, ResolveApproval, ResumeRun, RunSubmission, RunView,
};

/// Why something from C could not be read.
pub(super) enum ReadError {
    /// A pointer is NULL, or a size or a length is wrong: misuse.
    Status(agenthost_status),
    /// A value cannot be what the contract wants there.
    Violation(Box<Violation>),
}

type Read<T> = Result<T, ReadError>;

impl From<agenthost_status> for ReadError {
    fn from(status: agenthost_status) -> ReadError {
        ReadError::Status(status)
    }
}

impl From<Box<Violation>> for ReadError {
    fn from(violation: Box<Violation>) -> ReadError {
        ReadError::Violation(violation)
    }
}

/// The items of an array.
///
/// # Safety
/// `count` is 0, or `items` is NULL or leads to `count` items that nobody changes while the result is used.
pub(super) unsafe fn array<'a, T>(items: *const T, count: usize) -> Result<&'a [T], agenthost_status> {
    if count == 0 {
        return Ok(&[]);
    }
    if items.is_null() {
        return Err(AGENTHOST_NULL_ARGUMENT);
    }
    // -1 as a length, say: no memory is that large.
    if count > isize::MAX.unsigned_abs() / size_of::<T>() {
        return Err(AGENTHOST_INVALID_ARGUMENT);
    }
    // SAFETY: by this function's own contract.
    Ok(unsafe { std::slice::from_raw_parts(items, count) })
}

/// The bytes of a text.
///
/// # Safety
/// The text is empty, or its pointer is NULL or leads to `len` bytes that nobody changes while the result is used.
pub(super) unsafe fn bytes<'a>(text: agenthost_str) -> Result<&'a [u8], agenthost_status> {
    // SAFETY: by this function's own contract.
    unsafe { array(text.data.cast(), text.len) }
}

/// A text as UTF-8.
///
/// # Safety
/// As [`bytes`].
pub(super) unsafe fn text<'a>(text: agenthost_str, path: Path<'_>) -> Read<&'a str> {
    // SAFETY: by this function's own contract.
    let bytes = unsafe { bytes(text) }?;
    if bytes.is_ascii() {
        // SAFETY: ASCII is UTF-8. Most texts are, and this check is faster than the general one.
        return Ok(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    std::str::from_utf8(bytes)
        .map_err(|error| Violation::new(path, format!("expected UTF-8, the byte at {} is not", error.valid_up_to())).into())
}

/// The same as a value that a request or result can hold.
///
/// # Safety
/// As [`bytes`].
unsafe fn string<'a>(value: agenthost_str, path: Path<'_>) -> Read<Cow<'a, str>> {
    // SAFETY: by this function's own contract.
    Ok(Cow::Borrowed(unsafe { text(value, path) }?))
}

/// Free JSON; empty means `default`.
///
/// # Safety
/// As [`bytes`].
pub(super) unsafe fn free_json<'a>(value: agenthost_str, path: Path<'_>, default: FreeJson<'static>) -> Read<FreeJson<'a>> {
    // SAFETY: by this function's own contract.
    let text = unsafe { text(value, path) }?;
    if text.is_empty() { Ok(default) } else { Ok(FreeJson::read(text, path)?) }
}

/// A map of strings.
///
/// # Safety
/// `items` leads to `count` pairs, each as [`bytes`] wants it, or `count` is 0, or `items` is NULL.
pub(super) unsafe fn pairs<'a>(pairs: agenthost_pairs, path: Path<'_>) -> Read<Metadata<'a>> {
    // SAFETY: by this function's own contract.
    let items = unsafe { array(pairs.items, pairs.count) }?;
    if items.is_empty() {
        return Ok(Metadata::new());
    }
    let mut read = Vec::with_capacity(items.len());
    for item in items {
        // SAFETY: by this function's own contract.
        let key = unsafe { string(item.key, path) }?;
        // SAFETY: by this function's own contract.
        let value = unsafe { string(item.value, path.member(&key)) }?;
        read.push((key, value));
    }
    Metadata::from_pairs(read).map_err(|name| Violation::new(path.member(&name), "expected the name once, found it again").into())
}

pub(super) fn constant<T: Constant>(number: i32, path: Path<'_>) -> Read<T> {
    let most = T::ALL.len();
    T::from_number(number)
        .ok_or_else(|| Violation::new(path, format!("expected one of the constants 1 to {most}, found {number}")).into())
}

pub(super) fn flag(number: u32, path: Path<'_>) -> Read<bool> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Violation::new(path, format!("expected 0 or 1, found {number}")).into()),
    }
}

pub(super) fn reserved(number: u32, path: Path<'_>) -> Read<()> {
    if number == 0 { Ok(()) } else { Err(Violation::new(path.member("reserved"), format!("expected 0, found {number}")).into()) }
}

pub(super) fn optional(number: agenthost_optional_i64, path: Path<'_>) -> Read<Option<i64>> {
    match number.present {
        0 => Ok(None),
        1 => Ok(Some(number.value)),
        present => Err(Violation::new(path.member("present"), format!("expected 0 or 1, found {present}")).into()),
    }
}

/// What can be read from a struct of the header.
pub(super) trait FromC: SizedStruct {
    /// What it is here.
    type Value<'a>;

    /// Reads the members.
    ///
    /// # Safety
    /// Every text, map and struct that it leads to is as [`bytes`], [`pairs`] and [`struct_size::read`] want it.
    unsafe fn value<'a>(self, path: Path<'_>) -> Read<Self::Value<'a>>;
}

/// Reads a struct and what it leads to.
///
/// # Safety
/// As [`struct_size::read`] and [`FromC::value`].
pub(super) unsafe fn read<'a, T: FromC>(pointer: *const T, path: Path<'_>) -> Read<T::Value<'a>> {
    // SAFETY: by this function's own contract.
    unsafe { struct_size::read(pointer)?.value(path) }
}

/// Reads the members of a type out of its struct; `reserved` when the struct has such a member.
macro_rules! read_members {
    ({ $struct:ident $($reserved:ident)? } $type:ident { $($name:ident = $field:ident: $kind:ident,)* }) => {
        impl FromC for $struct {
            type Value<'a> = $type<'a>;

            unsafe fn value<'a>(self, path: Path<'_>) -> Read<$type<'a>> {
                $(self::reserved(self.$reserved, path)?;)?
                // SAFETY: by this method's own contract.
                unsafe {
                    Ok($type {
                        $($field: {
                            const WIRE_NAME: &str = const { &wire_name(stringify!($name)) }.as_str();
                            Member::$kind(self.$name, path.member(WIRE_NAME))?
                        },)*
                    })
                }
            }
        }
    };
}

members!(ExecutionContext => read_members! { agenthost_context });
members!(CancelRun => read_members! { agenthost_cancel_run });
members!(ResolveApproval => read_members! { agenthost_resolve_approval reserved });
members!(RunSubmission => read_members! { agenthost_submission reserved });
members!(ApprovalView => read_members! { agenthost_approval reserved });
members!(RunView => read_members! { agenthost_run reserved });
members!(Event => read_members! { agenthost_event reserved });

/// Reads one member, by its kind.
struct Member;

impl Member {
    /// # Safety
    /// As [`string`].
    #[inline(always)]
    unsafe fn text<'a>(value: agenthost_str, path: Path<'_>) -> Read<Cow<'a, str>> {
        // SAFETY: by this function's own contract.
        unsafe { string(value, path) }
    }

    /// # Safety
    /// As [`string`].
    #[inline(always)]
    unsafe fn optional_text<'a>(value: agenthost_str, path: Path<'_>) -> Read<Cow<'a, str>> {
        // SAFETY: by this function's own contract.
        unsafe { string(value, path) }
    }

    /// # Safety
    /// As [`string`].
    #[inline(always)]
    unsafe fn cancel_reason<'a>(value: agenthost_str, path: Path<'_>) -> Read<Cow<'a, str>> {
        // SAFETY: by this function's own contract.
        let reason = unsafe { string(value, path) }?;
        Ok(if reason.is_empty() { Cow::Borrowed(DEFAULT_CANCEL_REASON) } else { reason })
    }

    #[inline(always)]
    fn unsigned(value: u64, _: Path<'_>) -> Read<u64> {
        Ok(value)
    }

    #[inline(always)]
    fn time(value: i64, _: Path<'_>) -> Read<i64> {
        Ok(value)
    }

    #[inline(always)]
    fn optional_time(value: agenthost_optional_i64, path: Path<'_>) -> Read<Option<i64>> {
        optional(value, path)
    }

    #[inline(always)]
    fn run_status(value: agenthost_run_status, path: Path<'_>) -> Read<RunStatus> {
        constant(value, path)
    }

    #[inline(always)]
    fn resolution(value: agenthost_resolution, path: Path<'_>) -> Read<Resolution> {
        constant(value, path)
    }

    /// # Safety
    /// As [`pairs`].
    #[inline(always)]
    unsafe fn metadata<'a>(value: agenthost_pairs, path: Path<'_>) -> Read<Metadata<'a>> {
        // SAFETY: by this function's own contract.
        unsafe { pairs(value, path) }
    }

    /// # Safety
    /// As [`free_json`].
    #[inline(always)]
    unsafe fn free_json<'a>(value: agenthost_str, path: Path<'_>) -> Read<FreeJson<'a>> {
        // SAFETY: by this function's own contract.
        unsafe { free_json(value, path, FreeJson::NULL) }
    }

    /// # Safety
    /// As [`read`].
    #[inline(always)]
    unsafe fn context<'a>(value: *const agenthost_context, path: Path<'_>) -> Read<ExecutionContext<'a>> {
        if value.is_null() {
            return Ok(ExecutionContext::default());
        }
        // SAFETY: by this function's own contract.
        unsafe { read(value, path) }
    }

    /// # Safety
    /// As [`read`].
    #[inline(always)]
    unsafe fn approval<'a>(value: *const agenthost_approval, path: Path<'_>) -> Read<Option<ApprovalView<'a>>> {
        if value.is_null() {
            return Ok(None);
        }
        // SAFETY: by this function's own contract.
        unsafe { read(value, path) }.map(Some)
    }
}

impl FromC for agenthost_create_run {
    type Value<'a> = CreateRun<'a>;

    unsafe fn value<'a>(self, path: Path<'_>) -> Read<CreateRun<'a>> {
        // SAFETY: by this method's own contract.
        unsafe {
            Ok(CreateRun {
                context: read(self.context, path.member("context"))?,
                input: free_json(self.input, path.member("input"), FreeJson::EMPTY_OBJECT)?,
                metadata: pairs(self.metadata, path.member("metadata"))?,
            })
        }
    }
}

impl FromC for agenthost_get_run {
    type Value<'a> = GetRun<'a>;

    unsafe fn value<'a>(self, path: Path<'_>) -> Read<GetRun<'a>> {
        // SAFETY: by this method's own contract.
        Ok(GetRun { run_id: unsafe { string(self.run_id, path.member("runId")) }? })
    }
}

impl FromC for agenthost_resume_run {
    type Value<'a> = ResumeRun<'a>;

    unsafe fn value<'a>(self, path: Path<'_>) -> Read<ResumeRun<'a>> {
        // SAFETY: by this method's own contract.
        unsafe {
            Ok(ResumeRun {
                run_id: string(self.run_id, path.member("runId"))?,
                expected_revision: self.expected_revision,
                approval_id: string(self.approval_id, path.member("approvalId"))?,
                input: free_json(self.input, path.member("input"), FreeJson::EMPTY_OBJECT)?,
            })
        }
    }
}

impl FromC for agenthost_list_events {
    type Value<'a> = ListEvents<'a>;

    unsafe fn value<'a>(self, path: Path<'_>) -> Read<ListEvents<'a>> {
        // SAFETY: by this method's own contract.
        let run_id = unsafe { string(self.run_id, path.member("runId")) }?;
        let limit = if self.limit == 0 { DEFAULT_PAGE_EVENTS } else { self.limit };
        Ok(ListEvents { run_id, after_sequence: self.after_sequence, limit })
    }
}

impl FromC for agenthost_error {
    type Value<'a> = HostError<'a>;

    unsafe fn value<'a>(self, path: Path<'_>) -> Read<HostError<'a>> {
        // SAFETY: by this method's own contract.
        unsafe {
            Ok(HostError {
                code: constant(self.code, path.member("code"))?,
                message: string(self.message, path.member("message"))?,
                retryable: flag(self.retryable, path.member("retryable"))?,
                details: free_json(self.details, path.member("details"), FreeJson::EMPTY_OBJECT)?,
                metadata: pairs(self.metadata, path.member("metadata"))?,
                original_code: string(self.original_code, path.member("originalCode"))?,
            })
        }
    }
}
