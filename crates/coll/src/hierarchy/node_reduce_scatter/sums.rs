//! Node-aware reduce-scatter: which elements are sums in scratch and which are still unreduced input. So only
//! input that is sent or kept together with sums is copied.

use super::{Group, GroupExchange, NodeReduceScatter};
use crate::eager::copy;
use crate::hierarchy::node_ports::{BlockRange, HeldBlocks};
use crate::partition::longest;
use crate::plan::{Acts, Buf, Part, PlanInputs};
use core::ops::Range;

impl NodeReduceScatter {
    /// The part of the exchanged or kept blocks that are sums before these exchanges; the rest is unreduced
    /// input. `None`: all are sums.
    pub(super) fn reduced(&self, group: Group, inputs: &PlanInputs<'_>) -> Option<[BlockRange; 2]> {
        let phases = self.ports.phases();
        let last = self.inside.phases().saturating_sub(1);
        match group {
            Group::Among { held, digit } if digit < last => {
                let before = Group::Among {
                    held,
                    digit: digit + 1,
                };
                (self.next_to(before, inputs) == Some(group)).then(|| self.first_that_came(before))
            }
            Group::Among {
                held: HeldBlocks::Own,
                ..
            } if phases == 1 => Some(self.ports.gathered()),
            Group::Among {
                held: HeldBlocks::Own,
                ..
            } => (phases == 0).then_some([BlockRange::EMPTY; 2]),
            Group::Among {
                held: HeldBlocks::Received { phase },
                ..
            }
            | Group::Across { phase } => (phase + 1 == phases).then_some([BlockRange::EMPTY; 2]),
        }
    }

    /// The next exchanges, if before them only what these exchanges brought are sums: after the only
    /// exchanges between nodes, and after the first ones inside, if there is one, of fewer shares than are
    /// kept.
    pub(super) fn next_to(&self, group: Group, inputs: &PlanInputs<'_>) -> Option<Group> {
        let last = self.inside.phases().checked_sub(1)?;
        match group {
            Group::Across { .. } => (self.ports.phases() == 1).then_some(Group::Among {
                held: HeldBlocks::Own,
                digit: last,
            }),
            Group::Among { held, digit } => {
                // The digit of weight 1 is never short: there is one before.
                let weight = self.inside.weight(last);
                let is_short = self.ports.ring().size() - weight < weight;
                let is_first = digit == last && is_short && self.first_ones(group, inputs) > 0;
                let next = Group::Among {
                    held,
                    digit: last.saturating_sub(1),
                };
                is_first.then_some(next)
            }
        }
    }

    /// What the first of these exchanges brings.
    fn first_that_came(&self, group: Group) -> [BlockRange; 2] {
        let first = self.exchanged(GroupExchange { group, number: 0 });
        first.map_or([BlockRange::EMPTY; 2], |exchange| exchange.received)
    }

    /// Whether elements are unreduced input before these exchanges.
    pub(super) fn are_input(
        &self,
        group: Group,
        elements: &Range<u64>,
        inputs: &PlanInputs<'_>,
    ) -> bool {
        self.reduced(group, inputs).is_some_and(|reduced| {
            let reduced = self.elements_of(reduced, inputs);
            let apart = |run: Range<u64>| run.end <= elements.start || elements.end <= run.start;
            elements.is_empty() || reduced.into_iter().all(apart)
        })
    }

    /// How many of these exchanges are the first to bring a part of what this rank keeps; that lands among
    /// the sums.
    pub(super) fn first_ones(&self, group: Group, inputs: &PlanInputs<'_>) -> u32 {
        let keeps_input = || {
            let mut kept = self.elements_of(self.kept(group), inputs).into_iter();
            kept.all(|kept| self.are_input(group, &kept, inputs))
        };
        match group {
            Group::Across { phase } if self.ports.phases() == 1 => self.ports.parts(phase),
            Group::Across { phase } => (phase + 1 == self.ports.phases()).into(),
            Group::Among { .. } => keeps_input().into(),
        }
    }

    /// Where a message lands until it is reduced: at the place of the sums if it is the first there, else
    /// behind them and behind the other messages of the phase.
    pub(super) fn landing(
        &self,
        index: GroupExchange,
        is_first: bool,
        received: &[Range<u64>; 2],
        inputs: &PlanInputs<'_>,
    ) -> [Part; 2] {
        if is_first {
            return [sums(&received[0]), sums(&received[1])];
        }
        let before = match index.number {
            0 => 0,
            number => u64::from(number) * self.room(index.group, inputs),
        };
        let first = self.view.total() + before;
        let [one, other] = [0, 1].map(|n| received[n].end - received[n].start);
        [(first, one), (first + one, other)].map(|(at, len)| Part::new(Buf::Scratch, at, len))
    }

    /// The most elements that an exchange brings: what this rank keeps, or the share of one of the ports that
    /// divide it.
    pub(super) fn room(&self, group: Group, inputs: &PlanInputs<'_>) -> u64 {
        let kept = self.elements_of(self.kept(group), inputs);
        let kept: u64 = kept.iter().map(|kept| kept.end - kept.start).sum();
        match group {
            Group::Among { .. } => kept,
            Group::Across { phase } => longest(kept, self.ports.parts(phase)),
        }
    }

    /// Copies input elements to the sums, except those of some ranges.
    pub(super) fn complete(
        &self,
        all: &Range<u64>,
        but: &[Range<u64>; 2],
        inputs: &PlanInputs<'_>,
        acts: &mut Acts,
    ) {
        for rest in without(all.clone(), &but[0]) {
            for rest in without(rest, &but[1]) {
                copy(acts, self.input(&rest, inputs), sums(&rest));
            }
        }
    }

    /// Before the ranks reduce blocks that are sums in part only: copies the rest of what is sent or kept
    /// from the input.
    pub(super) fn prepare(&self, group: Group, inputs: &PlanInputs<'_>, acts: &mut Acts) {
        let (Group::Among { digit, .. }, Some(reduced)) = (group, self.reduced(group, inputs))
        else {
            return;
        };
        let reduced = self.elements_of(reduced, inputs);
        let sent = (0..self.inside.values(digit))
            .filter_map(|number| Some(self.exchanged(GroupExchange { group, number })?.sent));
        let sent = sent
            .flat_map(|runs| self.elements_of(runs, inputs))
            .filter(|sent| !self.are_input(group, sent, inputs));
        let kept = match self.first_ones(group, inputs) {
            0 => self.kept(group),
            _ => [BlockRange::EMPTY; 2],
        };
        for all in sent.chain(self.elements_of(kept, inputs)) {
            self.complete(&all, &reduced, inputs, acts);
        }
    }
}

/// Where the sums of elements are in scratch, which begins with the blocks of this rank's node.
pub(super) fn sums(elements: &Range<u64>) -> Part {
    Part::new(Buf::Scratch, elements.start, elements.end - elements.start)
}

/// The elements of a range before and after another range.
fn without(all: Range<u64>, some: &Range<u64>) -> [Range<u64>; 2] {
    if some.is_empty() {
        return [all, 0..0];
    }
    let Range { start, end } = all;
    [
        start..some.start.clamp(start, end),
        some.end.clamp(start, end)..end,
    ]
}
