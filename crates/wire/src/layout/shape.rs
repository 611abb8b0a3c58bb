//! [`Shape`]: the normal form of a datatype's bytes.
//!
//! A shape is made from smaller ones by repetition at a stride, or by a list of places. Each constructor returns the
//! simplest shape: bytes that touch are one range, strides that continue each other are one stride, a list with
//! equal lengths and distances is a stride, empty parts vanish. So each stride at least doubles the bytes of what it
//! repeats, and of the members of a list only one may be as long as half of it; that one is dissolved into the list.
//! A shape of n bytes is therefore nested at most 2 log n deep, and recursion over it is bounded.

use alloc::sync::Arc;
use alloc::vec::Vec;

/// Bytes at places that count from the first one, which is at 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Packed bytes.
    pub(super) size: u64,
    pub(super) node: Node,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// Contiguous.
    Run,
    /// A shape, repeated.
    Stride {
        unit: Arc<Shape>,
        stride: i64,
        times: u64,
    },
    /// Contiguous blocks.
    Runs(Arc<[Entry<()>]>),
    /// Blocks of a shape that is repeated at a stride.
    Blocks {
        unit: Arc<Shape>,
        stride: i64,
        blocks: Arc<[Entry<()>]>,
    },
    /// Different shapes.
    Members(Arc<[Entry<Shape>]>),
}

/// An entry of a list; its packed bytes end where those of the next entry begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry<T> {
    pub(super) offset: i64,
    /// Packed bytes before it.
    pub(super) start: u64,
    pub(super) content: T,
}

/// A shape at an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) offset: i64,
    pub(super) shape: Shape,
}

impl Shape {
    pub(super) const EMPTY: Self = Self::run(0);

    pub(super) const fn run(size: u64) -> Self {
        Self {
            size,
            node: Node::Run,
        }
    }

    pub(super) const fn is_run(&self) -> bool {
        matches!(self.node, Node::Run)
    }

    /// Whether copies at distances of `stride` touch each other and have no gaps.
    fn is_dense(&self, stride: i64) -> bool {
        self.is_run() && i64::try_from(self.size) == Ok(stride)
    }

    /// This shape `times` times, at distances of `stride`.
    pub(super) fn repeat(self, times: u64, stride: i64) -> Self {
        let size = self.size * times;
        match &self.node {
            _ if size == 0 => Self::EMPTY,
            _ if times == 1 => self,
            _ if self.is_dense(stride) => Self::run(size),
            Node::Stride {
                unit,
                stride: inner,
                times: within,
            } if inner.checked_mul(*within as i64) == Some(stride) => Self {
                size,
                node: Node::Stride {
                    unit: Arc::clone(unit),
                    stride: *inner,
                    times: within * times,
                },
            },
            _ => Self {
                size,
                node: Node::Stride {
                    unit: Arc::new(self),
                    stride,
                    times,
                },
            },
        }
    }

    /// Blocks of this shape, repeated at distances of `stride`: each has an offset and says how many times.
    pub(super) fn blocks(self, stride: i64, list: impl IntoIterator<Item = (i64, u64)>) -> Placed {
        let mut blocks: Vec<Entry<()>> = Vec::new();
        let mut size = 0;
        for (offset, times) in list {
            if times * self.size == 0 {
                continue;
            }
            let continues = blocks.last().is_some_and(|last| {
                let times = ((size - last.start) / self.size) as i64;
                let reach = times.checked_mul(stride);
                reach.and_then(|reach| reach.checked_add(last.offset)) == Some(offset)
            });
            if !continues {
                blocks.push(Entry {
                    offset,
                    start: size,
                    content: (),
                });
            }
            size += times * self.size;
        }
        let Some(&Entry { offset, .. }) = blocks.first() else {
            return Placed::EMPTY;
        };
        blocks.iter_mut().for_each(|block| block.offset -= offset);
        let shape = match regular(&blocks, size) {
            Some((len, distance)) => {
                let block = match self.is_dense(stride) {
                    true => Self::run(len),
                    false => {
                        let times = len / self.size;
                        self.repeat(times, stride)
                    }
                };
                block.repeat(size / len, distance)
            }
            None => {
                let is_single = |pair: &[Entry<()>]| pair[1].start - pair[0].start == self.size;
                let last = blocks[blocks.len() - 1].start;
                let single =
                    self.is_run() && blocks.windows(2).all(is_single) && size - last == self.size;
                let node = match single || self.is_dense(stride) {
                    true => Node::Runs(blocks.into()),
                    false => Node::Blocks {
                        unit: Arc::new(self),
                        stride,
                        blocks: blocks.into(),
                    },
                };
                Self { size, node }
            }
        };
        Placed { offset, shape }
    }

