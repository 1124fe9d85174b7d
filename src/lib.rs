//! map
pub mod client;
pub mod dispatch;
pub mod protocol;
pub mod service;
pub mod store;
