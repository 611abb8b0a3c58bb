//! The key of a region: what a peer needs to reach it by RDMA, and to know before that it may.

use crate::objects::RemoteAddress;
use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{Access, Fault, Key, Remote};

/// A region of another rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RegionKey {
    pub(super) id: RegionId,
    /// Its first byte.
    pub(super) start: RemoteAddress,
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

/// Bits of the access and of the reach beside the length.
const BITS: u32 = 4;
const FRAMES: u64 = 1 << 2;
const PIECES: u64 = 1 << 3;

impl RegionKey {
    pub(super) fn key(&self) -> Key {
        let by = match self.by {
            Reach::Whole => 0,
            Reach::Frames => FRAMES,
            Reach::Pieces => PIECES,
        };
        let len = self.len << BITS | by | u64::from(self.access.bits());
        let RemoteAddress { address, rkey } = self.start;
        self.id.key([address, len, rkey.into()])
    }

    /// The reverse of [`RegionKey::key`]. Any key has one, perhaps of no region.
    pub(super) fn from_key(key: &Key) -> Self {
        let (id, [address, len, rkey]) = RegionId::from_key(key);
        let rkey = rkey as u32;
        Self {
            id,
            start: RemoteAddress { address, rkey },
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
    pub(super) fn reach(
        &self,
        remote: &Remote<'_>,
        access: Access,
    ) -> Result<RemoteAddress, Fault> {
        let end = remote.at.checked_add(remote.len);
        let inside = end.is_some_and(|end| end <= self.len) && self.access.contains(access);
        let last = end.and_then(|end| self.start.address.checked_add(end));
        let inside = inside && last.is_some();
        let address = self.start.address.checked_add(remote.at).filter(|_| inside);
        let address = address.ok_or(Fault::NOT_REGISTERED)?;
        Ok(RemoteAddress {
            address,
            ..self.start
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_key_reads_back(id: u64, address: u64, rkey: u32, len in 0..1u64 << 60, access in 0..4u8, by in 0..3usize) {
            let key = RegionKey {
                id: RegionId::from_word(id),
                start: RemoteAddress { address, rkey },
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
                prop_assert_eq!(found.address, region.start.address + at);
            }
        }
    }

    /// No piece of a transfer then begins behind the last address.
    #[test]
    fn a_region_does_not_reach_beyond_the_last_address() {
        for (address, is_inside) in [(u64::MAX - 64, true), (u64::MAX - 63, false)] {
            let key = RegionKey {
                id: RegionId::from_word(1),
                start: RemoteAddress { address, rkey: 7 },
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
