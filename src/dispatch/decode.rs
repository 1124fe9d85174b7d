//! From bytes to a call, or to the refusal that answers them (protocol, "Request" and promises 2 to 4).

use std::borrow::Cow;
use std::mem::take;

use super::{Dispatcher, ExpectedAnswer, response};
use crate::protocol::json::{Malformed, Reader, Slot, slot};
use crate::protocol::{
    ErrorCode, HostError, Metadata, Operation, Path, SUPPORTED_VERSIONS, Violation, check_identity, is_supported, quoted,
};
use crate::service::{Body, Call, ListEvents, Request};

/// What became of a message.
#[allow(clippy::large_enum_variant, reason = "a call is taken apart at once; a box would cost an allocation")]
pub enum Decoded<'a> {
    /// It breaks a rule: this response answers it, and the service is not called.
    Refused(Vec<u8>),
    /// It is a call.
    Call(DecodedCall<'a>),
}

/// A call, borrowed from its message, and apart from it what its answer is checked against.
pub struct DecodedCall<'a> {
    /// What the service gets beside the request.
    pub call: Call<'a>,
    /// What the service is asked.
    pub request: Request<'a>,
    /// What the answer has to fit.
    pub expected: ExpectedAnswer<'a>,
}

/// What a refusal echoes: the request's id and operation where they could be read and keep their rules.
struct Echo<'a> {
    request_id: Cow<'a, str>,
    operation: Operation,
}

impl Echo<'_> {
    const NOTHING: Echo<'static> = Echo { request_id: Cow::Borrowed(""), operation: Operation::GetRun };
}

impl Dispatcher {
    /// Takes a message apart. `principal` is what the transport authenticated; one that is empty counts as none.
    ///
    /// Never fails, never panics, needs time in proportion to the message, and no stack in proportion to its nesting.
    pub fn decode<'a>(&self, message: &'a [u8], principal: Option<Cow<'a, str>>) -> Decoded<'a> {
        let mut envelope = Envelope::default();
        if let Err(violation) = self.read(message, &mut envelope) {
            return Decoded::Refused(refuse(&Echo::NOTHING, &violation));
        }
        match self.decide(&mut envelope, principal.filter(|principal| !principal.is_empty())) {
            Ok(call) => Decoded::Call(call),
            Err(Refusal::Violation(violation)) => Decoded::Refused(refuse(&envelope.echo(), &violation)),
            Err(Refusal::Error(error)) => {
                let echo = envelope.echo();
                Decoded::Refused(response::failure(&echo.request_id, echo.operation, &error, |_| true))
            }
        }
    }

    /// Reads the whole message, as far as it is JSON.
    fn read<'a>(&self, message: &'a [u8], envelope: &mut Envelope<'a>) -> Result<(), Box<Violation>> {
        if message.len() > self.max_message_bytes {
            let (found, most) = (message.len(), self.max_message_bytes);
            return Err(Violation::new(Path::ROOT, format!("expected a message of at most {most} bytes, found {found}")));
        }
        let message = message.strip_prefix(b"\xef\xbb\xbf").unwrap_or(message);
        let text = std::str::from_utf8(message).map_err(|error| {
            Violation::new(Path::ROOT, format!("expected JSON text in UTF-8: the byte at {} is not", error.valid_up_to()))
        })?;
        let mut reader = Reader::new(text);
        let read = if reader.peek() == Some(b'{') {
            envelope.read(&mut reader)
        } else {
            reader.skip_value().map(|()| envelope.not_an_object = true)
        };
        read.and_then(|()| reader.finish()).map_err(|malformed| malformed.violation(Path::ROOT))?;
        envelope.too_deep = reader.into_refusal();
        Ok(())
    }

    /// Applies the rules, in the order of promise 3. What a refusal echoes stays in the envelope.
    fn decide<'a>(&self, envelope: &mut Envelope<'a>, principal: Option<Cow<'a, str>>) -> Result<DecodedCall<'a>, Refusal> {
        if envelope.not_an_object {
            return Err(Violation::new(Path::ROOT, "expected a JSON object").into());
        }
        if let Some(violation) = envelope.request_id_type.take() {
            return Err(violation.into());
        }
        if let Some(version) = envelope.protocol_version.as_read()
            && !is_supported(version)
        {
            return Err(Refusal::Error(unsupported_version(version)));
        }
        if let Some(violation) = envelope.too_deep.take() {
            return Err(violation.into());
        }
        let member = |name| Path::ROOT.member(name);
        envelope.protocol_version.required_in_place(member("protocolVersion"), "a protocol version, a string")?;
        let request_id = envelope.request_id.required_in_place(member("requestId"), "a string that names the request")?;
        check_identity(member("requestId"), request_id)?;
        let name = envelope.operation.required_in_place(member("operation"), "the name of an operation")?;
        let operation = Operation::from_name(name).ok_or_else(|| unknown_operation(name))?;
        let idempotency_key = if operation.mutates() {
            take(&mut envelope.idempotency_key).required(member("idempotencyKey"), "a string that names the mutation")?
        } else {
            take(&mut envelope.idempotency_key).or_default()?
        };
        if operation.mutates() || !idempotency_key.is_empty() {
            check_identity(member("idempotencyKey"), &idempotency_key)?;
        }
        let metadata = take(&mut envelope.metadata).or_default()?;
        take(&mut envelope.body_found).or_default()?;
        let request = envelope.body.take_request(operation, member("body"))?;
        request.check(member("body"), &self.sensitive_names)?;
        if self.require_principal && principal.is_none() {
            return Err(Refusal::Error(HostError::new(ErrorCode::Unauthorized, "this host requires an authenticated principal")));
        }
        let page = match &request {
            Request::ListEvents(ListEvents { after_sequence, limit, .. }) => (*after_sequence, *limit),
            _ => (0, 0),
        };
        let request_id = take(request_id);
        let expected = ExpectedAnswer::new(operation, request_id.clone(), request.run_id_text().clone(), page);
        Ok(DecodedCall { call: Call { operation, request_id, idempotency_key, metadata, principal }, request, expected })
    }
}

