//! [`BouncePool`]: registered buffers through which bytes go whose memory is not registered.

use super::device_regions::DeviceRegions;
use crate::error::VerbsError;
use crate::objects::{Access, ProtectionDomain};
use std::sync::Arc;

/// Bytes of buffers that are kept while nobody uses them.
const KEPT: usize = 16 << 20;

/// The least length of a buffer.
const LEAST: usize = 4096;

/// Registered buffers, of lengths that are powers of two. Whoever holds a clone of its [`Arc`] uses one.
#[derive(Debug)]
pub(crate) struct BouncePool {
    domains: Vec<ProtectionDomain>,
    buffers: Vec<Arc<DeviceRegions>>,
}

impl BouncePool {
    pub(crate) const fn new(domains: Vec<ProtectionDomain>) -> Self {
        Self {
            domains,
            buffers: Vec::new(),
        }
    }

    /// A buffer of at least `len` bytes. They are not zeroes.
    ///
    /// # Errors
    /// When no device registers a new one.
    ///
    /// # Cost
    /// Looks at all buffers; a system call for each device if none of this length is free.
    pub(crate) fn take(&mut self, len: usize) -> Result<Arc<DeviceRegions>, VerbsError> {
        let size = len.max(LEAST).next_power_of_two();
        let is_free = |buffer: &&Arc<DeviceRegions>| Arc::strong_count(buffer) == 1;
        let free = self.buffers.iter().filter(is_free);
        if let Some(buffer) = free.clone().find(|buffer| buffer.any().len() == size) {
            return Ok(buffer.clone());
        }
        if free.map(|buffer| buffer.any().len()).sum::<usize>() + size > KEPT {
            self.buffers.retain(|buffer| Arc::strong_count(buffer) > 1);
        }
        let all = Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ;
        let buffer = DeviceRegions::new(&self.domains, |domain, other| match other {
            None => domain.register(size, all),
            Some(other) => domain.register_again(other, all),
        })?;
        let buffer = Arc::new(buffer);
        self.buffers.push(buffer.clone());
        Ok(buffer)
    }
}
