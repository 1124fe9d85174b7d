//! Hosts of durable runs: opened and closed on threads of their own, dispatched without waiting. What other threads have to tell goes
//! through the environment's [`EventQueue`](crate::event_queue::EventQueue); JavaScript makes promises of it. No rule of runs is known
//! here.

mod hosts;

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agenthost::dispatch::{Dispatcher, UnavailableReason};
use agenthost::host::{DispatchOptions, HostOptions, LogLevel, Opened};
use agenthost::protocol::SensitiveNames;
use agenthost::runs::{Access, Runs, RunsOptions, SharedLog};
use napi::bindgen_prelude::{Either, Env, Error, Function, Result};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi_derive::napi;

use crate::environment;
use crate::log;
use crate::misuse::invalid;
use crate::text::response_text;

use hosts::{DurableHost, DurableHosts, Event, NativeEvent, close, spawn};

fn hosts_of(env: &Env) -> Result<Rc<DurableHosts>> {
    DurableHosts::of(environment::name(env))
}

/// Has `notify` called whenever there are events to [`take_events`]. Once for each environment, before everything else.
#[napi(catch_unwind)]
pub(crate) fn listen(env: &Env, notify: Function<'_, (), ()>) -> Result<()> {
    // Weak: it does not keep the loop running. JavaScript knows whether somebody waits.
    let function = notify.build_threadsafe_function::<()>().weak::<true>().build_callback(|_| Ok(()))?;
    // A loop that is ending does not hear it, and needs not.
    let notify = move || {
        let _ = function.call((), ThreadsafeFunctionCallMode::NonBlocking);
    };
    DurableHosts::begin(environment::name(env), Arc::new(notify), environment::end_of(env)).map(drop)
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
    /// Principals that see every run.
    pub operators: Vec<String>,
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

/// Who may see a run: a call without a principal, an operator, its owner.
fn access(operators: Vec<String>) -> Access {
    Arc::new(move |principal, owner| {
        principal.is_none_or(|principal| owner == Some(principal) || operators.iter().any(|operator| operator == principal))
    })
}

/// Begins to open runs, on a thread of its own: other processes may have the file for seconds. The host's number: events about
/// it, `opened` or `refused` first, carry it.
#[napi(catch_unwind)]
pub(crate) fn open_durable(env: &Env, url: String, options: DurableOptions) -> Result<u32> {
    let all = hosts_of(env)?;
    let sensitive_names = SensitiveNames::with(options.sensitive_names).map_err(invalid)?;
    let number = all.hosts.borrow_mut().insert(None);
    let events = all.events.clone();
    let log: SharedLog = Arc::new(move |level: LogLevel, message: &str, fields: &[(&str, &str)]| {
        events.push(Event::Log { host: number, record: log::record(level, message, fields) });
    });
    let default = RunsOptions::default();
    let runs = RunsOptions {
        lease: options.lease_ms.map_or(default.lease, milliseconds),
        max_attempts: options.max_attempts.map_or(default.max_attempts, |most| most as u64),
        key_ttl: options.key_ttl_ms.map_or(default.key_ttl, milliseconds),
        require_principal: options.require_principal,
        access: (!options.operators.is_empty()).then(|| access(options.operators)),
        sensitive_names: sensitive_names.clone(),
        log: Some(log.clone()),
    };
    let max_message_bytes = options.max_message_bytes as usize;
    let dispatcher = Dispatcher { max_message_bytes, sensitive_names, require_principal: options.require_principal };
    let log = Box::new(move |level, message: &str, fields: &[(&str, &str)]| log(level, message, fields));
    let host = HostOptions { dispatcher, default_timeout: None, log: Some(log) };
    let events = all.events.clone();
    let open = move || {
        let opened = Runs::open(&url, runs).map(|runs| Box::new(DurableHost { host: runs.host(host), runs, closing: false }));
        events.push(Event::Opened { host: number, opened });
    };
    if let Err(error) = spawn("agenthost-open", open) {
        all.hosts.borrow_mut().remove(number);
        return Err(error);
    }
    Ok(number as u32)
}

/// Takes the events that have come for this environment.
#[napi(catch_unwind)]
pub(crate) fn take_events(env: &Env) -> Result<Vec<NativeEvent>> {
    let all = hosts_of(env)?;
    Ok(all.events.take().into_iter().map(|event| all.take(event)).collect())
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
    let all = hosts_of(env)?;
    let durable = all.host(host)?;
    if cancelled {
        return Ok(Either::A(response_text(match durable.host.open(message, principal.map(Into::into)).map_err(invalid)? {
            Opened::Answered(response) => response,
            Opened::Call(_, _, open) => open.give_up(UnavailableReason::Cancelled),
        })));
    }
    let mut calls = all.calls.borrow_mut();
    let entry = calls.vacant_entry();
    let answered = Arc::new(Mutex::new(Answered::Dispatching));
    let (mut pending, answer) = (None, (answered.clone(), all.events.clone(), entry.key()));
    let done = move |response| {
        let (answered, events, call) = answer;
        let mut answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
        match *answered {
            Answered::Dispatching => *answered = Answered::AtOnce(response),
            _ => {
                drop(answered);
                events.push(Event::Response { call, response });
            }
        }
    };
    durable.host.dispatch_async(message, principal.map(Into::into), |call| pending = Some(call), done).map_err(invalid)?;
    let answered = std::mem::replace(&mut *answered.lock().unwrap_or_else(PoisonError::into_inner), Answered::Later);
    match (answered, pending) {
        (Answered::AtOnce(response), _) => Ok(Either::A(response_text(response))),
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
    /// The event queue.
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
    let durable = hosts_of(env)?.host(host)?;
    let options = DispatchOptions { principal: principal.map(Into::into), timeout: timeout_ms.map(milliseconds) };
    durable.host.dispatch(message, options).map(response_text).map_err(invalid)
}

/// Nobody waits for a call any more: its response comes as an event.
#[napi(catch_unwind)]
pub(crate) fn give_up_durable(env: &Env, call: u32, timed_out: bool) -> Result<()> {
    let pending = hosts_of(env)?.calls.borrow().get(call as usize).cloned();
    let why = if timed_out { UnavailableReason::Timeout } else { UnavailableReason::Cancelled };
    pending.map_or(Ok(false), |pending| pending.give_up(why)).map(drop).map_err(invalid)
}

/// Refuses new calls from here on.
#[napi(catch_unwind)]
pub(crate) fn refuse_durable(env: &Env, host: u32) -> Result<()> {
    hosts_of(env)?.host(host)?.host.drain(Some(Duration::ZERO)).map(drop).map_err(invalid)
}

/// Begins to close a host and its runs, on a thread of its own: what is accepted is still committed. The calls that wait are
/// answered; then comes the event `closed`.
#[napi(catch_unwind)]
pub(crate) fn close_durable(env: &Env, host: u32) -> Result<()> {
    let all = hosts_of(env)?;
    let durable = all.host(host)?;
    if let Some(Some(place)) = all.hosts.borrow_mut().get_mut(host as usize) {
        place.closing = true;
    }
    let events = all.events.clone();
    let finish = move |durable| {
        close(durable);
        events.push(Event::Closed { host: host as usize });
    };
    let (copy, here) = (durable.clone(), finish.clone());
    spawn("agenthost-close", move || finish(copy)).or_else(|_| {
        // Better here than not at all.
        here(durable);
        Ok(())
    })
}

/// Lets go of a host that JavaScript has lost.
#[napi(catch_unwind)]
pub(crate) fn release_durable(env: &Env, host: u32) -> Result<()> {
    let all = hosts_of(env)?;
    let lost = all.hosts.borrow_mut().get_mut(host as usize).and_then(Option::take);
    // Its number is free when nothing more can come from it. Without a thread it is closed here, by being dropped.
    match lost.filter(|lost| !lost.closing) {
        Some(lost) => {
            let events = all.events.clone();
            let _ = spawn("agenthost-close", move || {
                close(lost);
                events.push(Event::Closed { host: host as usize });
            });
        }
        None => drop(all.hosts.borrow_mut().try_remove(host as usize)),
    }
    Ok(())
}

/// Whether the host keeps a name out of metadata.
#[napi(catch_unwind)]
pub(crate) fn is_sensitive_for_durable(env: &Env, host: u32, name: String) -> Result<bool> {
    Ok(hosts_of(env)?.host(host)?.host.is_sensitive_name(&name))
}
