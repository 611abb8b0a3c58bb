//! Which protocol a long collective takes, learned from the time of its calls: [`ProtocolTrials`].
//!
//! Through buffers ([`Candidate::Buffers`]) each byte is copied twice, and ranks write what others read. By
//! cross-memory attach ([`Candidate::Cma`]) each byte is copied once, page by page. Which is faster depends on where
//! the processors lie, which virtual machines do not know, and which changes: 256 KiB each way took 29 us by bounce
//! buffers and 39 by CMA between two Zen 4 processors that share a cache, 49 and 38 between two that do not.
//!
//! Calls of one kind and about one length form rounds, once the bounce buffers have been touched. A round begins with a run
//! of trial calls of each protocol; only the first round of a length has none if CMA is far faster for shorter calls.
//! All ranks meet before the first timed call of a run and after its last, and go on when rank 0 has read the clock: single
//! calls cannot be timed, since one begins before all ranks have ended the one before. Rank 0 then sends the others the
//! protocol of the rest of the round, in which no rank waits for a clock, and whether the next round may be long, because
//! the other protocol is far slower.

use std::time::Duration;

use oxmpi_wire::trials::{Estimate, Policy, per_byte};

use super::call_kind::{CALL_KINDS, CallKind};
use super::catalog::{TRIALS, TrialRun};

/// One of the two protocols that are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Candidate {
    /// Copied in and out of buffers.
    Buffers,
    /// Read from or written to another rank's memory by cross-memory attach.
    Cma,
}

/// Nanoseconds per MiB: the unit of the estimates.
const UNIT: u64 = 1 << 20;

/// What a rank knows of calls of one kind and about one length.
#[derive(Clone, Copy, Debug)]
pub(super) struct LengthTrials {
    /// The cost of each protocol in ns per MiB.
    costs: [Estimate; 2],
    /// Calls of this round so far.
    calls: u32,
    /// Calls of this round.
    round: u32,
    /// Time and bytes of the timed calls of this run so far.
    spent: (Duration, u64),
    /// The choice that rank 0 announced last: the protocol of the rest of the round.
    choice: Option<AnnouncedChoice>,
}

/// What rank 0 announces when both protocols have been tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnnouncedChoice {
    /// The protocol of the rest of the round.
    pub(super) protocol: Candidate,
    /// Whether the other protocol is far slower.
    is_clear: bool,
}

impl AnnouncedChoice {
    /// The byte that stands for it in a slot.
    pub(super) const fn to_byte(self) -> u8 {
        (self.is_clear as u8) << 1 | self.protocol as u8
    }

    /// The reverse of [`AnnouncedChoice::to_byte`].
    pub(super) const fn from_byte(byte: u8) -> Self {
        Self {
            protocol: [Candidate::Buffers, Candidate::Cma][(byte & 1) as usize],
            is_clear: byte >> 1 & 1 > 0,
        }
    }
}

/// How the next call goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextCall {
    /// By this protocol, as trial call of this number in its run.
    Trial(Candidate, u32),
    /// By the protocol that rank 0 announces in it.
    Agree,
    /// By the protocol that was announced.
    Settled(Candidate),
}

impl LengthTrials {
    /// No call yet.
    const NEW: Self = Self {
        costs: [Estimate::NEW; 2],
        calls: 0,
        round: TRIALS.first_round,
        spent: (Duration::ZERO, 0),
        choice: None,
    };

    /// Counts a call and says how it goes.
    fn next(&mut self, run: TrialRun) -> NextCall {
        let call = self.calls;
        self.calls += 1;
        if self.calls == self.round {
            self.calls = 0;
            let is_clear = self.choice.is_some_and(|choice| choice.is_clear);
            self.round = (self.round * 2).min(if is_clear {
                TRIALS.longest_clear_round
            } else {
                TRIALS.longest_round
            });
        }
        let run = run.calls();
        match (call / run, self.choice) {
            (0, _) => NextCall::Trial(Candidate::Buffers, call),
            (1, _) => NextCall::Trial(Candidate::Cma, call - run),
            (_, Some(choice)) if call > 2 * run => NextCall::Settled(choice.protocol),
            _ => NextCall::Agree,
        }
    }

    /// Skips the trials of the first round: the choice is `known`.
    fn skip_trials(&mut self, known: AnnouncedChoice, run: TrialRun) {
        self.calls = 2 * run.calls() + 1;
        self.choice = Some(known);
    }

