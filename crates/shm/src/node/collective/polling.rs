//! A driver for tests, and groups of threads: [`Polling`], [`each_rank`].

use std::sync::Arc;
use std::task::Poll;
use std::thread::yield_now;
use std::time::{Duration, Instant};
use std::vec::Vec;

use oxmpi_os::RawBytes;
use oxmpi_os::memory::Memfd;

use super::awaited::{AwaitedSteps, StepLost};
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use crate::segment::{Segment, SegmentLayout};

/// A wait ends after this time, since another thread has failed.
const WATCHDOG: Duration = Duration::from_secs(60);

/// Waits by polling; its operation does nothing.
pub(super) struct Polling<'a>(&'a Segment);

impl CollectiveDriver for Polling<'_> {
    type Error = (u32, StepLost);

    fn polls(&self) -> u32 {
        0
    }

    fn wait(&mut self, awaited: &mut AwaitedSteps) -> Poll<Result<(), (u32, StepLost)>> {
        let start = Instant::now();
        while awaited.missing() != 0 {
            assert!(start.elapsed() < WATCHDOG, "{awaited:?}");
            yield_now();
            awaited.poll(self.0)?;
        }
        Poll::Ready(Ok(()))
    }

    fn yield_to_co_located(&mut self) {}

    fn unreadable(&mut self, rank: u32) -> (u32, StepLost) {
        unreachable!("no rank reads rank {rank}")
    }

    fn fold(&mut self, _: RawBytes, _: RawBytes) {}

    fn fold_left(&mut self, _: RawBytes, _: RawBytes) {}
}

/// Runs `work` as each of `ranks` ranks, with its number, on a node of `on_node` ranks; returns what it returns.
pub(super) fn each_rank<T: Send>(
    (ranks, on_node): (u32, u32),
    work: impl Fn(usize, NodeGroup, Polling<'_>) -> T + Sync,
) -> Vec<T> {
    let layout = SegmentLayout::new(on_node);
    let memory = Memfd::create("oxmpi-test", layout.file_len()).unwrap();
    let run = |rank: u32| {
        let segment = Arc::new(Segment::map(&memory, layout, rank).unwrap());
        let group = NodeGroup::new(&segment, 0, 0..ranks, rank as usize);
        work(
            rank as usize,
            group.expect("there is memory"),
            Polling(&segment),
        )
    };
    let run = &run;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..ranks)
            .map(|rank| scope.spawn(move || run(rank)))
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join().unwrap());
        joined.collect()
    })
}
