//! The two messages of a rank and the leader of its node before they share memory: [`Hello`], [`HelloReply`].

use super::JobKey;
use crate::heap::{PageKind, UNIT};
use crate::segment::{SegmentLayout, VERSION};

/// The first message of a rank to the leader.
pub(super) struct Hello {
    pub(super) key: JobKey,
    pub(super) rank: u32,
    pub(super) ranks: u32,
    pub(super) note: u64,
}

impl Hello {
    pub(super) const LEN: usize = 36;

    pub(super) fn bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..16].copy_from_slice(&self.key);
        let [low, high] = [self.note as u32, (self.note >> 32) as u32];
        write_words(
            &mut bytes[16..],
            &[VERSION, self.rank, self.ranks, low, high],
        );
        bytes
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::LEN] = bytes.try_into().ok()?;
        let [version, rank, ranks, low, high] = read_words(&bytes[16..]);
        (version == VERSION).then_some(Self {
            key: *bytes.first_chunk()?,
            rank,
            ranks,
            note: u64::from(high) << 32 | u64::from(low),
        })
    }
}

/// The answer of the leader; the segment's descriptor travels with it.
pub(super) struct HelloReply {
    pub(super) key: JobKey,
    pub(super) layout: SegmentLayout,
    /// Bytes of a rank's area of the heap, and the kind of its pages. The heap's descriptor follows.
    pub(super) heap: Option<(u64, PageKind)>,
}

impl HelloReply {
    pub(super) const LEN: usize = 44;

    pub(super) fn bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..16].copy_from_slice(&self.key);
        let layout = &self.layout;
        let (area, pages) = self.heap.unwrap_or((0, PageKind::Small));
        let (area, pages) = ((area / UNIT) as u32, pages as u32);
        write_words(
            &mut bytes[16..],
            &[
                VERSION,
                layout.ranks,
                layout.slots,
                layout.buffer,
                layout.buffers,
                area,
                pages,
            ],
        );
        bytes
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::LEN] = bytes.try_into().ok()?;
        let [version, ranks, slots, buffer, buffers, area, pages] = read_words(&bytes[16..]);
        let pages = PageKind::ALL
            .into_iter()
            .find(|kind| *kind as u32 == pages)?;
        (version == VERSION).then_some(Self {
            key: *bytes.first_chunk()?,
            layout: SegmentLayout {
                ranks,
                slots,
                buffer,
                buffers,
            },
            heap: (area > 0).then_some((u64::from(area) * UNIT, pages)),
        })
    }
}

fn write_words(to: &mut [u8], words: &[u32]) {
    for (to, word) in to.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_ne_bytes());
    }
}

fn read_words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    let mut words = bytes.chunks_exact(4);
    std::array::from_fn(|_| {
        let word = words.next().and_then(|w| w.first_chunk());
        u32::from_ne_bytes(*word.expect("as many words as the message has"))
    })
}
