//! `dispatch.jsonl`: a request, what the service must be asked, what it answers, what must come out.

use std::sync::{Arc, Mutex};

use agenthost::host::Host;
use base64::Engine;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::Tally;
use crate::compare::expect;
use crate::script::{Reply, Script};

#[derive(Deserialize)]
struct Vector {
    name: String,
    request: Option<String>,
    request_base64: Option<String>,
    call: Value,
    reply: Option<Box<RawValue>>,
    response: Value,
}

pub(crate) fn run(line: &str, tally: &mut Tally) {
    match serde_json::from_str::<Vector>(line) {
        Ok(vector) => tally.note(&vector.name, vector.play()),
        Err(error) => tally.fail(&line[..line.len().min(80)], &format!("not a vector: {error}")),
    }
}

impl Vector {
    fn play(&self) -> Result<(), String> {
        let message = match (&self.request, &self.request_base64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(text)) => base64::prelude::BASE64_STANDARD.decode(text).map_err(|error| error.to_string())?,
            (None, None) => return Err("the vector has no request".into()),
        };
        let reply = self.reply.as_deref().map(|reply| serde_json::from_str::<Reply>(reply.get()).expect("a reply"));
        let seen = Arc::new(Mutex::default());
        let script = Script { reply, seen: seen.clone() };
        let response = Host::new(script).dispatch_json(&message);
        let seen: Vec<Value> = std::mem::take(&mut *seen.lock().expect("lock"));
        let called = seen.first().cloned().unwrap_or(Value::Null);
        if seen.len() > 1 {
            return Err("the service was called more than once".into());
        }
        expect("call", &self.call, &called)?;
        self.check(&response)
    }

    fn check(&self, response: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(response).map_err(|error| error.to_string())?;
        let found: Value = serde_json::from_str(text).map_err(|error| format!("the response is not JSON: {error}"))?;
        let members: Vec<&str> = found.as_object().into_iter().flat_map(|object| object.keys()).map(String::as_str).collect();
        let mut wanted = ["protocolVersion", "requestId", "operation", "ok", "body", "error"];
        wanted.sort_unstable();
        if members != wanted {
            return Err(format!("members {members:?}"));
        }
        for name in ["ok", "requestId", "operation"] {
            if self.response[name] != "*" {
                expect(name, &self.response[name], &found[name])?;
            }
        }
        if self.response["ok"] == true {
            expect("error", &Value::Null, &found["error"])?;
            return expect("body", &self.response["body"], &found["body"]);
        }
        expect("body", &serde_json::json!({}), &found["body"])?;
        for name in ["code", "retryable", "details"] {
            if let Some(expected) = self.response.get(name) {
                expect(name, expected, &found["error"][name])?;
            }
        }
        for (name, expected) in self.response["error"].as_object().into_iter().flatten() {
            expect(name, expected, &found["error"][name])?;
        }
        if self.call.is_null() && found["error"]["message"] == "" {
            return Err("a refusal without a message".into());
        }
        if found["error"]["code"] == "internal" {
            self.nothing_leaks(text)?;
        }
        Ok(())
    }

    /// Of an `internal` error nothing that the service said may be in the response.
    fn nothing_leaks(&self, response: &str) -> Result<(), String> {
        let reply: Value = self.reply.as_deref().map_or(Value::Null, |reply| serde_json::from_str(reply.get()).expect("a reply"));
        let error = &reply["error"];
        let message = error["message"].as_str().into_iter().map(str::to_owned);
        let details = error["details"].as_object().into_iter().flatten().map(|(_, value)| value.to_string());
        let metadata = error["metadata"].as_object().into_iter().flatten().map(|(_, value)| value.to_string());
        for secret in message.chain(details).chain(metadata).filter(|secret| secret.len() > 3) {
            if response.contains(&secret) {
                return Err(format!("the response tells {secret}"));
            }
        }
        Ok(())
    }
}
