//! The durable hosts of one environment, the events that other threads have for it, and their end.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use agenthost::binding::{DurableHost, LogRecord, NotifyQueue, PendingResponse, in_background};
use agenthost::runs::OpenError;
use napi::bindgen_prelude::Result;
use napi_derive::napi;
use slab::Slab;

use crate::environment::AtEnd;
use crate::log;
use crate::misuse::invalid;
use crate::text::response_text;

/// How long the end of an environment waits until what its hosts have accepted is written. Another process may hold a file for longer:
/// then what is not written is as after a crash, and Node exits all the same.
const LONGEST_END: Duration = Duration::from_secs(1);

/// What happens on other threads; each event says to which call or host of JavaScript.
pub(super) enum Event {
    /// It is there to be taken.
    Response {
        call: usize,
    },
    Opened {
        host: usize,
        opened: std::result::Result<Box<DurableHost>, OpenError>,
    },
    Closed {
        host: usize,
    },
    Log {
        host: usize,
        record: LogRecord,
    },
}

/// The events of one environment. What notifies its loop may do so from any thread, also when the loop has ended.
pub(super) type Events = NotifyQueue<Event, Box<dyn FnMut() + Send>>;

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
    pub(super) events: Arc<Events>,
    /// By the numbers that JavaScript knows them by; nothing while one is being opened, and while one that JavaScript has lost is
    /// being closed. A closed one still answers: that it is closed.
    pub(super) hosts: RefCell<Slab<Option<DurableHost>>>,
    /// The calls that wait.
    pub(super) calls: RefCell<Slab<PendingResponse>>,
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
        notify: impl FnMut() + Send + 'static,
        at_end: impl FnOnce(AtEnd) -> Result<()>,
    ) -> Result<Rc<DurableHosts>> {
        at_end(Box::new(move || environment_ended(environment)))?;
        let events = Arc::new(Events::new(Box::new(notify)));
        let begun = Rc::new(DurableHosts { environment, events, hosts: RefCell::default(), calls: RefCell::default() });
        ENVIRONMENTS.with(|all| all.borrow_mut().push(begun.clone()));
        Ok(begun)
    }

    pub(super) fn host(&self, number: u32) -> Result<DurableHost> {
        let found = self.hosts.borrow().get(number as usize).cloned().flatten();
        found.ok_or_else(|| invalid(format!("there is no durable host {number} in this environment")))
    }

    /// Handles an event, and makes the one that JavaScript gets.
    pub(super) fn handle(&self, event: Event) -> NativeEvent {
        let event_for = |kind, number: usize, text| NativeEvent { kind, number: number as u32, text };
        match event {
            Event::Response { call } => {
                let response = self.calls.borrow_mut().try_remove(call).and_then(|pending| pending.take());
                event_for("response", call, response_text(response.unwrap_or_default()))
            }
            Event::Opened { host, opened: Ok(opened) } => {
                if let Some(place) = self.hosts.borrow_mut().get_mut(host) {
                    *place = Some(*opened);
                }
                event_for("opened", host, String::new())
            }
            Event::Opened { host, opened: Err(error) } => {
                drop(self.hosts.borrow_mut().try_remove(host));
                event_for("refused", host, serde_json::to_string(&[error.refused(), &error.to_string()]).unwrap_or_default())
            }
            Event::Closed { host } => {
                let mut hosts = self.hosts.borrow_mut();
                if matches!(hosts.get(host), Some(None)) {
                    hosts.remove(host);
                }
                event_for("closed", host, String::new())
            }
            Event::Log { host, record } => event_for("log", host, log::to_json(&record).to_string()),
        }
    }
}

/// Closes the durable hosts of an environment that ends. Whoever waits is answered before this returns.
fn environment_ended(environment: usize) {
    let ended = ENVIRONMENTS.with(|all| {
        let mut all = all.borrow_mut();
        let index = all.iter().position(|hosts| hosts.environment == environment);
        let ended = index.map(|index| all.swap_remove(index));
        // A worker's thread leaves nothing behind.
        all.shrink_to_fit();
        ended
    });
    let Some(ended) = ended else { return };
    ended.events.close();
    let hosts = std::mem::take(&mut *ended.hosts.borrow_mut());
    let (closing, all_closed) = mpsc::channel::<()>();
    for host in hosts.into_iter().filter_map(|(_, host)| host) {
        let _ = host.host.close(Some(Duration::ZERO));
        let closing = closing.clone();
        // Without a thread the host is dropped here, which closes it.
        let _ = in_background("agenthost-close", move || {
            host.close();
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
    use agenthost::binding::{Begun, begin};
    use agenthost::host::{DeferredReply, DeferringService, Host, HostOptions, Reply};
    use agenthost::runs::{Runs, RunsOptions};
    use agenthost::service::{Call, Request};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Keeps every reply, and answers none.
    struct Silent(Mutex<Vec<DeferredReply>>);

    impl DeferringService for Silent {
        fn serve(&self, _: &Call<'_>, _: Request<'_>, reply: &mut Reply<'_>) {
            self.0.lock().unwrap().extend(reply.defer());
        }
    }

    #[test]
    fn a_waiting_call_is_answered_when_its_environment_ends() {
        let (mut at_end, notified) = (Vec::new(), Arc::new(AtomicUsize::new(0)));
        let count = notified.clone();
        let notify = move || _ = count.fetch_add(1, Ordering::SeqCst);
        let all = DurableHosts::begin(8, notify, |ended| {
            at_end.push(ended);
            Ok(())
        })
        .unwrap();
        let host = Host::deferring(Box::new(Silent(Mutex::default())), HostOptions::default());
        let runs = Runs::open("memory:", RunsOptions::default()).unwrap();
        all.hosts.borrow_mut().insert(Some(DurableHost { host: host.clone(), runs }));
        let events = all.events.clone();
        let notify = move || events.push(Event::Response { call: 0 });
        let Ok(Begun::Pending(pending)) = begin(&host, crate::host::tests::GET_RUN, None, notify) else { panic!("not begun") };
        assert!(pending.take().is_none(), "nobody has answered");

        assert_eq!(at_end.len(), 1);
        at_end.into_iter().for_each(|ended| ended());
        let response = response_text(pending.take().expect("the end answers before it returns"));
        assert!(response.contains(r#""requestId":"r-1""#) && response.contains(r#""reason":"closed""#), "{response}");
        assert_eq!(notified.load(Ordering::SeqCst), 0, "nobody is notified at the end");
        assert!(all.events.take_all().is_empty());
    }
}
