//! The service that C plugs in: six slots, and how they are called.

use std::ffi::c_void;

use super::callback::{self, agenthost_destroy};
use super::reply::agenthost_reply;
use super::request_structs::{
    agenthost_call, agenthost_cancel_run, agenthost_create_run, agenthost_get_run, agenthost_list_events,
    agenthost_resolve_approval, agenthost_resume_run,
};
use super::struct_size::sized_structs;
use super::values_to_c::{self, Pairs};
use crate::host::{DeferringService, Reply};
use crate::service::{Call, Request};

/// The application behind a host: six slots, all required. Each runs on the thread that dispatches, on any number of threads
/// at once, and answers through `reply` before it returns, or defers it. A slot that does neither answers `internal`. After a
/// mutation `internal` and `unavailable` mean that the outcome is not known: callers retry with the same idempotency key.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agenthost_service {
    /// `sizeof(agenthost_service)`.
    pub struct_size: usize,
    /// Given to every slot.
    pub user_data: *mut c_void,
    /// Lets go of `user_data`: once, when the host is closed, or its last count is released, or its making failed.
    pub destroy: agenthost_destroy,
    /// Accepts a run.
    pub create_run: Option<
        unsafe extern "C-unwind" fn(
            user_data: *mut c_void,
            call: *const agenthost_call,
            request: *const agenthost_create_run,
            reply: *mut agenthost_reply,
        ),
    >,
    /// Reads a run.
    pub get_run: Option<
        unsafe extern "C-unwind" fn(
            user_data: *mut c_void,
            call: *const agenthost_call,
            request: *const agenthost_get_run,
            reply: *mut agenthost_reply,
        ),
    >,
    /// Cancels a run that is still at the expected revision.
    pub cancel_run: Option<
        unsafe extern "C-unwind" fn(
            user_data: *mut c_void,
            call: *const agenthost_call,
            request: *const agenthost_cancel_run,
            reply: *mut agenthost_reply,
        ),
    >,
    /// Approves or denies what a run waits for.
    pub resolve_approval: Option<
        unsafe extern "C-unwind" fn(
            user_data: *mut c_void,
            call: *const agenthost_call,
            request: *const agenthost_resolve_approval,
            reply: *mut agenthost_reply,
        ),
    >,
    /// Lets an approved run go on.
    pub resume_run: Option<
        unsafe extern "C-unwind" fn(
            user_data: *mut c_void,
            call: *const agenthost_call,
            request: *const agenthost_resume_run,
            reply: *mut agenthost_reply,
        ),
    >,
    /// Reads the events after a cursor, at most `limit` of them.
    pub list_events: Option<
        unsafe extern "C-unwind" fn(
            user_data: *mut c_void,
            call: *const agenthost_call,
            request: *const agenthost_list_events,
            reply: *mut agenthost_reply,
        ),
    >,
}

sized_structs!(agenthost_service);

impl agenthost_service {
    /// The first slot that is missing.
    pub(super) fn missing_slot(&self) -> Option<&'static str> {
        let slots = [
            ("create_run", self.create_run.is_none()),
            ("get_run", self.get_run.is_none()),
            ("cancel_run", self.cancel_run.is_none()),
            ("resolve_approval", self.resolve_approval.is_none()),
            ("resume_run", self.resume_run.is_none()),
            ("list_events", self.list_events.is_none()),
        ];
        slots.into_iter().find(|(_, missing)| *missing).map(|(name, _)| name)
    }
}

/// A service whose slots are all there.
pub(super) struct Slots(pub(super) agenthost_service);

// SAFETY: the header says that slots run on any thread, any number at once, with the same user data.
unsafe impl Send for Slots {}
// SAFETY: as above.
unsafe impl Sync for Slots {}

impl DeferringService for Slots {
    fn serve(&self, about: &Call<'_>, request: Request<'_>, reply: &mut Reply<'_>) {
        let data = self.0.user_data;
        let pairs = Pairs::of(&about.metadata);
        let call = values_to_c::call(about, &pairs);
        let mut reply = agenthost_reply::in_slot(reply);
        let reply = &raw mut reply;
        // SAFETY: the slots are there (`host_new` has checked it) and take what the header says; everything handed out lives
        // on this stack until the slot has returned.
        unsafe {
            match (&request, &self.0) {
                (Request::CreateRun(request), agenthost_service { create_run: Some(slot), .. }) => {
                    let (pairs, metadata) = (Pairs::of(&request.context.metadata), Pairs::of(&request.metadata));
                    let context = values_to_c::context(&request.context, &pairs);
                    slot(data, &call, &values_to_c::create_run(request, &context, &metadata), reply);
                }
                (Request::GetRun(request), agenthost_service { get_run: Some(slot), .. }) => {
                    slot(data, &call, &values_to_c::get_run(request), reply);
                }
                (Request::CancelRun(request), agenthost_service { cancel_run: Some(slot), .. }) => {
                    slot(data, &call, &values_to_c::cancel_run(request), reply);
                }
                (Request::ResolveApproval(request), agenthost_service { resolve_approval: Some(slot), .. }) => {
                    let metadata = Pairs::of(&request.metadata);
                    slot(data, &call, &values_to_c::resolve_approval(request, &metadata), reply);
                }
                (Request::ResumeRun(request), agenthost_service { resume_run: Some(slot), .. }) => {
                    slot(data, &call, &values_to_c::resume_run(request), reply);
                }
                (Request::ListEvents(request), agenthost_service { list_events: Some(slot), .. }) => {
                    slot(data, &call, &values_to_c::list_events(request), reply);
                }
                _ => {}
            }
        }
    }

    fn destroy(&self) {
        // SAFETY: the core calls this once, after the last slot.
        unsafe { callback::destroy_or_unwind(self.0.destroy, self.0.user_data) };
    }
}
