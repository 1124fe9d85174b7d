//! From a response's bytes to a result or an error (protocol, "The client's side").

use std::borrow::Cow;
use std::collections::HashMap;

use super::PreparedRequest;
use crate::protocol::json::{FreeJson, Malformed, ReadResult, Reader, Slot, slot};
use crate::protocol::{
    ErrorCode, HostError, Operation, Path, SensitiveNames, Violation, check_identity, check_not_empty, is_supported,
    negotiate_version,
};
use crate::service::{Answer, ResultContext};

/// A response that was checked, borrowed from its message.
#[derive(Clone, Debug)]
pub struct Response<'a> {
    /// The version it is written in. One that this library does not speak only with an `unsupported_protocol_version` error.
    pub protocol_version: Cow<'a, str>,
    /// The request that it answers. Empty in a refusal whose request could not be read.
    pub request_id: Cow<'a, str>,
    /// The operation that it names; none when it is a refusal of a version that this library does not speak, with an
    /// operation that it does not know.
    pub operation: Option<Operation>,
    /// The result or the error.
    pub outcome: Outcome<'a>,
}

/// What a response says.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of them at a time")]
pub enum Outcome<'a> {
    /// The result of the operation, without metadata that has a sensitive name.
    Success(Answer<'a>),
    /// The refusal. After a mutation `internal` and `unavailable` mean that the outcome is not known: send the same bytes again.
    Error(HostError<'a>),
}

/// Not a valid response, or not one to this request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a valid response: {0}")]
pub struct BadResponse(Violation);

impl BadResponse {
    /// The rule that it breaks.
    pub fn violation(&self) -> &Violation {
        &self.0
    }
}

impl Response<'_> {
    /// The same response, owned.
    pub fn into_owned(self) -> Response<'static> {
        Response {
            protocol_version: Cow::Owned(self.protocol_version.into_owned()),
            request_id: Cow::Owned(self.request_id.into_owned()),
            operation: self.operation,
            outcome: match self.outcome {
                Outcome::Success(answer) => Outcome::Success(answer.into_owned()),
                Outcome::Error(error) => Outcome::Error(error.into_owned()),
            },
        }
    }

    /// The version to try next after an `unsupported_protocol_version` error: the most preferred one that the other side
    /// speaks and that was not `tried`. `None` when negotiation fails.
    pub fn next_version(&self, tried: &str) -> Option<&'static str> {
        let Outcome::Error(error) = &self.outcome else {
            return None;
        };
        if error.code != ErrorCode::UnsupportedProtocolVersion {
            return None;
        }
        // A map takes the last of two equal names, as every reader of free JSON does.
        let mut details: HashMap<String, serde_json::Value> = error.details.parse().ok()?;
        let offered: Vec<String> = serde_json::from_value(details.remove("supportedVersions")?).ok()?;
        negotiate_version(offered.iter().filter(|version| *version != tried))
    }
}

pub(super) fn parse<'a>(message: &'a [u8], request: Option<&PreparedRequest>) -> Result<Response<'a>, BadResponse> {
    read(message).and_then(|envelope| envelope.into_response(request)).map_err(|violation| BadResponse(*violation))
}

fn read(message: &[u8]) -> Result<Envelope<'_>, Box<Violation>> {
    let message = message.strip_prefix(b"\xef\xbb\xbf").unwrap_or(message);
    let text = std::str::from_utf8(message).map_err(|error| {
        Violation::new(Path::ROOT, format!("expected JSON text in UTF-8: the byte at {} is not", error.valid_up_to()))
    })?;
    let mut reader = Reader::new(text);
    let read = Envelope::read(&mut reader).and_then(|envelope| reader.finish().map(|()| envelope));
    let envelope = read.map_err(|malformed| malformed.violation(Path::ROOT))?;
    match reader.into_refusal() {
        Some(violation) => Err(violation),
        None => Ok(envelope),
    }
}

/// The envelope as it was read. The body waits until the operation is known.
#[derive(Default)]
struct Envelope<'a> {
    protocol_version: Slot<Cow<'a, str>>,
    request_id: Slot<Cow<'a, str>>,
    operation: Slot<Cow<'a, str>>,
    ok: Slot<bool>,
    body: Slot<&'a str>,
    error: Slot<Option<ErrorSlots<'a>>>,
}

/// An error's members as they were read: of some refusals only two of them count.
#[derive(Default)]
struct ErrorSlots<'a> {
    code: Slot<Cow<'a, str>>,
    message: Slot<Cow<'a, str>>,
    retryable: Slot<bool>,
    details: Slot<FreeJson<'a>>,
    metadata: Slot<crate::protocol::Metadata<'a>>,
}

