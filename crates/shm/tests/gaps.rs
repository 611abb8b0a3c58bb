//! Gets between memory with gaps, by each bulk protocol, against the oracle of datatypes: ranks of one process, and of two.

use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use oxmpi_os::RawBytes;
use oxmpi_shm::{BulkPreference, BulkProtocol, Node, SegmentLayout};
use oxmpi_testkit::datatypes::{Description, Typemap};
use oxmpi_testkit::rng::Rng;
use oxmpi_wire::layout::{Basic, Block, Datatype};
use oxmpi_wire::regions::Region;
use oxmpi_wire::{Access, Key, Memory, Peer};
use proptest::prelude::*;

use crate::common::{Event, Rank, WATCHDOG, alone_with_heap, pattern};
use crate::processes::start_peer;

/// The lengths of ranges around which something changes: how they are copied, and whether each is worth a copy of its own.
const CROSSOVERS: [u64; 4] = [8, 64, 1024, 4096];

/// About as many packed bytes as a message has at most.
const LEN: u64 = 300_000;

/// Where the bytes of a message lie in some memory.
struct Places {
    datatype: Datatype,
    count: u64,
    /// Where the offsets of the datatype count from.
    base: usize,
    /// Each packed byte, by the oracle.
    offsets: Vec<usize>,
    /// Bytes of the memory.
    room: usize,
}

impl Places {
    /// Drawn ones. Unless they may `overlap`, no byte is named twice.
    fn draw(rng: &mut Rng, overlap: bool) -> Self {
        let byte = || Box::new(Description::Basic(Basic::new(1, 1, 1)));
        let around = CROSSOVERS[rng.below(4) as usize];
        let len = (around + rng.below(3)).saturating_sub(1).max(1);
        let times = (rng.below(LEN) / len).max(2);
        let (description, count) = match rng.below(if overlap { 4 } else { 3 }) {
            0 => (Description::Contiguous(len * times, byte()), 1),
            1 => {
                let gap = rng.below(2 * len) as i64;
                let stride = len as i64 + gap;
                let stride = if rng.chance(20) { -stride } else { stride };
                (Description::Vector(times, len, stride, byte()), 1)
            }
            2 => {
                let mut end = 0;
                let list = (0..times.min(60)).map(|_| {
                    let (displacement, len) = (end + rng.below(100) as i64, 1 + rng.below(2 * len));
                    end = displacement + len as i64;
                    Block { len, displacement }
                });
                (Description::Hindexed(list.collect(), byte()), 1)
            }
            _ => {
                let bytes = [(); 40].map(|()| rng.next() as u8);
                (Description::read(&mut &bytes[..]), 1 + rng.below(200))
            }
        };
        let typemap = Typemap::of(&description, 1 << 20).expect("not so many entries");
        let places = typemap.bytes(count);
        let base = places.iter().min().map_or(0, |&low| (-low).max(0)) as usize;
        let offsets: Vec<usize> = places
            .iter()
            .map(|at| base.wrapping_add_signed(*at as isize))
            .collect();
        Self {
            datatype: description.datatype().expect("its numbers are small"),
            count,
            base,
            room: offsets.iter().max().map_or(0, |high| high + 1),
            offsets,
        }
    }

    /// The bytes in `memory`, which the test keeps and leaves alone while a transfer is under way.
    fn bytes(&self, memory: &mut [u8]) -> RawBytes {
        assert!(memory.len() >= self.room);
        let start = memory.as_mut_ptr().wrapping_add(self.base);
        // SAFETY: the oracle's offsets are within the memory, and both outlive the transfer.
        unsafe { RawBytes::with_datatype(start, &self.datatype, self.count) }
    }
}

/// A message that one rank offers, with the memory around it.
struct Source {
    places: Places,
    memory: Vec<u8>,
}

impl Source {
    fn draw(seed: u64) -> Self {
        let places = Places::draw(&mut Rng::new(seed), true);
        let memory = pattern(places.room, seed as usize % 251);
        Self { places, memory }
    }
}

fn prefer(rank: &mut Rank, protocol: Option<BulkProtocol>) {
    let chunk = None;
    rank.tx
        .set_bulk_preference(BulkPreference { protocol, chunk });
}

