//! Layouts against loops over the elements that they name.

use proptest::prelude::*;

use super::{Indexed, Layout, Strided, SubArray, View, ViewMut};

/// The reason why a view of `len` elements is refused.
fn refused(len: usize, layout: &dyn Layout) -> String {
    let values = vec![0u32; len];
    let why = View::new(&values, layout).expect_err("refused");
    why.to_string()
}

fn refused_mut(len: usize, layout: &dyn Layout) -> String {
    let mut values = vec![0u32; len];
    let why = ViewMut::new(&mut values, layout).expect_err("refused");
    why.to_string()
}

const fn strided(first: usize, count: usize, block: usize, stride: isize) -> Strided {
    Strided {
        first,
        count,
        block,
        stride,
    }
}

#[test]
fn elements_outside_of_the_slice_are_refused() {
    let beyond = "a layout does not fit its slice: it reaches from index 2 up to index 17, where the slice has 17 \
                  elements";
    assert_eq!(refused(17, &strided(2, 4, 1, 5)), beyond);
    assert!(View::new(&[0u32; 18], strided(2, 4, 1, 5)).is_ok());
    assert!(refused(20, &strided(4, 2, 1, -5)).contains("from index -1 up to index 4"));
    assert!(
        refused(20, &Indexed(&[0..3, 18..21])).contains("up to index 20, where the slice has 20")
    );
}

#[test]
fn numbers_beyond_63_bits_are_refused() {
    for layout in [
        strided(0, 2, 1, isize::MAX),
        strided(0, 2, 1, isize::MIN),
        strided(usize::MAX, 1, 1, 1),
        strided(1 << 61, 2, 1, 1 << 60),
        strided(0, usize::MAX, 1, 0),
        strided(0, usize::MAX, usize::MAX, 1),
        strided(0, 1, usize::MAX, 1),
    ] {
        let why = refused(20, &layout);
        assert!(why.contains("exceeds 63 bits"), "{layout:?}: {why}");
    }
    let far = usize::MAX - 1..usize::MAX;
    assert!(refused(20, &Indexed(&[far])).contains("index 18446744073709551614 exceeds 63 bits"));
    let large = SubArray {
        array: [usize::MAX, 2],
        part: [0..1, 0..1],
    };
    assert!(refused(20, &large).contains("where the slice has 20"));
}

#[test]
fn an_array_has_the_length_of_its_slice_and_its_part_is_inside() {
    let part = |part| SubArray {
        array: [4, 5],
        part,
    };
    let short =
        "a layout does not fit its slice: an array of 4 x 5 elements, where the slice has 19";
    assert_eq!(refused(19, &part([0..1, 0..1])), short);
    assert!(
        refused(20, &part([0..1, 2..6]))
            .contains("dimension 1: the sub-array has 4 elements from 2")
    );
    // MPI 5.0, section 5.1.3: a dimension of a sub-array is not empty.
    assert!(
        refused(20, &part([1..1, 0..1]))
            .contains("dimension 0: the sub-array has 0 elements from 1")
    );
    #[allow(clippy::reversed_empty_ranges, reason = "what is refused")]
    let reversed = part([0..1, 3..2]);
    assert!(refused(20, &reversed).contains("dimension 1: the sub-array has 0 elements"));
}

#[test]
fn what_is_written_has_no_element_twice() {
    let twice = "a layout does not fit its slice: blocks of 3 elements at a stride of -2 overlap";
    assert_eq!(refused_mut(20, &strided(10, 4, 3, -2)), twice);
    assert!(View::new(&[0u32; 20], strided(10, 4, 3, -2)).is_ok());
    assert!(refused_mut(20, &strided(3, 2, 1, 0)).contains("at a stride of 0 overlap"));
    assert!(ViewMut::new(&mut [0u32; 20], strided(3, 1, 2, 0)).is_ok());
    let overlap = refused_mut(20, &Indexed(&[4..8, 0..5]));
    assert!(overlap.contains("blocks 0 and 1 both have the element at index 4"));
}

