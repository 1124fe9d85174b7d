//! How what happens on other threads reaches JavaScript: a letter is put into the environment's mailbox and a bell is rung;
//! JavaScript then collects all letters at once. A letter that comes after the environment's end is thrown away, and with it
//! whatever it holds: nobody's answer is lost, as there is nobody.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Makes an event loop collect its letters, soon. It may be rung from any thread, also when the loop has ended.
pub(crate) type Bell = Arc<dyn Fn() + Send + Sync>;

/// Letters of one kind for one event loop.
pub(crate) struct Mailbox<T> {
    inside: Mutex<Inside<T>>,
}

struct Inside<T> {
    /// None: the environment has ended.
    bell: Option<Bell>,
    letters: Vec<T>,
}

impl<T> Mailbox<T> {
    pub(crate) fn new(bell: Bell) -> Mailbox<T> {
        Mailbox { inside: Mutex::new(Inside { bell: Some(bell), letters: Vec::new() }) }
    }

    /// Puts a letter in, from any thread. The first one rings.
    pub(crate) fn put(&self, letter: T) {
        let mut inside = self.lock();
        let Some(bell) = inside.bell.clone() else {
            // What the letter holds may take its time to end.
            drop(inside);
            drop(letter);
            return;
        };
        inside.letters.push(letter);
        let first = inside.letters.len() == 1;
        drop(inside);
        if first {
            bell();
        }
    }

    /// Takes everything out.
    pub(crate) fn collect(&self) -> Vec<T> {
        std::mem::take(&mut self.lock().letters)
    }

    /// The environment ends: nothing is delivered any more.
    pub(crate) fn close(&self) {
        let (bell, letters) = {
            let mut inside = self.lock();
            (inside.bell.take(), std::mem::take(&mut inside.letters))
        };
        drop(letters);
        drop(bell);
    }

    fn lock(&self) -> MutexGuard<'_, Inside<T>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
