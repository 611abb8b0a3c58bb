//! [`KeptMemory`]: memory whose owner tells what of it has gone.

use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Memory that its owner keeps mapped, such as a heap: no notifier has to watch it, and what is registered of it stays so
/// whatever the process has.
#[derive(Debug, Clone)]
pub struct KeptMemory {
    /// Its addresses.
    pub addresses: Range<u64>,
    /// How often its owner has given pages of it back, counted before they can be used anew.
    pub given_back: Arc<AtomicU64>,
}

impl KeptMemory {
    /// Whether all of `bytes`, which have no gaps, are in it.
    pub(crate) fn holds(&self, bytes: &RawBytes) -> bool {
        let start = bytes.start().expose_provenance() as u64;
        let end = start.checked_add(bytes.len());
        start >= self.addresses.start && end.is_some_and(|end| end <= self.addresses.end)
    }

    /// Whether pages have gone since `seen`, which is brought up to date.
    pub(super) fn has_changed(&self, seen: &mut u64) -> bool {
        // The acquire: who uses pages anew sees that they were given back.
        let now = self.given_back.load(Ordering::Acquire);
        std::mem::replace(seen, now) != now
    }
}
