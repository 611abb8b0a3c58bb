//! Collectives of ranks that fail, or whose calls differ.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::yield_now;

use oxmpi_shm::SegmentLayout;
use oxmpi_shm::node::collective::{NodeGroup, Operands, StepLost};

use super::oracle::{Call, Caller, ELEMENT, run};
use crate::common::{SLEEPER, source, target, threads};

/// No rank writes to the memory of a root whose gather has failed, however far the others have come.
#[test]
fn no_rank_writes_to_a_failed_gather() {
    const BLOCK: usize = 1 << 20;
    for (delay, ranks) in (0..24).flat_map(|delay| [(delay, 2), (delay, 3)]) {
        let (failed, done) = (AtomicBool::new(false), AtomicU32::new(0));
        threads(SegmentLayout::new(ranks), |me, mut rank| {
            let mut group = rank.barriers.group(0, 0..ranks, me as usize).unwrap();
            let mut caller = Caller::with_failures(&mut rank, &failed);
            let first = Call::new(6, 0, 8);
            run(first, me as usize, ranks as usize, &mut group, &mut caller);
            let _allowed = group.enable_cma();
            let (own, mut all) = (vec![0xee; BLOCK], vec![0; ranks as usize * BLOCK]);
            let mut gather = |result| {
                let given = (&source(&own), BLOCK as u64);
                group.gather(&mut caller, 0, given, &target(&mut all), |_| {
                    (0..100 * delay).for_each(|_| spin_loop());
                    result
                })
            };
            // The first calls go by bounce buffers.
            for _ in 0..20 {
                assert_eq!(gather(Ok(())), Ok(()));
            }
            let ended = gather(Err((0, StepLost::Differs)));
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

/// Makes a call of two ranks and ignores its result.
fn call_unchecked(
    (kind, root, len): (usize, usize, usize),
    group: &mut NodeGroup,
    caller: &mut Caller<'_>,
) -> Result<(), (u32, StepLost)> {
    let (mut all, mut one) = (vec![0; 2 * len], vec![1; len]);
    let (all, one) = (target(&mut all), target(&mut one));
    let (input, output) = match kind {
        1 | 7 => (all, one),
        2 | 3 => (one, all),
        4 => (all, all),
        _ => (one, one),
    };
    Call::new(kind, root, len).make(group, caller, (&input, 0), &output)
}

/// Whether rank `me` only reads in a call.
fn only_reads((kind, root, _): (usize, usize, usize), me: usize) -> bool {
    match kind {
        0 | 1 => root != me,
        2 | 5 => root == me,
        _ => false,
    }
}

/// Two ranks whose calls differ, and then agree, finish or get an error, unless each waits for the other to
/// begin.
#[test]
fn two_ranks_in_different_calls_do_not_hang() {
    let lengths = [8, 20_000, 150_000];
    let calls = |len| (0..8).flat_map(move |kind| [(kind, 0, len), (kind, 1, len)]);
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
    let errors = AtomicU32::new(0);
    for calls in pairs.filter(differ) {
        let failed = AtomicBool::new(false);
        threads(SegmentLayout::new(2), |me, mut rank| {
            let mut group = rank.barriers.group(0, 0..2, me as usize).unwrap();
            let mut caller = Caller::with_failures(&mut rank, &failed);
            for call in [calls[me as usize], (6, 0, 8), (0, 1, 8), (6, 0, 20_000)] {
                if let Err((_, why)) = call_unchecked(call, &mut group, &mut caller) {
                    assert_eq!(why, StepLost::Differs, "{calls:?}");
                    errors.fetch_add(1, Ordering::Relaxed);
                    failed.store(true, Ordering::Release);
                    break;
                }
            }
        });
    }
    assert!(errors.into_inner() > 0);
}

#[test]
fn a_call_that_differs_is_an_error() {
    threads(SegmentLayout::new(2), |me, mut rank| {
        let mut group = rank.barriers.group(0, 0..2, me as usize).unwrap();
        let mut caller = Caller::new(&mut rank, SLEEPER, 0);
        let (input, mut output) = ([1; 100], [0; 100]);
        let operands = Operands {
            input: &source(&input),
            output: &target(&mut output),
            len: if me == 0 { 100 } else { 98 },
            element: ELEMENT,
            commutes: false,
        };
        let result = group.allreduce(&mut caller, operands);
        assert_eq!(result, Err((1 - me, StepLost::Differs)));
    });
}
