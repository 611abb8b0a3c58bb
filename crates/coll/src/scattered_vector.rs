//! A vector in blocks, one per rank or for most ranks, that a scatter distributes and an allgather completes.

use core::ops::Range;

use crate::call::Call;
use crate::eager::EAGER_BYTES;
use crate::phase::Phase;
use crate::plan::{Act, Acts, Buf, Part, PlanInputs};
use crate::split_exchanges::{ExchangeHalf, SplitExchanges};

/// The tag of the allgather; the scatter uses lower ones.
const TAG: u32 = 64;

/// A vector cut into blocks for the ranks of a group, in rank order. All blocks have the same length except
/// the last ones, which are shorter or empty; so both phases run plans for equal blocks, cut off at the end
/// of the vector.
///
/// Blocks are received at their final place in the vector, and sent from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScatteredVector {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    /// Elements of a full block, so many that there are no more blocks than ranks.
    pub(crate) block: u64,
    /// The rank that has the vector in `In` and receives nothing; `None`: every rank has a block in `Out`.
    pub(crate) root: Option<u32>,
    /// Elements of the vector.
    pub(crate) count: u64,
}

impl ScatteredVector {
    pub(crate) fn is_at_root(&self) -> bool {
        self.root == Some(self.rank)
    }

    /// The call of the scatter, in place, from the root.
    pub(crate) fn scatter(&self) -> Call {
        let call = Call::scatter(self.rank, self.size, self.root.unwrap_or(0), self.block);
        call.with_in_place(self.is_at_root())
    }

    /// The call of the allgather, in place.
    pub(crate) fn gather(&self) -> Call {
        Call::allgather(self.rank, self.size, self.block).with_in_place(true)
    }

    /// This rank's own block.
    pub(crate) fn own(&self) -> Part {
        let first = u64::from(self.rank) * self.block;
        self.cut(Part::new(Buf::Out, first, self.block))
    }

    /// Consecutive blocks, which may wrap, without the elements beyond the end of the vector.
    fn cut(&self, part: Part) -> Part {
        let end = part.first + part.count;
        let beyond = match part.wrap {
            0 => 0,
            wrap => end.saturating_sub(wrap),
        };
        let (first, end) = (part.first.min(self.count), end.min(self.count));
        let (high, low) = (end - first, beyond.min(self.count));
        let buf = if self.is_at_root() { Buf::In } else { Buf::Out };
        match high {
            0 => Part::new(buf, 0, low),
            _ => Part::new(buf, first, high + low).around(self.count),
        }
    }

    /// Step `i` of a plan for [`ScatteredVector::scatter`].
    pub(crate) fn hand_out<S: Phase>(
        &self,
        plan: &S,
        i: u32,
        inputs: &PlanInputs<'_>,
        acts: &mut Acts,
    ) -> Option<u32> {
        let (stock, mut inner) = (plan.first_kept(), Acts::new());
        let needs = plan.step(i, inputs, &mut inner)?;
        let acted = inner.iter().filter_map(|&act| self.scattered(act, stock));
        acted.for_each(|act| acts.push(act));
        Some(needs)
    }

    /// The steps of a plan for [`ScatteredVector::gather`]. Long blocks are not received early: a rank that
    /// copies a long block out of the sender's memory sends nothing meanwhile.
    pub(crate) fn halves<G: Phase>(&self, plan: &G) -> SplitExchanges {
        SplitExchanges::of(plan.steps(), if self.is_short() { plan.free() } else { 0 })
    }

    fn is_short(&self) -> bool {
        self.block <= EAGER_BYTES
    }

