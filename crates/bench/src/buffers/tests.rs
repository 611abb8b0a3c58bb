use super::{Buffers, OffCache, Unaligned};
use crate::Memory;
use crate::kernels::BufferSizes;
use std::vec::Vec;

const LINES: OffCache = OffCache {
    cache: 1024,
    line: 64,
};

const fn room(out: usize, into: usize) -> BufferSizes {
    BufferSizes {
        out,
        into,
        counts: 0,
    }
}

/// Where the slices of `repetitions` repetitions start, relative to the first.
fn starts(buffers: &mut Buffers<'_>, repetitions: usize) -> Vec<(usize, usize)> {
    let places: Vec<_> = (0..repetitions)
        .map(|_| {
            let current = buffers.advance();
            (current.out.as_ptr().addr(), current.into.as_ptr().addr())
        })
        .collect();
    let (out, into) = places[0];
    let away = places.iter().map(|place| (place.0 - out, place.1 - into));
    away.collect()
}

#[test]
fn in_cache_all_repetitions_have_one_place() {
    let mut memory = Memory::new(room(100, 200), None);
    let mut buffers = memory.buffers(room(100, 200));
    let current = buffers.advance();
    assert_eq!((current.out.len(), current.into.len()), (100, 200));
    assert_eq!(starts(&mut buffers, 5), [(0, 0); 5]);
    assert_eq!(buffers.repetitions(), 6);
}

/// 2,048 bytes each; messages of 300 bytes start 448 apart, those of 10 bytes 192 apart.
#[test]
fn off_cache_messages_walk_two_lines_apart_and_wrap() {
    let mut memory = Memory::new(room(300, 300), Some(LINES));
    let mut buffers = memory.buffers(room(300, 10));
    let places = starts(&mut buffers, 16);
    let out: Vec<usize> = places.iter().map(|place| place.0).collect();
    assert_eq!(out[..6], [0, 448, 896, 1344, 0, 448]);
    let into: Vec<usize> = places.iter().map(|place| place.1).collect();
    assert_eq!(into[..11], (0..11).map(|n| n * 192).collect::<Vec<_>>());
    assert_eq!(into[10..12], [1920, 0]);
}

#[test]
fn a_repetition_is_found_again() {
    let mut memory = Memory::new(room(300, 300), Some(LINES));
    let mut buffers = memory.buffers(room(300, 10));
    for repetition in 0..40 {
        let now = buffers.advance();
        let (out, into) = (now.out.as_ptr(), now.into.as_ptr());
        let again = buffers.of(repetition);
        assert_eq!((again.out.as_ptr(), again.into.as_ptr()), (out, into));
        assert_eq!(buffers.last().out.as_ptr(), out);
    }
}

#[test]
fn what_the_first_place_holds_is_copied_to_all() {
    let mut memory = Memory::new(room(300, 300), Some(LINES));
    let mut buffers = memory.buffers(room(300, 10));
    buffers.advance();
    let first = buffers.of(0);
    first.out.fill(7);
    first.into.fill(9);
    buffers.restart(usize::MAX);
    assert_eq!(buffers.repetitions(), 0);
    for _ in 0..20 {
        let current = buffers.advance();
        assert!(current.out.iter().all(|&byte| byte == 7));
        assert!(current.into.iter().all(|&byte| byte == 9));
    }
}

#[test]
fn a_few_repetitions_get_no_more_copies_than_they_use() {
    let mut memory = Memory::new(room(300, 300), Some(LINES));
    let mut buffers = memory.buffers(room(300, 10));
    buffers.of(0).into.fill(9);
    buffers.restart(3);
    let copied = (0..11).filter(|&repetition| buffers.of(repetition).into[0] == 9);
    assert_eq!(copied.count(), 3);
}

#[test]
fn the_memory_of_off_cache_is_twice_the_larger_of_cache_and_message() {
    assert_eq!(LINES.space(1), 2048);
    assert_eq!(LINES.space(5000), 10_000);
    assert_eq!(LINES.space(0), 0);
    assert_eq!(Memory::bytes(room(1, 5000), Some(LINES)), 12_048);
    assert_eq!(Memory::bytes(room(1, 5000), None), 5001);
}

#[test]
fn messages_of_nothing_have_a_place_too() {
    for off_cache in [None, Some(LINES)] {
        let mut memory = Memory::new(room(0, 64), off_cache);
        let mut buffers = memory.buffers(room(0, 0));
        buffers.restart(usize::MAX);
        for _ in 0..100 {
            let current = buffers.advance();
            assert!(current.out.is_empty() && current.into.is_empty());
        }
    }
}

#[test]
fn numbers_are_found_at_every_place() {
    let mut memory = Memory::new(room(8, 8), Some(LINES));
    let mut buffers = memory.buffers(room(8, 7));
    for _ in 0..20 {
        let (out, into) = buffers.advance().floats();
        assert_eq!((out.len(), into.len()), (2, 1));
    }
}

#[test]
fn memory_off_a_line_is_refused() {
    #[repr(align(64))]
    struct Line([u8; 128]);
    let (mut out, mut into) = (Line([0; 128]), Line([0; 128]));
    let refused = Buffers::new(&mut out.0[1..], &mut into.0, &mut []);
    assert_eq!(refused.err(), Some(Unaligned));
    assert!(Buffers::new(&mut out.0, &mut into.0, &mut []).is_ok());
}
