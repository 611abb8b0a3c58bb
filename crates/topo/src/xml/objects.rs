//! Reads and writes `object` elements with processors or memory: all but devices.

mod caches;
mod read;
mod write;

pub(super) use write::Writer;
