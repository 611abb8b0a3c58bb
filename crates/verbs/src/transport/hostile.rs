//! What the transport reads of bytes that a peer wrote, for tests from outside the crate.

use super::control::Control;
use super::frame_head::{FrameHead, HEAD};
use super::region_key::RegionKey;
use super::ring::{RingShape, Word};
use oxmpi_wire::{Access, Key, Remote};

/// Reads `bytes` as the head of a message, as a frame of the transport, as the key of a region and as words of a ring.
///
/// # Panics
/// If one of these is accepted and does not write back as it was, or reaches what it does not name.
#[doc(hidden)]
pub fn read_bytes_of_peer(bytes: &[u8]) {
    if let Some(head) = bytes.first_chunk::<HEAD>()
        && let Ok(read) = FrameHead::parse(head)
    {
        assert_eq!(read.bytes(), *head);
    }
    if let Some(body) = bytes.first_chunk::<{ Control::LEN }>()
        && let Some(read) = Control::parse(body)
    {
        assert_eq!(read.bytes(), *body);
        if let Control::Ring { shape, .. } = read {
            assert!(shape.bytes() <= 17 << 20, "a ring of {} B", shape.bytes());
        }
    }
    if let Some((key, [at, len, footer])) = bytes.split_first_chunk().and_then(|(key, rest)| {
        let words = rest
            .as_chunks()
            .0
            .iter()
            .map(|word| u64::from_le_bytes(*word));
        Some((Key(*key), words.collect::<Vec<_>>().first_chunk().copied()?))
    }) {
        let region = RegionKey::from_key(&key);
        let remote = Remote { key: &key, at, len };
        if let Ok(place) = region.reach(&remote, Access::READ) {
            assert!(at + len <= region.len && region.access.contains(Access::READ));
            assert_eq!(place, region.start.plus(at));
        }
        assert_eq!(Word::from_bits(footer).bits(), footer);
        let shape = RingShape::new(16, 100).expect("a ring");
        if let Ok(Some(len)) = shape.arrived(at as u32, footer) {
            assert!((HEAD..=HEAD + 100).contains(&len));
        }
    }
}
