//! The key of a region: what a peer needs to reach it by RDMA, and to know before that it may.

use super::remote_memory::RemoteMemory;
use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{Access, Fault, Key, Remote};

/// A region of another rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RegionKey {
    pub(super) id: RegionId,
    /// Its first byte.
    pub(super) start: RemoteMemory,
    pub(super) len: u64,
    pub(super) access: Access,
    pub(super) by: Reach,
}

/// How a peer reaches a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// It is registered.
    Whole,
    /// No device reaches it: its bytes go by frames.
    Frames,
    /// Pieces of it are registered while they move.
    Pieces,
}

/// Bits of the access, of the reach and of the devices beside the length.
const BITS: u32 = 6;
const FRAMES: u64 = 1 << 2;
const PIECES: u64 = 1 << 3;
const DEVICES: u32 = 4;
const _: () = assert!(RemoteMemory::DEVICES << DEVICES < 1 << BITS);

impl RegionKey {
    pub(super) fn key(&self) -> Key {
        let by = match self.by {
            Reach::Whole => 0,
            Reach::Frames => FRAMES,
            Reach::Pieces => PIECES,
        };
        let [devices, rkeys] = self.start.words();
        let len = self.len << BITS | devices << DEVICES | by | u64::from(self.access.bits());
        self.id.key([self.start.address, len, rkeys])
    }

    /// The reverse of [`RegionKey::key`]. Any key has one, perhaps of no region.
    pub(super) fn from_key(key: &Key) -> Self {
        let (id, [address, len, rkeys]) = RegionId::from_key(key);
        Self {
            id,
            start: RemoteMemory::from_words(address, [len >> DEVICES, rkeys]),
            len: len >> BITS,
            by: match len & (FRAMES | PIECES) {
                0 => Reach::Whole,
                PIECES => Reach::Pieces,
                _ => Reach::Frames,
            },
            access: Access::from_bits_truncate(len as u8),
        }
    }

    /// Where the bytes of `remote` are, if the region has them and allows this access.
    ///
    /// # Errors
    /// [`Fault::NOT_REGISTERED`].
    pub(super) fn reach(&self, remote: &Remote<'_>, access: Access) -> Result<RemoteMemory, Fault> {
        let end = remote.at.checked_add(remote.len);
        let inside = end.is_some_and(|end| end <= self.len) && self.access.contains(access);
        let last = end.and_then(|end| self.start.address.checked_add(end));
        match inside && last.is_some() {
            true => Ok(self.start.plus(remote.at)),
            false => Err(Fault::NOT_REGISTERED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_key_reads_back(id: u64, address: u64, rkeys: [Option<u32>; 2], len in 0..1u64 << 58, access in 0..4u8, by in 0..3usize) {
            let key = RegionKey {
                id: RegionId::from_word(id),
                start: RemoteMemory { address, rkeys },
                len,
                access: Access::from_bits_truncate(access),
                by: [Reach::Whole, Reach::Frames, Reach::Pieces][by],
            };
            prop_assert_eq!(RegionKey::from_key(&key.key()), key);
        }

        /// Whatever a key says, what it reaches lies in what it says.
        #[test]
        fn a_reach_is_inside(bytes: [u8; Key::LEN], at: u64, len: u64) {
            let key = Key(bytes);
            let region = RegionKey::from_key(&key);
            if let Ok(found) = region.reach(&Remote { key: &key, at, len }, Access::READ) {
                prop_assert!(region.access.contains(Access::READ));
                prop_assert!(at + len <= region.len);
                prop_assert_eq!(found, region.start.plus(at));
            }
        }
    }

    /// No piece of a transfer then begins behind the last address.
    #[test]
    fn a_region_does_not_reach_beyond_the_last_address() {
        for (address, is_inside) in [(u64::MAX - 64, true), (u64::MAX - 63, false)] {
            let key = RegionKey {
                id: RegionId::from_word(1),
                start: RemoteMemory {
                    address,
                    rkeys: [Some(7), None],
                },
                len: 64,
                access: Access::READ,
                by: Reach::Whole,
            };
            let (key, at, len) = (key.key(), 0, 64);
            let remote = Remote { key: &key, at, len };
            let found = RegionKey::from_key(&key).reach(&remote, Access::READ);
            assert_eq!(found.is_ok(), is_inside, "{address:#x}");
        }
    }
}
