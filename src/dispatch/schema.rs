//! The two envelopes as JSON Schema: what a request has to be, and what a response is.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::protocol::schema::{Identity, OptionalIdentity, Version};
use crate::protocol::{HostError, Metadata, Operation};
use crate::service::{CancelRun, CreateRun, EventPage, GetRun, ListEvents, ResolveApproval, ResumeRun, RunSubmission, RunView};

/// The envelope of a request.
pub(crate) struct RequestEnvelope;

impl JsonSchema for RequestEnvelope {
    fn schema_name() -> Cow<'static, str> {
        "RequestEnvelope".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let by_operation = Operation::ALL.map(|operation| {
            let mut then = Map::new();
            let mut properties = Map::new();
            properties.insert("body".into(), request_body(operation, generator).to_value());
            then.insert("required".into(), json!(["body"]));
            if operation.mutates() {
                properties.insert("idempotencyKey".into(), generator.subschema_for::<Identity>().to_value());
                then.insert("required".into(), json!(["body", "idempotencyKey"]));
            }
            then.insert("properties".into(), Value::Object(properties));
            when(operation, Value::Object(then))
        });
        json_schema!({
            "description": "A request. Members that are not named here are ignored, at every level.",
            "type": "object",
            "properties": {
                "protocolVersion": generator.subschema_for::<Version>(),
                "requestId": generator.subschema_for::<Identity>(),
                "idempotencyKey": generator.subschema_for::<OptionalIdentity>(),
                "operation": generator.subschema_for::<Operation>(),
                "metadata": generator.subschema_for::<Metadata<'_>>(),
                "body": {"type": "object"},
            },
            "required": ["protocolVersion", "requestId", "operation"],
            "allOf": by_operation,
        })
    }
}

/// The envelope of a response.
pub(crate) struct ResponseEnvelope;

impl JsonSchema for ResponseEnvelope {
    fn schema_name() -> Cow<'static, str> {
        "ResponseEnvelope".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let by_operation =
            Operation::ALL.map(|operation| when(operation, json!({"properties": {"body": result_body(operation, generator)}})));
        json_schema!({
            "description": "A response. All members are always written.",
            "type": "object",
            "properties": {
                "protocolVersion": generator.subschema_for::<Version>(),
                "requestId": generator.subschema_for::<OptionalIdentity>(),
                "operation": generator.subschema_for::<Operation>(),
                "ok": {"type": "boolean"},
                "body": {"type": "object"},
                "error": true,
            },
            "required": ["protocolVersion", "requestId", "operation", "ok", "body", "error"],
            "if": {"properties": {"ok": {"const": true}}},
            "then": {
                "properties": {"requestId": generator.subschema_for::<Identity>(), "error": {"type": "null"}},
                "allOf": by_operation,
            },
            "else": {"properties": {"body": {"maxProperties": 0}, "error": generator.subschema_for::<HostError<'_>>()}},
        })
    }
}

fn when(operation: Operation, then: Value) -> Value {
    json!({"if": {"properties": {"operation": {"const": operation.name()}}}, "then": then})
}

fn request_body(operation: Operation, generator: &mut SchemaGenerator) -> Schema {
    match operation {
        Operation::CreateRun => generator.subschema_for::<CreateRun<'_>>(),
        Operation::GetRun => generator.subschema_for::<GetRun<'_>>(),
        Operation::CancelRun => generator.subschema_for::<CancelRun<'_>>(),
        Operation::ResolveApproval => generator.subschema_for::<ResolveApproval<'_>>(),
        Operation::ResumeRun => generator.subschema_for::<ResumeRun<'_>>(),
        Operation::ListEvents => generator.subschema_for::<ListEvents<'_>>(),
    }
}

fn result_body(operation: Operation, generator: &mut SchemaGenerator) -> Schema {
    match operation {
        Operation::GetRun => generator.subschema_for::<RunView<'_>>(),
        Operation::ListEvents => generator.subschema_for::<EventPage<'_>>(),
        _ => generator.subschema_for::<RunSubmission<'_>>(),
    }
}
