//! The durable hosts of one environment, what other threads have to tell it about them, and their end.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use agenthost::host::{Host, Pending};
use agenthost::runs::{OpenError, Runs};
use napi::bindgen_prelude::{Error, Result};
use napi_derive::napi;
use slab::Slab;

use crate::environment::AtEnd;
use crate::event_queue::{EventQueue, Notify};
use crate::log::Record;
use crate::misuse::invalid;
use crate::text::response_text;

/// How long the end of an environment waits until what its hosts have accepted is written. Another process may hold a file for longer:
/// then what is not written is as after a crash, and Node exits all the same.
const LONGEST_END: Duration = Duration::from_secs(1);

/// Runs, and the host that they serve. A closed one still answers: that it is closed.
#[derive(Clone)]
pub(super) struct DurableHost {
    pub(super) host: Host,
    pub(super) runs: Runs,
    /// JavaScript has begun to close it.
    pub(super) closing: bool,
}

/// What other threads tell: each event says which call or host of JavaScript it is about.
pub(super) enum Event {
    Response { call: usize, response: Vec<u8> },
    Opened { host: usize, opened: std::result::Result<Box<DurableHost>, OpenError> },
    Closed { host: usize },
    Log { host: usize, record: Record },
}

/// An event for JavaScript.
#[napi(object, object_from_js = false)]
pub(crate) struct NativeEvent {
    /// `response`, of a call; `opened`, `refused`, `closed` and `log`, of a host.
    pub kind: &'static str,
    /// The call's or the host's number. Taking a `response` or `refused` gives it free.
    pub number: u32,
    /// The response; which of url, option and store was refused, and why; the record as JSON.
    pub text: String,
}

/// The durable hosts of one environment.
pub(super) struct DurableHosts {
    environment: usize,
    pub(super) events: Arc<EventQueue<Event>>,
    /// By the numbers that JavaScript knows them by; nothing while one is being opened, and while one that JavaScript has lost is
    /// being closed.
    pub(super) hosts: RefCell<Slab<Option<DurableHost>>>,
    /// The calls that wait.
    pub(super) calls: RefCell<Slab<Pending>>,
}

thread_local! {
    /// Never dropped: `process.exit` ends the thread's variables while its environment is still there, and must not wait for a file.
    static ENVIRONMENTS: ManuallyDrop<RefCell<Vec<Rc<DurableHosts>>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

impl DurableHosts {
    /// Those of an environment, which has begun to listen.
    pub(super) fn of(environment: usize) -> Result<Rc<DurableHosts>> {
        let found = ENVIRONMENTS.with(|all| all.borrow().iter().find(|hosts| hosts.environment == environment).cloned());
        found.ok_or_else(|| invalid("nobody listens in this environment"))
    }

    /// Begins those of an environment, once; `at_end` has its function called when the environment ends.
    pub(super) fn begin(
        environment: usize,
        notify: Notify,
        at_end: impl FnOnce(AtEnd) -> Result<()>,
    ) -> Result<Rc<DurableHosts>> {
        at_end(Box::new(move || environment_ended(environment)))?;
        let events = Arc::new(EventQueue::new(notify));
        let begun = Rc::new(DurableHosts { environment, events, hosts: RefCell::default(), calls: RefCell::default() });
        ENVIRONMENTS.with(|all| all.borrow_mut().push(begun.clone()));
        Ok(begun)
    }

    pub(super) fn host(&self, number: u32) -> Result<DurableHost> {
        let found = self.hosts.borrow().get(number as usize).cloned().flatten();
        found.ok_or_else(|| invalid(format!("there is no durable host {number} in this environment")))
    }

    /// What an event means here, and what JavaScript is told.
    pub(super) fn take(&self, event: Event) -> NativeEvent {
        let told = |kind, number: usize, text| NativeEvent { kind, number: number as u32, text };
        match event {
            Event::Response { call, response } => {
                drop(self.calls.borrow_mut().try_remove(call));
                told("response", call, response_text(response))
            }
            Event::Opened { host, opened: Ok(opened) } => {
                if let Some(place) = self.hosts.borrow_mut().get_mut(host) {
                    *place = Some(*opened);
                }
                told("opened", host, String::new())
            }
            Event::Opened { host, opened: Err(error) } => {
                drop(self.hosts.borrow_mut().try_remove(host));
                let what = match &error {
                    OpenError::Url(_) => "url",
                    OpenError::Option(_) => "option",
                    OpenError::Store(_) => "store",
                };
                told("refused", host, serde_json::to_string(&[what, &error.to_string()]).unwrap_or_default())
            }
            Event::Closed { host } => {
                let mut hosts = self.hosts.borrow_mut();
                if matches!(hosts.get(host), Some(None)) {
                    hosts.remove(host);
                }
                told("closed", host, String::new())
            }
            Event::Log { host, record } => told("log", host, serde_json::to_string(&record).unwrap_or_default()),
        }
    }
}

/// Runs work that may take long on a thread of its own.
pub(super) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let started = std::thread::Builder::new().name(name.into()).spawn(work);
    started.map(drop).map_err(|error| Error::from_reason(format!("no thread could be started: {error}")))
}

