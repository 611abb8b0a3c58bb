//! What waits for what when all ranks run their scripts: a slow search, which knows nothing of the
//! checker.

use std::collections::{HashMap, HashSet};

use oxmpi_coll::plan::Act;

use super::script::Step;

/// An act: its rank, its step, and its place there.
type Place = (usize, usize, usize);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Moment {
    /// A rank's step starts.
    Start(usize, usize),
    /// All acts of a rank's step are done.
    End(usize, usize),
}

/// What the ranks do, and which acts belong to one message.
pub(crate) struct Waits<'a> {
    scripts: &'a [Vec<Step>],
    others: HashMap<Place, Place>,
}

/// The acts of the messages from one rank to another with one tag.
#[derive(Default)]
struct Way {
    sent: Vec<Place>,
    received: Vec<Place>,
    /// Where a length is asked for, and how many messages were received before.
    sized: Vec<(Place, usize)>,
}

impl<'a> Waits<'a> {
    /// `None` where a message has one end only.
    pub(crate) fn new(scripts: &'a [Vec<Step>]) -> Option<Self> {
        let mut ways: HashMap<_, Way> = HashMap::new();
        for (rank, script) in scripts.iter().enumerate() {
            for (step, (_, acts)) in script.iter().enumerate() {
                for (at, act) in acts.iter().enumerate() {
                    let place = (rank, step, at);
                    let key = match *act {
                        Act::Send { to, tag, .. } => (rank, to as usize, tag),
                        Act::Recv { from, tag, .. } | Act::Size { from, tag, .. } => {
                            (from as usize, rank, tag)
                        }
                        _ => continue,
                    };
                    let way = ways.entry(key).or_default();
                    match act {
                        Act::Send { .. } => way.sent.push(place),
                        Act::Recv { .. } => way.received.push(place),
                        _ => way.sized.push((place, way.received.len())),
                    }
                }
            }
        }
        let mut others = HashMap::new();
        for way in ways.into_values() {
            if way.sent.len() != way.received.len() {
                return None;
            }
            for (&one, &other) in way.sent.iter().zip(&way.received) {
                others.extend([(one, other), (other, one)]);
            }
            for (place, number) in way.sized {
                others.insert(place, *way.sent.get(number)?);
            }
        }
        Some(Waits { scripts, others })
    }

    /// What happens before a moment. `kept`: a message is sent although its receive has not started,
    /// as the transport keeps it.
    fn before(&self, moment: Moment, kept: bool) -> Vec<Moment> {
        let (rank, step) = match moment {
            Moment::Start(rank, step) => {
                let needs = self.scripts[rank][step].0 as usize;
                let needed = (0..needs).map(|other| Moment::End(rank, other));
                let last = step.checked_sub(1).map(|last| Moment::Start(rank, last));
                return needed.chain(last).collect();
            }
            Moment::End(rank, step) => (rank, step),
        };
        let acts = self.scripts[rank][step].1.iter().enumerate();
        let other = |(at, act): (usize, &Act)| match act {
            Act::Send { .. } if kept => None,
            _ => self.others.get(&(rank, step, at)),
        };
        let started = |&(rank, step, _): &Place| Moment::Start(rank, step);
        let own = [Moment::Start(rank, step)];
        acts.filter_map(other).map(started).chain(own).collect()
    }

    fn moments(&self) -> Vec<Moment> {
        let steps = |rank: usize| (0..self.scripts[rank].len()).map(move |step| (rank, step));
        let steps = (0..self.scripts.len()).flat_map(steps);
        let both = |(rank, step)| [Moment::Start(rank, step), Moment::End(rank, step)];
        steps.flat_map(both).collect()
    }

    /// Whether nobody waits for ever, over a transport that keeps no message.
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

    /// Whether no rank leaves before all have entered, over a transport that keeps messages.
    pub(crate) fn enter_first(&self) -> bool {
        let ranks = 0..self.scripts.len();
        ranks.clone().all(|rank| {
            let before = self.before_leaving(rank);
            ranks
                .clone()
                .all(|other| before.contains(&Moment::Start(other, 0)))
        })
    }

    /// What must have happened before a rank leaves.
    fn before_leaving(&self, rank: usize) -> HashSet<Moment> {
        let steps = 0..self.scripts[rank].len();
        let mut open: Vec<_> = steps.map(|step| Moment::End(rank, step)).collect();
        let mut before = HashSet::new();
        while let Some(moment) = open.pop() {
            if before.insert(moment) {
                open.extend(self.before(moment, true));
            }
        }
        before
    }
}
