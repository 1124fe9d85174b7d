//! Calls as JavaScript takes them apart, in the order of `lib/packed/call.js`.

use agenthost::members;
use agenthost::protocol::{Metadata, Operation};
use agenthost::service::{Call, CreateRun, Request};

use super::Header;

/// A call for JavaScript.
///
/// The text is one character for the operation, `requestId`, `idempotencyKey`, metadata, and the request. The request of `get_run` is its
/// run id; that of `create_run` the texts of its context, the context's metadata and its own; every other is JSON. Each name and each value
/// of metadata has its UTF-16 units as a number before it.
///
/// The header is the call's number, and how many units each part of the text takes but the last. The time is a context's deadline, or
/// NaN.
pub(crate) struct PackedCall {
    pub(crate) text: Vec<u8>,
    header: Header,
    time: f64,
}

/// Packs a call that JavaScript knows by `number`.
pub(crate) fn pack(number: usize, call: &Call<'_>, request: &Request<'_>) -> PackedCall {
    let packed = Writer::write(number, call, request, str::len);
    // A unit is a byte as long as all is ASCII.
    if packed.text.is_ascii() { packed } else { Writer::write(number, call, request, |text| text.encode_utf16().count()) }
}

impl PackedCall {
    /// Writes the numbers to the beginning of the memory for them.
    pub(crate) fn write_numbers(&self, memory: &mut [u8]) {
        let (header, times) = memory.split_at_mut_checked(size_of::<Header>()).unwrap_or_default();
        for (place, number) in header.as_chunks_mut().0.iter_mut().zip(self.header) {
            *place = number.to_ne_bytes();
        }
        if let Some(place) = times.first_chunk_mut() {
            *place = self.time.to_ne_bytes();
        }
    }
}

/// The characters of a number: seven bits each, the lowest first.
const DIGITS: usize = 5;
/// Most calls take no more, without an input.
const USUAL: usize = 512;

/// Writes the members of a value in the contract's order: each kind of member is a method of the writer.
macro_rules! write_members {
    ({ $writer:ident $value:ident } $type:ident { $($name:ident = $field:ident: $kind:ident,)* }) => {
        $($writer.$kind(&$value.$field);)*
    };
}

struct Writer<U> {
    packed: PackedCall,
    /// How many numbers the header has.
    numbers: usize,
    units: U,
}

impl<U: Fn(&str) -> usize> Writer<U> {
    fn write(number: usize, call: &Call<'_>, request: &Request<'_>, units: U) -> PackedCall {
        let packed = PackedCall { text: Vec::with_capacity(USUAL), header: Header::default(), time: f64::NAN };
        let mut writer = Writer { packed, numbers: 0, units };
        writer.number(number);
        writer.packed.text.push(b'0' + digit(call.operation));
        writer.text(&call.request_id);
        writer.text(&call.idempotency_key);
        writer.metadata(&call.metadata);
        match request {
            Request::GetRun(request) => writer.last(&request.run_id),
            Request::CreateRun(request) => writer.create_run(request),
            other => writer.last(&other.to_json()),
        }
        writer.packed
    }

    fn create_run(&mut self, request: &CreateRun<'_>) {
        let context = &request.context;
        members!(ExecutionContext => write_members! { self context });
        self.metadata(&request.metadata);
    }

    fn optional_text(&mut self, text: &str) {
        self.text(text);
    }

    fn optional_time(&mut self, time: &Option<i64>) {
        self.packed.time = time.map_or(f64::NAN, |time| time as f64);
    }

    fn number(&mut self, number: usize) {
        self.packed.header[self.numbers] = number as u32;
        self.numbers += 1;
    }

    fn text(&mut self, text: &str) {
        self.number((self.units)(text));
        self.last(text);
    }

    fn metadata(&mut self, metadata: &Metadata<'_>) {
        let mut length = 0;
        for (name, value) in metadata.iter() {
            for text in [name, value] {
                let units = (self.units)(text);
                length += DIGITS + units;
                self.packed.text.extend_from_slice(&digits(units));
                self.last(text);
            }
        }
        self.number(length);
    }

    /// A text whose units nobody has to know.
    fn last(&mut self, text: &str) {
        self.packed.text.extend_from_slice(text.as_bytes());
    }
}

fn digits(number: usize) -> [u8; DIGITS] {
    std::array::from_fn(|digit| (number >> (7 * digit)) as u8 & 0x7f)
}

/// The order of the operations in `lib/operations.js`.
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
