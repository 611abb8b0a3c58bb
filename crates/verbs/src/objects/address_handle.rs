//! Address handles: where datagrams go.

use super::address::AddressVector;
use super::context::Context;
use super::domain::ProtectionDomain;
use super::handle::Handle;
use crate::error::VerbsError;
use crate::ffi::ibv_ah;
use std::fmt;

/// An address that the device can send datagrams to.
pub struct AddressHandle {
    handle: Handle<ibv_ah>,
    address: AddressVector,
    domain: ProtectionDomain,
}

impl ProtectionDomain {
    /// Creates an address handle.
    ///
    /// # Errors
    /// When the device finds no route to the address, for instance.
    ///
    /// # Cost
    /// On RoCE the kernel may ask the network for the address: milliseconds.
    pub fn create_address_handle(
        &self,
        address: AddressVector,
    ) -> Result<AddressHandle, VerbsError> {
        let mut attributes = address.to_c();
        // SAFETY: the domain is alive, and the call reads the attributes only.
        let handle =
            unsafe { (self.context().library().create_ah)(self.as_ptr(), &raw mut attributes) };
        let handle = Handle::new(handle).map_err(|why| {
            VerbsError::io("ibv_create_ah", self.describe(), address.to_string(), &why)
        })?;
        let domain = self.clone();
        Ok(AddressHandle {
            handle,
            address,
            domain,
        })
    }
}

impl Drop for AddressHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive, and nobody else has it. Requests have copied what they need of it.
        unsafe { (self.domain.context().library().destroy_ah)(self.handle.as_ptr()) };
    }
}

impl AddressHandle {
    pub(super) fn context(&self) -> &Context {
        self.domain.context()
    }

    pub(super) fn as_ptr(&self) -> *mut ibv_ah {
        self.handle.as_ptr()
    }
}

impl fmt::Debug for AddressHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "an address handle of {}: {}",
            self.context().name(),
            self.address
        )
    }
}
