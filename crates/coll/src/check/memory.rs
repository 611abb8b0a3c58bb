//! The buffers of one rank, holding symbols instead of numbers.

use alloc::vec::Vec;
use core::cell::Cell;
use core::ops::Range;

use super::contract::{Blocks, Contract, Task};
use super::fault::FaultKind;
use super::message::{ElementRun, SymbolMessage, push};
use super::rotation::Rotation;
use super::sums::{SumId, Sums};
use crate::plan::{Buf, Part, Side};

/// A buffer: runs in ascending order, and undefined elements between them.
#[derive(Clone, Debug, Default)]
struct SymbolBuffer {
    len: u64,
    /// Whether undefined elements may be read, because not all contributions are followed.
    gaps: bool,
    runs: Vec<ElementRun>,
    /// The index of the run found last: the next lookup mostly hits it or its successor.
    near: Cell<usize>,
}

impl SymbolBuffer {
    /// Defines the range as the rank's contribution. If rank 0 represents all and bits are compared, each
    /// block's leaf is named by the distance from the block to the rank, which is invariant under
    /// rotation.
    fn define(&mut self, range: Range<u64>, rank: u32, leaves: Option<Rotation>, sums: &mut Sums) {
        let Some(symmetry) = leaves else {
            return self.fill(range, sums.leaf(rank));
        };
        for block in 0..symmetry.size {
            let start = range.start + u64::from(block) * symmetry.block;
            let run = ElementRun {
                first: start,
                count: symmetry.block.min(range.end.saturating_sub(start)),
                source: start - range.start,
                sum: sums.leaf_as(rank, rank + (symmetry.size - block)),
            };
            push(&mut self.runs, run);
        }
    }

    /// Defines the range as the first elements of a rank's contribution.
    fn fill(&mut self, range: Range<u64>, sum: SumId) {
        let whole = ElementRun {
            first: range.start,
            count: range.end - range.start,
            source: 0,
            sum,
        };
        push(&mut self.runs, whole);
    }

    /// The index of the first run that ends after the element.
    fn find(&self, element: u64) -> usize {
        let ends = |at: usize| self.runs.get(at).is_none_or(|run| run.end() > element);
        let is_first = |at: usize| ends(at) && !at.checked_sub(1).is_some_and(ends);
        let near = self.near.get();
        let found = match () {
            () if near < self.runs.len() && is_first(near) => near,
            () if near < self.runs.len() && is_first(near + 1) => near + 1,
            () => self.runs.partition_point(|run| run.end() <= element),
        };
        self.near.set(found);
        found
    }

    /// The indexes of the runs that overlap the range.
    fn touching(&self, range: &Range<u64>) -> Range<usize> {
        let from = self.find(range.start);
        let touches = |run: &ElementRun| run.first < range.end;
        // In most cases at most one.
        let to = match self.runs.get(from + 1) {
            Some(second) if touches(second) => self.runs.partition_point(touches),
            _ => from + usize::from(self.runs.get(from).is_some_and(touches)),
        };
        from..to
    }

    /// Whether none of these runs extends beyond the range.
    fn lie_within(&self, runs: &Range<usize>, range: &Range<u64>) -> bool {
        let runs = &self.runs[runs.clone()];
        runs.first().is_none_or(|run| run.first >= range.start)
            && runs.last().is_none_or(|run| run.end() <= range.end)
    }

    /// Appends the contents of the range to `message`. The error is the first undefined element, unless
    /// gaps are allowed.
    fn read(&self, range: Range<u64>, message: &mut SymbolMessage, at: u64) -> Result<(), u64> {
        let mut next = range.start;
        let touching = self.touching(&range);
        message.reserve(touching.len());
        for run in &self.runs[touching] {
            if run.first > next && !self.gaps {
                return Err(next);
            }
            next = run.end();
            message.push(run.cut(&range, at));
        }
        if next < range.end && !self.gaps {
            Err(next)
        } else {
            Ok(())
        }
    }

    /// Replaces some runs by one.
    fn replace(&mut self, runs: Range<usize>, run: ElementRun) {
        match runs.len() {
            0 => self.runs.insert(runs.start, run),
            1 => self.runs[runs.start] = run,
            _ => drop(self.runs.splice(runs, [run])),
        }
    }

    /// The index of the run that contains the whole range.
    fn holding(&self, range: &Range<u64>) -> Option<usize> {
        let at = self.find(range.start);
        let holds = |run: &ElementRun| run.first <= range.start && range.end <= run.end();
        self.runs.get(at).is_some_and(holds).then_some(at)
    }

