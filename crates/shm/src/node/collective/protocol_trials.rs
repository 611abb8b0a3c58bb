//! Which way long calls go: learned from the time that each takes.
//!
//! PayloadPath cells each byte is copied twice, and ranks write what others read; straight from
//! the other's memory it is copied once, page by page. Between two Zen 4 processors that share a cache
//! 256 KiB each way take 29 us through cells and 39 directly, between two that do not 49 and 38; an
//! alltoall of 64 KiB of four ranks on two of Zen 5 takes 21 us through cells and 40 directly. Where
//! processors lie is not told to guests, and changes.
//!
//! So calls of a kind and about a length are counted in rounds, once cells have been touched. A round begins with a
//! row of calls each way, but for the first one of a length where shorter ones go from memory by far faster. All
//! ranks come together before the first of a row that is timed and after its last, and go on when rank 0 has looked at the
//! clock. So it can tell how long these took: not each of them, since through cells one call begins before all are
//! through with the one before. It then tells the others which way the rest of the round goes, in which nobody waits for
//! that, and whether the next may be long, since the other way is far slower.

use std::time::{Duration, Instant};

use oxmpi_wire::{Put, Take};

use super::group::{CollectiveDriver, NodeGroup};
use super::pieces::PayloadPath;
use super::run::{CALL_KINDS, CallKind, CollectiveRun};

/// A way of a long call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CollectiveProtocol {
    /// In and out of cells.
    Bounce,
    /// From or to the other's memory.
    Cma,
}

/// Calls one way at the start of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TrialRun {
    /// The first ones, which find in the caches what the other way has left there, and are not timed.
    settling: u32,
    /// Those that are timed.
    timed: u32,
}

impl TrialRun {
    /// Of calls of `ranks` ranks on blocks of `len` bytes.
    const fn of(ranks: usize, len: u64) -> Self {
        let (settling, timed) = match (ranks, len) {
            (_, ..LONG) => (1, 3),
            // Between two far Zen 4 processors a broadcast of 1 MiB takes 81 us from memory and 91 through cells; but the
            // first four from memory after others through cells take 100 to 140, and the first two the other way 150 to 220.
            (2, LONG..STAYING) => (4, 4),
            // One takes longer than what disturbs it, and a row of the slower way more than it tells.
            _ => (1, 2),
        };
        Self { settling, timed }
    }

    const fn calls(self) -> u32 {
        self.settling + self.timed
    }
}

/// Blocks of so many bytes are long.
const LONG: u64 = 512 << 10;

/// Shorter blocks of two ranks stay in the caches from call to call.
const STAYING: u64 = 2 << 20;

/// Bytes of the calls of a kind through cells before the first round: each cell that is first touched takes longer
/// than ever after.
const FRESH: u64 = 1 << 20;

/// Calls of the first round and of the longest: each has twice as many as the one before. Of the longest one of
/// 32 goes the slower way, so where that is [far](ProtocolChoice::is_clear) slower, one of 256.
const FIRST_ROUND: u32 = 32;
const ROUND: u32 = 128;
const CLEAR_ROUND: u32 = 1024;

/// A way that takes so many quarters of the other's time is far slower.
const CLEAR: u64 = 5;

/// What a rank knows of calls of one kind and about one length.
#[derive(Clone, Copy, Debug)]
struct LengthTrials {
    /// Nanoseconds that a MiB takes, through cells and from memory; 0: not tried yet.
    times: [u64; 2],
    /// Calls of this round so far.
    calls: u32,
    /// Calls that it has.
    round: u32,
    /// What the timed calls of this row took so far, and their bytes.
    spent: (Duration, u64),
    /// What was told last, by which the rest of the round goes; `None`: nothing yet.
    choice: Option<ProtocolChoice>,
}

/// What is told when both ways have been tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProtocolChoice {
    /// The way of the rest of the round.
    protocol: CollectiveProtocol,
    /// Whether the other way is far slower.
    is_clear: bool,
}

impl ProtocolChoice {
    /// As it is told in a byte.
    const fn to_byte(self) -> u8 {
        (self.is_clear as u8) << 1 | self.protocol as u8
    }

    /// What a byte tells.
    const fn from_byte(byte: u8) -> Self {
        Self {
            protocol: if byte & 1 == 0 {
                CollectiveProtocol::Bounce
            } else {
                CollectiveProtocol::Cma
            },
            is_clear: byte >> 1 & 1 > 0,
        }
    }
}

