//! Collectives of teams against an oracle, with every way of waiting.

mod common;

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use common::{Rank, WATCHDOG, pattern, threads};
use oxmpi_os::RawBytes;
use oxmpi_shm::node::collective::{
    AwaitedSteps, CollectiveDriver, MAX_GROUPS, NeverComes, NodeGroup, Operands,
};
use oxmpi_shm::wait::{WaitPolicy, Waiter};
use oxmpi_shm::{Node, NodeBarriers, SegmentLayout};

/// Sleeps after the first empty poll.
const SLEEPER: WaitPolicy = WaitPolicy {
    spin: 0,
    yields: Duration::ZERO,
    shared: false,
};

/// A rank's way of waiting, and an operation that does not commute.
struct Caller<'a> {
    rank: &'a mut Rank,
    patience: WaitPolicy,
    looks: u32,
}

impl CollectiveDriver for Caller<'_> {
    type Error = (u32, NeverComes);

    fn polls(&self) -> u32 {
        self.looks
    }

    fn wait(&mut self, mut awaited: AwaitedSteps) -> Result<(), (u32, NeverComes)> {
        let (start, mut waiter) = (Instant::now(), Waiter::new(self.patience));
        let Rank { barriers, tx, .. } = self.rank;
        let mut come = barriers.has_come(&mut awaited, tx)?;
        while !come {
            self.rank.poll();
            waiter.idle(&mut self.rank.rx, &self.rank.barriers);
            assert!(start.elapsed() < WATCHDOG, "{awaited:?}");
            let Rank { barriers, tx, .. } = self.rank;
            come = barriers.has_come(&mut awaited, tx)?;
        }
        Ok(())
    }

    fn yield_to_colocated(&mut self) {
        Waiter::new(self.patience).yield_to_colocated(&self.rank.barriers);
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

/// Both combined, in this order.
fn combined(left: RawBytes, right: RawBytes) -> Vec<u8> {
    let [mut first, mut second] = [left, right].map(|bytes| vec![0; bytes.part_len()]);
    target(&mut first).copy_from(&left);
    target(&mut second).copy_from(&right);
    combine(&mut first, &second);
    first
}

/// How long bytes are.
trait Length {
    fn part_len(&self) -> usize;
}

impl Length for RawBytes {
    fn part_len(&self) -> usize {
        oxmpi_wire::Bytes::len(self) as usize
    }
}

fn source(bytes: &[u8]) -> RawBytes {
    // SAFETY: used while `bytes` lives, and only read.
    unsafe { RawBytes::new(bytes.as_ptr().cast_mut(), bytes.len()) }
}

fn target(bytes: &mut [u8]) -> RawBytes {
    // SAFETY: used while `bytes` lives, by one call at a time.
    unsafe { RawBytes::new(bytes.as_mut_ptr(), bytes.len()) }
}

/// Bytes of an element: the map x -> ax + b, as two bytes.
const ELEMENT: usize = 2;

/// `left = left after right`, map by map: associative, and not commutative.
fn combine(left: &mut [u8], right: &[u8]) {
    assert_eq!(left.len(), right.len());
    assert!(left.len().is_multiple_of(ELEMENT));
    for (l, r) in left.chunks_exact_mut(2).zip(right.chunks_exact(2)) {
        let [a, b] = [l[0].wrapping_mul(r[0]), l[0].wrapping_mul(r[1])];
        (l[0], l[1]) = (a, b.wrapping_add(l[1]));
    }
}

/// One call, the same on every rank.
#[derive(Clone, Copy, Debug)]
struct Call {
    what: usize,
    root: usize,
    /// Bytes of a block.
    len: usize,
    in_place: bool,
    seed: usize,
}

/// Numbers that look like chance, the same on every rank.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    fn call(&mut self, ranks: usize) -> Call {
        const LENGTHS: [usize; 5] = [8, 56, 200, 20_000, 150_000];
        let longest = LENGTHS[self.below(LENGTHS.len())];
        Call {
            what: self.below(8),
            root: self.below(ranks),
            len: self.below(longest / ELEMENT + 1) * ELEMENT,
            in_place: self.below(2) == 0,
            seed: self.below(1000),
        }
    }
}

/// What `rank` gives to `blocks` blocks of a call.
fn given(call: Call, rank: usize, blocks: usize) -> Vec<u8> {
    pattern(call.len * blocks, call.seed + rank * 7)
}

/// The reduction of what all ranks give.
fn reduced(call: Call, ranks: usize, blocks: usize) -> Vec<u8> {
    let mut all = given(call, 0, blocks);
    for rank in 1..ranks {
        combine(&mut all, &given(call, rank, blocks));
    }
    all
}

