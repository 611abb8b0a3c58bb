//! Decodes the configuration space of a PCI function, for older kernels without files for its facts.

use super::super::Files;
use super::super::read::Reader;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::ops::RangeInclusive;

/// The size of the part that all functions have. Only the administrator can read all of it, others 64 bytes.
const LARGEST: usize = 256;

const STATUS: usize = 0x06;
const HAS_CAPABILITIES: u8 = 0x10;
const REVISION: usize = 0x08;
const HEADER_TYPE: usize = 0x0e;
const BRIDGE: u8 = 1;
const SECONDARY_BUS: usize = 0x19;
const SUBORDINATE_BUS: usize = 0x1a;
const CAPABILITIES: usize = 0x34;
const EXPRESS: u8 = 0x10;
const LINK_STATUS: usize = 0x12;

/// The configuration space, read on first use: each word is a transaction on the bus, which takes
/// microseconds in a virtual machine.
pub(super) struct Config<'a, F> {
    files: &'a Reader<'a, F>,
    path: &'a str,
    bytes: OnceCell<Vec<u8>>,
}

impl<'a, F: Files> Config<'a, F> {
    pub(super) fn new(files: &'a Reader<'a, F>, path: &'a str) -> Self {
        Self {
            files,
            path,
            bytes: OnceCell::new(),
        }
    }

    /// A byte of the space. Missing bytes are all ones, as on the bus.
    fn byte(&self, at: usize) -> u8 {
        let read = || self.files.bytes(self.path, LARGEST).unwrap_or_default();
        self.bytes
            .get_or_init(read)
            .get(at)
            .copied()
            .unwrap_or(0xff)
    }

    pub(super) fn revision(&self) -> u8 {
        self.byte(REVISION)
    }

    /// The buses behind a bridge.
    pub(super) fn buses(&self) -> Option<RangeInclusive<u8>> {
        let is_bridge = self.byte(HEADER_TYPE) & 0x7f == BRIDGE;
        is_bridge.then(|| self.byte(SECONDARY_BUS)..=self.byte(SUBORDINATE_BUS))
    }

    /// The generation and width of the function's PCI Express link.
    pub(super) fn link(&self) -> Option<(u8, u8)> {
        let express = self.capability(EXPRESS)?;
        let (low, high) = (
            self.byte(express + LINK_STATUS),
            self.byte(express + LINK_STATUS + 1),
        );
        let status = u16::from_le_bytes([low, high]);
        Some(((status & 0xf) as u8, (status >> 4 & 0x3f) as u8))
    }

    /// The offset of a capability.
    fn capability(&self, wanted: u8) -> Option<usize> {
        if self.byte(STATUS) & HAS_CAPABILITIES == 0 {
            return None;
        }
        // Each capability takes at least four bytes, so a longer chain is a loop.
        let mut at = usize::from(self.byte(CAPABILITIES) & !3);
        for _ in 0..LARGEST / 4 {
            match self.byte(at) {
                _ if at == 0 => return None,
                0xff => return None,
                id if id == wanted => return Some(at),
                _ => at = usize::from(self.byte(at + 1) & !3),
            }
        }
        None
    }
}

/// For each generation of PCI Express, from the first: transfers per second in units of 100 million, and the
/// coding, as payload bits of total bits.
const GENERATIONS: [(u64, u64, u64); 6] = [
    (25, 8, 10),
    (50, 8, 10),
    (80, 128, 130),
    (160, 128, 130),
    (320, 128, 130),
    (640, 242, 256),
];

/// The bandwidth of a link of this generation and width in bytes per second; 0 if unknown.
pub(super) fn speed((generation, width): (u8, u8)) -> u64 {
    let place = usize::from(generation).checked_sub(1);
    let known = place.and_then(|place| GENERATIONS.get(place));
    known.map_or(0, |(rate, payload, bits)| {
        rate * 100_000_000 / 8 * payload * u64::from(width) / bits
    })
}

/// The generation of a link from its speed in the kernel's words: `8.0 GT/s PCIe`, `2.5 GT/s`; 0 for others.
pub(super) fn generation(text: &str) -> u8 {
    let number = text.split(' ').next().unwrap_or("");
    let (whole, tenths) = number.split_once('.').unwrap_or((number, "0"));
    let rate = whole.parse().ok().and_then(|whole: u64| {
        let tenths: u64 = tenths.parse().ok()?;
        whole.checked_mul(10)?.checked_add(tenths)
    });
    let same = |(known, _, _): &(u64, u64, u64)| Some(*known) == rate;
    let place = GENERATIONS.iter().position(same);
    place.map_or(0, |place| place as u8 + 1)
}
