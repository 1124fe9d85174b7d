//! Hosts of durable runs: opened and closed on threads of their own, dispatched without waiting. What other threads have to tell
//! goes through the environment's [`Mailbox`]; JavaScript makes promises of it. No rule of runs is known here.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agenthost::dispatch::{Dispatcher, UnavailableReason};
use agenthost::host::{DispatchOptions, Host, HostOptions, LogHook, LogLevel, Opened, Pending};
use agenthost::protocol::SensitiveNames;
use agenthost::runs::{OpenError, Runs, RunsOptions};
use napi::bindgen_prelude::{Either, Env, Error, Function, Result};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi_derive::napi;
use slab::Slab;

use crate::ending::{self, Ended};
use crate::host::{Record, invalid, level_name, text};
use crate::mailbox::{Bell, Mailbox};

/// Runs, and the host that they serve. A closed one still answers: that it is closed.
#[derive(Clone)]
struct Durable {
    host: Host,
    runs: Runs,
    closed: bool,
}

/// What other threads tell: each letter says to which call or host of JavaScript it goes.
enum Letter {
    Response { call: usize, response: Vec<u8> },
    Opened { host: usize, opened: std::result::Result<Box<Durable>, OpenError> },
    Closed { host: usize },
    Log { host: usize, record: Record },
}

/// The durable hosts of one environment.
struct Station {
    environment: usize,
    mailbox: Arc<Mailbox<Letter>>,
    /// By the numbers that JavaScript knows them by; nothing while one is being opened.
    hosts: RefCell<Slab<Option<Durable>>>,
    /// The calls that wait.
    calls: RefCell<Slab<Pending>>,
}

thread_local! {
    static STATIONS: RefCell<Vec<Rc<Station>>> = const { RefCell::new(Vec::new()) };
}

fn station(env: &Env) -> Result<Rc<Station>> {
    let environment = ending::name(env);
    let found = STATIONS.with_borrow(|all| all.iter().find(|station| station.environment == environment).cloned());
    found.ok_or_else(|| invalid("nobody listens in this environment"))
}

/// Has `bell` called whenever there is something to [`collect`]. Once for each environment, before everything else.
#[napi(catch_unwind)]
pub(crate) fn listen(env: &Env, bell: Function<'_, (), ()>) -> Result<()> {
    let environment = ending::name(env);
    // Weak: it does not keep the loop running. JavaScript knows whether somebody waits.
    let function = bell.build_threadsafe_function::<()>().weak::<true>().build_callback(|_| Ok(()))?;
    // A loop that is ending does not hear it, and needs not.
    let ring = move || {
        let _ = function.call((), ThreadsafeFunctionCallMode::NonBlocking);
    };
    make_station(environment, Arc::new(ring), ending::by_node(env)).map(drop)
}

fn make_station(environment: usize, bell: Bell, ask: impl FnOnce(Ended) -> Result<()>) -> Result<Rc<Station>> {
    ending::watch(environment, ask)?;
    let mailbox = Arc::new(Mailbox::new(bell));
    let station = Rc::new(Station { environment, mailbox, hosts: RefCell::default(), calls: RefCell::default() });
    STATIONS.with_borrow_mut(|all| all.push(station.clone()));
    Ok(station)
}

/// How durable runs are opened; what is absent has its default. Times are in milliseconds.
#[napi(object, object_to_js = false)]
pub(crate) struct DurableOptions {
    /// The most bytes of a message.
    pub max_message_bytes: f64,
    /// Names that are refused, beside the built-in ones.
    pub sensitive_names: Vec<String>,
    /// Whether a call without a principal is `unauthorized`.
    pub require_principal: bool,
    /// How long a worker may be silent.
    pub lease_ms: Option<f64>,
    /// How often a run may be taken over.
    pub max_attempts: Option<f64>,
    /// How long a key is remembered.
    pub key_ttl_ms: Option<f64>,
}

fn milliseconds(given: f64) -> Duration {
    Duration::try_from_secs_f64(given / 1000.0).unwrap_or(Duration::MAX)
}

