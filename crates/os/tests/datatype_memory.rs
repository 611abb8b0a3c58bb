//! Memory of a datatype: it depends on its description, not on its number of blocks.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use oxmpi_wire::layout::{Basic, Datatype, Dimension, Member, Order};

/// The system's allocator, with a count of the bytes that are allocated now.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all work is the system's allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: by the caller's word.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: by the caller's word.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes of the value that `make` returns, with what it has on the heap.
fn memory(make: impl FnOnce() -> Datatype) -> usize {
    let before = ALLOCATED.load(Ordering::Relaxed);
    let datatype = make();
    let after = ALLOCATED.load(Ordering::Relaxed);
    after - before + size_of_val(&datatype)
}

// One test: others would allocate meanwhile.
#[test]
fn memory_depends_on_the_description() {
    let double = Datatype::basic(Basic::new(1, 8, 8));
    let int = Datatype::basic(Basic::new(2, 4, 4));
    let cube = |whole, len, start| {
        let dimension = Dimension { whole, len, start };
        let part = double.subarray(&[dimension; 3], Order::C);
        part.expect("it fits 63 bits")
    };
    let large = memory(|| cube(1024, 1000, 12));
    println!("sub-array of 1,024^3: {large} B");
    assert!(large <= 512, "{large} B");
    assert_eq!(memory(|| cube(8, 4, 2)), large);
    // 2^40 instances of a structure, and one.
    let pair = |count| {
        let member = |displacement, datatype| Member {
            len: 1,
            displacement,
            datatype,
        };
        let pair = Datatype::structure(&[member(0, &int), member(8, &double)]);
        let pairs = pair.and_then(|pair| pair.hvector(count, 1, 24));
        pairs.expect("it fits 63 bits")
    };
    assert_eq!(memory(|| pair(1 << 40)), memory(|| pair(3)));
    // An entry for each block that is named.
    let list = |len: i64| {
        let displacements: Vec<i64> = (0..len).map(|i| i * i).collect();
        let list = double.indexed_block(1, &displacements);
        list.expect("it fits 63 bits")
    };
    let (short, long) = (memory(|| list(100)), memory(|| list(1100)));
    assert_eq!(long - short, 1000 * size_of::<(i64, u64)>());
}