/// How a call goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextCall {
    /// This way, as number so much of a row.
    Trial(CollectiveProtocol, u32),
    /// As rank 0 tells, like all calls until the next trial.
    Agree,
    /// As it has told.
    Settled(CollectiveProtocol),
}

impl LengthTrials {
    /// Nothing is known.
    const NEW: Self = Self {
        times: [0; 2],
        calls: 0,
        round: FIRST_ROUND,
        spent: (Duration::ZERO, 0),
        choice: None,
    };

    /// How the next call goes, trials being in such a `row`.
    fn next(&mut self, row: TrialRun) -> NextCall {
        let call = self.calls;
        self.calls += 1;
        if self.calls == self.round {
            self.calls = 0;
            let is_clear = self.choice.is_some_and(|choice| choice.is_clear);
            self.round = (self.round * 2).min(if is_clear { CLEAR_ROUND } else { ROUND });
        }
        let row = row.calls();
        match (call / row, self.choice) {
            (0, _) => NextCall::Trial(CollectiveProtocol::Bounce, call),
            (1, _) => NextCall::Trial(CollectiveProtocol::Cma, call - row),
            (_, Some(choice)) if call > 2 * row => NextCall::Settled(choice.protocol),
            _ => NextCall::Agree,
        }
    }

    /// The first round has no trial, in such a `row`: it is `known` how the calls go.
    fn start(&mut self, known: ProtocolChoice, row: TrialRun) {
        self.calls = 2 * row.calls() + 1;
        self.choice = Some(known);
    }

    /// A call of `len` bytes of a row has taken so long, which counts when it was the `last`. They may have waited
    /// for a rank that computes, or for another program, so a longer time than was known counts half, and a
    /// shorter one wholly.
    fn learn(&mut self, protocol: CollectiveProtocol, len: u64, (time, last): (Duration, bool)) {
        self.spent.0 += time;
        self.spent.1 = self.spent.1.saturating_add(len);
        if !last {
            return;
        }
        let (time, bytes) = std::mem::take(&mut self.spent);
        let time = time.as_nanos().saturating_mul(1 << 20) / u128::from(bytes.max(1));
        let time = u64::try_from(time).unwrap_or(u64::MAX).max(1);
        let known = &mut self.times[protocol as usize];
        *known = match *known {
            0 => time,
            known => time.min(known.midpoint(time)),
        };
    }

    /// The rest of the round goes as was told. If that is another way than before, the next trial comes soon: what
    /// was slow may have been disturbed.
    fn follow(&mut self, choice: ProtocolChoice) {
        if self
            .choice
            .is_some_and(|before| before.protocol != choice.protocol)
        {
            self.round = FIRST_ROUND;
        }
        self.choice = Some(choice);
    }

    /// The faster way, as far as is known.
    fn choose(&self) -> ProtocolChoice {
        let [cells, memory] = self.times;
        let protocol = match memory < cells {
            true => CollectiveProtocol::Cma,
            false => CollectiveProtocol::Bounce,
        };
        let [faster, slower] = [cells.min(memory), cells.max(memory)];
        ProtocolChoice {
            protocol,
            is_clear: slower.saturating_mul(4) > faster.saturating_mul(CLEAR),
        }
    }
}

/// What a rank knows of the ways of all calls.
#[derive(Debug)]
pub(super) struct ProtocolTrials([KindTrials; CALL_KINDS]);

/// What it knows of calls of one kind.
#[derive(Clone, Copy, Debug)]
struct KindTrials {
    /// Bytes left before the first round.
    fresh: u64,
    /// By the logarithm of their length.
    habits: [LengthTrials; LENGTHS],
}

/// The logarithms of lengths that are told apart; shorter and longer ones are as the first and the last.
const SHORTEST: u32 = 16;
const LENGTHS: usize = 16;

impl ProtocolTrials {
    /// Nothing is known.
    pub(super) const fn new() -> Self {
        let nothing = KindTrials {
            fresh: FRESH,
            habits: [LengthTrials::NEW; LENGTHS],
        };
        Self([nothing; CALL_KINDS])
    }