    /// Adds the time of a timed call of `len` bytes; the `last` call of a run updates the estimate. Ranks may have waited for
    /// one that computes, or for another program, so a longer time than was known counts half.
    pub(super) fn learn(&mut self, protocol: Candidate, len: u64, (time, last): (Duration, bool)) {
        self.spent.0 += time;
        self.spent.1 = self.spent.1.saturating_add(len);
        if last {
            let (time, bytes) = std::mem::take(&mut self.spent);
            self.costs[protocol as usize].learn(Policy::Halves, per_byte(time, bytes, UNIT));
        }
    }

    /// Takes the announced choice. If it is another protocol than before, the next trials come soon: the time that was
    /// slow may have been disturbed.
    pub(super) fn follow(&mut self, choice: AnnouncedChoice) {
        let is_other = |before: AnnouncedChoice| before.protocol != choice.protocol;
        if self.choice.is_some_and(is_other) {
            self.round = TRIALS.first_round;
        }
        self.choice = Some(choice);
    }

    /// The faster protocol, as far as is known.
    pub(super) fn choose(&self) -> AnnouncedChoice {
        let [bounce, cma] = self.costs.map(|cost| cost.cost());
        let protocol = [Candidate::Buffers, Candidate::Cma][usize::from(cma < bounce)];
        let [faster, slower] = [bounce.min(cma), bounce.max(cma)];
        AnnouncedChoice {
            protocol,
            is_clear: slower.saturating_mul(4) > faster.saturating_mul(TRIALS.clear_quarters),
        }
    }
}

/// What a rank knows of the protocols of all calls of a group.
#[derive(Debug)]
pub(super) struct ProtocolTrials([KindTrials; CALL_KINDS]);

/// What a rank knows of calls of one kind.
#[derive(Clone, Copy, Debug)]
struct KindTrials {
    /// Bytes left to move before the first round.
    first_touch: u64,
    /// By [`length_class`].
    lengths: [LengthTrials; LENGTH_CLASSES],
}

/// The logarithm of the shortest length that is a class of its own, and the number of classes.
const SHORTEST: u32 = 16;
const LENGTH_CLASSES: usize = 16;

impl ProtocolTrials {
    /// No call yet.
    pub(super) const fn new() -> Self {
        let new = KindTrials {
            first_touch: TRIALS.first_touch,
            lengths: [LengthTrials::NEW; LENGTH_CLASSES],
        };
        Self([new; CALL_KINDS])
    }

    /// Counts a call of `kind` on blocks of `len` bytes and says how it goes.
    pub(super) fn next(&mut self, kind: CallKind, len: u64, run: TrialRun) -> NextCall {
        let KindTrials {
            first_touch,
            lengths,
        } = &mut self.0[kind as usize];
        if *first_touch > 0 {
            *first_touch = first_touch.saturating_sub(len);
            return NextCall::Settled(Candidate::Buffers);
        }
        let (shorter, rest) = lengths.split_at_mut(length_class(len));
        let trials = &mut rest[0];
        if trials.choice.is_none() && trials.calls == 0 {
            // The longer a block, the less a system call matters.
            let nearest = shorter.iter().rev().find_map(|shorter| shorter.choice);
            let is_cma = |known: &AnnouncedChoice| known.protocol == Candidate::Cma;
            if let Some(known) = nearest.filter(|known| is_cma(known) && known.is_clear) {
                trials.skip_trials(known, run);
            }
        }
        trials.next(run)
    }

    /// What is known of calls of `kind` on blocks of `len` bytes.
    pub(super) fn of(&mut self, kind: CallKind, len: u64) -> &mut LengthTrials {
        &mut self.0[kind as usize].lengths[length_class(len)]
    }
}

