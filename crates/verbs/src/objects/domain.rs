//! Protection domains.

use super::context::Context;
use super::handle::Handle;
use crate::error::VerbsError;
use crate::ffi::ibv_pd;
use std::fmt;
use std::sync::Arc;

/// A protection domain: queue pairs reach the memory regions of their own domain only. Clones are the same one.
#[derive(Clone)]
pub struct ProtectionDomain(Arc<Allocated>);

struct Allocated {
    context: Context,
    domain: Handle<ibv_pd>,
}

impl Context {
    /// Allocates a protection domain.
    ///
    /// # Errors
    /// When the device has no more.
    pub fn alloc_pd(&self) -> Result<ProtectionDomain, VerbsError> {
        // SAFETY: the context is open.
        let domain = unsafe { (self.library().alloc_pd)(self.as_ptr()) };
        let domain = Handle::new(domain)
            .map_err(|why| VerbsError::io("ibv_alloc_pd", self.name(), "", &why))?;
        let context = self.clone();
        Ok(ProtectionDomain(Arc::new(Allocated { context, domain })))
    }
}

impl Drop for Allocated {
    fn drop(&mut self) {
        // SAFETY: whatever was made in the domain owns a clone of it, so nothing is left of it.
        unsafe { (self.context.library().dealloc_pd)(self.domain.as_ptr()) };
    }
}

impl ProtectionDomain {
    /// The device that the domain belongs to.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    pub(super) fn as_ptr(&self) -> *mut ibv_pd {
        self.0.domain.as_ptr()
    }

    /// The domain in an error.
    pub(super) fn describe(&self) -> String {
        format!("a protection domain of {}", self.0.context.name())
    }
}

impl fmt::Debug for ProtectionDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}
