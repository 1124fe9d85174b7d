//! JSON Schemas (draft 2020-12) of everything that is sent, made from the types that read, check and write it. For editors,
//! gateways and code generators; the dispatcher itself does not use them. Feature `schema`.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};

use crate::dispatch::schema::{RequestEnvelope, ResponseEnvelope};
use crate::protocol::HostError;
use crate::service::{CancelRun, CreateRun, EventPage, GetRun, ListEvents, ResolveApproval, ResumeRun, RunSubmission, RunView};

/// The envelope of a request, with the six bodies.
pub fn request() -> Schema {
    received::<RequestEnvelope>()
}

/// The envelope of a response as a dispatcher writes it: every member, always.
pub fn response() -> Schema {
    written::<ResponseEnvelope>()
}

/// Every schema, with the name of its file: the two envelopes, the bodies of the six requests, the three results and the error.
pub fn documents() -> Vec<(&'static str, Schema)> {
    vec![
        ("request.json", request()),
        ("response.json", response()),
        ("create_run.json", received::<CreateRun<'_>>()),
        ("get_run.json", received::<GetRun<'_>>()),
        ("cancel_run.json", received::<CancelRun<'_>>()),
        ("resolve_approval.json", received::<ResolveApproval<'_>>()),
        ("resume_run.json", received::<ResumeRun<'_>>()),
        ("list_events.json", received::<ListEvents<'_>>()),
        ("submission.json", written::<RunSubmission<'_>>()),
        ("run.json", written::<RunView<'_>>()),
        ("event_page.json", written::<EventPage<'_>>()),
        ("error.json", written::<HostError<'_>>()),
    ]
}

/// What may be sent to us: members with a default may be absent.
fn received<T: JsonSchema>() -> Schema {
    SchemaGenerator::new(SchemaSettings::draft2020_12().for_deserialize()).into_root_schema_for::<T>()
}

/// What we send: every member.
fn written<T: JsonSchema>() -> Schema {
    SchemaGenerator::new(SchemaSettings::draft2020_12().for_serialize()).into_root_schema_for::<T>()
}
