//! Walks over the bytes of a [`Shape`].

use super::runs::StridedRuns;
use super::shape::{Entry, Node, Shape};

impl Shape {
    /// Calls `with` for the places of the packed bytes `from..to`, in order; the shape is at `base`, and `from` is
    /// less than `to`.
    ///
    /// # Cost
    /// O(depth) to begin, then O(1) for each call.
    pub(super) fn visit(&self, base: i64, from: u64, to: u64, with: &mut impl FnMut(StridedRuns)) {
        match &self.node {
            Node::Run => with(StridedRuns::one(base + from as i64, to - from)),
            Node::Stride {
                unit,
                stride,
                times,
            } if unit.is_run() && to - from == self.size => with(StridedRuns {
                offset: base,
                len: unit.size,
                stride: *stride,
                times: *times,
            }),
            Node::Stride { unit, stride, .. } => unit.visit_repeated(*stride, base, from, to, with),
            Node::Runs(runs) => visit_entries(runs, self.size, from, to, |run, from, to| {
                with(StridedRuns::one(base + run.offset + from as i64, to - from));
            }),
            Node::Blocks {
                unit,
                stride,
                blocks,
            } => visit_entries(blocks, self.size, from, to, |block, from, to| {
                unit.visit_repeated(*stride, base + block.offset, from, to, with);
            }),
            Node::Members(members) => {
                visit_entries(members, self.size, from, to, |member, from, to| {
                    member.content.visit(base + member.offset, from, to, with);
                });
            }
        }
    }

    /// As [`Shape::visit`], for copies of this shape at distances of `stride`.
    pub(super) fn visit_repeated(
        &self,
        stride: i64,
        base: i64,
        from: u64,
        to: u64,
        with: &mut impl FnMut(StridedRuns),
    ) {
        if self.is_run() {
            return self
                .repeated(base, stride, to.div_ceil(self.size))
                .visit(from, to, with);
        }
        let first = if from == 0 { 0 } else { from / self.size };
        let mut start = first * self.size;
        let mut base = base.wrapping_add((first as i64).wrapping_mul(stride));
        while start < to {
            let end = self.size.min(to - start);
            self.visit(base, from.saturating_sub(start), end, with);
            start += self.size;
            base = base.wrapping_add(stride);
        }
    }

    /// The place of packed byte `at`, and of those after it that follow regularly; the shape is at `base`.
    ///
    /// # Cost
    /// O(depth), and the logarithm of the length of each list.
    pub(super) fn locate(&self, mut base: i64, mut at: u64) -> StridedRuns {
        let mut shape = self;
        loop {
            let (unit, stride, times) = match &shape.node {
                Node::Run => return StridedRuns::one(base + at as i64, shape.size - at),
                Node::Stride {
                    unit,
                    stride,
                    times,
                } => (unit, *stride, *times),
                Node::Runs(runs) => {
                    let (run, end) = entry(runs, shape.size, at);
                    let offset = base + run.offset + (at - run.start) as i64;
                    return StridedRuns::one(offset, end - at);
                }
                Node::Blocks {
                    unit,
                    stride,
                    blocks,
                } => {
                    let (block, end) = entry(blocks, shape.size, at);
                    base += block.offset;
                    at -= block.start;
                    (unit, *stride, (end - block.start) / unit.size)
                }
                Node::Members(members) => {
                    let (member, _) = entry(members, shape.size, at);
                    base += member.offset;
                    at -= member.start;
                    shape = &member.content;
                    continue;
                }
            };
            if unit.is_run() {
                return unit.repeated(base, stride, times).after(at);
            }
            base += (at / unit.size) as i64 * stride;
            at %= unit.size;
            shape = unit;
        }
    }

    /// Copies of this contiguous shape at distances of `stride`, the first at `base`.
    pub(super) const fn repeated(&self, base: i64, stride: i64, times: u64) -> StridedRuns {
        StridedRuns {
            offset: base,
            len: self.size,
            stride,
            times,
        }
    }
}

/// The index of the entry that has packed byte `at`.
fn index_of<T>(entries: &[Entry<T>], at: u64) -> usize {
    entries.partition_point(|entry| entry.start <= at) - 1
}

/// The entry of a list of `size` bytes that has packed byte `at`, and the packed byte at which it ends.
fn entry<T>(entries: &[Entry<T>], size: u64, at: u64) -> (&Entry<T>, u64) {
    let i = index_of(entries, at);
    (
        &entries[i],
        entries.get(i + 1).map_or(size, |next| next.start),
    )
}

/// Calls `with` for each entry of a list of `size` bytes that has some of the packed bytes `from..to`, with the
/// range of its bytes.
fn visit_entries<T>(
    entries: &[Entry<T>],
    size: u64,
    from: u64,
    to: u64,
    mut with: impl FnMut(&Entry<T>, u64, u64),
) {
    let first = if from == 0 {
        0
    } else {
        index_of(entries, from)
    };
    let ends = entries[first..].iter().skip(1).map(|next| next.start);
    for (entry, end) in entries[first..].iter().zip(ends.chain([size])) {
        if entry.start >= to {
            break;
        }
        with(
            entry,
            from.saturating_sub(entry.start),
            end.min(to) - entry.start,
        );
    }
}
