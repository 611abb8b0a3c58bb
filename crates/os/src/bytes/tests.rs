use oxmpi_testkit::datatypes::{Description, Typemap};
use oxmpi_testkit::rng::Rng;
use oxmpi_wire::layout::Datatype;
use oxmpi_wire::{Atomic, Bytes, Layout, Put, Take, Width};

use super::RawBytes;

struct Pipe(Vec<u8>);

impl Put for Pipe {
    fn room(&self) -> usize {
        usize::MAX
    }
    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

impl Take for Pipe {
    fn left(&self) -> usize {
        self.0.len()
    }
    fn take(&mut self, to: &mut [u8]) {
        to.copy_from_slice(&self.0[..to.len()]);
        self.0.drain(..to.len());
    }
}

#[test]
fn every_small_length_at_every_offset() {
    let source: Vec<u8> = (1..=80).collect();
    for len in 0..=64usize {
        for at in 0..=16usize {
            let mut memory = source.clone();
            // SAFETY: the vector outlives the value and no other code accesses it.
            let bytes = unsafe { RawBytes::new(memory.as_mut_ptr(), memory.len()) };
            let mut pipe = Pipe(Vec::new());
            bytes.drain(at as u64, len, &mut pipe);
            assert_eq!(pipe.0, source[at..at + len]);
            pipe.0.reverse();
            bytes.fill(at as u64, &mut pipe);
            let mut expected = source.clone();
            expected[at..at + len].reverse();
            assert_eq!(memory, expected);
        }
    }
}

#[test]
fn a_word_is_eight_bytes_side_by_side() {
    let mut memory = *b"abcdefghijklmnop";
    let start = memory.as_mut_ptr();
    let gaps = Layout::strided(4, 8, 2).unwrap();
    for (layout, reads, fills) in [
        (Layout::contiguous(8), true, true),
        (Layout::contiguous(9), false, true),
        (Layout::contiguous(7), false, false),
        (gaps, false, false),
        (Layout::strided(8, 12, 1).unwrap(), true, true),
    ] {
        // SAFETY: the array outlives the value and no other code accesses it.
        let bytes = unsafe { RawBytes::with_layout(start.wrapping_add(1), layout) };
        let here = u64::from_ne_bytes(memory[1..9].try_into().unwrap());
        assert_eq!(bytes.word(), reads.then_some(here), "{layout:?}");
        assert_eq!(bytes.fill_word(!here), fills, "{layout:?}");
        let after = if fills { !here } else { here };
        assert_eq!(memory[1..9], after.to_ne_bytes(), "{layout:?}");
        assert_eq!((memory[0], &memory[9..]), (b'a', &b"jklmnop"[..]));
    }
}

#[test]
fn an_atomic_needs_an_aligned_word() {
    let mut memory = [7u64, 8, 9];
    let start: *mut u8 = memory.as_mut_ptr().cast();
    let gaps = Layout::strided(4, 8, 4).unwrap();
    for (layout, first, at, width, old) in [
        (Layout::contiguous(24), 0, 8, Width::Bits64, Some(8)),
        (Layout::contiguous(24), 0, 16, Width::Bits64, Some(9)),
        (Layout::contiguous(24), 0, 17, Width::Bits64, None),
        (Layout::contiguous(24), 0, 12, Width::Bits64, None),
        (Layout::contiguous(16), 4, 4, Width::Bits64, Some(8)),
        (Layout::contiguous(16), 4, 0, Width::Bits64, None),
        (Layout::contiguous(24), 0, u64::MAX, Width::Bits64, None),
        (gaps, 0, 4, Width::Bits32, Some(8)),
        (gaps, 0, 0, Width::Bits64, None),
    ] {
        // SAFETY: the array outlives the value and no other code accesses it.
        let bytes = unsafe { RawBytes::with_layout(start.wrapping_add(first), layout) };
        let found = bytes.atomic(at, width, Atomic::Add(0));
        let old = old.filter(|_| cfg!(target_endian = "little"));
        assert_eq!(found, old, "{layout:?} {at}");
    }
}

#[test]
fn gaps_are_left_alone() {
    let mut memory: Vec<u8> = (0..40).collect();
    let layout = Layout::strided(4, 10, 4).unwrap();
    // SAFETY: the vector outlives the value and no other code accesses it.
    let column = unsafe { RawBytes::with_layout(memory.as_mut_ptr(), layout) };
    let mut pipe = Pipe(Vec::new());
    column.drain(2, 12, &mut pipe);
    assert_eq!(pipe.0, [2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31]);
    pipe.0 = vec![99; 8];
    column.fill(0, &mut pipe);
    assert_eq!(
        memory[..16],
        [99, 99, 99, 99, 4, 5, 6, 7, 8, 9, 99, 99, 99, 99, 14, 15]
    );
}

#[test]
fn parts_and_copies() {
    let mut memory: Vec<u8> = (0..24).collect();
    // SAFETY: the vector outlives the value and no other code accesses it.
    let all = unsafe { RawBytes::new(memory.as_mut_ptr(), 24) };
    let odd = all.part(1, 1, 2, 4).unwrap();
    let far = all.part(20, 2, -6, 2).unwrap();
    assert!(all.part(20, 2, 6, 2).is_none() && all.part(0, 1, -1, 2).is_none());
    far.copy_from(&odd);
    assert_eq!(
        (memory[20], memory[21], memory[14], memory[15]),
        (1, 3, 5, 7)
    );
}

#[test]
fn pieces_have_no_gaps() {
    let mut memory: Vec<u8> = (0..40).collect();
    let layout = Layout::strided(4, 10, 4).unwrap();
    // SAFETY: the vector outlives the value and no other code accesses it.
    let column = unsafe { RawBytes::with_layout(memory.as_mut_ptr(), layout) };
    let first = memory.as_ptr();
    let pieces = column.pieces(2, 9).map(|piece| {
        assert!(piece.address().is_some());
        (piece.start().addr() - first.addr(), piece.len())
    });
    assert_eq!(pieces.collect::<Vec<_>>(), [(2, 2), (10, 4), (20, 3)]);
}

#[test]
fn what_does_not_fit_stays() {
    let mut memory = [0u8; 4];
    // SAFETY: the array outlives the value and no other code accesses it.
    let bytes = unsafe { RawBytes::new(memory.as_mut_ptr(), memory.len()) };
    let mut pipe = Pipe(vec![1, 2, 3, 4, 5, 6]);
    bytes.fill(1, &mut pipe);
    assert_eq!((memory, pipe.left()), ([0, 1, 2, 3], 3));
    let mut pipe = Pipe(vec![1]);
    bytes.fill(9, &mut pipe);
    assert_eq!(pipe.left(), 1);
}

#[test]
#[should_panic(expected = "beyond the end")]
fn draining_too_much_panics() {
    RawBytes::empty().drain(0, 1, &mut Pipe(Vec::new()));
}

/// Memory with instances of a random datatype, and the indexes of their packed bytes in it.
struct Instances {
    datatype: Datatype,
    count: u64,
    memory: Vec<u8>,
    /// The index that offsets count from; it may be outside of the memory.
    origin: i64,
    places: Vec<usize>,
}

impl Instances {
    /// `None` if the datatype has no bytes, too many, or names one twice.
    fn random(rng: &mut Rng) -> Option<Self> {
        let description: Vec<u8> = (0..60).map(|_| rng.next() as u8).collect();
        let description = Description::read(&mut &description[..]);
        let count = 1 + rng.below(3);
        let offsets = Typemap::of(&description, 100)?.bytes(count);
        let (low, high) = (*offsets.iter().min()?, *offsets.iter().max()?);
        let places: Vec<_> = offsets.iter().map(|at| (at - low) as usize).collect();
        let mut memory = vec![0; (high - low + 1) as usize];
        for &place in &places {
            memory[place] += 1;
        }
        memory.iter().all(|&times| times < 2).then_some(())?;
        memory.fill_with(|| rng.next() as u8);
        Some(Self {
            datatype: description.datatype().unwrap(),
            count,
            memory,
            origin: -low,
            places,
        })
    }

