//! Whether two requests are the same, as a client's bytes show it: created once with a key, then again with other bytes.

use agenthost::host::{Host, HostOptions};
use agenthost::protocol::Operation;

use crate::support::{SOON, Setup, message};

on_every_store!(
    what_does_not_count,
    what_counts,
    numbers_by_their_exact_value,
    a_member_given_twice_is_refused,
    long_exponents_and_large_inputs_in_bounded_time,
);

/// Creates a run with each of the bodies and one key; whether all after the first replay it.
struct Trial {
    host: Host,
    count: u32,
}

impl Trial {
    fn of(setup: &Setup) -> Trial {
        Trial { host: setup.open().host(HostOptions::default()), count: 0 }
    }

    fn respond(&self, message: &str) -> serde_json::Value {
        serde_json::from_slice(&self.host.dispatch_json(message.as_bytes())).unwrap()
    }

    /// `{run}` in the bodies stands for a run id of this comparison.
    fn same(&mut self, first: &str, second: &str) -> bool {
        self.count += 1;
        let key = format!("key {}", self.count);
        let body = |body: &str| body.replace("{run}", &format!("run {}", self.count));
        let created = self.respond(&message(Operation::CreateRun, &key, &body(first)));
        assert_eq!(created["ok"], true, "{created}");
        let again = self.respond(&message(Operation::CreateRun, &key, &body(second)));
        if again["ok"] == true {
            assert_eq!(again["body"], created["body"]);
            return true;
        }
        assert_eq!(again["error"]["details"]["reason"], "idempotency_mismatch", "{again}");
        assert_eq!(again["error"]["retryable"], false);
        false
    }

    fn same_input(&mut self, first: &str, second: &str) -> bool {
        let body = |input: &str| format!(r#"{{"context":{{"runId":"{{run}}"}},"input":{input}}}"#);
        self.same(&body(first), &body(second))
    }
}

fn what_does_not_count(setup: &Setup) {
    let mut trial = Trial::of(setup);
    let plain = r#"{"context":{"runId":"{run}","agentId":"a"},"input":{"x":[1,"é"],"y":{}},"metadata":{"k":"v","l":"w"}}"#;
    for same in [
        r#" { "metadata" : {"l":"w", "k":"v"}, "input": { "y":{}, "x":[ 1 , "é"] }, "context": {"agentId":"a","runId":"{run}"} } "#,
        r#"{"context":{"runId":"{run}","agentId":"a","traceId":"t","requestId":"q"},"input":{"x":[1,"é"],"y":{}},"metadata":{"k":"v","l":"w"}}"#,
        r#"{"context":{"runId":"{run}","agentId":"a","deadlineUnixMs":null,"locale":"","metadata":{}},"input":{"x":[1,"\u00e9"],"y":{}},"metadata":{"k":"v","l":"\u0077"}}"#,
        r#"{"unknown":1,"context":{"runId":"{run}","agentId":"a","other":2},"input":{"x":[1.0,"é"],"y":{}},"metadata":{"k":"v","l":"w"}}"#,
    ] {
        assert!(trial.same(plain, same), "{same}");
    }
    assert!(trial.same(r#"{"context":{"runId":"{run}"}}"#, r#"{"context":{"runId":"{run}"},"input":{},"metadata":{}}"#));
}

fn what_counts(setup: &Setup) {
    let mut trial = Trial::of(setup);
    let plain = r#"{"context":{"runId":"{run}"},"input":{"x":[1,2],"n":null}}"#;
    for other in [
        r#"{"context":{"runId":"{run}","agentId":"b"},"input":{"x":[1,2],"n":null}}"#,
        r#"{"context":{"runId":"{run}","deadlineUnixMs":9999999999999},"input":{"x":[1,2],"n":null}}"#,
        r#"{"context":{"runId":"{run}","metadata":{"k":"v"}},"input":{"x":[1,2],"n":null}}"#,
        r#"{"context":{"runId":"{run}"},"input":{"x":[2,1],"n":null}}"#,
        r#"{"context":{"runId":"{run}"},"input":{"x":[1,2]}}"#,
        r#"{"context":{"runId":"{run}"},"input":{"x":[1,2],"n":null},"metadata":{"k":"v"}}"#,
        r#"{"context":{"runId":"{run}2"},"input":{"x":[1,2],"n":null}}"#,
    ] {
        assert!(!trial.same(plain, other), "{other}");
    }
    // The normal forms of one character are two texts.
    assert!(!trial.same_input("\"\u{e9}\"", "\"e\u{301}\""));
    assert!(!trial.same_input("\"1\"", "1"));
}

fn numbers_by_their_exact_value(setup: &Setup) {
    let mut trial = Trial::of(setup);
    for same in [
        ("1", "1.0"),
        ("1", "1e0"),
        ("1", "10e-1"),
        ("0", "-0"),
        ("-0.0", "0e5"),
        ("123456789012345678901234567890", "1.2345678901234567890123456789E29"),
    ] {
        assert!(trial.same_input(same.0, same.1), "{same:?}");
    }
    // 2^53 and its neighbours: as doubles some of them are one.
    for different in [
        ("9007199254740992", "9007199254740993"),
        ("9007199254740992", "9007199254740991"),
        ("9007199254740993", "9007199254740994"),
        ("0.1", "0.1000000000000000055511151231257827"),
        ("1", "-1"),
    ] {
        assert!(!trial.same_input(different.0, different.1), "{different:?}");
    }
}

fn a_member_given_twice_is_refused(setup: &Setup) {
    let trial = Trial::of(setup);
    let body = r#"{"context":{"runId":"twice"},"input":{"a":{"b":1,"c":2,"b":1}}}"#;
    let refused = trial.respond(&message(Operation::CreateRun, "k", body));
    assert_eq!(refused["error"]["code"], "invalid_request");
    assert_eq!(refused["error"]["details"]["path"], "body.input.a");
    // It was refused, so it left nothing: the key is free, and so is the run's id.
    let body = r#"{"context":{"runId":"twice"},"input":{"a":{"b":1,"c":2}}}"#;
    assert_eq!(trial.respond(&message(Operation::CreateRun, "k", body))["ok"], true);
}

fn long_exponents_and_large_inputs_in_bounded_time(setup: &Setup) {
    let mut trial = Trial::of(setup);
    let started = std::time::Instant::now();
    let (nines, zeros) = ("9".repeat(1000), "0".repeat(1000));
    assert!(trial.same_input(&format!("1e-{nines}"), &format!("10e-1{zeros}")));
    assert!(!trial.same_input(&format!("1e-{nines}"), &format!("1e-1{zeros}")));
    let large = |last: &str| format!("[{}{last}]", r#"{"key":"value","n":[1,2,3]},"#.repeat((1 << 20) / 29));
    assert!(trial.same_input(&large("1"), &large("1.0")));
    // Two messages of a MiB take an unoptimized build a few seconds; work that is not linear takes hours.
    assert!(started.elapsed() < 10 * SOON);
}
