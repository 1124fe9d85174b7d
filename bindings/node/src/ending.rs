//! The end of an environment (of a worker thread, or of Node itself): whatever its hosts still have waiting is answered then,
//! inside the library. No answer depends on an event loop that is gone. How one asks to be told is not known here.

use std::cell::RefCell;

use napi::bindgen_prelude::{Env, Result};

use crate::{durable, host};

thread_local! {
    /// The environments whose end this thread is told about.
    static WATCHED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// What is to be called when the environment ends.
pub(crate) type Ended = Box<dyn FnOnce()>;

/// Names an environment. Hosts remember it, never the environment itself.
pub(crate) fn name(env: &Env) -> usize {
    env.raw() as usize
}

/// Asks Node to be told.
pub(crate) fn by_node(env: &Env) -> impl FnOnce(Ended) -> Result<()> {
    let env = Env::from_raw(env.raw());
    move |ended| env.add_env_cleanup_hook(ended, |ended| ended()).map(drop)
}

/// Closes the hosts of an environment when it ends. `ask` is called once for each environment.
pub(crate) fn watch(environment: usize, ask: impl FnOnce(Ended) -> Result<()>) -> Result<()> {
    if WATCHED.with_borrow(|watched| watched.contains(&environment)) {
        return Ok(());
    }
    ask(Box::new(move || {
        WATCHED.with_borrow_mut(|watched| watched.retain(|other| *other != environment));
        host::environment_ended(environment);
        durable::environment_ended(environment);
    }))?;
    WATCHED.with_borrow_mut(|watched| watched.push(environment));
    Ok(())
}
