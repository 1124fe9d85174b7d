//! Over the wire and back: nothing changes on the way but metadata that has to be dropped.

use agenthost::client::{Outcome, PreparedRequest, RequestOptions};
use agenthost::dispatch::{Decoded, DecodedCall, Dispatcher};
use agenthost::protocol::{ErrorCode, FreeJson, HostError, Metadata, SensitiveNames};
use agenthost::service::{Answer, Request};
use proptest::prelude::*;

use crate::config;
use crate::strategies::{error, exchange, identity, metadata, request};

fn without_secrets(metadata: &Metadata<'_>) -> Metadata<'static> {
    let sensitive = SensitiveNames::built_in();
    let kept = metadata.iter().filter(|(name, _)| !sensitive.contains(name));
    kept.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// What a client sees of an answer.
fn as_seen(answer: &Answer<'static>) -> Answer<'static> {
    let mut seen = answer.clone();
    match &mut seen {
        Answer::Submission(_) => {}
        Answer::Run(run) => {
            run.metadata = without_secrets(&run.metadata);
            run.context.metadata = without_secrets(&run.context.metadata);
            run.context.run_id = run.run_id.clone();
            if let Some(approval) = &mut run.approval {
                approval.metadata = without_secrets(&approval.metadata);
            }
        }
        Answer::Page(page) => page.events.iter_mut().for_each(|event| event.metadata = without_secrets(&event.metadata)),
    }
    seen
}

fn prepare(request: &Request<'_>, options: &RequestOptions<'_>) -> PreparedRequest {
    PreparedRequest::new(request, options).expect("a request that keeps the rules")
}

fn decode<'a>(dispatcher: &Dispatcher, message: &'a [u8]) -> DecodedCall<'a> {
    match dispatcher.decode(message, None) {
        Decoded::Call(decoded) => decoded,
        Decoded::Refused(response) => panic!("refused: {}", String::from_utf8_lossy(&response)),
    }
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn a_request_of_the_client_reaches_the_service_as_it_was_built(
        request in request(), id in identity(), key in identity(), metadata in metadata(), principal in identity(),
    ) {
        let options = RequestOptions {
            request_id: Some(id.as_str().into()),
            idempotency_key: Some(key.as_str().into()),
            protocol_version: None,
            metadata: metadata.clone(),
        };
        let prepared = prepare(&request, &options);
        let dispatcher = Dispatcher { require_principal: true, ..Dispatcher::default() };
        let Decoded::Call(decoded) = dispatcher.decode(prepared.bytes(), Some(principal.as_str().into())) else {
            return Err(TestCaseError::fail("refused"));
        };
        prop_assert_eq!(&decoded.request, &request);
        prop_assert_eq!(&decoded.call.metadata, &metadata);
        prop_assert_eq!(decoded.call.operation, request.operation());
        prop_assert_eq!(&*decoded.call.request_id, id.as_str());
        prop_assert_eq!(&*decoded.call.idempotency_key, key.as_str());
        prop_assert_eq!(decoded.call.principal.as_deref(), Some(principal.as_str()));
        // What was decoded encodes to the same bytes: nothing was lost, and nothing was added.
        let again = RequestOptions {
            request_id: Some(decoded.call.request_id),
            idempotency_key: Some(decoded.call.idempotency_key),
            protocol_version: None,
            metadata: decoded.call.metadata,
        };
        let again = prepare(&decoded.request, &again);
        prop_assert_eq!(again.bytes(), prepared.bytes());
    }

    #[test]
    fn a_success_reaches_the_client_as_it_was_answered((request, answer) in exchange(), id in identity()) {
        let options = RequestOptions { request_id: Some(id.into()), ..RequestOptions::default() };
        let prepared = prepare(&request, &options);
        let dispatcher = Dispatcher::default();
        let completed = decode(&dispatcher, prepared.bytes()).expected.complete(&dispatcher, Ok(answer.clone()));
        prop_assert_eq!(completed.broken, None);
        let response = prepared.parse(&completed.response).expect("a response that the client accepts");
        prop_assert_eq!(&*response.request_id, prepared.request_id());
        prop_assert_eq!(response.operation, Some(request.operation()));
        let Outcome::Success(received) = response.outcome else { return Err(TestCaseError::fail("an error")) };
        prop_assert_eq!(&received, &as_seen(&answer));
        // What was received encodes to the same bytes again, where the client has filled nothing in.
        let filled_in = matches!(&answer, Answer::Run(run) if run.context.run_id.is_empty());
        if !filled_in {
            let again = decode(&dispatcher, prepared.bytes()).expected.complete(&dispatcher, Ok(received));
            prop_assert_eq!(again.response, completed.response.clone());
        }
        // Borrowed or owned, it is the same.
        let owned = prepared.parse(&completed.response).expect("a response").into_owned();
        let Outcome::Success(owned) = owned.outcome else { return Err(TestCaseError::fail("an error")) };
        prop_assert_eq!(owned.into_owned(), as_seen(&answer).into_owned());
    }

    #[test]
    fn an_error_reaches_the_client_typed_and_an_internal_one_without_its_cause(request in request(), error in error()) {
        let prepared = prepare(&request, &RequestOptions::default());
        let dispatcher = Dispatcher::default();
        let completed = decode(&dispatcher, prepared.bytes()).expected.into_owned().complete(&dispatcher, Err(error.clone()));
        prop_assert_eq!(completed.broken, None);
        let response = prepared.parse(&completed.response).expect("a response that the client accepts");
        let Outcome::Error(received) = response.outcome else { return Err(TestCaseError::fail("a success")) };
        if error.code == ErrorCode::Internal {
            prop_assert_eq!(received.retryable, error.retryable);
            prop_assert_eq!(received.details, FreeJson::EMPTY_OBJECT);
            prop_assert!(received.metadata.is_empty());
            prop_assert_eq!(received.message, "internal error; the outcome is not known");
        } else {
            prop_assert_eq!(received, HostError { metadata: without_secrets(&error.metadata), ..error });
        }
    }

    #[test]
    fn an_answer_to_another_request_is_refused_by_the_client((request, answer) in exchange()) {
        let (asked, other) = (prepare(&request, &RequestOptions::default()), prepare(&request, &RequestOptions::default()));
        prop_assert_ne!(asked.request_id(), other.request_id());
        let dispatcher = Dispatcher::default();
        let completed = decode(&dispatcher, other.bytes()).expected.complete(&dispatcher, Ok(answer));
        let refused = asked.parse(&completed.response).expect_err("it answers another request");
        prop_assert_eq!(refused.violation().path(), "requestId");
    }
}
