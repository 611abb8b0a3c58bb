//! A rank that makes collective calls and compares their results with an oracle: [`Caller`], [`Call`], [`run`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use oxmpi_os::RawBytes;
use oxmpi_shm::node::collective::{
    AwaitedSteps, CollectiveDriver, NeverComes, NodeGroup, Operands,
};
use oxmpi_shm::wait::{WaitPolicy, Waiter};

use crate::common::{Rank, WATCHDOG, pattern};

/// Sleeps after the first empty poll.
pub(crate) const SLEEPER: WaitPolicy = WaitPolicy {
    spin: 0,
    yields: Duration::ZERO,
    shared: false,
};

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
    type Error = (u32, NeverComes);

    fn polls(&self) -> u32 {
        self.polls
    }

    fn wait(&mut self, mut awaited: AwaitedSteps) -> Result<(), (u32, NeverComes)> {
        let (start, mut waiter) = (Instant::now(), Waiter::new(self.policy));
        loop {
            assert!(start.elapsed() < WATCHDOG, "{awaited:?}");
            let Rank { barriers, tx, .. } = &mut *self.rank;
            if barriers.has_come(&mut awaited, tx)? {
                return Ok(());
            }
            match self.failed {
                Some(failed) if failed.load(Ordering::Acquire) => {
                    return Err((0, NeverComes::Differs));
                }
                Some(_) => yield_now(),
                None => {
                    self.rank.poll();
                    waiter.idle(&mut self.rank.rx, &self.rank.barriers);
                }
            }
        }
    }

    fn yield_to_colocated(&mut self) {
        Waiter::new(self.policy).yield_to_colocated(&self.rank.barriers);
    }

    fn unreadable(&mut self, rank: u32) -> (u32, NeverComes) {
        unreachable!("rank {rank} is here")
    }

    fn wake(&mut self, ranks: u64) {
        self.rank.tx.wake_those_asleep(ranks);
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
    let [mut first, mut second] = [left, right].map(|bytes| vec![0; bytes.byte_len()]);
    target(&mut first).copy_from(&left);
    target(&mut second).copy_from(&right);
    combine(&mut first, &second);
    first
}

/// The length of bytes.
pub(crate) trait Length {
    fn byte_len(&self) -> usize;
}

impl Length for RawBytes {
    fn byte_len(&self) -> usize {
        oxmpi_wire::Bytes::len(self) as usize
    }
}

pub(crate) fn source(bytes: &[u8]) -> RawBytes {
    // SAFETY: used while `bytes` lives, and only read.
    unsafe { RawBytes::new(bytes.as_ptr().cast_mut(), bytes.len()) }
}

pub(crate) fn target(bytes: &mut [u8]) -> RawBytes {
    // SAFETY: used while `bytes` lives, by one call at a time.
    unsafe { RawBytes::new(bytes.as_mut_ptr(), bytes.len()) }
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
pub(crate) fn run(
    call: Call,
    me: usize,
    ranks: usize,
    group: &mut NodeGroup,
    caller: &mut Caller<'_>,
) {
    let Call {
        root,
        len,
        in_place,
        ..
    } = call;
    let bytes = len as u64;
    let is_root = me == root;
    let mut own = given(call, me, 1);
    let mut all = given(call, me, ranks);
    let mut one = vec![0xee; len];
    let mut many = vec![0xee; len * ranks];
    let operands = |input, output| Operands {
        input,
        output,
        len: bytes,
        element: ELEMENT,
        commutes: false,
    };
    let result = match call.kind {
        0 => {
            let expected = given(call, root, 1);
            let mut message = if is_root { own } else { one };
            let result = group.bcast(caller, root, (&target(&mut message), bytes));
            assert_eq!(message, expected, "{call:?}");
            result
        }
        1 => {
            let result = group.scatter(
                caller,
                root,
                (&source(&all), bytes),
                &target(&mut one),
                |_| Ok(()),
            );
            let expected = given(call, root, ranks);
            if !is_root {
                assert_eq!(one, block(call, &expected, me), "{call:?}");
            }
            result
        }
        2 => {
            let result = group.gather(
                caller,
                root,
                (&source(&own), bytes),
                &target(&mut many),
                |_| Ok(()),
            );
            for rank in (0..ranks).filter(|&rank| is_root && rank != me) {
                assert_eq!(block(call, &many, rank), given(call, rank, 1), "{call:?}");
            }
            result
        }
        3 => {
            many[len * me..][..len].copy_from_slice(&own);
            let output = target(&mut many);
            let result = if in_place {
                group.allgather(caller, (&output, (len * me) as u64, bytes), &output, |_| {
                    Ok(())
                })
            } else {
                group.allgather(caller, (&source(&own), 0, bytes), &output, |_| Ok(()))
            };
            for rank in 0..ranks {
                assert_eq!(block(call, &many, rank), given(call, rank, 1), "{call:?}");
            }
            result
        }
        4 => {
            let output = if in_place { &mut all } else { &mut many };
            let into = target(output);
            let input = given(call, me, ranks);
            let from = if in_place { into } else { source(&input) };
            let result = group.alltoall(caller, (&from, bytes), &into, |_| Ok(()));
            for rank in (0..ranks).filter(|&rank| rank != me) {
                let expected = given(call, rank, ranks);
                assert_eq!(
                    block(call, output, rank),
                    block(call, &expected, me),
                    "{call:?}"
                );
            }
            result
        }
        5 | 6 => {
            let reduce = call.kind == 5;
            let in_place = in_place && (is_root || !reduce);
            let output = target(if in_place { &mut own } else { &mut one });
            let input = if in_place { output } else { source(&own) };
            let operands = operands(&input, &output);
            let result = match reduce {
                true => group.reduce(caller, root, operands),
                false => group.allreduce(caller, operands),
            };
            let output = if in_place { &own } else { &one };
            if is_root || !reduce {
                assert_eq!(output, &reduced(call, ranks, 1), "{call:?}");
            } else {
                assert!(output.iter().all(|&byte| byte == 0xee), "{call:?}");
            }
            result
        }
        _ => {
            let output = target(if in_place { &mut all } else { &mut one });
            let whole = given(call, me, ranks);
            let input = if in_place { output } else { source(&whole) };
            let result = group.reduce_scatter(caller, operands(&input, &output));
            let output = if in_place { &all[..len] } else { &one };
            let expected = reduced(call, ranks, ranks);
            assert_eq!(output, block(call, &expected, me), "{call:?}");
            result
        }
    };
    result.unwrap();
}