/// All preferences.
fn preferences() -> impl Iterator<Item = Option<BulkProtocol>> {
    let claimable = BulkProtocol::CLAIMABLE.into_iter();
    claimable
        .chain([BulkProtocol::Buffers])
        .map(Some)
        .chain([None])
}

/// Gets a part of what `owner` offers by `key`, the message of `seed`, into memory with gaps, and compares all of that.
fn get_and_compare(rank: &mut Rank, owner: u32, key: &Key, source: &Source, seed: u64) {
    let mut rng = Rng::new(!seed);
    let target = Places::draw(&mut rng, false);
    let mut memory = vec![0xee; target.room];
    let region = rank
        .tx
        .register(target.bytes(&mut memory), Access::WRITE, Peer(0))
        .unwrap();
    let [all, room] = [&source.places.offsets, &target.offsets].map(|offsets| offsets.len() as u64);
    let whole = rng.chance(60);
    let [from, to] = [all, room].map(|len| if whole { 0 } else { rng.below(len.max(1)) });
    let len = (all - from).min(room - to);
    rank.try_get(owner, (key, from), (&region, to), len, 1)
        .unwrap();
    rank.until_done(1, Ok(()));
    rank.release(region, 2);
    rank.log.0.clear();
    let mut expected = vec![0xee; target.room];
    for at in 0..len as usize {
        let byte = source.memory[source.places.offsets[from as usize + at]];
        expected[target.offsets[to as usize + at]] = byte;
    }
    assert!(
        memory == expected,
        "seed {seed:#x}, {len} bytes from {from} to {to}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn gets_between_memory_with_gaps_equal_the_oracle(seed: u64) {
        for protocol in preferences() {
            let mut rank = Rank::new(Node::alone(SegmentLayout::new(1)).unwrap());
            prefer(&mut rank, protocol);
            let mut source = Source::draw(seed);
            let bytes = source.places.bytes(&mut source.memory);
            let region = rank.tx.register(bytes, Access::READ, Peer(0)).unwrap();
            let key = rank.tx.expose(&region, Peer(0));
            get_and_compare(&mut rank, 0, &key, &source, seed);
        }
    }
}

/// The part of rank 1: offers the message of each seed that comes, until none does.
pub(crate) fn offer_drawn(mut rank: Rank) {
    let mut offered: Option<(Region, Source)> = None;
    loop {
        rank.until("a seed", |log| !log.is_empty());
        for event in std::mem::take(&mut rank.log.0) {
            let Event::Frame(_, _, seed) = event else {
                continue;
            };
            if let Some((region, _)) = offered.take() {
                rank.release(region, 1);
                rank.log.0.clear();
            }
            let Ok(seed) = seed.try_into() else { return };
            let mut source = Source::draw(u64::from_le_bytes(seed));
            let bytes = source.places.bytes(&mut source.memory);
            let region = rank.tx.register(bytes, Access::READ, Peer(0)).unwrap();
            let key = rank.tx.expose(&region, Peer(0));
            rank.send(0, 0, &key.0);
            offered = Some((region, source));
        }
    }
}

/// The key of the message of `seed`, which rank 1 offers.
fn key_of(rank: &mut Rank, seed: u64) -> Key {
    rank.send(1, 0, &seed.to_le_bytes());
    let is_frame = |event: &Event| matches!(event, Event::Frame(..));
    rank.until("key", |log| log.iter().any(is_frame));
    let mut log = std::mem::take(&mut rank.log.0).into_iter();
    match log.find(is_frame) {
        Some(Event::Frame(_, _, key)) => Key(key.try_into().unwrap()),
        _ => unreachable!("a frame came"),
    }
}

#[test]
fn gets_between_two_processes_equal_the_oracle() {
    let (mut rank, mut child) = start_peer("gaps");
    for seed in 0..12 {
        let source = Source::draw(seed);
        for protocol in preferences() {
            prefer(&mut rank, protocol);
            let key = key_of(&mut rank, seed);
            get_and_compare(&mut rank, 1, &key, &source, seed);
        }
    }
    rank.send(1, 0, &[]);
    assert!(child.wait().unwrap().success());
}