fn block(call: Call, bytes: &[u8], index: usize) -> &[u8] {
    &bytes[call.len * index..][..call.len]
}

/// Makes the call as rank `me`, and compares what comes with what should.
fn run(call: Call, me: usize, ranks: usize, team: &mut NodeGroup, caller: &mut Caller<'_>) {
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
    let result = match call.what {
        0 => {
            let expected = given(call, root, 1);
            let mut message = if is_root { own } else { one };
            let result = team.bcast(caller, root, (&target(&mut message), bytes));
            assert_eq!(message, expected, "{call:?}");
            result
        }
        1 => {
            let result = team.scatter(
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
            let result = team.gather(
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
                team.allgather(caller, (&output, (len * me) as u64, bytes), &output, |_| {
                    Ok(())
                })
            } else {
                team.allgather(caller, (&source(&own), 0, bytes), &output, |_| Ok(()))
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
            let result = team.alltoall(caller, (&from, bytes), &into, |_| Ok(()));
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
            let reduce = call.what == 5;
            let in_place = in_place && (is_root || !reduce);
            let output = target(if in_place { &mut own } else { &mut one });
            let input = if in_place { output } else { source(&own) };
            let operands = operands(&input, &output);
            let result = match reduce {
                true => team.reduce(caller, root, operands),
                false => team.allreduce(caller, operands),
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
            let result = team.reduce_scatter(caller, operands(&input, &output));
            let output = if in_place { &all[..len] } else { &one };
            let expected = reduced(call, ranks, ranks);
            assert_eq!(output, block(call, &expected, me), "{call:?}");
            result
        }
    };
    result.unwrap();
}

#[test]
fn calls_in_any_order_give_what_they_should() {
    let ways = [
        WaitPolicy::oversubscribed(),
        WaitPolicy::passive(10, true),
        SLEEPER,
    ];
    for (ranks, patience) in [2, 3, 5, 2, 4, 7].into_iter().zip(ways.into_iter().cycle()) {
        threads(SegmentLayout::new(ranks), |me, mut rank| {
            let mut team = rank.barriers.group(3, 0..ranks, me as usize).unwrap();
            let mut caller = Caller {
                rank: &mut rank,
                patience,
                looks: me,
            };
            let mut chance = Chance(ranks.into());
            for _ in 0..60 {
                let call = chance.call(ranks as usize);
                run(call, me as usize, ranks as usize, &mut team, &mut caller);
            }
        });
    }
}

/// Any two of many ranks have few cells, and so have some ranks of a large node.
#[test]
fn many_ranks_do_with_few_cells() {
    for (on_node, ranks, processors) in [
        (12, 12, &[0, 1][..]),
        (17, 17, &[]),
        (17, 4, &[]),
        (24, 2, &[]),
    ] {
        threads(SegmentLayout::new(on_node), |me, mut rank| {
            let Some(here) = me.checked_sub(on_node - ranks) else {
                return;
            };
            let (group, size, here) = (on_node - ranks..on_node, ranks as usize, here as usize);
            let mut team = rank.barriers.group(3, group, here).unwrap();
            if let [first, second] = processors {
                // In order, for operations that do not commute.
                team.set_processors(&[[*first; 6], [*second; 6]].concat());
            }
            let mut caller = Caller {
                rank: &mut rank,
                patience: WaitPolicy::passive(10, true),
                looks: me,
            };
            let mut chance = Chance(ranks.into());
            for _ in 0..30 {
                let call = chance.call(size);
                run(call, here, size, &mut team, &mut caller);
            }
        });
    }
}

/// Long vectors are reduced among the ranks of each processor first, whether these follow one another or not;
/// between such calls are others.
#[test]
fn ranks_of_a_processor_reduce_among_themselves_first() {
    for processors in [
        &[0, 0, 1, 1][..],
        &[0, 1, 0, 1],
        &[2, 2, 2, 0, 0, 0],
        &[0, 1, 2, 0, 1, 2],
    ] {
        let ranks = processors.len();
        let mut order: Vec<_> = (0..ranks).collect();
        order.sort_by_key(|&rank| {
            (
                processors.iter().position(|&one| one == processors[rank]),
                rank,
            )
        });
        threads(SegmentLayout::new(ranks as u32), |me, mut rank| {
            let mut team = rank
                .barriers
                .group(0, 0..ranks as u32, me as usize)
                .unwrap();
            team.set_processors(processors);
            let mut caller = Caller {
                rank: &mut rank,
                patience: WaitPolicy::oversubscribed(),
                looks: 0,
            };
            let mut chance = Chance(ranks as u64);
            for _ in 0..20 {
                let call = chance.call(ranks);
                let call = Call {
                    len: call.len + (64 << 10 << chance.below(4)),
                    what: 6,
                    ..call
                };
                let mut expected = given(call, order[0], 1);
                for &rank in &order[1..] {
                    combine(&mut expected, &given(call, rank, 1));
                }
                if call.len < 128 << 10 {
                    expected = reduced(call, ranks, 1);
                }
                let mut own = given(call, me as usize, 1);
                let mut one = vec![0; call.len];
                let output = target(if call.in_place { &mut own } else { &mut one });
                let input = if call.in_place { output } else { source(&own) };
                let operands = Operands {
                    input: &input,
                    output: &output,
                    len: call.len as u64,
                    element: ELEMENT,
                    commutes: true,
                };
                team.allreduce(&mut caller, operands).unwrap();
                let output = if call.in_place { &own } else { &one };
                assert!(*output == expected, "{call:?} on {processors:?}");
                let between = chance.call(ranks);
                run(between, me as usize, ranks, &mut team, &mut caller);
            }
        });
    }
}

/// Long blocks go from memory to memory, those of calls in place and all others as before.
#[test]
fn ranks_read_each_others_memory() {
    for (ranks, least) in [(2, 64 << 10), (3, 64 << 10), (4, 128 << 10)] {
        threads(SegmentLayout::new(ranks), |me, mut rank| {
            let mut team = rank.barriers.group(0, 0..ranks, me as usize).unwrap();
            let mut caller = Caller {
                rank: &mut rank,
                patience: WaitPolicy::oversubscribed(),
                looks: 0,
            };
            let mut chance = Chance(ranks.into());
            let meeting = Call {
                what: 6,
                len: 8,
                ..chance.call(ranks as usize)
            };
            run(meeting, me as usize, ranks as usize, &mut team, &mut caller);
            // Sandboxes may forbid it, then to all.
            let _allowed = team.enable_cma();
            for _ in 0..40 {
                let call = chance.call(ranks as usize);
                let len = least | call.len;
                let what = [0, 1, 2, 3, 4, 7, call.what][call.what % 7];
                let call = Call { what, len, ..call };
                run(call, me as usize, ranks as usize, &mut team, &mut caller);
            }
            // Only a row of calls of a kind and length goes every way.
            let long = 128 << 10;
            for (what, seed) in [0, 1, 2, 3, 4, 7]
                .into_iter()
                .flat_map(|what| (0..34).map(move |s| (what, s)))
            {
                let call = Call {
                    what,
                    root: 0,
                    len: long + ELEMENT,
                    in_place: false,
                    seed,
                };
                run(call, me as usize, ranks as usize, &mut team, &mut caller);
            }
        });
    }
}

/// Outputs that may go past the caches are right, wherever in a line they and their pieces begin and end.
#[test]
fn outputs_past_the_caches_are_right() {
    for ranks in [2, 3, 5] {
        threads(SegmentLayout::new(ranks), |me, mut rank| {
            let mut team = rank.barriers.group(0, 0..ranks, me as usize).unwrap();
            team.set_cache(0, 1);
            let mut caller = Caller {
                rank: &mut rank,
                patience: WaitPolicy::oversubscribed(),
                looks: 0,
            };
            let mut chance = Chance(ranks.into());
            for number in 0..12 {
                let call = chance.call(ranks as usize);
                let call = Call {
                    what: [2, 3, 4][number % 3],
                    len: call.len + (512 << 10),
                    ..call
                };
                run(call, me as usize, ranks as usize, &mut team, &mut caller);
            }
        });
    }
}

/// A rank that gives up a wait once another one has failed.
struct Told<'a> {
    caller: Caller<'a>,
    failed: &'a AtomicBool,
}

impl CollectiveDriver for Told<'_> {
    type Error = (u32, NeverComes);

    fn polls(&self) -> u32 {
        self.caller.polls()
    }

    fn wait(&mut self, mut awaited: AwaitedSteps) -> Result<(), (u32, NeverComes)> {
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < WATCHDOG, "{awaited:?}");
            let Rank { barriers, tx, .. } = &mut *self.caller.rank;
            if barriers.has_come(&mut awaited, tx)? {
                return Ok(());
            }
            if self.failed.load(Ordering::Acquire) {
                return Err((0, NeverComes::Differs));
            }
            yield_now();
        }
    }

    fn yield_to_colocated(&mut self) {
        self.caller.yield_to_colocated();
    }

    fn unreadable(&mut self, rank: u32) -> (u32, NeverComes) {
        self.caller.unreadable(rank)
    }

    fn wake(&mut self, ranks: u64) {
        self.caller.wake(ranks);
    }

    fn fold(&mut self, from: RawBytes, into: RawBytes) {
        self.caller.fold(from, into);
    }

    fn fold_left(&mut self, from: RawBytes, into: RawBytes) {
        self.caller.fold_left(from, into);
    }
}

