//! Ranks of one thread, which resumes their calls in any order: no rank needs another one to run beside it.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use oxmpi_os::RawBytes;
use oxmpi_shm::node::collective::{AwaitedSteps, CollectiveDriver, StepLost};
use oxmpi_shm::{Node, SegmentLayout};

use super::oracle::{Random, combined, run_resumable};
use crate::common::{Rank, source};

/// Calls that all ranks make one after another.
const CALLS: u64 = 60;

/// Resumptions without progress of any rank after which the ranks wait for each other.
const STUCK: u32 = 10_000;

/// A rank that is pending where it waits, and an operation that does not commute.
struct Resumed<'a>(&'a mut Rank);

impl CollectiveDriver for Resumed<'_> {
    type Error = (u32, StepLost);

    fn polls(&self) -> u32 {
        0
    }

    fn wait(&mut self, awaited: &mut AwaitedSteps) -> Poll<Result<(), (u32, StepLost)>> {
        let Rank { barriers, tx, .. } = &mut *self.0;
        match barriers.has_arrived(awaited, tx) {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => Poll::Pending,
            Err(never) => Poll::Ready(Err(never)),
        }
    }

    fn yield_to_co_located(&mut self) {}

    fn unreadable(&mut self, rank: u32) -> (u32, StepLost) {
        unreachable!("rank {rank} is here")
    }

    fn fold(&mut self, from: RawBytes, into: RawBytes) {
        into.copy_from(&source(&combined(into, from)));
    }

    fn fold_left(&mut self, from: RawBytes, into: RawBytes) {
        into.copy_from(&source(&combined(from, into)));
    }
}

/// Makes random calls as rank `me` of `ranks`.
async fn calls(me: usize, ranks: usize, mut rank: Rank, seed: u64) {
    let mut group = rank.barriers.group(0, 0..ranks as u32, me).unwrap();
    let mut driver = Resumed(&mut rank);
    let mut random = Random(seed);
    for at in 0..CALLS {
        if at == CALLS / 2 {
            let _allowed = group.enable_cma();
        }
        let mut call = random.call(ranks);
        if at > CALLS / 2 {
            // Long enough for CMA.
            call.len = call.len.max(70_000);
        }
        run_resumable(call, me, ranks, &mut group, &mut driver).await;
    }
}

#[test]
fn calls_that_are_resumed_in_any_order_are_right() {
    for (ranks, seed) in [(2, 1), (3, 2), (2, 3), (4, 4), (6, 5)] {
        let nodes = Node::in_process(SegmentLayout::new(ranks as u32)).unwrap();
        let begin = |(me, node)| -> Option<Pin<Box<dyn Future<Output = ()>>>> {
            Some(Box::pin(calls(me, ranks, Rank::new(node), seed)))
        };
        let mut running: Vec<_> = nodes.into_iter().enumerate().map(begin).collect();
        let mut context = Context::from_waker(Waker::noop());
        let (mut order, mut resumed) = (Random(seed), 0);
        while running.iter().any(Option::is_some) {
            assert!(
                resumed < STUCK * CALLS as u32,
                "{ranks} ranks wait for each other"
            );
            resumed += 1;
            // One rank may be resumed many times before another.
            let next = &mut running[order.below(ranks)];
            if let Some(call) = next
                && call.as_mut().poll(&mut context).is_ready()
            {
                *next = None;
            }
        }
    }
}