    fn bytes(&mut self) -> RawBytes {
        let start = self
            .memory
            .as_mut_ptr()
            .wrapping_offset(self.origin as isize);
        // SAFETY: the tests use the value while neither of its parts moves, and the memory through it alone.
        unsafe { RawBytes::with_datatype(start, &self.datatype, self.count) }
    }

    fn packed(&self, at: usize, len: usize) -> Vec<u8> {
        let places = self.places[at..at + len].iter();
        places.map(|&place| self.memory[place]).collect()
    }

    fn drained(&mut self, at: usize, len: usize) -> Vec<u8> {
        let mut pipe = Pipe(Vec::new());
        self.bytes().drain(at as u64, len, &mut pipe);
        pipe.0
    }
}

fn each_random(mut with: impl FnMut(&mut Instances, &mut Rng)) {
    let mut rng = Rng::new(5);
    let mut seen = 0;
    while seen < 3000 {
        if let Some(mut instances) = Instances::random(&mut rng) {
            with(&mut instances, &mut rng);
            seen += 1;
        }
    }
}

fn random_range(len: usize, rng: &mut Rng) -> (usize, usize) {
    let at = rng.below(len as u64) as usize;
    (at, rng.below((len - at) as u64 + 1) as usize)
}

#[test]
fn instances_are_drained_and_filled() {
    each_random(|instances, rng| {
        let whole = instances.places.len();
        assert_eq!(instances.bytes().len(), whole as u64);
        assert_eq!(instances.drained(0, whole), instances.packed(0, whole));
        let (at, len) = random_range(whole, rng);
        assert_eq!(instances.drained(at, len), instances.packed(at, len));
        let fresh: Vec<u8> = (0..len).map(|_| rng.next() as u8).collect();
        let mut expected = instances.memory.clone();
        for (&place, &byte) in instances.places[at..].iter().zip(&fresh) {
            expected[place] = byte;
        }
        instances.bytes().fill(at as u64, &mut Pipe(fresh));
        assert_eq!(instances.memory, expected);
    });
}

#[test]
fn ranges_of_instances_are_bytes_again() {
    each_random(|instances, rng| {
        let whole = instances.places.len();
        let (at, len) = random_range(whole, rng);
        let expected = instances.packed(at, len);
        let bytes = instances.bytes();
        let pieces = bytes.pieces(at as u64, len as u64);
        let mut pipe = Pipe(Vec::new());
        for piece in pieces {
            assert!(!piece.has_gaps());
            piece.drain(0, piece.len() as usize, &mut pipe);
        }
        assert_eq!(pipe.0, expected);
        match bytes.range(at as u64, len as u64) {
            Some(range) => {
                assert_eq!(range.len(), len as u64);
                let (from, len) = random_range(len.max(1), rng);
                let len = len.min(range.len() as usize);
                let mut pipe = Pipe(Vec::new());
                range.drain(from as u64 * u64::from(len > 0), len, &mut pipe);
                assert_eq!(pipe.0, expected[from..from + len]);
            }
            None => panic!("instances have every range"),
        }
        assert!(bytes.range(at as u64, (whole - at) as u64 + 1).is_none());
    });
}

#[test]
fn instances_are_packed_unpacked_and_copied() {
    let mut rng = Rng::new(9);
    each_random(|instances, _| {
        let whole = instances.places.len();
        let mut packed = vec![0; whole];
        // SAFETY: the vector outlives the value and no other code accesses it.
        let room = unsafe { RawBytes::new(packed.as_mut_ptr(), whole) };
        room.copy_from(&instances.bytes());
        assert_eq!(packed, instances.packed(0, whole));
        packed.reverse();
        instances.bytes().copy_from(&room);
        assert_eq!(packed, instances.packed(0, whole));
        let Some(mut others) = Instances::random(&mut rng) else {
            return;
        };
        others.bytes().copy_from(&instances.bytes());
        let both = whole.min(others.places.len());
        assert_eq!(others.packed(0, both), instances.packed(0, both));
    });
}

#[test]
fn ranges_of_blocks_begin_where_they_can() {
    let mut memory: Vec<u8> = (0..40).collect();
    let layout = Layout::strided(4, 10, 4).unwrap();
    // SAFETY: the vector outlives the value and no other code accesses it.
    let column = unsafe { RawBytes::with_layout(memory.as_mut_ptr(), layout) };
    let drained = |at, len| {
        let range = column.range(at, len)?;
        let mut pipe = Pipe(Vec::new());
        range.drain(0, len as usize, &mut pipe);
        Some(pipe.0)
    };
    assert_eq!(drained(5, 3), Some(vec![11, 12, 13]));
    assert_eq!(drained(4, 6), Some(vec![10, 11, 12, 13, 20, 21]));
    assert_eq!(drained(5, 4), None);
    assert_eq!(drained(13, 4), None);
    assert_eq!(
        column.part(4, 4, 0, 1).map(|part| part.has_gaps()),
        Some(false)
    );
    assert!(column.part(0, 4, 8, 2).is_none());
}