impl<'a> Envelope<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Envelope<'a>, Malformed> {
        let mut envelope = Envelope::default();
        reader.enter_object()?;
        let mut first = true;
        while let Some(name) = reader.next_member(&mut first)? {
            let path = Path::ROOT.member(&name);
            match &*name {
                "protocolVersion" => envelope.protocol_version.fill_string(reader, path)?,
                "requestId" => envelope.request_id.fill_string(reader, path)?,
                "operation" => envelope.operation.fill_string(reader, path)?,
                "ok" => envelope.ok.fill(reader, path, slot::boolean)?,
                "body" => envelope.body.fill(reader, path, object_text)?,
                "error" => envelope.error.fill(reader, path, ErrorSlots::read_nullable)?,
                _ => reader.skip_member(path)?,
            }
        }
        Ok(envelope)
    }

    fn into_response(self, request: Option<&PreparedRequest>) -> Result<Response<'a>, Box<Violation>> {
        let member = |name| Path::ROOT.member(name);
        let protocol_version = self.protocol_version.required(member("protocolVersion"), "a protocol version, a string")?;
        let operation_name = self.operation.required(member("operation"), "the name of an operation, a string")?;
        let operation = Operation::from_name(&operation_name);
        let request_id = self.request_id.or_default()?;
        if !request_id.is_empty() {
            check_identity(member("requestId"), &request_id)?;
        }
        let of_request = |id: &str| request.is_none_or(|request| request.request_id == *id);
        let wrong_request = || Violation::new(member("requestId"), "expected the id of the request, found another");
        if !request_id.is_empty() && !of_request(&request_id) {
            return Err(wrong_request());
        }
        let error = self.error.or_default()?;
        if !is_supported(&protocol_version) {
            let error = error.ok_or_else(|| unsupported(&protocol_version))?.into_version_refusal()?;
            let error = error.ok_or_else(|| unsupported(&protocol_version))?;
            return Ok(Response { protocol_version, request_id, operation, outcome: Outcome::Error(error) });
        }
        let operation = operation.ok_or_else(|| Violation::new(member("operation"), "expected the name of an operation"))?;
        let ok = self.ok.optional()?;
        let body = self.body.optional()?;
        if ok.is_some_and(|ok| ok == error.is_some()) {
            let expected = "expected true without an error and false with one";
            return Err(Violation::new(member("ok"), expected));
        }
        let outcome = match error {
            Some(error) => Outcome::Error(error.into_error()?),
            None => {
                check_not_empty(member("requestId"), &request_id)?;
                if request.is_some_and(|request| request.operation != operation) {
                    return Err(Violation::new(member("operation"), "expected the operation of the request, found another"));
                }
                let about = request.map(PreparedRequest::about).unwrap_or_default();
                Outcome::Success(read_result(operation, body.unwrap_or("{}"), about)?)
            }
        };
        Ok(Response { protocol_version, request_id, operation: Some(operation), outcome })
    }
}

impl<'a> ErrorSlots<'a> {
    fn read_nullable(reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<Option<ErrorSlots<'a>>> {
        if reader.null()? {
            return Ok(Ok(None));
        }
        if reader.peek() != Some(b'{') {
            return slot::wrong_type(reader, path, "an error, an object, or null");
        }
        let (mut first, mut error) = (true, ErrorSlots::default());
        reader.enter_object()?;
        while let Some(name) = reader.next_member(&mut first)? {
            let place = path.member(&name);
            match &*name {
                "code" => error.code.fill_string(reader, place)?,
                "message" => error.message.fill_string(reader, place)?,
                "retryable" => error.retryable.fill(reader, place, slot::boolean)?,
                "details" => error.details.fill(reader, place, FreeJson::from_reader)?,
                "metadata" => error.metadata.fill(reader, place, slot::metadata)?,
                _ => reader.skip_member(place)?,
            }
        }
        Ok(Ok(Some(error)))
    }

    fn into_error(self) -> Result<HostError<'a>, Box<Violation>> {
        let error = Path::ROOT.member("error");
        let name = self.code.required(error.member("code"), "a code, a string")?;
        check_not_empty(error.member("code"), &name)?;
        let code = ErrorCode::from_name(&name);
        let mut metadata = self.metadata.or_default()?;
        metadata.retain(|name| !SensitiveNames::built_in().contains(name));
        Ok(HostError {
            code: code.unwrap_or(ErrorCode::Internal),
            message: self.message.or_default()?,
            retryable: self.retryable.or_default()?,
            details: self.details.optional()?.unwrap_or(FreeJson::EMPTY_OBJECT),
            metadata,
            original_code: if code.is_some() { Cow::Borrowed("") } else { name },
        })
    }

    /// The error of a refusal in a version that we do not speak: only code and details count. `None`: another code.
    fn into_version_refusal(self) -> Result<Option<HostError<'a>>, Box<Violation>> {
        let name = self.code.required(Path::ROOT.member("error").member("code"), "a code, a string")?;
        if name != ErrorCode::UnsupportedProtocolVersion.name() {
            return Ok(None);
        }
        let error = HostError::new(ErrorCode::UnsupportedProtocolVersion, "the other side does not speak this protocol version");
        Ok(Some(error.with_details(self.details.optional()?.unwrap_or(FreeJson::EMPTY_OBJECT))))
    }
}

/// The text of an object, which was checked as far as that goes without knowing what it is.
fn object_text<'a>(reader: &mut Reader<'a>, path: Path<'_>) -> ReadResult<&'a str> {
    if reader.peek() != Some(b'{') {
        return slot::wrong_type(reader, path, "an object");
    }
    Ok(Ok(reader.raw()?.0))
}

/// Reads and checks the result in a body, drops what has a sensitive name, and fills in what the view says of its context.
fn read_result<'a>(operation: Operation, body: &'a str, about: ResultContext<'_>) -> Result<Answer<'a>, Box<Violation>> {
    let path = Path::ROOT.member("body");
    let mut reader = Reader::new(body);
    let mut answer = Answer::read(operation, &mut reader, path).map_err(|malformed| malformed.violation(path))??;
    answer.check(path, about)?;
    answer.redact(&SensitiveNames::built_in());
    if let Answer::Run(run) = &mut answer
        && run.context.run_id.is_empty()
    {
        run.context.run_id = run.run_id.clone();
    }
    Ok(answer)
}

fn unsupported(version: &str) -> Box<Violation> {
    let found = crate::protocol::quoted(version);
    Violation::new(Path::ROOT.member("protocolVersion"), format!("expected a version that this library speaks, found {found}"))
}
