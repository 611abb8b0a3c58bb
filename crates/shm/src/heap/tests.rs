use std::string::ToString;

use super::*;

const RANKS: u32 = 3;

/// Areas of `area` bytes in a memory of `len` bytes.
fn areas(area: u64, len: u64) -> HeapMemory {
    HeapMemory {
        memory: Memfd::create("oxmpi-test", len as usize).unwrap(),
        area,
        pages: PageKind::Small,
    }
}

/// The same areas as two ranks have mapped them.
fn two() -> [Arc<Heap>; 2] {
    let memory = areas(UNIT, u64::from(RANKS) * UNIT).memory;
    [1, 2].map(|me| {
        let again = memory.as_fd().try_clone_to_owned().unwrap();
        let areas = HeapMemory {
            memory: Memfd::adopt(again).unwrap(),
            area: UNIT,
            pages: PageKind::Small,
        };
        Arc::new(Heap::new(areas, RANKS, me).unwrap())
    })
}

/// Byte `at` of a block of this process.
fn byte(block: &HeapBlock, at: u64) -> *mut u8 {
    assert!(at < block.len());
    block.start().as_ptr().wrapping_add(at as usize)
}

#[test]
fn one_rank_names_an_offset_and_the_other_finds_its_address() {
    let [one, two] = two();
    let block = one.allocate(10_000).unwrap();
    assert!(block.len() >= 10_000 && block.is_here());
    let offset = one.offset(1, byte(&block, 100), 200).expect("its own area");
    let there = two.place(1, offset, 200).expect("a place of rank 1");
    // SAFETY: bytes of the block, which this test alone has.
    unsafe { byte(&block, 100).write_volatile(77) };
    let mut seen = [0; 1];
    // SAFETY: mapped, as `place` says.
    unsafe { oxmpi_os::copy::copy_from_shared(there, &mut seen) };
    assert_eq!(seen, [77]);
}

#[test]
fn bytes_beyond_an_area_have_no_address() {
    let [one, _] = two();
    assert_eq!(
        one.offset(1, std::ptr::dangling(), 0),
        None,
        "nothing is mapped"
    );
    let base = one.mapped().unwrap().mapping.base();
    let inside = |rank: u32, at: u64, len| one.offset(rank, base.wrapping_add(at as usize), len);
    assert_eq!(inside(1, UNIT, UNIT), Some(0));
    assert_eq!(inside(1, 2 * UNIT, 0), Some(UNIT));
    assert_eq!(inside(1, UNIT + 1, UNIT), None, "runs over the end");
    assert_eq!(inside(1, UNIT - 1, 1), None, "before it");
    assert_eq!(inside(1, 2 * UNIT + 1, 0), None, "behind it");
    assert_eq!(inside(RANKS, UNIT * 3, 0), None, "no such rank");
    assert_eq!(one.offset(1, std::ptr::null(), 1), None);

    assert_eq!(
        one.place(2, 5, 10),
        Some(base.wrapping_add(2 * UNIT as usize + 5))
    );
    for (rank, offset, len) in [
        (0, UNIT, 1),
        (0, 1, UNIT),
        (0, u64::MAX, 1),
        (0, 1, u64::MAX),
        (2, u64::MAX - 1, 2),
        (RANKS, 0, 0),
        (u32::MAX, u64::MAX, u64::MAX),
    ] {
        assert_eq!(one.place(rank, offset, len), None, "{rank} {offset} {len}");
    }
}

/// The pool may have no page left for a wrong offset of a peer, and touching one would end the process:
/// `place` refuses.
#[test]
fn pages_that_the_pool_lacks_have_no_address() {
    let len = u64::from(RANKS) * UNIT;
    let Ok(memory) = Memfd::create_pooled("oxmpi-test", len as usize) else {
        return; // this kernel has no such pages
    };
    let areas = HeapMemory {
        memory,
        area: UNIT,
        pages: PageKind::Pool,
    };
    let heap = Heap::new(areas, RANKS, 1).unwrap();
    let mut seen = [1];
    if let Some(place) = heap.place(2, 5, 1) {
        // SAFETY: mapped, as `place` says.
        unsafe { oxmpi_os::copy::copy_from_shared(place, &mut seen) };
        assert_eq!(seen, [0], "the pool had a page");
    } else if let Err(refused) = Arc::new(heap).allocate(1) {
        assert!(matches!(refused, AllocError::Pool { .. }), "{refused}");
    }
}

#[test]
fn freed_pages_are_zero_and_reused() {
    let [one, _] = two();
    let block = one.allocate(UNIT).unwrap();
    let start = block.start();
    // SAFETY: bytes of the block.
    unsafe { byte(&block, UNIT - 1).write_volatile(1) };
    let refused = one.allocate(1).unwrap_err();
    assert!(
        refused.to_string().starts_with("1 B wanted, 0 B are free"),
        "{refused}"
    );
    drop(block);
    assert_eq!(one.left(), UNIT);
    let again = one.allocate(UNIT).unwrap();
    assert_eq!(again.start(), start);
    // SAFETY: as above.
    assert_eq!(unsafe { byte(&again, UNIT - 1).read_volatile() }, 0);
}

#[test]
fn more_memory_than_the_machine_has_is_refused() {
    let [one, _] = two();
    let refused = one.allocate(u64::MAX).unwrap_err();
    assert!(matches!(refused, AllocError::Memory(_)), "{refused}");
    assert_eq!(one.left(), UNIT);
}

#[test]
fn memory_of_another_size_is_refused() {
    for area in [UNIT / 2, 2 * UNIT, 0, u64::MAX] {
        let error = Heap::new(areas(area, UNIT), 1, 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
    assert!(
        Heap::new(areas(UNIT, UNIT), 2, 0).is_err(),
        "an area is missing"
    );
    assert!(Heap::new(areas(UNIT, UNIT), 1, 1).is_err(), "no such rank");
}
