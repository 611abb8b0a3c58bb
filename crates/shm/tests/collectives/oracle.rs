//! A rank that makes collective calls and compares their results with an oracle: [`Caller`], [`Call`], [`run`].

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread::yield_now;
use std::time::Instant;

use oxmpi_os::RawBytes;
use oxmpi_resumable::resumable;
use oxmpi_shm::node::collective::{AwaitedSteps, CollectiveDriver, NodeGroup, Operands, StepLost};
use oxmpi_shm::wait::{WaitPolicy, Waiter};
use oxmpi_wire::Bytes;

use crate::common::{Rank, WATCHDOG, pattern, source, target};

/// A rank with its way of waiting, and an operation that does not commute.
pub(crate) struct Caller<'a> {
    rank: &'a mut Rank,
    policy: WaitPolicy,
    polls: u32,
    /// Set when another rank has failed: this rank then ends its waits.
    failed: Option<&'a AtomicBool>,
}

impl<'a> Caller<'a> {
    pub(crate) fn new(rank: &'a mut Rank, policy: WaitPolicy, polls: u32) -> Self {
        Self {
            rank,
            policy,
            polls,
            failed: None,
        }
    }

    /// A rank that ends its waits once `failed` is set.
    pub(crate) fn with_failures(rank: &'a mut Rank, failed: &'a AtomicBool) -> Self {
        Self {
            failed: Some(failed),
            ..Self::new(rank, WaitPolicy::oversubscribed(), 0)
        }
    }
}

impl CollectiveDriver for Caller<'_> {
    type Error = (u32, StepLost);

    fn polls(&self) -> u32 {
        self.polls
    }

    fn wait(&mut self, awaited: &mut AwaitedSteps) -> Poll<Result<(), (u32, StepLost)>> {
        let (start, mut waiter) = (Instant::now(), Waiter::new(self.policy));
        loop {
            assert!(start.elapsed() < WATCHDOG, "{awaited:?}");
            let Rank { barriers, tx, .. } = &mut *self.rank;
            if barriers.has_arrived(awaited, tx)? {
                return Poll::Ready(Ok(()));
            }
            match self.failed {
                Some(failed) if failed.load(Ordering::Acquire) => {
                    return Poll::Ready(Err((0, StepLost::Differs)));
                }
                Some(_) => yield_now(),
                None => {
                    self.rank.poll();
                    waiter.idle(&mut self.rank.rx, &self.rank.barriers);
                }
            }
        }
    }

    fn yield_to_co_located(&mut self) {
        Waiter::new(self.policy).yield_to_co_located(&self.rank.barriers);
    }

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

/// The two vectors combined in this order.
pub(crate) fn combined(left: RawBytes, right: RawBytes) -> Vec<u8> {
    let [mut first, mut second] = [left, right].map(|bytes| vec![0; bytes.len() as usize]);
    target(&mut first).copy_from(&left);
    target(&mut second).copy_from(&right);
    combine(&mut first, &second);
    first
}

/// Bytes of an element: the map x -> ax + b, as two bytes.
pub(crate) const ELEMENT: usize = 2;

/// Computes `left = left after right`, map by map: associative, and not commutative.
pub(crate) fn combine(left: &mut [u8], right: &[u8]) {
    assert_eq!(left.len(), right.len());
    assert!(left.len().is_multiple_of(ELEMENT));
    for (l, r) in left.chunks_exact_mut(2).zip(right.chunks_exact(2)) {
        let [a, b] = [l[0].wrapping_mul(r[0]), l[0].wrapping_mul(r[1])];
        (l[0], l[1]) = (a, b.wrapping_add(l[1]));
    }
}

/// One call, the same on every rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) kind: usize,
    pub(crate) root: usize,
    /// Bytes of a block.
    pub(crate) len: usize,
    pub(crate) in_place: bool,
    pub(crate) seed: usize,
}

#[resumable]
impl Call {
    /// A call of blocks of `len` bytes, not in place.
    pub(crate) const fn new(kind: usize, root: usize, len: usize) -> Self {
        Self {
            kind,
            root,
            len,
            in_place: false,
            seed: 0,
        }
    }