    /// Replaces the contents of the range by the part of `message` that starts at `at`.
    fn write(&mut self, range: Range<u64>, message: &[ElementRun], at: u64) {
        let touching = self.touching(&range);
        let carried = at..at + (range.end - range.start);
        let from = message.partition_point(|run| run.end() <= carried.start);
        let to = message.partition_point(|run| run.first < carried.end);
        let message = &message[from..to.max(from)];
        if let ([run], true) = (message, self.lie_within(&touching, &range)) {
            return self.replace(touching, run.cut(&carried, range.start));
        }
        let mut runs = Vec::with_capacity(message.len() + 2);
        if let Some(run) = self.runs[touching.clone()]
            .first()
            .filter(|run| run.first < range.start)
        {
            push(&mut runs, run.cut(&(run.first..range.start), run.first));
        }
        for run in message {
            push(&mut runs, run.cut(&carried, range.start));
        }
        if let Some(run) = self.runs[touching.clone()]
            .last()
            .filter(|run| run.end() > range.end)
        {
            push(&mut runs, run.cut(&(range.end..run.end()), range.end));
        }
        self.runs.splice(touching, runs);
    }
}

/// The buffers of one rank.
#[derive(Clone, Debug, Default)]
pub(super) struct RankMemory {
    input: SymbolBuffer,
    output: SymbolBuffer,
    scratch: SymbolBuffer,
    counts: SymbolBuffer,
    /// The blocks of input and output.
    blocks: [Blocks; 2],
}

impl RankMemory {
    /// The contents at the start of the call.
    pub(super) fn new(
        rank: u32,
        task: &Task,
        scratch: u64,
        contract: &Contract,
        symmetry: Option<Rotation>,
        sums: &mut Sums,
    ) -> Self {
        let gaps = contract.followed.is_some();
        let buffer = |len| SymbolBuffer {
            len,
            gaps,
            ..SymbolBuffer::default()
        };
        let mut memory = RankMemory {
            input: buffer(task.input),
            output: buffer(task.output),
            scratch: buffer(scratch),
            counts: buffer(8 * task.arrays.sends.len() as u64),
            blocks: task.blocks.clone(),
        };
        let leaves = symmetry.filter(|_| contract.same_bits);
        if contract.follows(rank) {
            memory.input.define(0..task.input, rank, leaves, sums);
            memory.output.define(task.held.clone(), rank, leaves, sums);
        }
        let numbers = 0..memory.counts.len;
        memory.counts.fill(numbers, sums.counts(rank));
        memory
    }

    /// Grows scratch to at least this many elements.
    pub(super) fn grow(&mut self, scratch: u64) {
        self.scratch.len = self.scratch.len.max(scratch);
    }

    /// Whether these buffers have equal contents in both memories.
    pub(super) fn has_equal_contents(&self, other: &RankMemory, bufs: &[Buf]) -> bool {
        bufs.iter().all(|&buf| {
            let (one, other) = (self.buffer(buf), other.buffer(buf));
            one.len == other.len && one.gaps == other.gaps && one.runs == other.runs
        })
    }

    /// Copies the contents of these buffers from another memory.
    pub(super) fn copy_from(&mut self, other: &RankMemory, bufs: &[Buf]) {
        for &buf in bufs {
            self.buffer_mut(buf).clone_from(other.buffer(buf));
        }
    }

    const fn buffer(&self, buf: Buf) -> &SymbolBuffer {
        match buf {
            Buf::In | Buf::InBlock(_) => &self.input,
            Buf::Out | Buf::OutBlock(_) => &self.output,
            Buf::Scratch => &self.scratch,
            Buf::Counts => &self.counts,
        }
    }

    fn buffer_mut(&mut self, buf: Buf) -> &mut SymbolBuffer {
        match buf {
            Buf::In | Buf::InBlock(_) => &mut self.input,
            Buf::Out | Buf::OutBlock(_) => &mut self.output,
            Buf::Scratch => &mut self.scratch,
            Buf::Counts => &mut self.counts,
        }
    }

    /// The elements of the part, or an error if it exceeds its buffer.
    fn resolve(&mut self, part: Part) -> Result<ResolvedPart, FaultKind> {
        let len = self.buffer_mut(part.buf).len;
        let whole = resolve(part, &self.blocks, [self.input.len, self.output.len]);
        let inside = |place: &ResolvedPart| {
            part.is_empty()
                || match place.simple() {
                    Some(block) => block.end <= len,
                    None => place
                        .blocks()
                        .all(|block| block.end <= len && block.start <= block.end),
                }
        };
        whole
            .filter(inside)
            .ok_or(FaultKind::OutsideBuffer { part, len })
    }