#[test]
fn an_empty_layout_has_no_elements() {
    let mut values = [7u32; 3];
    for layout in [strided(99, 0, 4, 1), strided(99, 4, 0, 1)] {
        assert!(View::new(&values, layout).expect("fits").is_empty());
        let mut none = ViewMut::new(&mut values, layout).expect("fits");
        none.copy_from_slice(&[]);
        assert_eq!((none.len(), none.as_view().to_vec()), (0, vec![]));
    }
    assert!(
        View::new(&values, Indexed(&[9..9, 7..7]))
            .expect("fits")
            .is_empty()
    );
    assert!(
        View::new(&[(); 3], strided(0, 3, 1, 1))
            .expect("fits")
            .is_empty()
    );
    assert_eq!(values, [7; 3]);
}

#[test]
fn views_that_are_split_have_no_written_element_in_common() {
    let mut values: Vec<u32> = (0..20).collect();
    let column = |first| strided(first, 4, 1, 5);
    let row = strided(5, 1, 5, 5);
    let wrong = |read: &[Strided; 2], written: &[Strided; 2]| {
        let mut values = [0u32; 20];
        let split = ViewMut::split(&mut values, *read, *written);
        split.expect_err("an element in common").to_string()
    };
    let common = wrong(&[column(1), row], &[column(0), column(4)]);
    assert!(common.contains("the element at index 5 would be written, and is in another view too"));
    assert!(wrong(&[row, row], &[column(1), column(0)]).contains("at index 5 would be"));
    assert!(wrong(&[row, row], &[column(1), strided(15, 1, 1, 1)]).contains("at index 6 would be"));
    assert!(wrong(&[column(1), row], &[column(4), column(4)]).contains("at index 4 would be"));
    let both: (_, [ViewMut<'_, u32>; 2]) =
        ViewMut::split(&mut values, [column(1), column(1)], [column(0), column(4)]).expect("fits");
    let ([one, same], [mut first, last]) = both;
    first.copy_from_slice(&one.to_vec());
    assert_eq!((same.to_vec(), last.len()), (vec![1, 6, 11, 16], 4));
    assert_eq!(values[..7], [1, 1, 2, 3, 4, 6, 6]);
}

/// Packs and unpacks by the view and by the indexes.
fn agrees(layout: &dyn Layout, len: usize, indexes: &[usize]) {
    let values: Vec<u32> = (0..len as u32).map(|n| n * n).collect();
    let packed: Vec<u32> = indexes.iter().map(|&at| values[at]).collect();
    assert_eq!(View::new(&values, layout).expect("fits").to_vec(), packed);
    let mut distinct = indexes.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let mut filled = values.clone();
    let view = ViewMut::new(&mut filled, layout);
    if distinct.len() < indexes.len() {
        view.expect_err("an element twice");
        return;
    }
    let fresh: Vec<u32> = (0..indexes.len() as u32).map(|n| n + 1_000_000).collect();
    view.expect("each once").copy_from_slice(&fresh);
    let mut expected = values;
    for (&at, fresh) in indexes.iter().zip(fresh) {
        expected[at] = fresh;
    }
    assert_eq!(filled, expected);
}

proptest! {
    #[test]
    fn strided_is_a_loop(count in 0usize..6, block in 0usize..4, stride in -6isize..7, more in 0usize..3) {
        let reach = stride * (count.max(1) as isize - 1);
        let first = more + reach.min(0).unsigned_abs();
        let len = first + reach.max(0).unsigned_abs() + block + more;
        let start = |n: usize| first.wrapping_add_signed(n as isize * stride);
        let indexes: Vec<_> = (0..count).flat_map(|n| start(n)..start(n) + block).collect();
        agrees(&strided(first, count, block, stride), len, &indexes);
    }

    #[test]
    fn a_sub_array_is_three_loops(dimensions in prop::array::uniform3((0usize..3, 1usize..4, 0usize..3))) {
        let array = dimensions.map(|(before, len, after)| before + len + after);
        let part = dimensions.map(|(before, len, _)| before..before + len);
        let mut indexes = Vec::new();
        for x in part[0].clone() {
            for y in part[1].clone() {
                indexes.extend(part[2].clone().map(|z| (x * array[1] + y) * array[2] + z));
            }
        }
        agrees(&SubArray { array, part }, array.iter().product(), &indexes);
    }

    #[test]
    fn indexed_is_a_list(blocks in prop::collection::vec((0usize..12, 0usize..4), 0..6)) {
        let blocks: Vec<_> = blocks.iter().map(|&(start, len)| start..start + len).collect();
        let indexes: Vec<_> = blocks.iter().cloned().flatten().collect();
        agrees(&Indexed(&blocks), 16, &indexes);
    }
}
