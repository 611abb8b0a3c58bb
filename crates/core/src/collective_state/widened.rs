//! Reductions on wider elements than the caller's, on which the operation is exact.

use oxmpi_os::RawBytes;
use oxmpi_wire::Bytes;

use super::super::collective_scratch::Scratch;
use super::super::operation::Widening;
use super::area::{Area, BlockRanges};

/// The caller's elements, and the wide ones that stand for them.
#[derive(Debug)]
pub struct WidenedBuffers {
    widening: Widening,
    /// Bytes of one of the caller's elements.
    element: u64,
    input: Vec<[RawBytes; 2]>,
    output: Vec<[RawBytes; 2]>,
    memory: Vec<Scratch>,
}

impl WidenedBuffers {
    /// Wide elements for those of a call's input and output, which have `element` bytes each; and their
    /// areas. `None`: there is no memory.
    pub fn new(
        widening: Widening,
        element: u64,
        input: &Area,
        output: &Area,
    ) -> Option<(Self, [Area; 2])> {
        let mut wide = Self {
            widening,
            element,
            input: Vec::new(),
            output: Vec::new(),
            memory: Vec::new(),
        };
        let (pairs, input) = wide.area(input)?;
        wide.input = pairs;
        let (pairs, output) = wide.area(output)?;
        wide.output = pairs;
        Some((wide, [input, output]))
    }

    /// The ranges of an area paired with ranges of wide elements, without empty ones; and the area of the
    /// wide elements.
    fn area(&mut self, area: &Area) -> Option<(Vec<[RawBytes; 2]>, Area)> {
        let is_filled = |[given, _]: &[RawBytes; 2]| given.len() > 0;
        match area {
            Area::Whole(bytes) => {
                let [wide] = self.make(&[*bytes])?[..] else {
                    return None;
                };
                let pair = Some([*bytes, wide]).filter(is_filled);
                Some((pair.into_iter().collect(), Area::Whole(wide)))
            }
            Area::Blocks(blocks) if blocks.places().is_empty() => {
                Some((Vec::new(), Area::Blocks(blocks.clone())))
            }
            Area::Blocks(blocks) => {
                let places = blocks.places();
                let wide = self.make(places)?;
                let pairs = places.iter().zip(&wide).map(|(&one, &wide)| [one, wide]);
                let pairs = pairs.filter(is_filled).collect();
                Some((
                    pairs,
                    Area::Blocks(BlockRanges::new(wide, self.widening.element)),
                ))
            }
        }
    }

    /// Memory for as many wide elements as there are elements in each of these ranges.
    fn make(&mut self, places: &[RawBytes]) -> Option<Vec<RawBytes>> {
        let wide = |place: &RawBytes| {
            let count = place.len().checked_div(self.element).unwrap_or(0);
            count.checked_mul(self.widening.element)
        };
        let lengths: Vec<u64> = places.iter().map(wide).collect::<Option<_>>()?;
        let total = lengths
            .iter()
            .try_fold(0, |sum: u64, &len| sum.checked_add(len))?;
        let mut room = Scratch::default();
        if !room.grow(total) {
            return None;
        }
        let all = room.bytes();
        self.memory.push(room);
        let mut at = 0;
        let cut = |len| {
            let part = all.range(at, len);
            at += len;
            part
        };
        lengths.into_iter().map(cut).collect()
    }

    /// Converts the caller's elements. Also those of the output, so that what the call does not write is
    /// unchanged.
    pub(crate) fn widen(&self) {
        for &[given, wide] in self.input.iter().chain(&self.output) {
            (self.widening.widen)(given, wide);
        }
    }

    /// Converts the result back.
    pub(crate) fn narrow(&self) {
        for &[given, wide] in &self.output {
            (self.widening.narrow)(wide, given);
        }
    }
}
