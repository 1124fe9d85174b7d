//! Calls as one string each, answers as one string and numbers: a crossing of the border costs more than taking those apart, and much
//! less than writing and reading JSON on both sides of it. `lib/packed.js` is the other end. What cannot be packed goes as JSON.

mod answer;
mod parts;

use std::borrow::Cow;

use agenthost::protocol::Operation;
use agenthost::service::{Call, Request};

pub(crate) use answer::answer;
pub(crate) use parts::{Bytes, Texts};

/// Numbers that go along with a string. They are at the beginning of the memory for numbers.
pub(crate) type Header = [u32; 4];

/// The header of the memory for numbers, and the numbers behind it.
pub(crate) fn split(memory: &[u8]) -> Option<(Header, &[Bytes])> {
    let header: &[_; 4] = memory.as_chunks().0.first_chunk()?;
    let numbers = memory.as_chunks().0.get(size_of::<Header>() / size_of::<Bytes>()..)?;
    Some((header.map(u32::from_ne_bytes), numbers))
}

/// Puts a header into the memory for numbers.
pub(crate) fn put(header: Header, memory: &mut [u8]) {
    for (place, number) in memory.as_chunks_mut().0.iter_mut().zip(header) {
        *place = number.to_ne_bytes();
    }
}

/// A call for JavaScript. The text is one character for the operation, `requestId`, `idempotencyKey`, metadata, and the request; each
/// name and each value of the metadata has its UTF-16 units as a number before it. The request of `get_run` is its run id, every
/// other is JSON. The header is the call's number, and how many units `requestId`, `idempotencyKey` and metadata take.
pub(crate) fn call(number: usize, call: &Call<'_>, request: &Request<'_>) -> (Vec<u8>, Header) {
    let body: Cow<'_, str> = match request {
        Request::GetRun(request) => Cow::Borrowed(&*request.run_id),
        other => Cow::Owned(other.to_json()),
    };
    let told = write(number, call, &body, str::len);
    // A unit is a byte as long as all is ASCII.
    if told.0.is_ascii() { told } else { write(number, call, &body, |text| text.encode_utf16().count()) }
}

/// The characters of a number: seven bits each, the lowest first.
const DIGITS: usize = 5;

fn write(number: usize, call: &Call<'_>, body: &str, units: impl Fn(&str) -> usize) -> (Vec<u8>, Header) {
    let (request_id, key) = (&*call.request_id, &*call.idempotency_key);
    let bytes: usize = call.metadata.iter().map(|(name, value)| name.len() + value.len() + 2 * DIGITS).sum();
    let mut out = Vec::with_capacity(1 + request_id.len() + key.len() + bytes + body.len());
    out.push(b'0' + digit(call.operation));
    out.extend_from_slice(request_id.as_bytes());
    out.extend_from_slice(key.as_bytes());
    let mut in_metadata = 0;
    for (name, value) in call.metadata.iter() {
        for text in [name, value] {
            let units = units(text);
            in_metadata += DIGITS + units;
            out.extend_from_slice(&digits(units));
            out.extend_from_slice(text.as_bytes());
        }
    }
    out.extend_from_slice(body.as_bytes());
    (out, [number, units(request_id), units(key), in_metadata].map(|number| number as u32))
}

fn digits(number: usize) -> [u8; DIGITS] {
    std::array::from_fn(|digit| (number >> (7 * digit)) as u8 & 0x7f)
}

/// The order of the methods in `lib/call.js`.
fn digit(operation: Operation) -> u8 {
    match operation {
        Operation::CreateRun => 0,
        Operation::GetRun => 1,
        Operation::CancelRun => 2,
        Operation::ResolveApproval => 3,
        Operation::ResumeRun => 4,
        Operation::ListEvents => 5,
    }
}