    /// How the next call of `kind` goes, of blocks of `len` bytes, trials being in such a `row`.
    fn next(&mut self, kind: CallKind, len: u64, row: TrialRun) -> NextCall {
        let KindTrials { fresh, habits } = &mut self.0[kind as usize];
        if *fresh > 0 {
            *fresh = fresh.saturating_sub(len);
            return NextCall::Settled(CollectiveProtocol::Bounce);
        }
        let (shorter, rest) = habits.split_at_mut(class(len));
        let habit = &mut rest[0];
        if habit.choice.is_none() && habit.calls == 0 {
            // The longer a block, the less it matters that the kernel must be asked.
            let nearest = shorter.iter().rev().find_map(|habit| habit.choice);
            if let Some(known) =
                nearest.filter(|it| it.protocol == CollectiveProtocol::Cma && it.is_clear)
            {
                habit.start(known, row);
            }
        }
        habit.next(row)
    }

    fn of(&mut self, kind: CallKind, len: u64) -> &mut LengthTrials {
        &mut self.0[kind as usize].habits[class(len)]
    }
}

/// Where blocks of `len` bytes stand among lengths that are told apart.
fn class(len: u64) -> usize {
    let length = len.checked_ilog2().unwrap_or(0).saturating_sub(SHORTEST) as usize;
    length.min(LENGTHS - 1)
}

impl NodeGroup {
    /// Runs a call on blocks of `len` bytes, of this kind, by `go` on the way that was faster of late.
    ///
    /// # Errors
    /// As `go`, or when a rank never comes.
    // Not inlined, so that a short call, which does not come here, has the registers.
    #[inline(never)]
    pub(super) fn by_best_protocol<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (kind, len): (CallKind, u64),
        go: impl FnOnce(&mut Self, &mut D, CollectiveProtocol) -> Result<(), D::Error>,
    ) -> Result<(), D::Error> {
        let row = TrialRun::of(self.size(), len);
        match self.roads.next(kind, len, row) {
            NextCall::Settled(protocol) => go(self, driver, protocol),
            NextCall::Agree => {
                let chosen = self.roads.of(kind, len).choose();
                let choice =
                    CollectiveRun::new(self, driver, (kind, CHOICE, len), PayloadPath::Slots)
                        .share_choice(chosen)?;
                self.roads.of(kind, len).follow(choice);
                go(self, driver, choice.protocol)
            }
            NextCall::Trial(protocol, call) if call < row.settling => go(self, driver, protocol),
            NextCall::Trial(protocol, call) => {
                let clock = |team: &mut Self, driver: &mut D, stage| {
                    CollectiveRun::new(team, driver, (kind, stage, len), PayloadPath::Slots)
                        .meet_for_the_clock()
                };
                let start = match call == row.settling {
                    true => clock(self, driver, ENTERING)?,
                    false => Instant::now(),
                };
                go(self, driver, protocol)?;
                let last = call == row.calls() - 1;
                let end = match last {
                    true => clock(self, driver, LEAVING)?,
                    false => Instant::now(),
                };
                let time = (end.duration_since(start), last);
                self.roads.of(kind, len).learn(protocol, len, time);
                Ok(())
            }
        }
    }
}

/// Who tells the way.
const CHOOSER: usize = 0;

/// Stand for the root in the marks of the steps between calls: no rank has such a number.
const CHOICE: usize = 1 << 7;
const ENTERING: usize = CHOICE | 1;
const LEAVING: usize = CHOICE | 2;

impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    /// All come to the first step, and go on when the chooser has looked at the clock: what it saw, for the chooser. Were each
    /// to go on when it sees the others, those that share the chooser's processor might do much of the next call before.
    fn meet_for_the_clock(&mut self) -> Result<Instant, D::Error> {
        self.all_tell(CHOOSER, 0)?;
        self.chooser_tells(1, |_| Instant::now(), |_| Instant::now())
    }

    /// What the chooser tells all others, who has `chosen` it.
    fn share_choice(&mut self, chosen: ProtocolChoice) -> Result<ProtocolChoice, D::Error> {
        let tell = |run: &mut Self| {
            let mut payload = run.in_slot(CHOOSER, 0, 0, 1);
            payload.put_exact([chosen.to_byte()]);
            chosen
        };
        let hear = |run: &mut Self| {
            let [byte] = run.in_slot(CHOOSER, 0, 0, 1).take_exact();
            ProtocolChoice::from_byte(byte)
        };
        self.chooser_tells(0, tell, hear)
    }

    /// In `step` the chooser tells something, and the others hear it.
    fn chooser_tells<T>(
        &mut self,
        step: u64,
        tell: impl FnOnce(&mut Self) -> T,
        hear: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, D::Error> {
        self.one_writes(step, CHOOSER);
        let told = if self.team.me == CHOOSER {
            self.room(step)?;
            let told = tell(self);
            self.publish(step);
            self.wake_all();
            told
        } else {
            self.wait_for(CHOOSER, step)?;
            hear(self)
        };
        self.finish(step);
        Ok(told)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread::yield_now;
    use std::vec::Vec;

    use oxmpi_os::RawBytes;
    use oxmpi_os::memory::Memfd;

    use super::super::awaited::{AwaitedSteps, NeverComes};
    use super::*;
    use crate::segment::{Segment, SegmentLayout};

    /// Bytes of a block.
    const BLOCK: u64 = 1 << 18;
    const TRIED: u32 = TrialRun::of(RANKS, BLOCK).calls();
    const FEW_TRIED: u32 = TrialRun::of(RANKS, 16 * BLOCK).calls();
    const RANKS: usize = 3;
    const CALLS_FRESH: u32 = (FRESH / BLOCK) as u32;

    /// Of `calls` calls of so many ranks on blocks of `len` bytes, how many went from memory, where a block takes so many
    /// microseconds, by its way and how many calls before it went the same.
    fn of_calls(
        roads: &mut ProtocolTrials,
        (ranks, len): (usize, u64),
        calls: u32,
        time: impl Fn(CollectiveProtocol, u32) -> u64,
    ) -> u32 {
        let row = TrialRun::of(ranks, len);
        let (mut from_memory, mut before, mut same) = (0, CollectiveProtocol::Bounce, 0);
        for _ in 0..calls {
            let turn = roads.next(CallKind::Bcast, len, row);
            let habit = roads.of(CallKind::Bcast, len);
            let (protocol, call) = match turn {
                NextCall::Trial(protocol, call) => (protocol, call),
                NextCall::Settled(protocol) => (protocol, 0),
                NextCall::Agree => {
                    let choice = ProtocolChoice::from_byte(habit.choose().to_byte());
                    habit.follow(choice);
                    (choice.protocol, 0)
                }
            };
            same = if protocol == before { same + 1 } else { 0 };
            before = protocol;
            from_memory += u32::from(protocol == CollectiveProtocol::Cma);
            if call >= row.settling {
                let time = Duration::from_micros(time(protocol, same));
                habit.learn(protocol, len, (time, call == row.calls() - 1));
            }
        }
        from_memory
    }

    /// The same of some ranks, where each call takes as long as the others that way.
    fn of_length(roads: &mut ProtocolTrials, len: u64, calls: u32, times: [u64; 2]) -> u32 {
        of_calls(roads, (RANKS, len), calls, |protocol, _| {
            times[protocol as usize]
        })
    }

    /// The same of blocks of one length.
    fn from_memory(roads: &mut ProtocolTrials, calls: u32, cells: u64, memory: u64) -> u32 {
        of_length(roads, BLOCK, calls, [cells, memory])
    }

    #[test]
    fn the_faster_way_is_taken_and_changes() {
        let mut roads = ProtocolTrials::new();
        assert!(from_memory(&mut roads, 4 * ROUND, 29, 35) <= 8 * TRIED);
        from_memory(&mut roads, 8 * ROUND, 45, 38);
        assert_eq!(from_memory(&mut roads, ROUND, 45, 38), ROUND - TRIED);
        from_memory(&mut roads, 8 * ROUND, 29, 35);
        assert_eq!(from_memory(&mut roads, ROUND, 29, 35), TRIED);
        // Where one is far slower, it is tried no more often.
        assert!(from_memory(&mut roads, 4 * ROUND, 29, 39) <= 8 * TRIED);
        from_memory(&mut roads, 8 * ROUND, 49, 38);
        assert!(from_memory(&mut roads, ROUND, 49, 38) >= ROUND - TRIED);
        from_memory(&mut roads, 8 * ROUND, 29, 39);
        assert!(from_memory(&mut roads, ROUND, 29, 39) <= TRIED);
    }

    #[test]
    fn a_way_that_is_far_slower_is_seldom_tried() {
        let tries = |cells, memory| {
            let mut roads = ProtocolTrials::new();
            from_memory(&mut roads, CALLS_FRESH + 8 * CLEAR_ROUND, cells, memory);
            from_memory(&mut roads, 8 * CLEAR_ROUND, cells, memory)
        };
        assert!((8 * TRIED..=9 * TRIED).contains(&tries(20, 40)));
        let close = 8 * CLEAR_ROUND / ROUND;
        assert!((close * TRIED..=(close + 1) * TRIED).contains(&tries(36, 40)));
    }

    #[test]
    fn what_the_other_way_left_in_the_caches_does_not_count() {
        let mut roads = ProtocolTrials::new();
        let mut from_memory = |calls| {
            of_calls(
                &mut roads,
                (2, 4 * BLOCK),
                calls,
                |protocol, same| match protocol {
                    CollectiveProtocol::Bounce if same < 2 => 180,
                    CollectiveProtocol::Bounce => 91,
                    CollectiveProtocol::Cma if same < 4 => 130,
                    CollectiveProtocol::Cma => 81,
                },
            )
        };
        from_memory(CALLS_FRESH + 8 * CLEAR_ROUND);
        let row = TrialRun::of(2, 4 * BLOCK).calls();
        assert!(from_memory(ROUND) >= ROUND - 2 * row);
    }

    #[test]
    fn lengths_that_are_not_told_apart_have_the_same_row() {
        for (ranks, shift) in (2..5).flat_map(|ranks| (SHORTEST..40).map(move |it| (ranks, it))) {
            let (first, last) = (1 << shift, (2 << shift) - 1);
            assert_eq!(class(first), class(last));
            assert_eq!(TrialRun::of(ranks, first), TrialRun::of(ranks, last));
        }
    }

    #[test]
    fn what_has_changed_shows_in_the_next_round() {
        let mut roads = ProtocolTrials::new();
        from_memory(&mut roads, CALLS_FRESH + 8 * CLEAR_ROUND, 20, 40);
        from_memory(&mut roads, CLEAR_ROUND, 40, 20);
        assert!(from_memory(&mut roads, ROUND, 40, 20) >= ROUND / 4 * 3);
    }

    #[test]
    fn a_trial_that_was_disturbed_costs_few_calls() {
        let mut roads = ProtocolTrials::new();
        from_memory(&mut roads, CALLS_FRESH + 8 * CLEAR_ROUND, 20, 40);
        while roads.of(CallKind::Bcast, BLOCK).calls > 0 {
            from_memory(&mut roads, 1, 20, 40);
        }
        assert_eq!(from_memory(&mut roads, TRIED, 1000, 40), 0);
        let from_memory = from_memory(&mut roads, CLEAR_ROUND, 20, 40);
        assert!(
            (FIRST_ROUND / 2..2 * FIRST_ROUND).contains(&from_memory),
            "{from_memory}"
        );
    }

    #[test]
    fn what_is_first_touched_does_not_count() {
        let mut roads = ProtocolTrials::new();
        assert_eq!(from_memory(&mut roads, CALLS_FRESH, 500, 40), 0);
        assert_eq!(from_memory(&mut roads, FIRST_ROUND, 21, 40), TRIED);
    }

    #[test]
    fn a_call_that_waited_changes_nothing_where_another_did_not() {
        let mut roads = ProtocolTrials::new();
        from_memory(&mut roads, CALLS_FRESH + FIRST_ROUND, 29, 39);
        let habit = roads.of(CallKind::Bcast, BLOCK);
        for time in [Duration::from_secs(1), Duration::from_micros(29)] {
            (1..TRIED).for_each(|call| {
                habit.learn(CollectiveProtocol::Bounce, BLOCK, (time, call == TRIED - 1))
            });
        }
        assert_eq!(habit.choose().protocol, CollectiveProtocol::Bounce);
    }

    #[test]
    fn a_row_of_calls_of_different_lengths_counts_by_its_bytes() {
        let mut habit = LengthTrials::NEW;
        let time = Duration::from_micros(10);
        for (protocol, lengths) in [
            (CollectiveProtocol::Bounce, [4, 1, 1]),
            (CollectiveProtocol::Cma, [1, 1, 3]),
        ] {
            for (call, mib) in lengths.into_iter().enumerate() {
                habit.learn(protocol, mib << 20, (time, call + 1 == lengths.len()));
            }
        }
        assert_eq!(habit.times, [5_000, 6_000]);
    }

    #[test]
    fn lengths_and_kinds_have_ways_of_their_own() {
        let mut roads = ProtocolTrials::new();
        let row = TrialRun::of(RANKS, 100_000);
        roads.next(CallKind::Alltoall, 100_000, row);
        for (kind, fresh) in [
            (CallKind::Alltoall, FRESH - 100_000),
            (CallKind::Gather, FRESH),
        ] {
            assert_eq!(roads.0[kind as usize].fresh, fresh);
        }
        roads.next(CallKind::Alltoall, FRESH, row);
        for len in [100_000, 70_000, 140_000, u64::MAX, 100_000] {
            roads.next(CallKind::Alltoall, len, row);
        }
        let calls = |len| roads.0[CallKind::Alltoall as usize].habits[class(len)].calls;
        let all = [100_000, 140_000, 300_000, u64::MAX].map(calls);
        assert_eq!(all, [3, 1, 0, 1]);
    }

    #[test]
    fn what_is_far_faster_from_memory_is_so_at_first_where_longer() {
        let longer = |times: [u64; 2], len| {
            let mut roads = ProtocolTrials::new();
            from_memory(&mut roads, CALLS_FRESH + FIRST_ROUND, times[0], times[1]);
            of_length(&mut roads, len, 10, times)
        };
        assert_eq!(longer([40, 20], 16 * BLOCK), 10);
        assert_eq!(longer([40, 38], 16 * BLOCK), 10 - FEW_TRIED);
        assert_eq!(longer([40, 20], BLOCK / 2), 10 - TRIED);
        assert_eq!(longer([20, 40], 16 * BLOCK), FEW_TRIED);
    }

    /// After so long whoever waits gives up, as another thread has.
    const WATCHDOG: Duration = Duration::from_secs(60);

    /// Waits by looking again and again.
    struct Looking<'a>(&'a Segment);

    impl CollectiveDriver for Looking<'_> {
        type Error = (u32, NeverComes);

        fn polls(&self) -> u32 {
            0
        }

        fn wait(&mut self, mut awaited: AwaitedSteps) -> Result<(), (u32, NeverComes)> {
            let start = Instant::now();
            while awaited.missing() != 0 {
                assert!(start.elapsed() < WATCHDOG, "{awaited:?}");
                yield_now();
                awaited.look(self.0)?;
            }
            Ok(())
        }

        fn yield_to_colocated(&mut self) {}

        fn unreadable(&mut self, rank: u32) -> (u32, NeverComes) {
            unreachable!("nobody reads rank {rank}")
        }

        fn wake(&mut self, _: u64) {}

        fn fold(&mut self, _: RawBytes, _: RawBytes) {}

        fn fold_left(&mut self, _: RawBytes, _: RawBytes) {}
    }

    #[test]
    fn nobody_goes_on_before_the_chooser_has_looked_at_the_clock() {
        for ranks in 2..=4 {
            let layout = SegmentLayout::new(ranks);
            let memory = Memfd::create("oxmpi-test", layout.file_len()).unwrap();
            let starts = |rank: u32| {
                let segment = Arc::new(Segment::map(&memory, layout, rank).unwrap());
                let mut team =
                    NodeGroup::new(&segment, 0, 0..ranks, rank as usize).expect("there is memory");
                let mut driver = Looking(&segment);
                let mut start = |at: u64| {
                    let call = (CallKind::Gather, ENTERING, at);
                    CollectiveRun::new(&mut team, &mut driver, call, PayloadPath::Slots)
                        .meet_for_the_clock()
                };
                (0..200)
                    .map(|at| start(at).expect("all come"))
                    .collect::<Vec<_>>()
            };
            let all: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..ranks)
                    .map(|rank| scope.spawn(move || starts(rank)))
                    .collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap())
                    .collect()
            });
            let (chooser, others) = all.split_first().expect("there are ranks");
            for (at, start) in chooser.iter().enumerate() {
                assert!(
                    others.iter().all(|other| start <= &other[at]),
                    "{ranks} ranks, row {at}"
                );
            }
        }
    }
}
