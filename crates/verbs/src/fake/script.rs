//! What a fake device does otherwise than the best of devices.

/// What the fake device does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Script {
    /// Bytes inline that a queue pair is granted at most.
    pub(crate) inline: u32,
    /// Bytes inline that it grants beyond those that were asked for.
    pub(crate) more_inline: u32,
    /// Bytes inline for which a queue pair is refused.
    pub(crate) refused_inline: u32,
    /// Entries of a completion queue at most.
    pub(crate) max_cqe: i32,
    /// Requests of a send queue at most.
    pub(crate) max_qp_wr: i32,
    /// Devices of the machine, `fake0` and so on: 4 at most.
    pub(crate) devices: u8,
    /// Ports of each.
    pub(crate) ports: u8,
    /// It resizes completion queues.
    pub(crate) resizes_queues: bool,
    /// It has extended reliable connections.
    pub(crate) has_xrc: bool,
    /// Devices that ask for the pages of memory that is registered on demand: the first ones.
    pub(crate) paging_devices: u8,
    /// Its network is iWARP.
    pub(crate) is_iwarp: bool,
    /// Completions come late, and out of order between queue pairs: by polls of their queue that this seed draws.
    pub(crate) late: Option<u64>,
    /// The number of the registration that fails, from 1 on; the later ones succeed.
    pub(crate) failing_registration: Option<u32>,
    /// Polls of the sender's completion queue between two tries of a message that finds no receive.
    pub(crate) rnr_polls: u32,
}

impl Script {
    /// The best of devices.
    pub(crate) const GOOD: Self = Self {
        inline: 256,
        more_inline: 0,
        refused_inline: u32::MAX,
        max_cqe: 1 << 22,
        max_qp_wr: 1 << 15,
        resizes_queues: true,
        devices: 1,
        ports: 1,
        has_xrc: true,
        paging_devices: 0,
        is_iwarp: false,
        late: None,
        failing_registration: None,
        rnr_polls: 1000,
    };

    /// Polls until a completion is visible. That of a send is later than that of its receive, as an answer is.
    pub(super) fn delay(&mut self, is_send: bool) -> u64 {
        match self.draw() {
            None => 0,
            Some(drawn) if is_send => 4 + drawn % 4,
            Some(drawn) => drawn % 3,
        }
    }

    /// A number that the seed draws; `None` where nothing is late.
    pub(super) fn draw(&mut self) -> Option<u64> {
        let seed = self.late.as_mut()?;
        // xorshift64 (Marsaglia, "Xorshift RNGs", 2003).
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        Some(*seed)
    }
}