/// Begins to open runs, on a thread of its own: other processes may have the file for seconds. The host's number: letters about
/// it, `opened` or `refused` first, carry it.
#[napi(catch_unwind)]
pub(crate) fn open_durable(env: &Env, url: String, options: DurableOptions) -> Result<u32> {
    let station = station(env)?;
    let sensitive_names = SensitiveNames::with(options.sensitive_names).map_err(invalid)?;
    let number = station.hosts.borrow_mut().insert(None);
    let mailbox = station.mailbox.clone();
    let log: LogHook = Arc::new(move |level: LogLevel, message: &str, fields: &[(&str, &str)]| {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        mailbox.put(Letter::Log { host: number, record: (level_name(level), message.to_owned(), fields) });
    });
    let default = RunsOptions::default();
    let runs = RunsOptions {
        lease: options.lease_ms.map_or(default.lease, milliseconds),
        max_attempts: options.max_attempts.map_or(default.max_attempts, |most| most as u64),
        key_ttl: options.key_ttl_ms.map_or(default.key_ttl, milliseconds),
        require_principal: options.require_principal,
        sensitive_names: sensitive_names.clone(),
        log: Some(log.clone()),
        ..default
    };
    let max_message_bytes = options.max_message_bytes as usize;
    let dispatcher = Dispatcher { max_message_bytes, sensitive_names, require_principal: options.require_principal };
    let host = HostOptions { dispatcher, default_timeout: None, log: Some(log) };
    let mailbox = station.mailbox.clone();
    let open = move || {
        let opened = Runs::open(&url, runs).map(|runs| Box::new(Durable { host: runs.host(host), runs, closed: false }));
        mailbox.put(Letter::Opened { host: number, opened });
    };
    if let Err(error) = elsewhere("agenthost-open", open) {
        station.hosts.borrow_mut().remove(number);
        return Err(error);
    }
    Ok(number as u32)
}

fn elsewhere(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let started = std::thread::Builder::new().name(name.into()).spawn(work);
    started.map(drop).map_err(|error| Error::from_reason(format!("no thread could be started: {error}")))
}

/// News for JavaScript.
#[napi(object, object_from_js = false)]
pub(crate) struct News {
    /// `response`, of a call; `opened`, `refused`, `closed` and `log`, of a host.
    pub kind: &'static str,
    /// The call's or the host's number.
    pub number: u32,
    /// The response; which of url, option and store was refused, and why; the record as JSON.
    pub text: String,
}

/// Takes what has come for this environment.
#[napi(catch_unwind)]
pub(crate) fn collect(env: &Env) -> Result<Vec<News>> {
    let station = station(env)?;
    Ok(station.mailbox.collect().into_iter().map(|letter| station.read(letter)).collect())
}

/// Dispatches a message. The response when it is there at once, else the call's number. `cancelled`: the caller does not want an
/// answer any more, and the runs are not asked.
#[napi(catch_unwind)]
pub(crate) fn dispatch_durable(
    env: &Env,
    host: u32,
    message: &[u8],
    principal: Option<String>,
    cancelled: bool,
) -> Result<Either<String, u32>> {
    let station = station(env)?;
    let durable = station.host(host)?;
    if cancelled {
        return Ok(Either::A(text(match durable.host.open(message, principal.map(Into::into)).map_err(invalid)? {
            Opened::Answered(response) => response,
            Opened::Call(_, _, open) => open.give_up(UnavailableReason::Cancelled),
        })));
    }
    let mut calls = station.calls.borrow_mut();
    let entry = calls.vacant_entry();
    let answered = Arc::new(Mutex::new(Answered::Dispatching));
    let (mut pending, answer) = (None, (answered.clone(), station.mailbox.clone(), entry.key()));
    let done = move |response| {
        let (answered, mailbox, call) = answer;
        let mut answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
        match *answered {
            Answered::Dispatching => *answered = Answered::AtOnce(response),
            _ => {
                drop(answered);
                mailbox.put(Letter::Response { call, response });
            }
        }
    };
    durable.host.dispatch_async(message, principal.map(Into::into), |call| pending = Some(call), done).map_err(invalid)?;
    let answered = std::mem::replace(&mut *answered.lock().unwrap_or_else(PoisonError::into_inner), Answered::Later);
    match (answered, pending) {
        (Answered::AtOnce(response), _) => Ok(Either::A(text(response))),
        (_, Some(pending)) => Ok(Either::B({
            let number = entry.key();
            entry.insert(pending);
            number as u32
        })),
        (_, None) => Err(Error::from_reason("the call was not started")),
    }
}