/// Answers the calls that wait, commits what is accepted, and ends.
pub(super) fn close(DurableHost { host, runs, .. }: DurableHost) {
    // The first answers whoever waits; the second waits for responses that other threads are delivering.
    if host.close(Some(Duration::ZERO)).is_err() {
        let _ = host.close(None);
    }
    runs.close();
}

/// Closes the durable hosts of an environment that ends. Whoever waits is answered before this returns.
fn environment_ended(environment: usize) {
    let ended = ENVIRONMENTS.with(|all| {
        let mut all = all.borrow_mut();
        let index = all.iter().position(|hosts| hosts.environment == environment);
        index.map(|index| all.swap_remove(index))
    });
    let Some(ended) = ended else { return };
    ended.events.close();
    let hosts = std::mem::take(&mut *ended.hosts.borrow_mut());
    let (closing, all_closed) = mpsc::channel::<()>();
    for (_, host) in hosts.into_iter().filter_map(|(number, host)| Some((number, host?))) {
        let _ = host.host.close(Some(Duration::ZERO));
        let closing = closing.clone();
        // Without a thread the host is dropped here, which closes it.
        let _ = spawn("agenthost-close", move || {
            close(host);
            drop(closing);
        });
    }
    drop(closing);
    // Nothing is sent: the channel ends with the last host.
    let _ = all_closed.recv_timeout(LONGEST_END);
}

#[cfg(test)]
mod tests {
    use super::*;
    use agenthost::host::{DeferredReply, DeferringService, HostOptions, Reply};
    use agenthost::runs::RunsOptions;
    use agenthost::service::{Call, Request};
    use std::sync::Mutex;

    /// Keeps every reply, and answers none.
    struct Silent(Mutex<Vec<DeferredReply>>);

    impl DeferringService for Silent {
        fn serve(&self, _: &Call<'_>, _: Request<'_>, reply: &mut Reply<'_>) {
            self.0.lock().unwrap().extend(reply.defer());
        }
    }

    #[test]
    fn a_waiting_call_is_answered_when_its_environment_ends() {
        let (mut at_end, notified) = (Vec::new(), Arc::new(Mutex::new(0)));
        let count = notified.clone();
        let notify: Notify = Arc::new(move || *count.lock().unwrap() += 1);
        let all = DurableHosts::begin(8, notify, |ended| {
            at_end.push(ended);
            Ok(())
        });
        let all = all.unwrap();
        let host = Host::deferring(Box::new(Silent(Mutex::default())), HostOptions::default());
        let runs = Runs::open("memory:", RunsOptions::default()).unwrap();
        all.hosts.borrow_mut().insert(Some(DurableHost { host: host.clone(), runs, closing: false }));
        let (sender, responses) = mpsc::channel();
        let (done, events) = (sender.clone(), all.events.clone());
        let answer = move |response: Vec<u8>| {
            events.push(Event::Response { call: 0, response: response.clone() });
            done.send(response_text(response)).unwrap();
        };
        host.dispatch_async(crate::host::tests::GET_RUN, None, drop, answer).unwrap();
        assert!(responses.try_recv().is_err(), "nobody has answered");

        assert_eq!(at_end.len(), 1);
        at_end.into_iter().for_each(|ended| ended());
        let response = responses.try_recv().expect("the end answers before it returns");
        assert!(response.contains(r#""requestId":"r-1""#) && response.contains(r#""reason":"closed""#), "{response}");
        assert_eq!(*notified.lock().unwrap(), 0, "nobody is notified at the end");
        assert!(all.events.take().is_empty());
    }
}
