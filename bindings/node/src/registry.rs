//! What JavaScript names by number, each thread its own: a worker's hosts are not the main thread's.

use std::cell::RefCell;
use std::rc::Rc;

use napi::bindgen_prelude::{Error, Result, Status};
use slab::Slab;

/// Things by number.
pub(crate) struct Registry<T> {
    things: RefCell<Slab<Rc<T>>>,
    what: &'static str,
}

impl<T> Registry<T> {
    /// An empty registry of `what`.
    pub(crate) const fn new(what: &'static str) -> Registry<T> {
        Registry { things: RefCell::new(Slab::new()), what }
    }

    /// Keeps a thing until [`Registry::remove`].
    pub(crate) fn add(&self, thing: T) -> u32 {
        // More than four billion at a time do not fit into memory.
        self.things.borrow_mut().insert(Rc::new(thing)) as u32
    }

    /// The thing of that number.
    pub(crate) fn get(&self, number: u32) -> Result<Rc<T>> {
        let found = self.things.borrow().get(number as usize).cloned();
        found.ok_or_else(|| Error::new(Status::InvalidArg, format!("there is no {} {number} on this thread", self.what)))
    }

    /// Lets go of the thing of that number, if there is one.
    pub(crate) fn remove(&self, number: u32) -> Option<Rc<T>> {
        self.things.borrow_mut().try_remove(number as usize)
    }

    /// All things for which `wanted` holds.
    pub(crate) fn all(&self, wanted: impl Fn(&T) -> bool) -> Vec<Rc<T>> {
        self.things.borrow().iter().filter(|(_, thing)| wanted(thing)).map(|(_, thing)| thing.clone()).collect()
    }
}
