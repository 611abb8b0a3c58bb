//! How a long call takes its protocol: the catalog names it, or two that trials compare; the choice of rank 0, and the rest of a
//! round.

use std::time::Instant;

use oxmpi_resumable::resumable;
use oxmpi_wire::{Put, Take};

use super::call_kind::CallKind;
use super::catalog::{CallFacts, NodeProtocol, TrialRun};
use super::driver::CollectiveDriver;
use super::group::NodeGroup;
use super::pieces::PayloadPath;
use super::protocol_trials::{AnnouncedChoice, Candidate, NextCall};
use super::run::CollectiveRun;

#[resumable]
impl NodeGroup {
    /// Begins a long call of `kind` by the protocol that the [catalog](super::catalog) names, or of two by the one that was
    /// faster of late. The caller moves the bytes, and then [ends](NodeGroup::end_long) it.
    ///
    /// # Errors
    /// When a rank never arrives.
    pub(super) async fn begin_long<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (kind, call): (CallKind, CallFacts),
    ) -> Result<LongCall, D::Error> {
        let (choice, len) = (kind.choose(&self.facts(), &call), call.len);
        let begun = |protocol, timed| {
            Ok(LongCall {
                kind,
                len,
                protocol,
                timed,
            })
        };
        match choice.rival {
            None => begun(choice.protocol, None),
            Some(rival) => {
                let (candidate, timed) = self.begin_trial(driver, (kind, len)).await?;
                match candidate {
                    Candidate::Buffers => begun(rival, timed),
                    Candidate::Cma => begun(choice.protocol, timed),
                }
            }
        }
    }

    /// Which of both protocols a call takes, and what is timed of it.
    async fn begin_trial<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        (kind, len): (CallKind, u64),
    ) -> Result<(Candidate, Option<TimedCall>), D::Error> {
        let run = TrialRun::of(self.size(), len);
        let untimed = |protocol| Ok((protocol, None));
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
                Ok((
                    protocol,
                    Some(TimedCall {
                        protocol,
                        start,
                        last,
                    }),
                ))
            }
        }
    }

    /// Ends a call that [`NodeGroup::begin_long`] has begun.
    ///
    /// # Errors
    /// When a rank never arrives.
    pub(super) async fn end_long<D: CollectiveDriver>(
        &mut self,
        driver: &mut D,
        LongCall {
            kind, len, timed, ..
        }: LongCall,
    ) -> Result<(), D::Error> {
        if let Some(TimedCall {
            protocol,
            start,
            last,
        }) = timed
        {
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

/// How a long call goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongCall {
    kind: CallKind,
    len: u64,
    pub(super) protocol: NodeProtocol,
    timed: Option<TimedCall>,
}

/// A call whose time is learned.
#[derive(Clone, Copy, Debug)]
struct TimedCall {
    protocol: Candidate,
    start: Instant,
    /// Whether it is the last one of its run.
    last: bool,
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
    async fn share_choice(&mut self, chosen: AnnouncedChoice) -> Result<AnnouncedChoice, D::Error> {
        let announce = |run: &mut Self| {
            let mut payload = run.in_slot(CHOOSER, 0, 0, 1);
            payload.put_exact([chosen.to_byte()]);
            chosen
        };
        let read = |run: &mut Self| {
            let [byte] = run.in_slot(CHOOSER, 0, 0, 1).take_exact();
            AnnouncedChoice::from_byte(byte)
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
    use std::vec::Vec;

    use super::super::polling::each_rank;
    use super::*;

    #[test]
    fn no_rank_goes_on_before_the_chooser_has_read_the_clock() {
        for ranks in 2..=4 {
            let all = each_rank((ranks, ranks), |_, mut group, mut driver| {
                let mut start = |at: u64| {
                    let call = (CallKind::Gather, ENTERING, at);
                    group.common_time(&mut driver, call)
                };
                (0..200)
                    .map(|at| start(at).expect("all come"))
                    .collect::<Vec<_>>()
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
