//! Hosts of durable runs: opened and closed on threads of their own, dispatched without waiting. Events from other threads go
//! through the environment's [`Events`](hosts::Events); JavaScript makes promises of it. No rule of runs is known
//! here.

mod hosts;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use agenthost::binding::{Begun, DurableHost, DurableSettings, HostSettings, LogRecord, begin, in_background, milliseconds};
use agenthost::dispatch::UnavailableReason;
use agenthost::host::{DispatchOptions, LogHook, Opened};
use napi::bindgen_prelude::{Either, Env, Error, Function, Result};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi_derive::napi;

use crate::environment;
use crate::misuse::invalid;
use crate::text::response_text;

use hosts::{DurableHosts, Event, NativeEvent};

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
    DurableHosts::begin(environment::name(env), notify, environment::end_of(env)).map(drop)
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

impl DurableOptions {
    fn settings(self) -> Result<DurableSettings> {
        let time = |name, given: Option<f64>| given.map(|given| milliseconds(name, given)).transpose().map_err(invalid);
        Ok(DurableSettings {
            host: HostSettings {
                max_message_bytes: Some(self.max_message_bytes as usize),
                sensitive_names: self.sensitive_names,
                require_principal: self.require_principal,
                default_timeout: None,
            },
            lease: time("leaseMs", self.lease_ms)?,
            max_attempts: self.max_attempts.map(|most| most as u64),
            key_ttl: time("keyTtlMs", self.key_ttl_ms)?,
            operators: self.operators,
        })
    }
}

/// Begins to open runs, on a thread of its own: other processes may have the file for seconds. The host's number: events about
/// it, `opened` or `refused` first, carry it.
#[napi(catch_unwind)]
pub(crate) fn open_durable(env: &Env, url: String, options: DurableOptions) -> Result<u32> {
    let all = hosts_of(env)?;
    let settings = options.settings()?;
    let number = all.hosts.borrow().vacant_key();
    let events = all.events.clone();
    let log: LogHook = Arc::new(move |level, message, fields| {
        events.push(Event::Log { host: number, record: LogRecord::new(level, message, fields) });
    });
    let runs = settings.runs_options(Some(log.clone())).map_err(invalid)?;
    let host = settings.host.options(Some(log)).map_err(invalid)?;
    let events = all.events.clone();
    let open = move || events.push(Event::Opened { host: number, opened: DurableHost::open(&url, runs, host).map(Box::new) });
    in_background("agenthost-open", open).map_err(no_thread)?;
    all.hosts.borrow_mut().insert(None);
    Ok(number as u32)
}

fn no_thread(error: std::io::Error) -> Error {
    Error::from_reason(format!("no thread could be started: {error}"))
}

/// Takes the events that have come for this environment.
#[napi(catch_unwind)]
pub(crate) fn take_events(env: &Env) -> Result<Vec<NativeEvent>> {
    let all = hosts_of(env)?;
    Ok(all.events.take_all().into_iter().map(|event| all.handle(event)).collect())
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
    let (call, events) = (entry.key(), all.events.clone());
    let begun = begin(&durable.host, message, principal.map(Into::into), move || events.push(Event::Response { call }));
    Ok(match begun.map_err(invalid)? {
        Begun::Ready(response) => Either::A(response_text(response)),
        Begun::Pending(pending) => {
            entry.insert(pending);
            Either::B(call as u32)
        }
    })
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
    let timeout = timeout_ms.map(|timeout| milliseconds("timeoutMs", timeout)).transpose().map_err(invalid)?;
    let options = DispatchOptions { principal: principal.map(Into::into), timeout };
    durable.host.dispatch(message, options).map(response_text).map_err(invalid)
}

/// Nobody waits for a call any more: its response comes as an event.
#[napi(catch_unwind)]
pub(crate) fn give_up_durable(env: &Env, call: u32, timed_out: bool) -> Result<()> {
    let why = if timed_out { UnavailableReason::Timeout } else { UnavailableReason::Cancelled };
    let all = hosts_of(env)?;
    let calls = all.calls.borrow();
    calls.get(call as usize).map_or(Ok(false), |pending| pending.give_up(why)).map(drop).map_err(invalid)
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
    let events = all.events.clone();
    let finish = move |durable: DurableHost| {
        durable.close();
        events.push(Event::Closed { host: host as usize });
    };
    let (copy, here) = (durable.clone(), finish.clone());
    // Without a thread it is better closed here than not at all.
    in_background("agenthost-close", move || finish(copy)).unwrap_or_else(|_| here(durable));
    Ok(())
}

/// Lets go of a host that JavaScript has lost. Its number is free when nothing more can come from it.
#[napi(catch_unwind)]
pub(crate) fn release_durable(env: &Env, host: u32) -> Result<()> {
    let all = hosts_of(env)?;
    let Some(lost) = all.hosts.borrow_mut().get_mut(host as usize).and_then(Option::take) else { return Ok(()) };
    let events = all.events.clone();
    // Without a thread it is dropped here, which closes it.
    let _ = in_background("agenthost-close", move || {
        lost.close();
        events.push(Event::Closed { host: host as usize });
    });
    Ok(())
}

/// Whether the host keeps a name out of metadata.
#[napi(catch_unwind)]
pub(crate) fn is_sensitive_for_durable(env: &Env, host: u32, name: String) -> Result<bool> {
    Ok(hosts_of(env)?.host(host)?.host.is_sensitive_name(&name))
}