    /// The runs of the output within the range, in ascending order.
    pub(super) fn output(&self, range: &Range<u64>) -> impl Iterator<Item = ElementRun> {
        let runs = &self.output.runs[self.output.touching(range)];
        runs.iter().map(|run| run.cut(range, range.start))
    }

    /// The contents of the part, as a message.
    pub(super) fn read(&mut self, part: Part) -> Result<SymbolMessage, FaultKind> {
        let whole = self.resolve(part)?;
        let buffer = self.buffer_mut(part.buf);
        let mut message = SymbolMessage::default();
        whole
            .each(|block, at| buffer.read(block, &mut message, at))
            .map_err(|element| FaultKind::Undefined {
                buf: whole.plain.buf,
                element,
            })?;
        Ok(message)
    }

    /// The buffer and range of a part that is one non-empty range within its buffer.
    #[inline]
    fn range(&self, part: &Part) -> Option<(Buf, Range<u64>)> {
        if matches!(part.buf, Buf::InBlock(_) | Buf::OutBlock(_) | Buf::Counts) {
            return None;
        }
        let range = part.plain()?;
        (range.start < range.end && range.end <= self.buffer(part.buf).len)
            .then_some((part.buf, range))
    }

    /// Writes a message of the part's length into the part.
    pub(super) fn write(&mut self, part: Part, message: &[ElementRun]) -> Result<(), FaultKind> {
        let whole = self.resolve(part)?;
        if matches!(whole.plain.buf, Buf::In | Buf::Counts) && !part.is_empty() {
            return Err(FaultKind::WritesInput { part });
        }
        let buffer = self.buffer_mut(part.buf);
        whole.each(|block, at| {
            buffer.write(block, message, at);
            Ok(())
        })
    }

    /// Reduces one part into another.
    pub(super) fn reduce(
        &mut self,
        from: Part,
        into: Part,
        side: Side,
        sums: &mut Sums,
    ) -> Result<(), FaultKind> {
        let mut join = |a: ElementRun, b: ElementRun| match side {
            Side::Left => reduce_runs(a, b, sums),
            Side::Right => reduce_runs(b, a, sums),
        };
        if let Some(done) = self.reduce_one(from, into, &mut join) {
            return done;
        }
        let (operand, target) = (self.read(from)?, self.read(into)?);
        let result = each_pair(&operand, &target, join)?;
        self.write(into, &result)
    }

    /// [`RankMemory::reduce`] for two parts that each lie in a single run, as most do; else `None`.
    fn reduce_one(
        &mut self,
        from: Part,
        into: Part,
        join: &mut impl FnMut(ElementRun, ElementRun) -> Result<ElementRun, FaultKind>,
    ) -> Option<Result<(), FaultKind>> {
        let ((source, from), (target, into)) = (self.range(&from)?, self.range(&into)?);
        if target == Buf::In {
            return None;
        }
        let buffer = self.buffer_mut(source);
        let operand = buffer.runs[buffer.holding(&from)?].cut(&from, 0);
        let buffer = self.buffer_mut(target);
        let at = buffer.holding(&into)?;
        let joined = join(operand, buffer.runs[at].cut(&into, 0));
        Some(
            joined.map(|run| match buffer.lie_within(&(at..at + 1), &into) {
                true => {
                    buffer.runs[at] = ElementRun {
                        first: into.start,
                        ..run
                    };
                }
                false => buffer.write(into, &[run], 0),
            }),
        )
    }
}

/// The reduction of two runs of the same length, `left` being the left operand.
fn reduce_runs(
    left: ElementRun,
    right: ElementRun,
    sums: &mut Sums,
) -> Result<ElementRun, FaultKind> {
    if left.source != right.source {
        return Err(FaultKind::MixedElements {
            one: left.source,
            other: right.source,
        });
    }
    let sum = sums.join(left.sum, right.sum)?;
    Ok(ElementRun { sum, ..right })
}

/// Applies `join` to each pair of runs that cover the same elements of both messages.
fn each_pair(
    one: &SymbolMessage,
    other: &SymbolMessage,
    mut join: impl FnMut(ElementRun, ElementRun) -> Result<ElementRun, FaultKind>,
) -> Result<SymbolMessage, FaultKind> {
    let mut result = SymbolMessage::default();
    for a in one.iter() {
        let range = a.first..a.end();
        // Both are in ascending order.
        let from = other.partition_point(|b| b.end() <= range.start);
        for b in other[from..].iter().take_while(|b| b.first < range.end) {
            let b = b.cut(&range, range.start);
            let a = a.cut(&(b.first..b.end()), b.first);
            result.push(join(a, b)?);
        }
    }
    Ok(result)
}

