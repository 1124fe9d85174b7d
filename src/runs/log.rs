//! Where opened runs log what callers may not learn, and how code of the application's is run: when it panics, nothing of ours ends.

use super::hook::Hook;
use crate::host::panics::catch;
use crate::host::{LogHook, LogLevel};

/// The log hook of opened runs, or none.
#[derive(Clone, Default)]
pub(crate) struct Log(Option<Hook<LogFunction>>);

type LogFunction = dyn Fn(LogLevel, &str, &[(&str, &str)]) + Send + Sync;

impl Log {
    pub(crate) fn new(hook: Option<LogHook>) -> Log {
        Log(hook.map(Hook::new))
    }

    pub(crate) fn write(&self, level: LogLevel, message: &str, fields: &[(&str, &str)]) {
        if let Some(hook) = self.0.as_ref().and_then(Hook::function) {
            // A hook that panics has no other place to say so.
            let _ = catch(|| hook(level, message, fields));
        }
    }

    /// Runs code that may be the application's. When it panics, `message` is logged with the panic's text, and there is no result.
    pub(crate) fn run<T>(&self, message: &str, code: impl FnOnce() -> T) -> Option<T> {
        catch(code).map_err(|panic| self.write(LogLevel::Error, message, &[("panic", &panic)])).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn a_panic_is_logged_once_and_a_hook_that_panics_is_not_asked_why() {
        let records = Arc::new(Mutex::new(Vec::new()));
        let into = records.clone();
        let log = Log::new(Some(Arc::new(move |level: LogLevel, message: &str, fields: &[(&str, &str)]| {
            into.lock().unwrap().push(format!("{level:?} {message} {fields:?}"));
        })));
        assert_eq!(log.run("nothing", || 1), Some(1));
        assert_eq!(log.run::<()>("a callback panicked", || panic!("why")), None);
        assert_eq!(*records.lock().unwrap(), [r#"Error a callback panicked [("panic", "why")]"#]);
        let panics = Log::new(Some(Arc::new(|_: LogLevel, _: &str, _: &[(&str, &str)]| panic!("the hook"))));
        assert_eq!(panics.run::<()>("a callback panicked", || panic!("why")), None);
        assert_eq!(Log::default().run::<()>("a callback panicked", || panic!("why")), None);
    }
}
