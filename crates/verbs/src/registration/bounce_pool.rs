//! [`BouncePool`]: registered buffers through which bytes go whose memory is not registered.

use crate::error::VerbsError;
use crate::objects::{Access, MemoryRegion, ProtectionDomain};
use std::sync::Arc;

/// Bytes of buffers that are kept while nobody uses them.
const KEPT: usize = 16 << 20;

/// The least length of a buffer.
const LEAST: usize = 4096;

/// Registered buffers, of lengths that are powers of two. Whoever holds a clone of its [`Arc`] uses one.
#[derive(Debug)]
pub(crate) struct BouncePool {
    domain: ProtectionDomain,
    buffers: Vec<Arc<MemoryRegion>>,
}

impl BouncePool {
    pub(crate) const fn new(domain: ProtectionDomain) -> Self {
        Self {
            domain,
            buffers: Vec::new(),
        }
    }

    /// A buffer of at least `len` bytes. They are not zeroes.
    ///
    /// # Errors
    /// When a new one cannot be registered.
    ///
    /// # Cost
    /// Looks at all buffers; a system call if none of this length is free.
    pub(crate) fn take(&mut self, len: usize) -> Result<Arc<MemoryRegion>, VerbsError> {
        let size = len.max(LEAST).next_power_of_two();
        let is_free = |buffer: &&Arc<MemoryRegion>| Arc::strong_count(buffer) == 1;
        let free = self.buffers.iter().filter(is_free);
        if let Some(buffer) = free.clone().find(|buffer| buffer.len() == size) {
            return Ok(buffer.clone());
        }
        if free.map(|buffer| buffer.len()).sum::<usize>() + size > KEPT {
            self.buffers.retain(|buffer| Arc::strong_count(buffer) > 1);
        }
        let all = Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ;
        let buffer = Arc::new(self.domain.register(size, all)?);
        self.buffers.push(buffer.clone());
        Ok(buffer)
    }
}