/// The root of a gather that fails has its memory for itself, however far the others have come.
#[test]
fn nobody_writes_into_a_gather_that_has_failed() {
    const BLOCK: usize = 1 << 20;
    for (turns, ranks) in (0..24).flat_map(|turns| [(turns, 2), (turns, 3)]) {
        let (failed, done) = (AtomicBool::new(false), AtomicU32::new(0));
        threads(SegmentLayout::new(ranks), |me, mut rank| {
            let mut team = rank.barriers.group(0, 0..ranks, me as usize).unwrap();
            let mut told = Told {
                caller: Caller {
                    rank: &mut rank,
                    patience: WaitPolicy::oversubscribed(),
                    looks: 0,
                },
                failed: &failed,
            };
            let meeting = Call {
                what: 6,
                root: 0,
                len: 8,
                in_place: true,
                seed: 0,
            };
            run(
                meeting,
                me as usize,
                ranks as usize,
                &mut team,
                &mut told.caller,
            );
            let _allowed = team.enable_cma();
            let (own, mut all) = (vec![0xee; BLOCK], vec![0; ranks as usize * BLOCK]);
            let mut gather = |result| {
                let given = (&source(&own), BLOCK as u64);
                team.gather(&mut told, 0, given, &target(&mut all), |_| {
                    (0..100 * turns).for_each(|_| spin_loop());
                    result
                })
            };
            // The first ones go through cells.
            for _ in 0..20 {
                assert_eq!(gather(Ok(())), Ok(()));
            }
            let ended = gather(Err((0, NeverComes::Differs)));
            if me > 0 {
                done.fetch_add(1, Ordering::Release);
                return;
            }
            assert!(ended.is_err());
            failed.store(true, Ordering::Release);
            all.fill(0x11);
            while done.load(Ordering::Acquire) < ranks - 1 {
                yield_now();
            }
            assert!(all.iter().all(|&byte| byte == 0x11));
        });
    }
}

