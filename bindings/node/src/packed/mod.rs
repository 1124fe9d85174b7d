//! Calls as one string each, answers as bytes: a crossing of the border costs more than taking those apart, and much less than
//! writing and reading JSON on both sides of it. `lib/packed.js` is the other end. What cannot be packed goes as JSON.

mod answer;
mod parts;

use std::borrow::Cow;

use agenthost::protocol::Operation;
use agenthost::service::{Call, Request};

pub(crate) use answer::answer;

/// A call for JavaScript: one character for the operation; four numbers (the call's, and how many UTF-16 units `requestId`,
/// `idempotencyKey` and metadata take); these three; the request. Each name and each value of the metadata has its units as a
/// number before it. The request of `get_run` is its run id, every other is JSON.
pub(crate) fn call(number: usize, call: &Call<'_>, request: &Request<'_>) -> Vec<u8> {
    let body: Cow<'_, str> = match request {
        Request::GetRun(request) => Cow::Borrowed(&*request.run_id),
        other => Cow::Owned(other.to_json()),
    };
    let told = write(number, call, &body, str::len);
    // A unit is a byte as long as all is ASCII.
    if told.is_ascii() { told } else { write(number, call, &body, |text| text.encode_utf16().count()) }
}

/// The characters of a number: seven bits each, the lowest first.
const DIGITS: usize = 5;
/// One character, and four numbers.
const HEADER: usize = 1 + 4 * DIGITS;

fn write(number: usize, call: &Call<'_>, body: &str, units: impl Fn(&str) -> usize) -> Vec<u8> {
    let (request_id, key) = (&*call.request_id, &*call.idempotency_key);
    let bytes: usize = call.metadata.iter().map(|(name, value)| name.len() + value.len() + 2 * DIGITS).sum();
    let mut out = Vec::with_capacity(HEADER + request_id.len() + key.len() + bytes + body.len());
    out.extend_from_slice(&[0; HEADER]);
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
    out[0] = b'0' + digit(call.operation);
    let numbers = [number, units(request_id), units(key), in_metadata];
    for (place, number) in out[1..HEADER].chunks_exact_mut(DIGITS).zip(numbers) {
        place.copy_from_slice(&digits(number));
    }
    out
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