/// The envelope as it was read; which of its members count is decided afterwards.
#[derive(Default)]
struct Envelope<'a> {
    not_an_object: bool,
    too_deep: Option<Box<Violation>>,
    request_id_type: Option<Box<Violation>>,
    protocol_version: Slot<Cow<'a, str>>,
    request_id: Slot<Cow<'a, str>>,
    idempotency_key: Slot<Cow<'a, str>>,
    operation: Slot<Cow<'a, str>>,
    metadata: Slot<Metadata<'a>>,
    body_found: Slot<()>,
    body: Body<'a>,
}

impl<'a> Envelope<'a> {
    fn read(&mut self, reader: &mut Reader<'a>) -> Result<(), Malformed> {
        reader.enter_object()?;
        let mut first = true;
        while let Some(name) = reader.next_member(&mut first)? {
            let path = Path::ROOT.member(&name);
            match &*name {
                "protocolVersion" => self.protocol_version.fill_string(reader, path)?,
                "requestId" => {
                    if reader.peek() != Some(b'"') {
                        let found = reader.kind();
                        self.request_id_type = Some(Violation::new(path, format!("expected a string, found {found}")));
                    }
                    self.request_id.fill_string(reader, path)?;
                }
                "idempotencyKey" => self.idempotency_key.fill_string(reader, path)?,
                "operation" => self.operation.fill_string(reader, path)?,
                "metadata" => self.metadata.fill(reader, path, slot::metadata)?,
                "body" => self.body_found.fill(reader, path, |reader, path| self.body.read(reader, path))?,
                _ => reader.skip_member(path)?,
            }
        }
        Ok(())
    }

    fn echo(&self) -> Echo<'a> {
        let request_id = self.request_id.as_read().filter(|id| check_identity(Path::ROOT, id).is_ok());
        let operation = self.operation.as_read().and_then(|name| Operation::from_name(name));
        Echo { request_id: request_id.cloned().unwrap_or_default(), operation: operation.unwrap_or(Echo::NOTHING.operation) }
    }
}

/// Why a message is refused: a broken rule, or an error with a code of its own.
enum Refusal {
    Violation(Box<Violation>),
    Error(HostError<'static>),
}

impl From<Box<Violation>> for Refusal {
    fn from(violation: Box<Violation>) -> Refusal {
        Refusal::Violation(violation)
    }
}

#[cold]
fn refuse(echo: &Echo<'_>, violation: &Violation) -> Vec<u8> {
    let error = HostError::new(ErrorCode::InvalidRequest, violation.to_string())
        .with_details(response::details("path", violation.path()));
    response::failure(&echo.request_id, echo.operation, &error, |_| true)
}

#[cold]
fn unsupported_version(version: &str) -> HostError<'static> {
    let supported = SUPPORTED_VERSIONS.map(quoted).join(", ");
    let message = format!("protocolVersion: expected one of {supported}, found {}", quoted(version));
    HostError::new(ErrorCode::UnsupportedProtocolVersion, message).with_details(response::supported_versions())
}

#[cold]
fn unknown_operation(name: &str) -> Box<Violation> {
    let known = Operation::ALL.map(Operation::name).join(", ");
    Violation::new(Path::ROOT.member("operation"), format!("expected one of {known}, found {}", quoted(name)))
}