    /// Makes the call with blocks of `input`, from byte `from` of it, and of `output`; a broadcast is in the output.
    pub(crate) async fn make<D: CollectiveDriver>(
        self,
        group: &mut NodeGroup,
        driver: &mut D,
        (input, from): (&RawBytes, u64),
        output: &RawBytes,
    ) -> Result<(), D::Error> {
        let (root, len) = (self.root, self.len as u64);
        let operands = Operands {
            input,
            output,
            len,
            element: ELEMENT,
            commutes: false,
        };
        match self.kind {
            0 => group.bcast(driver, root, (output, len)).await,
            1 => {
                group
                    .scatter(driver, root, (input, len), output, |_| Ok(()))
                    .await
            }
            2 => {
                group
                    .gather(driver, root, (input, len), output, |_| Ok(()))
                    .await
            }
            3 => {
                group
                    .allgather(driver, (input, from, len), output, |_| Ok(()))
                    .await
            }
            4 => {
                let in_place = input.start() == output.start();
                group
                    .alltoall(driver, (input, len, in_place), output, |_| Ok(()))
                    .await
            }
            5 => group.reduce(driver, root, operands).await,
            6 => group.allreduce(driver, operands).await,
            _ => group.reduce_scatter(driver, operands).await,
        }
    }
}

/// The value of bytes that a call must not write.
const UNTOUCHED: u8 = 0xee;

/// Pseudorandom numbers, the same on every rank.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    pub(crate) fn call(&mut self, ranks: usize) -> Call {
        const LENGTHS: [usize; 5] = [8, 56, 200, 20_000, 150_000];
        let longest = LENGTHS[self.below(LENGTHS.len())];
        Call {
            kind: self.below(8),
            root: self.below(ranks),
            len: self.below(longest / ELEMENT + 1) * ELEMENT,
            in_place: self.below(2) == 0,
            seed: self.below(1000),
        }
    }
}

/// The input of `rank` for `blocks` blocks of a call.
pub(crate) fn given(call: Call, rank: usize, blocks: usize) -> Vec<u8> {
    pattern(call.len * blocks, call.seed + rank * 7)
}

/// The reduction of the inputs of all ranks.
pub(crate) fn reduced(call: Call, ranks: usize, blocks: usize) -> Vec<u8> {
    let mut all = given(call, 0, blocks);
    for rank in 1..ranks {
        combine(&mut all, &given(call, rank, blocks));
    }
    all
}

pub(crate) fn block(call: Call, bytes: &[u8], index: usize) -> &[u8] {
    &bytes[call.len * index..][..call.len]
}

/// Makes the call as rank `me`, and compares its result with the expected one.
#[resumable]
pub(crate) async fn run<D: CollectiveDriver<Error: Debug>>(
    call: Call,
    me: usize,
    ranks: usize,
    group: &mut NodeGroup,
    caller: &mut D,
) {
    let Call { root, len, .. } = call;
    let is_root = me == root;
    let (inputs, outputs) = match call.kind {
        1 | 7 => (ranks, 1),
        2 | 3 => (1, ranks),
        4 => (ranks, ranks),
        _ => (1, 1),
    };
    let in_place = match call.kind {
        0 => is_root,
        1 | 2 => false,
        5 => call.in_place && is_root,
        _ => call.in_place,
    };
    let own = given(call, me, inputs);
    let blocks = if in_place {
        inputs.max(outputs)
    } else {
        outputs
    };
    let mut result = vec![UNTOUCHED; len * blocks];
    // An allgather does not write the own block.
    let at = if call.kind == 3 { len * me } else { 0 };
    if in_place || call.kind == 3 {
        result[at..][..own.len()].copy_from_slice(&own);
    }
    let output = target(&mut result);
    let (input, from) = match in_place {
        true => (output, at),
        false => (source(&own), 0),
    };
    call.make(group, caller, (&input, from as u64), &output)
        .await
        .unwrap();
    let part = |bytes: Vec<u8>| block(call, &bytes, me).to_vec();
    let others = (0..ranks).filter(|&rank| rank != me);
    let expected: Vec<(usize, Vec<u8>)> = match call.kind {
        1 if is_root => vec![],
        2 if !is_root => vec![],
        5 if !is_root => vec![(0, vec![UNTOUCHED; len])],
        0 => vec![(0, given(call, root, 1))],
        1 => vec![(0, part(given(call, root, ranks)))],
        2 => others.map(|rank| (rank, given(call, rank, 1))).collect(),
        3 => (0..ranks)
            .map(|rank| (rank, given(call, rank, 1)))
            .collect(),
        4 => others
            .map(|rank| (rank, part(given(call, rank, ranks))))
            .collect(),
        5 | 6 => vec![(0, reduced(call, ranks, 1))],
        _ => vec![(0, part(reduced(call, ranks, ranks)))],
    };
    for (index, bytes) in expected {
        assert_eq!(block(call, &result, index), bytes, "{call:?}");
    }
}