/// Where an asynchronous call's response goes.
enum Answered {
    /// Its dispatch still runs, and takes it.
    Dispatching,
    /// Its dispatch takes this.
    AtOnce(Vec<u8>),
    /// The mailbox.
    Later,
}

/// Dispatches a message and waits for the response.
#[napi(catch_unwind)]
pub(crate) fn dispatch_durable_sync(
    env: &Env,
    host: u32,
    message: &[u8],
    principal: Option<String>,
    timeout_ms: Option<f64>,
) -> Result<String> {
    let durable = station(env)?.host(host)?;
    let options = DispatchOptions { principal: principal.map(Into::into), timeout: timeout_ms.map(milliseconds) };
    durable.host.dispatch(message, options).map(text).map_err(invalid)
}

/// Nobody waits for a call any more: its response comes as a letter.
#[napi(catch_unwind)]
pub(crate) fn give_up_durable(env: &Env, call: u32, timed_out: bool) -> Result<()> {
    let pending = station(env)?.calls.borrow().get(call as usize).cloned();
    let why = if timed_out { UnavailableReason::Timeout } else { UnavailableReason::Cancelled };
    pending.map_or(Ok(false), |pending| pending.give_up(why)).map(drop).map_err(invalid)
}

/// Refuses new calls from here on.
#[napi(catch_unwind)]
pub(crate) fn refuse_durable(env: &Env, host: u32) -> Result<()> {
    station(env)?.host(host)?.host.drain(Some(Duration::ZERO)).map(drop).map_err(invalid)
}

/// Begins to close a host and its runs, on a thread of its own: what is accepted is still committed. The calls that wait are
/// answered; then comes the letter `closed`.
#[napi(catch_unwind)]
pub(crate) fn close_durable(env: &Env, host: u32) -> Result<()> {
    let station = station(env)?;
    let durable = station.host(host)?;
    if let Some(Some(place)) = station.hosts.borrow_mut().get_mut(host as usize) {
        place.closed = true;
    }
    let mailbox = station.mailbox.clone();
    let finish = move |durable| {
        close(durable);
        mailbox.put(Letter::Closed { host: host as usize });
    };
    let (copy, here) = (durable.clone(), finish.clone());
    elsewhere("agenthost-close", move || finish(copy)).or_else(|_| {
        // Better here than not at all.
        here(durable);
        Ok(())
    })
}

/// Lets go of a host that JavaScript has lost.
#[napi(catch_unwind)]
pub(crate) fn release_durable(env: &Env, host: u32) -> Result<()> {
    let station = station(env)?;
    let lost = station.hosts.borrow_mut().get_mut(host as usize).and_then(Option::take);
    // Its number is free when nothing more can come from it. Without a thread it is closed here, by being dropped.
    match lost.filter(|lost| !lost.closed) {
        Some(lost) => {
            let mailbox = station.mailbox.clone();
            let _ = elsewhere("agenthost-close", move || {
                close(lost);
                mailbox.put(Letter::Closed { host: host as usize });
            });
        }
        None => drop(station.hosts.borrow_mut().try_remove(host as usize)),
    }
    Ok(())
}

/// Whether the host keeps a name out of metadata.
#[napi(catch_unwind)]
pub(crate) fn is_sensitive_for_durable(env: &Env, host: u32, name: String) -> Result<bool> {
    Ok(station(env)?.host(host)?.host.is_sensitive_name(&name))
}

impl Station {
    fn host(&self, number: u32) -> Result<Durable> {
        let found = self.hosts.borrow().get(number as usize).cloned().flatten();
        found.ok_or_else(|| invalid(format!("there is no durable host {number} in this environment")))
    }

