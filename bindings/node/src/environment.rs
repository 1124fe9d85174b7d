//! Environments of Node: one for each thread that runs JavaScript. When one ends (a worker, or Node itself), whatever its hosts still
//! have waiting is answered inside the library: no answer depends on an event loop that is gone.

use napi::bindgen_prelude::{Env, Result};

/// What is to be called when an environment ends.
pub(crate) type AtEnd = Box<dyn FnOnce()>;

/// Names an environment. Hosts remember it, never the environment itself. A later one may have the same name.
pub(crate) fn name(env: &Env) -> usize {
    env.raw() as usize
}

/// How to have Node call something at the end of an environment.
pub(crate) fn end_of(env: &Env) -> impl FnOnce(AtEnd) -> Result<()> {
    let env = Env::from_raw(env.raw());
    move |at_end| env.add_env_cleanup_hook(at_end, |at_end| at_end()).map(drop)
}
