//! Messages that are large in one way - deep, long, wide - are answered in time that grows with their size and not faster
//! (promise 1), by the dispatcher and by the client.

use std::time::{Duration, Instant};

use agenthost::client::parse_any;
use agenthost::dispatch::{Decoded, Dispatcher};

/// Takes messages of a kind at size n and 4 n. Four times the size may take sixteen times as long, or two seconds where that
/// is more; a cost in proportion to the square would take far more.
fn is_linear(n: usize, message: impl Fn(usize) -> String) {
    let time = |message: String| {
        let dispatcher = Dispatcher { max_message_bytes: usize::MAX, ..Dispatcher::default() };
        let start = Instant::now();
        drop(dispatcher.decode(message.as_bytes(), None));
        drop(parse_any(message.as_bytes()));
        start.elapsed()
    };
    let small = (0..3).map(|_| time(message(n))).min().expect("three");
    let large = (0..2).map(|_| time(message(4 * n))).min().expect("two");
    assert!(large < (16 * small).max(Duration::from_secs(2)), "{n}: {small:?}, four times as much: {large:?}");
}

/// A request of `operation` whose body begins with these members.
fn request(operation: &str, members: &str) -> String {
    format!(
        "{{\"protocolVersion\":\"2026-07-01\",\"requestId\":\"r\",\"idempotencyKey\":\"k\",\"operation\":\"{operation}\",\
         \"body\":{{{members}}}}}"
    )
}

/// A `create_run` with this `input`.
fn with_input(input: &str) -> String {
    request("create_run", &format!("\"context\":{{\"runId\":\"run\"}},\"input\":{input}"))
}

fn is_accepted(message: &str) -> bool {
    matches!(Dispatcher::default().decode(message.as_bytes(), None), Decoded::Call(_))
}

#[test]
fn a_hundred_and_twenty_eight_megabytes_of_brackets() {
    let message = "[".repeat(128 << 20);
    let dispatcher = Dispatcher { max_message_bytes: usize::MAX, ..Dispatcher::default() };
    let Decoded::Refused(response) = dispatcher.decode(message.as_bytes(), None) else { panic!("accepted") };
    assert!(String::from_utf8(response).expect("UTF-8").contains("invalid_request"));
    let Decoded::Refused(_) = Dispatcher::default().decode(message.as_bytes(), None) else { panic!("accepted") };
}

#[test]
fn brackets_everywhere() {
    let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
    is_linear(100_000, |n| "{\"a\":".repeat(n));
    is_linear(100_000, |n| with_input(&nested(n)));
    is_linear(100_000, |n| format!("{{\"requestId\":{}}}", nested(n)));
    is_linear(100_000, |n| format!("{{\"metadata\":{}}}", nested(n)));
    is_linear(100_000, |n| format!("{{\"error\":{{\"details\":{}}}}}", nested(n)));
    is_linear(50_000, |n| with_input(&("[{\"a\":".repeat(n) + "1" + &"}]".repeat(n))));
}

#[test]
fn a_million_members() {
    let members = |n: usize| (0..n).map(|index| format!("\"m{index}\":{index}")).collect::<Vec<_>>().join(",");
    assert!(is_accepted(&with_input(&format!("{{{}}}", members(800_000)))));
    assert!(is_accepted(&request("get_run", &format!("\"runId\":\"r\",{}", members(800_000)))));
    is_linear(25_000, |n| with_input(&format!("{{{}}}", members(n))));
    is_linear(25_000, |n| format!("{{{}}}", members(n)));
    is_linear(25_000, |n| format!("{{\"metadata\":{{{}}}}}", members(n)));
    is_linear(25_000, |n| format!("{{{}\"x\":1}}", "\"requestId\":\"r\",".repeat(n)));
    is_linear(25_000, |n| format!("{{\"body\":{{\"events\":[{}1]}}}}", "{},".repeat(n)));
}

#[test]
fn a_hundred_thousand_metadata_names() {
    let names = |n: usize| (0..n).map(|index| format!("\"n{index}\":\"v\"")).collect::<Vec<_>>().join(",");
    let place = |place: &str, n: usize| match place {
        "context" => request("create_run", &format!("\"context\":{{\"runId\":\"r\",\"metadata\":{{{}}}}}", names(n))),
        _ => request("create_run", &format!("\"context\":{{\"runId\":\"r\"}},\"metadata\":{{{}}}", names(n))),
    };
    for kind in ["context", "body"] {
        assert!(is_accepted(&place(kind, 100_000)));
        is_linear(12_000, |n| place(kind, n));
    }
    is_linear(12_000, |n| format!("{{\"metadata\":{{{}\"x\":\"\"}}}}", "\"n\":\"v\",".repeat(n)));
    // And those that a service collects.
    let start = Instant::now();
    let collected: agenthost::protocol::Metadata<'_> = (0..100_000).map(|index| (index.to_string(), "v")).collect();
    assert_eq!(collected.len(), 100_000);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn long_strings_numbers_and_names() {
    is_linear(50_000, |n| with_input(&format!("\"{}\"", "\\u00e9\\n".repeat(n))));
    is_linear(50_000, |n| format!("{{\"requestId\":\"{}\"}}", "\\ud83e\\udd80 ".repeat(n)));
    is_linear(100_000, |n| with_input(&"9".repeat(n)));
    is_linear(100_000, |n| with_input(&format!("0.{}1", "0".repeat(n))));
    is_linear(100_000, |n| with_input(&format!("1e-{}", "9".repeat(n))));
    is_linear(100_000, |n| request("cancel_run", &format!("\"runId\":\"r\",\"expectedRevision\":{}", "9".repeat(n))));
    is_linear(100_000, |n| format!("{{\"metadata\":{{\"{}\":1}}}}", "é".repeat(n)));
    is_linear(100_000, |n| {
        request("create_run", &format!("\"context\":{{\"runId\":\"r\",\"metadata\":{{\"{}\":\"\"}}}}", "-".repeat(n)))
    });
    is_linear(200_000, |n| " ".repeat(n));
}