    /// Step `i` of a plan for [`ScatteredVector::gather`], split, after `before` other steps. Its first
    /// receives may overlap with those where they are `early`. The root receives nothing, and blocks that the
    /// scatter has `brought` to a rank for its subtree are not sent to it again.
    pub(crate) fn complete<G: Phase>(
        &self,
        plan: &G,
        i: u32,
        ((before, early), brought): ((u32, bool), impl Fn(u32) -> Range<u32>),
        inputs: &PlanInputs<'_>,
        acts: &mut Acts,
    ) -> Option<u32> {
        let (halves, mut inner) = (self.halves(plan), Acts::new());
        let half = halves.step(i);
        let (ExchangeHalf::Receive(n) | ExchangeHalf::Send(n) | ExchangeHalf::Both(n)) = half;
        let needs = plan.step(n, inputs, &mut inner)?;
        let is_in_half = |act: &Act| match half {
            ExchangeHalf::Receive(_) => matches!(act, Act::Recv { .. }),
            ExchangeHalf::Send(_) => matches!(act, Act::Send { .. }),
            ExchangeHalf::Both(_) => true,
        };
        let of_half = inner.iter().filter(|&act| is_in_half(act));
        of_half
            .filter_map(|&act| self.gathered(act, &brought))
            .for_each(|act| acts.push(act));
        let receives = inner.iter().all(|act| matches!(act, Act::Recv { .. }));
        Some(match half {
            ExchangeHalf::Receive(_) if early => 0,
            ExchangeHalf::Both(_) if early && receives && needs == 0 && self.is_short() => 0,
            _ if self.is_at_root() && needs == 0 => 0,
            ExchangeHalf::Receive(_) | ExchangeHalf::Send(_) => before,
            ExchangeHalf::Both(_) => before + halves.received(needs),
        })
    }

    /// An act of the scatter, with the blocks from number `stock` on in scratch; `None` if no element of it
    /// is left.
    fn scattered(&self, act: Act, stock: u32) -> Option<Act> {
        let own = u64::from(self.rank) * self.block;
        let place = |part: Part| {
            let before = match part.buf {
                Buf::Scratch => u64::from(stock) * self.block,
                Buf::Out => own,
                _ => 0,
            };
            let first = part.first + before;
            self.cut(Part { first, ..part })
        };
        // The rank's own block is at its final place already.
        let is_moved = !matches!(act, Act::Copy { .. });
        let act = act.with_parts(place);
        (is_moved && !is_empty(&act)).then_some(act)
    }

    /// An act of the allgather; `None` if it goes to the root or no element of it is left.
    fn gathered(&self, act: Act, brought: impl Fn(u32) -> Range<u32>) -> Option<Act> {
        let (act, receiver) = match act {
            Act::Send { to, from, .. } if Some(to) != self.root => {
                (Act::Send { to, tag: TAG, from }, to)
            }
            Act::Recv { from, into, .. } if !self.is_at_root() => {
                let tag = TAG;
                (Act::Recv { from, tag, into }, self.rank)
            }
            _ => return None,
        };
        let there = brought(receiver);
        let act = act.with_parts(|part| self.cut(self.without(part, &there)));
        (!is_empty(&act)).then_some(act)
    }

    /// Consecutive blocks without those of `ranks` at either end.
    fn without(&self, part: Part, ranks: &Range<u32>) -> Part {
        let element = |rank: u32| u64::from(rank) * self.block;
        let (start, end) = (element(ranks.start), element(ranks.end));
        let around = |at: u64| if part.wrap > 0 { at % part.wrap } else { at };
        let before = match part.first {
            first if (start..end).contains(&first) => part.count.min(end - first),
            _ => 0,
        };
        let (first, count) = (around(part.first + before), part.count - before);
        let after = match count {
            0 => 0,
            count => match around(first + count - 1) {
                last if (start..end).contains(&last) => count.min(last + 1 - start),
                _ => 0,
            },
        };
        let count = count - after;
        Part {
            first,
            count,
            ..part
        }
    }
}

fn is_empty(act: &Act) -> bool {
    let parts = [act.reads(), act.writes()];
    parts.iter().flatten().all(Part::is_empty)
}