/// By `Cma` the owner of bytes with gaps writes them: all arrive while the claimer does nothing.
#[test]
fn an_owner_with_gaps_writes_its_bytes() {
    if oxmpi_os::probe::process_vm_readv().is_err() {
        return;
    }
    let (mut rank, mut child) = start_peer("gaps");
    prefer(&mut rank, Some(BulkProtocol::Cma));
    let has_gaps = |source: &Source| {
        let offsets = &source.places.offsets;
        offsets.len() > 100_000 && source.places.datatype.contiguous_at(1).is_none()
    };
    let (seed, source) = (0..)
        .map(|seed| (seed, Source::draw(seed)))
        .find(|(_, source)| has_gaps(source))
        .unwrap();
    let expected: Vec<u8> = source
        .places
        .offsets
        .iter()
        .map(|&at| source.memory[at])
        .collect();
    let key = key_of(&mut rank, seed);
    let last = expected.len() - 1;
    let mut memory = vec![!expected[last]; expected.len()];
    let region = rank.register(&mut memory, Access::WRITE);
    rank.get(1, &key, &region, expected.len(), 1);
    let (first, start) = (memory.as_mut_ptr(), Instant::now());
    // SAFETY: within the memory; the process that writes it is another one.
    let byte = unsafe { AtomicU8::from_ptr(first.wrapping_add(last)) };
    while byte.load(Ordering::Acquire) != expected[last] {
        std::thread::yield_now();
        assert!(start.elapsed() < WATCHDOG, "nobody writes");
    }
    rank.until_done(1, Ok(()));
    assert!(memory == expected);
    rank.log.0.clear();
    rank.send(1, 0, &[]);
    assert!(child.wait().unwrap().success());
}

/// Ranges in memory that all ranks have mapped are copied from there, unless a key says where none is.
#[test]
fn ranges_of_allocated_memory_are_copied_where_they_are_mapped() {
    const RANGE: usize = 1000;
    let node = alone_with_heap();
    let heap = node.rank_areas().expect("a heap").heap();
    let block = heap.allocate(1 << 20).unwrap();
    let mut rank = Rank::new(node);
    let byte = Datatype::basic(Basic::new(1, 1, 1));
    for stride in [1500, -1500_i64] {
        let times = 600;
        let vector = byte.vector(times as u64, RANGE as u64, stride).unwrap();
        let (len, body) = (times * RANGE, pattern(1 << 20, 3));
        let base = if stride < 0 { times * 1500 } else { 0 };
        let start = block.start().as_ptr();
        // SAFETY: the block is this test's, and as long as `body`; nobody else uses it.
        unsafe { ptr::copy(body.as_ptr(), start, body.len()) };
        // SAFETY: the ranges are in the block, which outlives the transfers, as does the datatype.
        let bytes = unsafe { RawBytes::with_datatype(start.wrapping_add(base), &vector, 1) };
        let ranges = (0..times as i64).flat_map(|i| {
            let first = base.wrapping_add_signed((i * stride) as isize);
            body[first..first + RANGE].iter().copied()
        });
        let expected: Vec<u8> = ranges.collect();
        for (step, wrong) in (0..60).zip(
            [None, Some(1_u64), Some(i32::MAX as u64)]
                .into_iter()
                .cycle(),
        ) {
            prefer(&mut rank, None);
            let source = rank.tx.register(bytes, Access::READ, Peer(0)).unwrap();
            let mut key = rank.tx.expose(&source, Peer(0));
            let right =
                (((stride as i32).cast_unsigned() as u64) << 32 | RANGE as u64).to_ne_bytes();
            let word = key.0.windows(8).position(|bytes| bytes == right).unwrap();
            if let Some(stride) = wrong.filter(|_| step < 6) {
                let range = if stride == 1 { 0 } else { RANGE as u64 };
                key.0[word..word + 8].copy_from_slice(&(stride << 32 | range).to_ne_bytes());
            }
            let mut copy = vec![0; len];
            let region = rank.register(&mut copy, Access::WRITE);
            rank.get(0, &key, &region, len, 1);
            rank.until_done(1, Ok(()));
            rank.release(region, 2);
            rank.release(source, 3);
            rank.log.0.clear();
            assert!(copy == expected, "stride {stride}, step {step}");
        }
    }
    let choices = rank.tx.bulk_choices(Peer(0));
    assert!(choices.iter().all(|choice| choice.gaps), "{choices:?}");
    let mapped = (choices.iter().flat_map(|choice| choice.costs))
        .find(|(protocol, ..)| *protocol == BulkProtocol::Mapped);
    assert!(mapped.is_some_and(|(.., gets)| gets >= 3), "{choices:?}");
}