/// A call without a look at what comes of it.
fn call_blindly(
    (what, root, len): (usize, usize, usize),
    team: &mut NodeGroup,
    driver: &mut impl CollectiveDriver<Error = (u32, NeverComes)>,
) -> Result<(), (u32, NeverComes)> {
    let (mut all, mut one) = (vec![0; 2 * len], vec![1; len]);
    let (all, one, len) = (target(&mut all), target(&mut one), len as u64);
    let operands = |input, output| Operands {
        input,
        output,
        len,
        element: ELEMENT,
        commutes: false,
    };
    match what {
        0 => team.bcast(driver, root, (&one, len)),
        1 => team.scatter(driver, root, (&all, len), &one, |_| Ok(())),
        2 => team.gather(driver, root, (&one, len), &all, |_| Ok(())),
        3 => team.allgather(driver, (&one, 0, len), &all, |_| Ok(())),
        4 => team.alltoall(driver, (&all, len), &all, |_| Ok(())),
        5 => team.reduce(driver, root, operands(&one, &one)),
        6 => team.allreduce(driver, operands(&one, &one)),
        _ => team.reduce_scatter(driver, operands(&all, &one)),
    }
}

/// Whether rank `me` only reads in a call.
fn only_reads((what, root, _): (usize, usize, usize), me: usize) -> bool {
    match what {
        0 | 1 => root != me,
        2 | 5 => root == me,
        _ => false,
    }
}

