//! The other side of the contract: builds requests and checks responses by the same tables as the dispatcher. It has no
//! transport: send [`PreparedRequest::bytes`] as you like, and give what comes back to [`PreparedRequest::parse`].

mod response;

pub use response::{BadResponse, Outcome, Response};

use std::borrow::Cow;

use crate::protocol::json::Writer;
use crate::protocol::{
    Metadata, Operation, Path, SUPPORTED_VERSIONS, SensitiveNames, Violation, check_identity, check_not_empty,
};
use crate::service::{Request, ResultContext};

/// What goes around a request. The default generates the id, and for mutations the key.
#[derive(Clone, Debug, Default)]
pub struct RequestOptions<'a> {
    /// Names the request; a new UUIDv7 when absent.
    pub request_id: Option<Cow<'a, str>>,
    /// Names the mutation; a new UUIDv7 for mutations, nothing for reads, when absent.
    pub idempotency_key: Option<Cow<'a, str>>,
    /// The protocol version to write; the preferred one when absent. Any version that is not empty is written, so that
    /// negotiation can be tried out.
    pub protocol_version: Option<Cow<'a, str>>,
    /// The envelope's metadata.
    pub metadata: Metadata<'a>,
}

/// A request, frozen: each time that its bytes are sent they are the same, so that a retry is a retry.
#[derive(Clone)]
pub struct PreparedRequest {
    bytes: Vec<u8>,
    operation: Operation,
    request_id: String,
    idempotency_key: String,
    run_id: String,
    after_sequence: Option<u64>,
    limit: Option<u64>,
}

impl PreparedRequest {
    /// Checks a request and writes it.
    ///
    /// # Errors
    /// A value breaks a rule of the contract: the dispatcher would refuse it. The violation's path leads from the root of
    /// the message, for example `body.expectedRevision`.
    pub fn new(request: &Request<'_>, options: &RequestOptions<'_>) -> Result<PreparedRequest, Violation> {
        PreparedRequest::build(request, options).map_err(|violation| *violation)
    }

    fn build(request: &Request<'_>, options: &RequestOptions<'_>) -> Result<PreparedRequest, Box<Violation>> {
        let operation = request.operation();
        let member = |name| Path::ROOT.member(name);
        let request_id = options.request_id.as_deref().map_or_else(new_id, str::to_owned);
        check_identity(member("requestId"), &request_id)?;
        let idempotency_key = match &options.idempotency_key {
            Some(key) => key.to_string(),
            None if operation.mutates() => new_id(),
            None => String::new(),
        };
        if operation.mutates() || !idempotency_key.is_empty() {
            check_identity(member("idempotencyKey"), &idempotency_key)?;
        }
        let version = options.protocol_version.as_deref().unwrap_or(SUPPORTED_VERSIONS[0]);
        check_not_empty(member("protocolVersion"), version)?;
        request.check(member("body"), &SensitiveNames::built_in())?;

        let mut out = Writer::with_capacity(512);
        out.open_object();
        out.member("protocolVersion", version);
        out.member("requestId", &request_id);
        if !idempotency_key.is_empty() {
            out.member("idempotencyKey", &idempotency_key);
        }
        out.member("operation", operation.name());
        out.name("metadata");
        out.metadata(&options.metadata, |_| true);
        out.name("body");
        request.write(&mut out);
        out.close_object();

        let (after_sequence, limit) = match request {
            Request::ListEvents(request) => (Some(request.after_sequence), Some(request.limit)),
            _ => (None, None),
        };
        let run_id = request.run_id().to_owned();
        Ok(PreparedRequest { bytes: out.into_bytes(), operation, request_id, idempotency_key, run_id, after_sequence, limit })
    }

    /// The envelope. The same bytes each time.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The operation that is asked for.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// What names the request.
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// What names the mutation; empty for a read without a key.
    pub fn idempotency_key(&self) -> &str {
        &self.idempotency_key
    }

    /// Checks that `message` answers this request, and takes it apart.
    ///
    /// # Errors
    /// It is not a valid answer to this request. A well-formed refusal is no error here: it is [`Outcome::Error`].
    pub fn parse<'a>(&self, message: &'a [u8]) -> Result<Response<'a>, BadResponse> {
        response::parse(message, Some(self))
    }

    fn about(&self) -> ResultContext<'_> {
        ResultContext { run_id: Some(&self.run_id), after_sequence: self.after_sequence, limit: self.limit }
    }
}

/// Shows the operation and the id, not the body: it may hold secrets.
impl std::fmt::Debug for PreparedRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreparedRequest")
            .field("operation", &self.operation)
            .field("request_id", &self.request_id)
            .finish_non_exhaustive()
    }
}

/// Takes a response apart of which the request is not known (in a log, in a proxy): everything but "it answers this
/// request" is checked.
///
/// # Errors
/// It is no valid response.
pub fn parse_any(message: &[u8]) -> Result<Response<'_>, BadResponse> {
    response::parse(message, None)
}

fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

#[cfg(test)]
mod tests;
