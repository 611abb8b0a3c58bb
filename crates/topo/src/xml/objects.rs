//! `object` elements with processors or memory: everything but devices.

mod caches;
mod read;
mod write;

pub(super) use write::Writer;
