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
    input: Vec<WidenedRange>,
    output: Vec<WidenedRange>,
    memory: Vec<Scratch>,
}

/// A range of the caller's elements, and the wide ones that stand for them.
#[derive(Debug)]
struct WidenedRange {
    given: RawBytes,
    /// The caller's elements one after another: a copy where `given` has gaps.
    packed: RawBytes,
    wide: RawBytes,
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

    /// The ranges of an area with wide elements, without empty ones; and the area of the wide elements.
    fn area(&mut self, area: &Area) -> Option<(Vec<WidenedRange>, Area)> {
        let (places, is_whole) = match area {
            Area::Whole(bytes) => (std::slice::from_ref(bytes), true),
            Area::Blocks(blocks) => (blocks.places(), false),
        };
        if places.is_empty() {
            return Some((Vec::new(), area.clone()));
        }
        let (element, wide) = (self.element, self.widening.element);
        let wide = self.make(places, |place| {
            let count = place.len().checked_div(element).unwrap_or(0);
            count.checked_mul(wide)
        })?;
        let copies = self.make(places, |place| {
            Some(if place.has_gaps() { place.len() } else { 0 })
        })?;
        let ranges = (places.iter().zip(copies).zip(&wide)).map(|((&given, copy), &wide)| {
            let packed = if given.has_gaps() { copy } else { given };
            WidenedRange {
                given,
                packed,
                wide,
            }
        });
        let ranges = ranges.filter(|range| range.given.len() > 0).collect();
        let area = match is_whole {
            true => Area::Whole(*wide.first()?),
            false => Area::Blocks(BlockRanges::new(wide, self.widening.element)),
        };
        Some((ranges, area))
    }

    /// A range of memory for each of these, with as many bytes as `len` says.
    fn make(
        &mut self,
        places: &[RawBytes],
        len: impl Fn(&RawBytes) -> Option<u64>,
    ) -> Option<Vec<RawBytes>> {
        let lengths: Vec<u64> = places.iter().map(len).collect::<Option<_>>()?;
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
        for range in self.input.iter().chain(&self.output) {
            if range.given.has_gaps() {
                range.packed.copy_from(&range.given);
            }
            (self.widening.widen)(range.packed, range.wide);
        }
    }

    /// Converts the result back.
    pub(crate) fn narrow(&self) {
        for range in &self.output {
            (self.widening.narrow)(range.wide, range.packed);
            if range.given.has_gaps() {
                range.given.copy_from(&range.packed);
            }
        }
    }
}
