//! How a long call takes its protocol: trials, the choice of rank 0, and the rest of a round.

use std::time::Instant;

use oxmpi_resumable::resumable;
use oxmpi_wire::{Put, Take};

use super::call_kind::CallKind;
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::pieces::PayloadPath;
use super::protocol_trials::{CollectiveProtocol, NextCall, ProtocolChoice, TrialRun};
use super::run::CollectiveRun;

#[resumable]
impl NodeGroup {
    /// Begins a call of `kind` on blocks of `len` bytes by the protocol that was faster of late. The caller moves the bytes,
    /// and then [ends](NodeGroup::end_trial) it.
    ///
    /// # Errors
    /// When a rank never arrives.
    pub(super) async fn begin_trial<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (kind, len): (CallKind, u64),
    ) -> Result<Trial, D::Error> {
        let run = TrialRun::of(self.size(), len);
        let untimed = |protocol| {
            Ok(Trial {
                protocol,
                timed: None,
            })
        };
        match self.trials.next(kind, len, run) {
            NextCall::Settled(protocol) => untimed(protocol),
            NextCall::Agree => {
                let chosen = self.trials.of(kind, len).choose();
                let call = (kind, CHOICE, len);
                let choice = CollectiveRun::new(self, driver, call, PayloadPath::Slots)
                    .share_choice(chosen)
                    .await?;
                self.trials.of(kind, len).follow(choice);
                untimed(choice.protocol)
            }
            NextCall::Trial(protocol, call) if call < run.warmup => untimed(protocol),
            NextCall::Trial(protocol, call) => {
                let start = match call == run.warmup {
                    true => self.common_time(driver, (kind, ENTERING, len)).await?,
                    false => Instant::now(),
                };
                let last = call == run.calls() - 1;
                Ok(Trial {
                    protocol,
                    timed: Some((start, last)),
                })
            }
        }
    }

    /// Ends a call that [`NodeGroup::begin_trial`] has begun.
    ///
    /// # Errors
    /// When a rank never arrives.
    pub(super) async fn end_trial<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (kind, len): (CallKind, u64),
        Trial { protocol, timed }: Trial,
    ) -> Result<(), D::Error> {
        if let Some((start, last)) = timed {
            let end = match last {
                true => self.common_time(driver, (kind, LEAVING, len)).await?,
                false => Instant::now(),
            };
            let time = (end.duration_since(start), last);
            self.trials.of(kind, len).learn(protocol, len, time);
        }
        Ok(())
    }

    /// The time when all ranks have met; see [`CollectiveRun::synchronise_clock`].
    async fn common_time<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        call: (CallKind, usize, u64),
    ) -> Result<Instant, D::Error> {
        CollectiveRun::new(self, driver, call, PayloadPath::Slots)
            .synchronise_clock()
            .await
    }
}

/// How a call goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) protocol: CollectiveProtocol,
    /// When a timed call began, and whether it is the last of its run.
    timed: Option<(Instant, bool)>,
}

/// The rank that announces the protocol.
const CHOOSER: usize = 0;

/// In the marks of the steps between calls, in place of a root: no rank has such a number.
const CHOICE: usize = 1 << 7;
const ENTERING: usize = CHOICE | 1;
const LEAVING: usize = CHOICE | 2;

#[resumable]
impl<D: CollectiveDriver> CollectiveRun<'_, D> {
    /// All ranks meet in the first step, and go on when the chooser has read the clock; returns its time to
    /// the chooser. Were each rank to go on when it sees the others, those on the chooser's processor might
    /// do much of the next call before.
    async fn synchronise_clock(&mut self) -> Result<Instant, D::Error> {
        self.report_to_root(CHOOSER, 0).await?;
        self.chooser_writes(1, |_| Instant::now(), |_| Instant::now())
            .await
    }

    /// Announces the choice of the chooser, `chosen`, to all others, and returns it.
    async fn share_choice(&mut self, chosen: ProtocolChoice) -> Result<ProtocolChoice, D::Error> {
        let announce = |run: &mut Self| {
            let mut payload = run.in_slot(CHOOSER, 0, 0, 1);
            payload.put_exact([chosen.to_byte()]);
            chosen
        };
        let read = |run: &mut Self| {
            let [byte] = run.in_slot(CHOOSER, 0, 0, 1).take_exact();
            ProtocolChoice::from_byte(byte)
        };
        self.chooser_writes(0, announce, read).await
    }

    /// Runs `announce` on the chooser in `step`, and `read` on the others after it.
    async fn chooser_writes<T>(
        &mut self,
        step: u64,
        announce: impl FnOnce(&mut Self) -> T,
        read: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, D::Error> {
        self.one_writes(step, CHOOSER);
        let result = if self.group.me == CHOOSER {
            self.wait_until_free(step).await?;
            let result = announce(self);
            self.publish(step);
            self.wake_all();
            result
        } else {
            self.wait_for(CHOOSER, step).await?;
            read(self)
        };
        self.finish(step);
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::Poll;
    use std::thread::yield_now;
    use std::time::Duration;
    use std::vec::Vec;

    use oxmpi_os::RawBytes;
    use oxmpi_os::memory::Memfd;

    use super::super::awaited::{AwaitedSteps, StepLost};
    use super::*;
    use crate::segment::{Segment, SegmentLayout};

    /// A wait ends after this time, since another thread has failed.
    const WATCHDOG: Duration = Duration::from_secs(60);

    /// Waits by polling.
    struct Polling<'a>(&'a Segment);

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

    #[test]
    fn no_rank_goes_on_before_the_chooser_has_read_the_clock() {
        for ranks in 2..=4 {
            let layout = SegmentLayout::new(ranks);
            let memory = Memfd::create("oxmpi-test", layout.file_len()).unwrap();
            let starts = |rank: u32| {
                let segment = Arc::new(Segment::map(&memory, layout, rank).unwrap());
                let mut group =
                    NodeGroup::new(&segment, 0, 0..ranks, rank as usize).expect("there is memory");
                let mut driver = Polling(&segment);
                let mut start = |at: u64| {
                    let call = (CallKind::Gather, ENTERING, at);
                    group.common_time(&mut driver, call)
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
                    "{ranks} ranks, run {at}"
                );
            }
        }
    }
}
