//! What a region's key says of its offer ([`OfferKey`]), or of memory that peers have mapped ([`MappedKey`]).

use oxmpi_wire::Key;
use oxmpi_wire::regions::RegionId;

/// The registered regions of one rank. A region's note is the peer that it is offered to, and the offer.
pub(super) type OfferedRegions<B> = oxmpi_wire::regions::Regions<B, Option<(u32, OfferKey)>>;

/// How a peer may take the bytes of a region without asking for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OfferKey {
    /// The place of the offer that the peer claims, and its generation.
    pub(super) place: Option<u32>,
    pub(super) generation: u32,
    /// The address of the first byte if the bytes are contiguous, else 0.
    pub(super) address: u64,
    /// Offset of the bytes in the owner's area of the heap, if they lie there.
    pub(super) heap: Option<u64>,
    /// The ping-pong window in which the bytes go over with the message.
    pub(super) pushed: Option<PushedWindow>,
}

/// A ping-pong window that was filled before the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PushedWindow {
    /// Its number, as the owner counts windows.
    pub(super) window: u8,
    /// Bytes in it when the message left, in units of [`PushedWindow::PAGE`].
    pub(super) pages: u16,
}

impl PushedWindow {
    /// The unit of `pages`, in bytes.
    pub(super) const PAGE: u64 = 1024;

    /// Window `window` with `filled` bytes.
    pub(super) fn new(window: usize, filled: u64) -> Self {
        Self {
            window: window as u8,
            pages: (filled / Self::PAGE).min(u16::MAX.into()) as u16,
        }
    }
}

impl OfferKey {
    /// The key of region `region`, which is offered so.
    pub(super) fn key(&self, region: RegionId) -> Key {
        let OfferKey {
            place,
            generation,
            address,
            heap,
            pushed,
        } = *self;
        let place = place.map_or(0, |place| u64::from(place) + 1);
        let pushed = pushed.map_or(0, |PushedWindow { window, pages }| {
            u64::from(pages) << 8 | (u64::from(window) + 1)
        });
        let offer = pushed << 40 | place << 32 | u64::from(generation);
        region.key([offer, address, heap.map_or(0, |at| at + 1)])
    }

    /// The offer in a key.
    pub(super) fn of_key(key: &Key) -> Self {
        let (_, [offer, address, heap]) = RegionId::from_key(key);
        let window = ((offer >> 40) as u8).checked_sub(1);
        Self {
            place: u32::from((offer >> 32) as u8).checked_sub(1),
            generation: offer as u32,
            address,
            heap: heap.checked_sub(1),
            pushed: window.map(|window| PushedWindow {
                window,
                pages: (offer >> 48) as u16,
            }),
        }
    }
}

/// Where the bytes of a region lie that peers may read and write in the heap. Such a region has no offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MappedKey {
    /// Offset of the first byte in the owner's area of the heap.
    pub(super) heap: u64,
    /// Number of bytes.
    pub(super) len: u64,
}

impl MappedKey {
    /// The key of region `region`, which lies so.
    pub(super) fn key(&self, region: RegionId) -> Key {
        region.key([0, self.len, self.heap + 1])
    }

    /// The place in a key; `None` if it has none, or has an offer.
    pub(super) fn of_key(key: &Key) -> Option<Self> {
        let (_, [offer, len, heap]) = RegionId::from_key(key);
        let heap = heap.checked_sub(1).filter(|_| offer == 0)?;
        Some(Self { heap, len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_there_and_back() {
        let name = RegionId::from_word(3 << 32 | 9);
        let all = [
            OfferKey::default(),
            OfferKey {
                place: Some(0),
                generation: 7,
                address: 1 << 47,
                heap: Some(0),
                pushed: Some(PushedWindow::new(3, 5 * PushedWindow::PAGE + 1)),
            },
        ];
        for offered in all {
            let key = offered.key(name);
            assert_eq!(
                (RegionId::from_key(&key).0, OfferKey::of_key(&key)),
                (name, offered)
            );
            assert_eq!(MappedKey::of_key(&key), None);
        }
        let mapped = MappedKey { heap: 0, len: 9 };
        let key = mapped.key(name);
        assert_eq!(MappedKey::of_key(&key), Some(mapped));
        assert_eq!(OfferKey::of_key(&key).place, None, "nothing to claim");
    }
}