/// Two ranks whose calls differ, and then agree, come to an end or are told, but where each waits for the
/// other to begin.
#[test]
fn two_ranks_that_call_differently_do_not_wait_for_ever() {
    let lengths = [8, 20_000, 150_000];
    let calls = |len| (0..8).flat_map(move |what| [(what, 0, len), (what, 1, len)]);
    let pairs = lengths.into_iter().flat_map(|len| {
        calls(len).flat_map(move |one| {
            [len, 8]
                .map(calls)
                .into_iter()
                .flatten()
                .map(move |other| [one, other])
        })
    });
    let differ =
        |[one, other]: &[_; 2]| one != other && !(only_reads(*one, 0) && only_reads(*other, 1));
    let told_so = AtomicU32::new(0);
    for calls in pairs.filter(differ) {
        let failed = AtomicBool::new(false);
        threads(SegmentLayout::new(2), |me, mut rank| {
            let mut team = rank.barriers.group(0, 0..2, me as usize).unwrap();
            let caller = Caller {
                rank: &mut rank,
                patience: WaitPolicy::oversubscribed(),
                looks: 0,
            };
            let mut told = Told {
                caller,
                failed: &failed,
            };
            for call in [calls[me as usize], (6, 0, 8), (0, 1, 8), (6, 0, 20_000)] {
                if let Err((_, why)) = call_blindly(call, &mut team, &mut told) {
                    assert_eq!(why, NeverComes::Differs, "{calls:?}");
                    told_so.fetch_add(1, Ordering::Relaxed);
                    failed.store(true, Ordering::Release);
                    break;
                }
            }
        });
    }
    assert!(told_so.into_inner() > 0);
}

/// Without anything in between, ranks run ahead of each other as far as there is room.
#[test]
fn a_row_of_the_same_call_keeps_its_order() {
    threads(SegmentLayout::new(3), |me, mut rank| {
        let mut team = rank.barriers.group(0, 0..3, me as usize).unwrap();
        let mut caller = Caller {
            rank: &mut rank,
            patience: SLEEPER,
            looks: 0,
        };
        for what in 0..8 {
            for seed in 0..100 {
                let call = Call {
                    what,
                    root: 1,
                    len: 8,
                    in_place: false,
                    seed,
                };
                run(call, me as usize, 3, &mut team, &mut caller);
            }
        }
    });
}

/// Groups without a common rank use one place, and numbers of ranks are the group's.
#[test]
fn groups_share_a_place() {
    threads(SegmentLayout::new(4), |me, mut rank| {
        let group = if me % 2 == 0 { [2, 0] } else { [1, 3] };
        let here = group.iter().position(|&link| link == me).unwrap();
        let mut team = rank.barriers.group(1, group.into_iter(), here).unwrap();
        let mut caller = Caller {
            rank: &mut rank,
            patience: SLEEPER,
            looks: 3,
        };
        let mut chance = Chance(9);
        for _ in 0..40 + me % 2 {
            run(chance.call(2), here, 2, &mut team, &mut caller);
        }
    });
}

#[test]
fn a_rank_that_calls_another_one_is_found_out() {
    threads(SegmentLayout::new(2), |me, mut rank| {
        let mut team = rank.barriers.group(0, 0..2, me as usize).unwrap();
        let mut caller = Caller {
            rank: &mut rank,
            patience: SLEEPER,
            looks: 0,
        };
        let (input, mut output) = ([1; 100], [0; 100]);
        let operands = Operands {
            input: &source(&input),
            output: &target(&mut output),
            len: if me == 0 { 100 } else { 98 },
            element: ELEMENT,
            commutes: false,
        };
        let result = team.allreduce(&mut caller, operands);
        assert_eq!(result, Err((1 - me, NeverComes::Differs)));
    });
}

#[test]
fn two_ranks_leave_long_vectors_to_messages() {
    let is_worth = NodeGroup::is_worth_reducing;
    assert!(is_worth(2, 800) && !is_worth(2, 1 << 20) && is_worth(3, 1 << 20));
}

/// On a full node cells are as short as they get.
#[test]
fn a_team_of_any_size_reduces_short_elements() {
    for ranks in [2, 3, 17, NodeBarriers::RANKS] {
        let nodes = Node::in_process(SegmentLayout::new(ranks)).unwrap();
        let (_, rx) = nodes
            .into_iter()
            .next()
            .unwrap()
            .ends::<RawBytes>()
            .unwrap();
        for size in [2, ranks] {
            let team = rx.node_barriers().group(0, 0..size, 0).unwrap();
            assert!(
                team.reduces(NodeGroup::MAX_ELEMENT),
                "{size} of {ranks} ranks"
            );
        }
    }
}

#[test]
fn there_are_so_many_places_and_no_more() {
    threads(SegmentLayout::new(2), |me, rank| {
        for place in 0..MAX_GROUPS + 2 {
            let team = rank.barriers.group(place, 0..2, me as usize);
            assert_eq!(team.is_some(), place < MAX_GROUPS);
            if let Some(team) = team {
                assert!(team.reduces(8) && team.reduces(24));
                assert!(!team.reduces(0) && !team.reduces(1 << 20));
            }
        }
    });
}
