//! The happens-before relation of all ranks' scripts, computed by an exhaustive search without the
//! checker's code.

use std::collections::{HashMap, HashSet};

use oxmpi_coll::plan::Act;

use crate::common::script::Step;

/// An act: its rank, step, and index in the step.
type ActIndex = (usize, usize, usize);

/// An event of a rank's step.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum StepEvent {
    /// The step starts.
    Start(usize, usize),
    /// All acts of the step are done.
    End(usize, usize),
}

/// The scripts of all ranks, and for each act of a message the act at the other rank.
pub(crate) struct HappensBefore<'a> {
    scripts: &'a [Vec<Step>],
    partners: HashMap<ActIndex, ActIndex>,
}

/// The acts of all messages with one sender, receiver and tag, in order.
#[derive(Default)]
struct MessageActs {
    sent: Vec<ActIndex>,
    received: Vec<ActIndex>,
    /// Acts that ask for a length, with the number of receives before them.
    sized: Vec<(ActIndex, usize)>,
}

impl<'a> HappensBefore<'a> {
    /// Pairs sends and receives. `None` if a message lacks one of the two.
    pub(crate) fn new(scripts: &'a [Vec<Step>]) -> Option<Self> {
        let mut messages: HashMap<_, MessageActs> = HashMap::new();
        for (rank, script) in scripts.iter().enumerate() {
            for (step, (_, acts)) in script.iter().enumerate() {
                for (at, act) in acts.iter().enumerate() {
                    let act_index = (rank, step, at);
                    let key = match *act {
                        Act::Send { to, tag, .. } => (rank, to as usize, tag),
                        Act::Recv { from, tag, .. } | Act::Size { from, tag, .. } => {
                            (from as usize, rank, tag)
                        }
                        _ => continue,
                    };
                    let message = messages.entry(key).or_default();
                    match act {
                        Act::Send { .. } => message.sent.push(act_index),
                        Act::Recv { .. } => message.received.push(act_index),
                        _ => message.sized.push((act_index, message.received.len())),
                    }
                }
            }
        }
        let mut partners = HashMap::new();
        for message in messages.into_values() {
            if message.sent.len() != message.received.len() {
                return None;
            }
            for (&one, &other) in message.sent.iter().zip(&message.received) {
                partners.extend([(one, other), (other, one)]);
            }
            for (act_index, number) in message.sized {
                partners.insert(act_index, *message.sent.get(number)?);
            }
        }
        Some(HappensBefore { scripts, partners })
    }

    /// The events that directly precede `moment`. With `kept`, a send completes before its receive has
    /// started, as over a transport that buffers.
    fn before(&self, moment: StepEvent, kept: bool) -> Vec<StepEvent> {
        let (rank, step) = match moment {
            StepEvent::Start(rank, step) => {
                let needs = self.scripts[rank][step].0 as usize;
                let needed = (0..needs).map(|other| StepEvent::End(rank, other));
                let last = step.checked_sub(1).map(|last| StepEvent::Start(rank, last));
                return needed.chain(last).collect();
            }
            StepEvent::End(rank, step) => (rank, step),
        };
        let acts = self.scripts[rank][step].1.iter().enumerate();
        let other = |(at, act): (usize, &Act)| match act {
            Act::Send { .. } if kept => None,
            _ => self.partners.get(&(rank, step, at)),
        };
        let started = |&(rank, step, _): &ActIndex| StepEvent::Start(rank, step);
        let own = [StepEvent::Start(rank, step)];
        acts.filter_map(other).map(started).chain(own).collect()
    }

    fn moments(&self) -> Vec<StepEvent> {
        let steps = |rank: usize| (0..self.scripts[rank].len()).map(move |step| (rank, step));
        let steps = (0..self.scripts.len()).flat_map(steps);
        let both = |(rank, step)| [StepEvent::Start(rank, step), StepEvent::End(rank, step)];
        steps.flat_map(both).collect()
    }

    /// Whether every rank ends over a transport that buffers no message.
    pub(crate) fn end(&self) -> bool {
        let mut left = self.moments();
        let mut happened = HashSet::new();
        loop {
            let before = left.len();
            left.retain(|&moment| {
                let ready = self.before(moment, false);
                let happens = ready.iter().all(|one| happened.contains(one));
                if happens {
                    happened.insert(moment);
                }
                !happens
            });
            if left.is_empty() || left.len() == before {
                return left.is_empty();
            }
        }
    }

    /// Whether every rank has entered before any rank leaves, over a transport that buffers messages.
    pub(crate) fn enter_first(&self) -> bool {
        let ranks = 0..self.scripts.len();
        ranks.clone().all(|rank| {
            let before = self.before_leaving(rank);
            ranks
                .clone()
                .all(|other| before.contains(&StepEvent::Start(other, 0)))
        })
    }

    /// All events that precede the rank's leaving.
    fn before_leaving(&self, rank: usize) -> HashSet<StepEvent> {
        let steps = 0..self.scripts[rank].len();
        let mut open: Vec<_> = steps.map(|step| StepEvent::End(rank, step)).collect();
        let mut before = HashSet::new();
        while let Some(moment) = open.pop() {
            if before.insert(moment) {
                open.extend(self.before(moment, true));
            }
        }
        before
    }
}
