//! [`DeviceRegions`]: memory that several devices of a rank have registered.

use crate::error::VerbsError;
use crate::objects::{MemoryRegion, ProtectionDomain};

/// Devices with which a rank registers its memory, at most: its first ones. A key of memory has room for so many rkeys.
pub(crate) const MEMORY_DEVICES: usize = 2;

/// The same memory as a region of each device that has registered it: of one at least.
#[derive(Debug)]
pub(crate) struct DeviceRegions {
    /// By the place of the device.
    regions: [Option<MemoryRegion>; MEMORY_DEVICES],
}

impl DeviceRegions {
    /// Lets each device of `domains` register memory by `register`, which is given the region of another device if there is
    /// one. A device that does not is left out.
    ///
    /// # Errors
    /// When none does: that of the first.
    pub(crate) fn new(
        domains: &[ProtectionDomain],
        mut register: impl FnMut(
            &ProtectionDomain,
            Option<&MemoryRegion>,
        ) -> Result<MemoryRegion, VerbsError>,
    ) -> Result<Self, VerbsError> {
        let mut regions = [const { None }; MEMORY_DEVICES];
        let mut failed = None;
        for (at, domain) in domains.iter().enumerate().take(MEMORY_DEVICES) {
            let other = regions.iter().flatten().next();
            match register(domain, other) {
                Ok(region) => regions[at] = Some(region),
                Err(why) => {
                    tracing::debug!(%why, "a device has not registered memory");
                    failed = failed.or(Some(why));
                }
            }
        }
        match failed {
            Some(why) if regions.iter().all(Option::is_none) => Err(why),
            _ => Ok(Self { regions }),
        }
    }

    /// The region of a device, by its place.
    pub(crate) fn of(&self, device: usize) -> Option<&MemoryRegion> {
        self.regions.get(device)?.as_ref()
    }

    /// The region of any device: the bytes of all are the same.
    pub(crate) fn any(&self) -> &MemoryRegion {
        let region = self.regions.iter().flatten().next();
        region.expect("a region of one device at least")
    }
}
