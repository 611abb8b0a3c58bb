//! [`RemoteMemory`]: where memory of a peer is that several of its devices have registered.

use crate::objects::RemoteAddress;
use crate::registration::{DeviceRegions, MEMORY_DEVICES};

/// Bytes of a peer, by each of its devices that have registered them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RemoteMemory {
    /// The first byte.
    pub(super) address: u64,
    /// The key of its region of each device, by the device's place.
    pub(super) rkeys: [Option<u32>; MEMORY_DEVICES],
}

// A word holds the rkeys.
const _: () = assert!(MEMORY_DEVICES == 2);

impl RemoteMemory {
    /// No bytes.
    pub(super) const NOWHERE: Self = Self {
        address: 0,
        rkeys: [None; MEMORY_DEVICES],
    };

    /// A bit for each device in [`RemoteMemory::words`].
    pub(super) const DEVICES: u64 = (1 << MEMORY_DEVICES) - 1;

    /// Where peers find byte `at` of these regions.
    ///
    /// # Panics
    /// If they have no such byte.
    pub(super) fn of(regions: &DeviceRegions, at: usize) -> Self {
        let rkey = |device| regions.of(device).map(|region| region.remote(at).rkey);
        Self {
            address: regions.any().remote(at).address,
            rkeys: std::array::from_fn(rkey),
        }
    }

    /// The byte that is `bytes` behind the first one.
    pub(super) const fn plus(self, bytes: u64) -> Self {
        Self {
            address: self.address + bytes,
            ..self
        }
    }

    /// The first byte by a device of the peer, unless the device has not registered it.
    pub(super) fn by(&self, device: usize) -> Option<RemoteAddress> {
        let rkey = (*self.rkeys.get(device)?)?;
        let address = self.address;
        Some(RemoteAddress { address, rkey })
    }

    /// A bit for each device that has registered them, and the rkeys.
    pub(super) fn words(&self) -> [u64; 2] {
        let [first, second] = self.rkeys;
        let has = u64::from(first.is_some()) | u64::from(second.is_some()) << 1;
        let [first, second] = self.rkeys.map(|rkey| u64::from(rkey.unwrap_or(0)));
        [has, first | second << 32]
    }

    /// The reverse of [`RemoteMemory::words`]. Rkeys of devices without a bit, and other bits, say nothing.
    pub(super) const fn from_words(address: u64, [has, rkeys]: [u64; 2]) -> Self {
        let [first, second] = [rkeys as u32, (rkeys >> 32) as u32];
        Self {
            address,
            rkeys: [
                if has & 1 != 0 { Some(first) } else { None },
                if has & 2 != 0 { Some(second) } else { None },
            ],
        }
    }
}