/// The class of blocks of `len` bytes.
fn length_class(len: u64) -> usize {
    let length = len.checked_ilog2().unwrap_or(0).saturating_sub(SHORTEST) as usize;
    length.min(LENGTH_CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a block.
    const BLOCK: u64 = 1 << 18;
    const TRIED: u32 = TrialRun::of(RANKS, BLOCK).calls();
    const FEW_TRIED: u32 = TrialRun::of(RANKS, 16 * BLOCK).calls();
    const RANKS: usize = 3;
    const FIRST_TOUCH_CALLS: u32 = (TRIALS.first_touch / BLOCK) as u32;

    /// Makes `calls` calls of `ranks` ranks on blocks of `len` bytes and counts those by CMA. `time` returns
    /// the microseconds of a call by its protocol and the number of calls by the same protocol before it.
    fn count_cma(
        trials: &mut ProtocolTrials,
        (ranks, len): (usize, u64),
        calls: u32,
        time: impl Fn(Candidate, u32) -> u64,
    ) -> u32 {
        let run = TrialRun::of(ranks, len);
        let (mut cma_calls, mut before, mut same) = (0, Candidate::Buffers, 0);
        for _ in 0..calls {
            let next = trials.next(CallKind::Bcast, len, run);
            let trials = trials.of(CallKind::Bcast, len);
            let (protocol, call) = match next {
                NextCall::Trial(protocol, call) => (protocol, call),
                NextCall::Settled(protocol) => (protocol, 0),
                NextCall::Agree => {
                    let choice = AnnouncedChoice::from_byte(trials.choose().to_byte());
                    trials.follow(choice);
                    (choice.protocol, 0)
                }
            };
            same = if protocol == before { same + 1 } else { 0 };
            before = protocol;
            cma_calls += u32::from(protocol == Candidate::Cma);
            if call >= run.warmup {
                let time = Duration::from_micros(time(protocol, same));
                trials.learn(protocol, len, (time, call == run.calls() - 1));
            }
        }
        cma_calls
    }

    /// The same of [`RANKS`] ranks with fixed times of both protocols.
    fn cma_calls_of_length(
        trials: &mut ProtocolTrials,
        len: u64,
        calls: u32,
        times: [u64; 2],
    ) -> u32 {
        count_cma(trials, (RANKS, len), calls, |protocol, _| {
            times[protocol as usize]
        })
    }

    /// The same of blocks of [`BLOCK`] bytes.
    fn cma_calls(trials: &mut ProtocolTrials, calls: u32, bounce: u64, cma: u64) -> u32 {
        cma_calls_of_length(trials, BLOCK, calls, [bounce, cma])
    }

    #[test]
    fn the_faster_protocol_is_taken_and_changes() {
        let mut trials = ProtocolTrials::new();
        assert!(cma_calls(&mut trials, 4 * TRIALS.longest_round, 29, 35) <= 8 * TRIED);
        cma_calls(&mut trials, 8 * TRIALS.longest_round, 45, 38);
        assert_eq!(
            cma_calls(&mut trials, TRIALS.longest_round, 45, 38),
            TRIALS.longest_round - TRIED
        );
        cma_calls(&mut trials, 8 * TRIALS.longest_round, 29, 35);
        assert_eq!(cma_calls(&mut trials, TRIALS.longest_round, 29, 35), TRIED);
        // Where one is far slower, it is tried no more often.
        assert!(cma_calls(&mut trials, 4 * TRIALS.longest_round, 29, 39) <= 8 * TRIED);
        cma_calls(&mut trials, 8 * TRIALS.longest_round, 49, 38);
        assert!(
            cma_calls(&mut trials, TRIALS.longest_round, 49, 38) >= TRIALS.longest_round - TRIED
        );
        cma_calls(&mut trials, 8 * TRIALS.longest_round, 29, 39);
        assert!(cma_calls(&mut trials, TRIALS.longest_round, 29, 39) <= TRIED);
    }

    #[test]
    fn a_far_slower_protocol_is_seldom_tried() {
        let tries = |bounce, cma| {
            let mut trials = ProtocolTrials::new();
            cma_calls(
                &mut trials,
                FIRST_TOUCH_CALLS + 8 * TRIALS.longest_clear_round,
                bounce,
                cma,
            );
            cma_calls(&mut trials, 8 * TRIALS.longest_clear_round, bounce, cma)
        };
        assert!((8 * TRIED..=9 * TRIED).contains(&tries(20, 40)));
        let close = 8 * TRIALS.longest_clear_round / TRIALS.longest_round;
        assert!((close * TRIED..=(close + 1) * TRIED).contains(&tries(36, 40)));
    }

    #[test]
    fn cache_contents_of_the_other_protocol_do_not_count() {
        let mut trials = ProtocolTrials::new();
        let mut cma_calls = |calls| {
            count_cma(
                &mut trials,
                (2, 4 * BLOCK),
                calls,
                |protocol, same| match protocol {
                    Candidate::Buffers if same < 2 => 180,
                    Candidate::Buffers => 91,
                    Candidate::Cma if same < 4 => 130,
                    Candidate::Cma => 81,
                },
            )
        };
        cma_calls(FIRST_TOUCH_CALLS + 8 * TRIALS.longest_clear_round);
        let run = TrialRun::of(2, 4 * BLOCK).calls();
        assert!(cma_calls(TRIALS.longest_round) >= TRIALS.longest_round - 2 * run);
    }

    #[test]
    fn lengths_of_a_class_have_the_same_trial_run() {
        for (ranks, shift) in
            (2..5).flat_map(|ranks| (SHORTEST..40).map(move |shift| (ranks, shift)))
        {
            let (first, last) = (1 << shift, (2 << shift) - 1);
            assert_eq!(length_class(first), length_class(last));
            assert_eq!(TrialRun::of(ranks, first), TrialRun::of(ranks, last));
        }
    }

    #[test]
    fn a_change_shows_in_the_next_round() {
        let mut trials = ProtocolTrials::new();
        cma_calls(
            &mut trials,
            FIRST_TOUCH_CALLS + 8 * TRIALS.longest_clear_round,
            20,
            40,
        );
        cma_calls(&mut trials, TRIALS.longest_clear_round, 40, 20);
        assert!(
            cma_calls(&mut trials, TRIALS.longest_round, 40, 20) >= TRIALS.longest_round / 4 * 3
        );
    }

    #[test]
    fn a_disturbed_trial_costs_few_calls() {
        let mut trials = ProtocolTrials::new();
        cma_calls(
            &mut trials,
            FIRST_TOUCH_CALLS + 8 * TRIALS.longest_clear_round,
            20,
            40,
        );
        while trials.of(CallKind::Bcast, BLOCK).calls > 0 {
            cma_calls(&mut trials, 1, 20, 40);
        }
        assert_eq!(cma_calls(&mut trials, TRIED, 1000, 40), 0);
        let cma_calls = cma_calls(&mut trials, TRIALS.longest_clear_round, 20, 40);
        assert!(
            (TRIALS.first_round / 2..2 * TRIALS.first_round).contains(&cma_calls),
            "{cma_calls}"
        );
    }

    #[test]
    fn first_touches_do_not_count() {
        let mut trials = ProtocolTrials::new();
        assert_eq!(cma_calls(&mut trials, FIRST_TOUCH_CALLS, 500, 40), 0);
        assert_eq!(cma_calls(&mut trials, TRIALS.first_round, 21, 40), TRIED);
    }

    #[test]
    fn a_call_that_waited_changes_nothing_if_another_did_not() {
        let mut trials = ProtocolTrials::new();
        cma_calls(&mut trials, FIRST_TOUCH_CALLS + TRIALS.first_round, 29, 39);
        let trials = trials.of(CallKind::Bcast, BLOCK);
        for time in [Duration::from_secs(1), Duration::from_micros(29)] {
            (1..TRIED).for_each(|call| {
                trials.learn(Candidate::Buffers, BLOCK, (time, call == TRIED - 1))
            });
        }
        assert_eq!(trials.choose().protocol, Candidate::Buffers);
    }

    #[test]
    fn calls_of_different_lengths_count_by_their_bytes() {
        let mut trials = LengthTrials::NEW;
        let time = Duration::from_micros(10);
        for (protocol, lengths) in [(Candidate::Buffers, [4, 1, 1]), (Candidate::Cma, [1, 1, 3])] {
            for (call, mib) in lengths.into_iter().enumerate() {
                trials.learn(protocol, mib << 20, (time, call + 1 == lengths.len()));
            }
        }
        assert_eq!(trials.costs.map(|cost| cost.cost()), [5_000, 6_000]);
    }

    #[test]
    fn lengths_and_kinds_have_protocols_of_their_own() {
        let mut trials = ProtocolTrials::new();
        let run = TrialRun::of(RANKS, 100_000);
        trials.next(CallKind::Alltoall, 100_000, run);
        for (kind, fresh) in [
            (CallKind::Alltoall, TRIALS.first_touch - 100_000),
            (CallKind::Gather, TRIALS.first_touch),
        ] {
            assert_eq!(trials.0[kind as usize].first_touch, fresh);
        }
        trials.next(CallKind::Alltoall, TRIALS.first_touch, run);
        for len in [100_000, 70_000, 140_000, u64::MAX, 100_000] {
            trials.next(CallKind::Alltoall, len, run);
        }
        let calls = |len| trials.0[CallKind::Alltoall as usize].lengths[length_class(len)].calls;
        let all = [100_000, 140_000, 300_000, u64::MAX].map(calls);
        assert_eq!(all, [3, 1, 0, 1]);
    }

    #[test]
    fn longer_calls_start_with_cma_where_it_is_far_faster() {
        let longer = |times: [u64; 2], len| {
            let mut trials = ProtocolTrials::new();
            cma_calls(
                &mut trials,
                FIRST_TOUCH_CALLS + TRIALS.first_round,
                times[0],
                times[1],
            );
            cma_calls_of_length(&mut trials, len, 10, times)
        };
        assert_eq!(longer([40, 20], 16 * BLOCK), 10);
        assert_eq!(longer([40, 38], 16 * BLOCK), 10 - FEW_TRIED);
        assert_eq!(longer([40, 20], BLOCK / 2), 10 - TRIED);
        assert_eq!(longer([20, 40], 16 * BLOCK), FEW_TRIED);
    }
}