    fn read(&self, letter: Letter) -> News {
        let news = |kind, number: usize, text| News { kind, number: number as u32, text };
        match letter {
            Letter::Response { call, response } => {
                drop(self.calls.borrow_mut().try_remove(call));
                news("response", call, text(response))
            }
            Letter::Opened { host, opened: Ok(durable) } => {
                if let Some(place) = self.hosts.borrow_mut().get_mut(host) {
                    *place = Some(*durable);
                }
                news("opened", host, String::new())
            }
            Letter::Opened { host, opened: Err(error) } => {
                drop(self.hosts.borrow_mut().try_remove(host));
                let what = match &error {
                    OpenError::Url(_) => "url",
                    OpenError::Option(_) => "option",
                    OpenError::Store(_) => "store",
                };
                news("refused", host, serde_json::to_string(&[what, &error.to_string()]).unwrap_or_default())
            }
            Letter::Closed { host } => {
                let mut hosts = self.hosts.borrow_mut();
                if matches!(hosts.get(host), Some(None)) {
                    hosts.remove(host);
                }
                news("closed", host, String::new())
            }
            Letter::Log { host, record } => news("log", host, serde_json::to_string(&record).unwrap_or_default()),
        }
    }
}

/// Answers the calls that wait, commits what is accepted, and ends.
fn close(Durable { host, runs, .. }: Durable) {
    // The first answers whoever waits; the second waits for responses that other threads are delivering.
    if host.close(Some(Duration::ZERO)).is_err() {
        let _ = host.close(None);
    }
    runs.close();
}

/// Closes the durable hosts of an environment that ends; whoever waits is answered before this returns.
pub(crate) fn environment_ended(environment: usize) {
    let ended = STATIONS.with_borrow_mut(|all| {
        let index = all.iter().position(|station| station.environment == environment);
        index.map(|index| all.swap_remove(index))
    });
    let Some(station) = ended else { return };
    station.mailbox.close();
    let hosts = std::mem::take(&mut *station.hosts.borrow_mut());
    hosts.into_iter().filter_map(|(_, host)| host).for_each(close);
}

#[cfg(test)]
mod tests {
    use super::*;
    use agenthost::host::{DeferredReply, DeferringService, Reply};
    use agenthost::service::{Call, Request};
    use std::sync::mpsc;

    /// Keeps every reply, and answers none.
    struct Silent(Mutex<Vec<DeferredReply>>);

    impl DeferringService for Silent {
        fn serve(&self, _: &Call<'_>, _: Request<'_>, reply: &mut Reply<'_>) {
            self.0.lock().unwrap().extend(reply.defer());
        }
    }

    #[test]
    fn a_waiting_call_is_answered_when_its_environment_ends() {
        let (mut asked, rung) = (Vec::new(), Arc::new(Mutex::new(0)));
        let bell = rung.clone();
        let ring: Bell = Arc::new(move || *bell.lock().unwrap() += 1);
        let station = make_station(8, ring, |ended| {
            asked.push(ended);
            Ok(())
        });
        let station = station.unwrap();
        let host = Host::deferring(Box::new(Silent(Mutex::default())), HostOptions::default());
        let runs = Runs::open("memory:", RunsOptions::default()).unwrap();
        station.hosts.borrow_mut().insert(Some(Durable { host: host.clone(), runs, closed: false }));
        let (sender, responses) = mpsc::channel();
        let (done, mailbox) = (sender.clone(), station.mailbox.clone());
        let answer = move |response: Vec<u8>| {
            mailbox.put(Letter::Response { call: 0, response: response.clone() });
            done.send(text(response)).unwrap();
        };
        host.dispatch_async(crate::host::tests::GET_RUN, None, drop, answer).unwrap();
        assert!(responses.try_recv().is_err(), "nobody has answered");

        assert_eq!(asked.len(), 1);
        asked.into_iter().for_each(|ended| ended());
        let response = responses.try_recv().expect("the end answers before it returns");
        assert!(response.contains(r#""requestId":"r-1""#) && response.contains(r#""reason":"closed""#), "{response}");
        assert_eq!(*rung.lock().unwrap(), 0, "no bell is rung at the end");
        assert!(station.mailbox.collect().is_empty());
    }
}
