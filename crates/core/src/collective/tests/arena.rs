//! The buffers with which one rank of a test calls a collective, and the check of their contents afterwards.

use oxmpi_coll::check::{Blocks as Cut, Case, Ranks, Task};
use oxmpi_os::RawBytes;
use oxmpi_wire::{Bytes, Layout, Put};

use crate::bytes::target;
use crate::collective_scratch::Scratch;
use crate::collective_state::{Area, BlockRanges, Buffers, Neighbors};

/// The element of test reductions: the map of `x` to `a x + b`, as `[a, b]`. Composing maps does not commute.
pub(super) type Element = [u64; 2];

/// Bytes of unused memory after each block.
const GAP: u64 = 16;

/// The reduction operation: the composition of two maps, or their sum where the operation must commute.
pub(super) fn combine(commutative: bool, left: Element, right: Element) -> Element {
    match commutative {
        true => [0, 1].map(|at: usize| left[at].wrapping_add(right[at])),
        false => [
            left[0].wrapping_mul(right[0]),
            left[0].wrapping_mul(right[1]).wrapping_add(left[1]),
        ],
    }
}

/// Element `at` of the input of `rank`.
fn element(rank: u32, at: u64) -> Element {
    let mixed = |salt: u64| {
        (u64::from(rank) << 40 ^ at ^ salt << 56)
            .wrapping_add(1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    // Odd, so that no product of them vanishes.
    [mixed(1) | 1, mixed(2) >> 7]
}

/// The input and output buffers of one rank.
pub(super) struct Arena {
    /// Aligned for an [`Element`].
    _memory: [Scratch; 2],
    /// The input, then the output.
    areas: [Area; 2],
    neighbors: Option<std::sync::Arc<Neighbors>>,
    /// The collective reduces, so an element is an [`Element`]; else it is one byte.
    reduces: bool,
}

impl Arena {
    /// Allocates the buffers of `rank` for the case, and writes its input.
    pub(super) fn new(case: &Case, rank: u32, task: &Task) -> Self {
        let reduces = case.collective.reduces();
        let element = if reduces {
            size_of::<Element>() as u64
        } else {
            1
        };
        // The seed decides which blocks have gaps between their elements.
        let seed = case.seed + u64::from(rank);
        let mut memory = [Scratch::default(), Scratch::default()];
        let mut areas = [Area::empty(), Area::empty()];
        for (at, count) in [task.input, task.output].into_iter().enumerate() {
            areas[at] = area(&mut memory[at], &task.blocks[at], count, element, seed);
        }
        let (sources, destinations) = (&task.arrays.sources, &task.arrays.destinations);
        let neighbors = case.collective.is_neighborhood().then(|| {
            std::sync::Arc::new(Neighbors {
                sources: sources.to_vec(),
                destinations: destinations.to_vec(),
            })
        });
        let arena = Self {
            _memory: memory,
            areas,
            neighbors,
            reduces,
        };
        arena.write_elements(0, 0..task.input, rank);
        arena.write_elements(1, task.held.clone(), rank);
        arena
    }

    pub(super) fn buffers(&self) -> Buffers {
        let [input, output] = self.areas.clone();
        Buffers {
            neighbors: self.neighbors.clone(),
            ..Buffers::new(input, output)
        }
    }

    /// Overwrites the first `elements` elements of the output with values that no rank contributes.
    pub(super) fn forget(&self, elements: u64) {
        self.write_elements(1, 0..elements, u32::MAX);
    }

    /// Writes the first elements of `rank`'s input into a range of elements of an area: 0 is the input, 1 the output.
    fn write_elements(&self, area: usize, range: std::ops::Range<u64>, rank: u32) {
        let bytes: Vec<u8> = (0..range.end - range.start)
            .flat_map(|at| self.bytes_of(element(rank, at)))
            .collect();
        let size = self.bytes_of([0; 2]).len() as u64;
        let mut given = bytes;
        let from = target(&mut given);
        let mut at = 0;
        for piece in self.pieces(area, range.start * size, from.len()) {
            piece.copy_from(&from.part(at, piece.len(), 0, 1).expect("within"));
            at += piece.len();
        }
    }

    /// Checks that the output holds what `task` expects; `what` names the case in the panic message.
    pub(super) fn check(&mut self, case: &Case, task: &Task, what: impl Fn() -> String) {
        let size = self.bytes_of([0; 2]).len() as u64;
        for expected in &task.expected {
            let range = expected.elements.clone();
            let mut found = Collected(Vec::new());
            for piece in self.pieces(1, range.start * size, (range.end - range.start) * size) {
                piece.drain(0, piece.len() as usize, &mut found);
            }
            let wanted: Vec<u8> = (0..range.end - range.start)
                .map(|at| {
                    reduced(
                        case.commutative || case.exact,
                        &expected.ranks,
                        expected.source + at,
                    )
                })
                .flat_map(|element| self.bytes_of(element))
                .collect();
            if found.0 != wanted {
                let at = found.0.iter().zip(&wanted).position(|(a, b)| a != b);
                panic!("{}: wrong at byte {at:?} of {range:?}", what());
            }
        }
    }

    /// An element as it stands in memory.
    fn bytes_of(&self, element: Element) -> Vec<u8> {
        let bytes: Vec<u8> = element.iter().flat_map(|word| word.to_ne_bytes()).collect();
        match self.reduces {
            true => bytes,
            false => bytes[7..8].to_vec(),
        }
    }

    /// `len` bytes of an area from byte `at` on, as if its blocks lay side by side.
    fn pieces(&self, area: usize, at: u64, len: u64) -> Vec<RawBytes> {
        let places = match &self.areas[area] {
            Area::Whole(bytes) => vec![*bytes],
            Area::Blocks(blocks) => blocks.places().to_vec(),
        };
        let (mut skip, mut left) = (at, len);
        let mut pieces = Vec::new();
        for place in places {
            let from = skip.min(place.len());
            let count = left.min(place.len() - from);
            pieces.extend(place.pieces(from, count));
            (skip, left) = (skip - from, left - count);
        }
        assert_eq!(left, 0, "the area is too short");
        pieces
    }
}

/// The reduction of element `at` over `ranks`, in their order.
fn reduced(commutative: bool, ranks: &Ranks, at: u64) -> Element {
    let elements = ranks.iter().map(|rank| element(rank, at));
    let all = elements.reduce(|left, right| combine(commutative, left, right));
    all.expect("at least one rank contributes")
}

/// An area of `count` elements of `element` bytes in `memory`. Blocks of given lengths lie in memory from the last to
/// the first, with unused memory between them. Some blocks have gaps between their elements; so have some whole areas.
fn area(memory: &mut Scratch, cut: &Cut, count: u64, element: u64, seed: u64) -> Area {
    let lengths: Vec<u64> = match cut {
        Cut::Equal(_) => vec![count],
        Cut::Given(lengths) => (0..lengths.len()).map(|n| lengths.length(n)).collect(),
    };
    let total: u64 = lengths
        .iter()
        .map(|length| 2 * length * element + GAP)
        .sum();
    assert!(memory.grow(total));
    let start = memory.bytes().start();
    let mut end = total;
    let mut places = Vec::new();
    for (n, length) in lengths.iter().enumerate() {
        let bytes = length * element;
        end -= 2 * bytes + GAP;
        let gaps = (seed + n as u64) % 3 == 1;
        let layout = match gaps {
            true => Layout::strided(element, 2 * element as i64, *length as u32).expect("short"),
            false => Layout::contiguous(bytes),
        };
        // SAFETY: the arena keeps the memory, which has room for twice the bytes from here on, and
        // outlives the collective.
        places.push(unsafe { RawBytes::with_layout(start.wrapping_add(end as usize), layout) });
    }
    match cut {
        Cut::Equal(_) => Area::Whole(places[0]),
        // With MPI_IN_PLACE there is no input, but the lengths of its blocks are still needed.
        Cut::Given(_) if count == 0 && places.iter().any(|place| place.len() > 0) => {
            Area::Blocks(BlockRanges::counted(lengths))
        }
        Cut::Given(_) => Area::Blocks(BlockRanges::new(places, element)),
    }
}

/// A sink that collects bytes.
struct Collected(Vec<u8>);

impl Put for Collected {
    fn room(&self) -> usize {
        usize::MAX
    }

    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}
