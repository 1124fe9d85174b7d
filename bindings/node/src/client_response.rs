//! A checked response as text for JavaScript: what is typed as one JSON array, each piece of free JSON as a string behind it.

use agenthost::client::{Outcome, Response};
use agenthost::protocol::{FreeJson, HostError};
use agenthost::service::Answer;
use serde_json::{Map, Value, json};

/// `[[protocolVersion, requestId, operation, body, error], free...]`: `free` is a run's `result`, the `data` of each event, or
/// an error's `details`. `body` or `error` is null, and so is the operation where it is not known.
pub(crate) fn describe(response: Response<'_>) -> Vec<String> {
    let operation = response.operation.map(|operation| operation.name());
    let (body, error, free) = match response.outcome {
        Outcome::Success(mut answer) => {
            let free = take_free(&mut answer);
            (answer.to_json(), "null".to_owned(), free)
        }
        Outcome::Error(error) => ("null".to_owned(), describe_error(&error).to_string(), vec![error.details.as_str().to_owned()]),
    };
    let (version, id) = (Value::from(&*response.protocol_version), Value::from(&*response.request_id));
    let mut texts = vec![format!("[{version},{id},{},{body},{error}]", json!(operation))];
    texts.extend(free);
    texts
}

/// Takes the free JSON out of a result, null stays in its place.
fn take_free(answer: &mut Answer<'_>) -> Vec<String> {
    let take = |place: &mut FreeJson<'_>| std::mem::replace(place, FreeJson::NULL).as_str().to_owned();
    match answer {
        Answer::Submission(_) => Vec::new(),
        Answer::Run(run) => vec![take(&mut run.result)],
        Answer::Page(page) => page.events.iter_mut().map(|event| take(&mut event.data)).collect(),
    }
}

fn describe_error(error: &HostError<'_>) -> Value {
    let metadata: Map<String, Value> = error.metadata.iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    json!({
        "code": error.code.name(),
        "message": error.message,
        "retryable": error.retryable,
        "metadata": metadata,
        "originalCode": error.original_code,
    })
}