/// The reduction of two messages, `left` being the left operand.
pub(super) fn reduce_messages(
    left: &SymbolMessage,
    right: &SymbolMessage,
    sums: &mut Sums,
) -> Result<SymbolMessage, FaultKind> {
    each_pair(left, right, |a, b| reduce_runs(a, b, sums))
}

/// The elements of a part, as indexes into their buffer.
#[derive(Clone, Debug)]
pub(super) struct ResolvedPart {
    /// A part that names no block; empty if long blocks are skipped.
    pub(super) plain: Part,
    /// The ranges of a part that skips long blocks.
    pub(super) short: Vec<Range<u64>>,
}

impl ResolvedPart {
    pub(super) fn blocks(&self) -> impl Iterator<Item = Range<u64>> {
        self.plain.blocks().chain(self.short.iter().cloned())
    }

    /// The elements, if they are one range.
    pub(super) fn simple(&self) -> Option<Range<u64>> {
        self.plain.plain().filter(|_| self.short.is_empty())
    }

    /// Whether some element lies in the range.
    pub(super) fn intersects(&self, range: &Range<u64>) -> bool {
        self.blocks()
            .any(|block| block.start.max(range.start) < block.end.min(range.end))
    }

    /// Whether both have an element in common; they are in the same buffer.
    pub(super) fn overlaps(&self, other: &ResolvedPart) -> bool {
        let own = self.blocks().map(|block| (block.start, block.end, false));
        let others = other.blocks().map(|block| (block.start, block.end, true));
        let mut blocks: Vec<_> = own
            .chain(others)
            .filter(|block| block.0 < block.1)
            .collect();
        blocks.sort_unstable();
        let mut ends = [0; 2];
        blocks.into_iter().any(|(start, end, is_other)| {
            let [this, that] = [is_other, !is_other].map(usize::from);
            ends[this] = end.max(ends[this]);
            start < ends[that]
        })
    }

    /// Calls `work` with each range of elements and its offset in the message.
    fn each<E>(&self, mut work: impl FnMut(Range<u64>, u64) -> Result<(), E>) -> Result<(), E> {
        if let Some(block) = self.simple() {
            return work(block, 0);
        }
        let mut at = 0;
        for block in self.blocks() {
            let count = block.end - block.start;
            work(block, at)?;
            at += count;
        }
        Ok(())
    }
}

/// The buffer that contains a named block, or the buffer itself.
pub(super) const fn buffer(buf: Buf) -> Buf {
    match buf {
        Buf::InBlock(_) => Buf::In,
        Buf::OutBlock(_) => Buf::Out,
        other => other,
    }
}

/// The elements of a part, given the blocks and lengths of `In` and `Out`. `None` if it names a block
/// that does not exist.
pub(super) fn resolve(part: Part, blocks: &[Blocks; 2], lengths: [u64; 2]) -> Option<ResolvedPart> {
    if part.limit == u64::MAX || part.buf == buffer(part.buf) {
        let plain = plain(part, blocks, lengths)?;
        let short = Vec::new();
        return Some(ResolvedPart { plain, short });
    }
    let (at, index) = block(part.buf)?;
    let buf = buffer(part.buf);
    let plain = Part { buf, ..Part::EMPTY };
    let short = blocks[at].short_blocks(index, part)?;
    Some(ResolvedPart { plain, short })
}

/// [`resolve`] for a part that skips no blocks.
#[inline]
pub(super) fn plain(part: Part, blocks: &[Blocks; 2], lengths: [u64; 2]) -> Option<Part> {
    let Some((at, index)) = block(part.buf) else {
        return Some(part);
    };
    let first = blocks[at].start(index)?.checked_add(part.first)?;
    let fits = part.count <= lengths[at] && part.wrap == 0;
    fits.then_some(Part {
        buf: buffer(part.buf),
        first,
        wrap: lengths[at],
        ..part
    })
}

/// For a named block: 0 for `In` or 1 for `Out`, and its number.
const fn block(buf: Buf) -> Option<(usize, u32)> {
    match buf {
        Buf::InBlock(index) => Some((0, index)),
        Buf::OutBlock(index) => Some((1, index)),
        _ => None,
    }
}
