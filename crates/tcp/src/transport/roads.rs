//! How the bytes of a long transfer go into the kernel: learned from the time that each transfer takes.
//!
//! Bytes that both ends copy pass through the processors twice, at once where these are two cores. Pages save
//! the sender's copy, but leave the receiver alone with its own, from memory that may not be in its caches.
//! Against copying alone, over the loopback device, bare sockets, pages took for 256 KiB and 1 MiB to and fro .78
//! and .87 of the time on two threads of one core of an Intel Cascade Lake, 1.27 and 1.13 on two cores of a Zen 5; in
//! windows of messages, whose memory is in no cache, 1.35 there and .83 here. Where processors lie is not told to
//! guests, and changes.

use std::time::Duration;

/// A way into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Road {
    /// Every other turn by page, the rest by copy, which the sender has ready when the receiver has done with
    /// the pages before.
    Turns,
    /// By copy.
    Copies,
    /// By page.
    Pages,
}

impl Road {
    /// All, in the order in which they are tried.
    const ALL: [Self; 3] = [Self::Turns, Self::Copies, Self::Pages];
}

/// Transfers of each road at first, of which the least time counts.
const FIRST: u32 = 4;

/// Of so many transfers afterwards one tries another road.
const TRIED: u32 = 32;

/// A transfer counts as so much of what is known of its road.
const NEW: u64 = 4;

/// A transfer counts as so many times of what was known at most: its receive may have come late.
const LONGEST: u64 = 2;

/// Classes of lengths, each twice as long as the one before; the last one has no end.
const CLASSES: usize = 5;

/// Longest length of the first class.
const SHORTEST: u64 = 128 << 10;

/// What transfers are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    length: usize,
    alone: bool,
}

impl Class {
    /// The class of a transfer of `len` bytes, which is `alone` if its peer waits for no other.
    pub(super) fn new(len: u64, alone: bool) -> Self {
        let doublings = (len.max(1) - 1) / SHORTEST;
        let length = doublings.checked_ilog2().map_or(0, |log| log as usize + 1);
        Self {
            length: length.min(CLASSES - 1),
            alone,
        }
    }
}

/// What one peer's roads were seen to cost.
#[derive(Debug, Default)]
pub(super) struct Roads([[Seen; CLASSES]; 2]);

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// By road: picoseconds that a byte takes, and how often it was seen.
    roads: [(u64, u32); 3],
    transfers: u32,
}

impl Roads {
    /// The road of the next transfer.
    pub(super) fn choose(&mut self, class: Class) -> Road {
        let seen = self.seen(class);
        seen.transfers = seen.transfers.wrapping_add(1);
        let new = Road::ALL
            .iter()
            .find(|road| seen.roads[**road as usize].1 < FIRST);
        if let Some(&road) = new {
            return road;
        }
        let mut order = Road::ALL;
        order.sort_unstable_by_key(|road| seen.roads[*road as usize].0);
        let tries = seen.transfers / TRIED;
        match seen.transfers.is_multiple_of(TRIED) {
            true => order[1 + tries as usize % 2],
            false => order[0],
        }
    }

    /// A transfer of `len` bytes has taken so long.
    pub(super) fn learn(&mut self, class: Class, road: Road, len: u64, time: Duration) {
        let time = time.as_nanos().saturating_mul(1000) / u128::from(len.max(1));
        let time = u64::try_from(time).unwrap_or(u64::MAX).max(1);
        let (known, count) = &mut self.seen(class).roads[road as usize];
        *known = match *count {
            0 => time,
            1..FIRST => time.min(*known),
            _ => *known - *known / NEW + time.min(known.saturating_mul(LONGEST)) / NEW,
        };
        *count = count.saturating_add(1);
    }

    fn seen(&mut self, class: Class) -> &mut Seen {
        &mut self.0[usize::from(class.alone)][class.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASS: Class = Class {
        length: 3,
        alone: true,
    };

    /// How often each road was taken, where a transfer of 1 MiB takes so many microseconds.
    fn taken(roads: &mut Roads, transfers: u32, times: [u64; 3]) -> [u32; 3] {
        let mut taken = [0; 3];
        for _ in 0..transfers {
            let road = roads.choose(CLASS);
            taken[road as usize] += 1;
            let time = Duration::from_micros(times[road as usize]);
            roads.learn(CLASS, road, 1 << 20, time);
        }
        taken
    }

    #[test]
    fn the_fastest_road_is_taken_and_changes() {
        let mut roads = Roads::default();
        assert_eq!(roads.choose(CLASS), Road::Turns);
        taken(&mut roads, 3 * FIRST, [114, 101, 130]);
        assert!(taken(&mut roads, 320, [114, 101, 130])[Road::Copies as usize] >= 300);
        taken(&mut roads, 16 * TRIED, [187, 215, 200]);
        assert!(taken(&mut roads, 320, [187, 215, 200])[Road::Turns as usize] >= 300);
    }

    #[test]
    fn a_transfer_that_waited_changes_little() {
        let mut roads = Roads::default();
        taken(&mut roads, 100, [114, 80, 130]);
        roads.learn(CLASS, Road::Copies, 1 << 20, Duration::from_secs(1));
        assert!(taken(&mut roads, 32, [114, 80, 130])[Road::Copies as usize] >= 30);
    }

    #[test]
    fn alike_are_lengths_up_to_twice_as_long() {
        let length = |len| Class::new(len, true).length;
        assert_eq!([0, 1, SHORTEST, SHORTEST + 1].map(length), [0, 0, 0, 1]);
        assert_eq!([256 << 10, 512 << 10, 1 << 20].map(length), [1, 2, 3]);
        assert_eq!([(1 << 20) + 1, u64::MAX].map(length), [4, 4]);
    }
}