    /// Shapes at their places, one after the other.
    pub(super) fn members(mut list: Vec<Placed>) -> Placed {
        list.retain(|member| member.shape.size > 0);
        dissolve_longest(&mut list);
        list.dedup_by(|next, last| last.absorb(next));
        if list.iter().all(|member| member.shape.is_run()) {
            let runs = list.iter().map(|run| (run.offset, run.shape.size));
            return Self::run(1).blocks(1, runs);
        }
        if list.windows(2).all(|pair| pair[0].shape == pair[1].shape) {
            let stride = match &list[..] {
                [first, second, ..] => second.offset.wrapping_sub(first.offset),
                _ => 0,
            };
            let places: Vec<_> = list.iter().map(|member| (member.offset, 1)).collect();
            return list.swap_remove(0).shape.blocks(stride, places);
        }
        let (first, mut size) = (list[0].offset, 0);
        let place = |Placed { offset, shape }| {
            let start = size;
            size += shape.size;
            Entry {
                offset: offset - first,
                start,
                content: shape,
            }
        };
        let members = list.into_iter().map(place).collect();
        Placed {
            offset: first,
            shape: Self {
                size,
                node: Node::Members(members),
            },
        }
    }
}

impl Placed {
    pub(super) const EMPTY: Self = Self {
        offset: 0,
        shape: Shape::EMPTY,
    };

    /// Extends this shape by `next` and returns true, if both are contiguous and touch each other.
    fn absorb(&mut self, next: &Self) -> bool {
        let touch = self.shape.is_run()
            && next.shape.is_run()
            && self.offset.checked_add_unsigned(self.shape.size) == Some(next.offset);
        if touch {
            self.shape.size += next.shape.size;
        }
        touch
    }
}

/// The length and distance of blocks, where all have the same; `size` is that of all together.
fn regular(blocks: &[Entry<()>], size: u64) -> Option<(u64, i64)> {
    let [first, second, ..] = blocks else {
        return Some((size, 0));
    };
    let (len, distance) = (second.start, second.offset.checked_sub(first.offset)?);
    let is_next = |pair: &[Entry<()>]| {
        pair[1].start - pair[0].start == len
            && pair[1].offset.checked_sub(pair[0].offset) == Some(distance)
    };
    let is_whole = len * blocks.len() as u64 == size;
    (is_whole && blocks.windows(2).all(is_next)).then_some((len, distance))
}

/// Replaces the longest member, if it is a list, by its entries.
fn dissolve_longest(list: &mut Vec<Placed>) {
    let Some(longest) = (0..list.len()).max_by_key(|&i| list[i].shape.size) else {
        return;
    };
    let Placed { offset, shape } = &list[longest];
    let entries: Vec<Placed> = match &shape.node {
        Node::Members(members) => members
            .iter()
            .map(|member| Placed {
                offset: offset + member.offset,
                shape: member.content.clone(),
            })
            .collect(),
        Node::Runs(runs) => {
            let ends = runs.iter().skip(1).map(|run| run.start);
            let ends = ends.chain([shape.size]);
            let place = |(run, end): (&Entry<()>, u64)| Placed {
                offset: offset + run.offset,
                shape: Shape::run(end - run.start),
            };
            runs.iter().zip(ends).map(place).collect()
        }
        _ => return,
    };
    list.splice(longest..=longest, entries);
}
