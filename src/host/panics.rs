//! Code of the application's that panics ends nothing of the host's.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code of the application's. When it panics, the error is what the panic says.
#[inline]
pub(crate) fn catch<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(code)).map_err(message)
}

#[cold]
fn message(panic: Box<dyn Any + Send>) -> String {
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "a panic without a message".to_owned(),
    };
    // What was thrown is the application's too: it may panic when it is dropped, and so may what it throws then.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic)))
        && let Err(endless) = catch_unwind(AssertUnwindSafe(|| drop(again)))
    {
        std::mem::forget(endless);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics when it is dropped.
    struct Grudge;

    impl Drop for Grudge {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    #[test]
    fn what_a_panic_says_is_told_whatever_was_thrown() {
        assert_eq!(catch(|| 1), Ok(1));
        assert_eq!(catch(|| panic!("plain")), Err::<(), _>("plain".to_owned()));
        assert_eq!(catch(|| panic!("with {}", 1)), Err::<(), _>("with 1".to_owned()));
        assert_eq!(catch(|| std::panic::panic_any(7)), Err::<(), _>("a panic without a message".to_owned()));
        assert_eq!(catch(|| std::panic::panic_any(Grudge)), Err::<(), _>("a panic without a message".to_owned()));
    }
}
