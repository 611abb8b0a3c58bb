use alloc::vec::Vec;
use std::string::ToString;

use super::shape::{Node, Placed, Shape};
use super::{Basic, Block, Datatype, DatatypeError, Dimension, Member, Order, StridedRuns};

static INT: Datatype = Datatype::basic(Basic::new(1, 4, 4));
static DOUBLE: Datatype = Datatype::basic(Basic::new(2, 8, 8));

fn structure(members: &[(u64, i64, &Datatype)]) -> Datatype {
    let member = |&(len, displacement, datatype)| Member {
        len,
        displacement,
        datatype,
    };
    Datatype::structure(&members.iter().map(member).collect::<Vec<_>>()).expect("small")
}

fn indexed(blocks: &[(u64, i64)]) -> Datatype {
    let block = |&(len, displacement)| Block { len, displacement };
    let blocks: Vec<_> = blocks.iter().map(block).collect();
    INT.indexed(&blocks).expect("small")
}

fn run(size: u64) -> Placed {
    Placed {
        offset: 0,
        shape: Shape::run(size),
    }
}

#[test]
fn simple_shapes_have_one_form() {
    let vector = |count, len, stride| INT.vector(count, len, stride).expect("small");
    // A stride that is the length.
    assert_eq!(vector(5, 2, 2).bytes, run(40));
    assert_eq!(INT.contiguous(10).expect("small").bytes, run(40));
    // Strides that continue each other.
    let nested = vector(3, 1, 2).resized(0, 24).expect("small");
    assert_eq!(
        nested.contiguous(4).expect("small").bytes,
        vector(12, 1, 2).bytes
    );
    // Equal lengths at regular distances.
    assert_eq!(
        indexed(&[(2, 0), (2, 5), (2, 10)]).bytes,
        vector(3, 2, 5).bytes
    );
    assert_eq!(indexed(&[(1, 0), (2, 1), (3, 3)]).bytes, run(24));
    // Members that touch, and empty ones.
    let pair = structure(&[
        (1, 0, &INT),
        (3, 4, &INT),
        (0, 99, &DOUBLE),
        (1, 16, &DOUBLE),
    ]);
    assert_eq!(pair.bytes, run(24));
    // Equal members at regular distances.
    let column = vector(3, 1, 2);
    assert_eq!(
        structure(&[(1, 0, &column), (1, 100, &column), (1, 200, &column)]).bytes,
        column.hvector(3, 1, 100).expect("small").bytes
    );
    let empty = structure(&[(0, 8, &INT), (2, 4, &Datatype::EMPTY)]);
    assert_eq!(
        (empty.bytes, empty.bounds),
        (Placed::EMPTY, Datatype::EMPTY.bounds)
    );
}

#[test]
fn structures_are_padded_to_their_alignment() {
    // The example of MPI 5.0, section 5.1: a double at 0 and a char at 8.
    let char = Datatype::basic(Basic::new(3, 1, 1));
    let padded = structure(&[(1, 0, &DOUBLE), (1, 8, &char)]);
    assert_eq!(
        (padded.size(), padded.extent(), padded.true_extent()),
        (9, 16, 9)
    );
    // Explicit bounds count instead, also those of a member.
    let resized = padded.resized(-3, 10).expect("small");
    assert_eq!((resized.lower_bound(), resized.extent()), (-3, 10));
    let outer = structure(&[(2, 5, &resized), (1, 100, &DOUBLE)]);
    assert_eq!((outer.lower_bound(), outer.extent()), (2, 20));
    assert_eq!((outer.true_lower_bound(), outer.true_extent()), (5, 103));
}

#[test]
fn lists_of_lists_stay_flat() {
    fn depth(shape: &Shape) -> usize {
        match &shape.node {
            Node::Run | Node::Runs(_) => 1,
            Node::Stride { unit, .. } | Node::Blocks { unit, .. } => 1 + depth(unit),
            Node::Members(members) => {
                let inner = members.iter().map(|member| depth(&member.content));
                1 + inner.max().unwrap_or(0)
            }
        }
    }
    let column = DOUBLE.vector(2, 1, 2).expect("small");
    let (mut list, mut chain) = (INT.clone(), column.clone());
    for i in 1..1000i64 {
        list = structure(&[(1, 0, &list), (1, i * i * 12, &INT)]);
        chain = structure(&[
            (1, 0, &chain),
            (1, i * i * 64, if i % 2 == 0 { &INT } else { &column }),
        ]);
    }
    // A list, the strides that its first entries make, and their bytes.
    assert_eq!(
        [&list, &chain].map(|datatype| depth(&datatype.bytes.shape)),
        [3, 4]
    );
    // Neighbours in Fibonacci's sequence: the shorter one is shared.
    let (mut one, mut two) = (INT.clone(), column);
    for i in 1..24i64 {
        let reach = two.true_extent() + 4 * i;
        (one, two) = (two.clone(), structure(&[(1, 0, &two), (1, reach, &one)]));
    }
    let depth = depth(&two.bytes.shape);
    assert!(depth <= 16, "depth {depth}");
}

#[test]
fn what_does_not_fit_is_named() {
    let refused = |result: Result<Datatype, DatatypeError>| match result {
        Err(error) => error.to_string(),
        Ok(datatype) => panic!("{datatype:?}"),
    };
    let too_large = |what| DatatypeError::TooLarge(what).to_string();
    let huge = 1 << 61;
    assert_eq!(refused(DOUBLE.hvector(huge, 1, 0)), too_large("size"));
    assert_eq!(refused(INT.contiguous(huge)), too_large("upper bound"));
    assert_eq!(refused(INT.vector(2, 1, i64::MIN)), too_large("stride"));
    assert_eq!(
        refused(INT.hvector(3, 1, i64::MIN / 2 - 1)),
        too_large("lower bound")
    );
    assert_eq!(refused(INT.resized(i64::MAX, 1)), too_large("upper bound"));
    let far = [i64::MIN, i64::MAX - 8].map(|at| (1, at, &INT));
    let members = far.map(|(len, displacement, datatype)| Member {
        len,
        displacement,
        datatype,
    });
    assert_eq!(
        refused(Datatype::structure(&members)),
        too_large("true extent")
    );
    let dimension = |whole, len, start| Dimension { whole, len, start };
    let beyond = [dimension(4, 2, 1), dimension(4, 2, 3)];
    assert_eq!(
        refused(INT.subarray(&beyond, Order::C)),
        "dimension 1: the sub-array has 2 elements from 3, expected 1 or more within the array's 4"
    );
    let whole = [dimension(huge, 1, 0); 2];
    assert_eq!(refused(INT.subarray(&whole, Order::C)), too_large("extent"));
    assert_eq!(DOUBLE.size_of(1 << 60), None);
    assert_eq!(DOUBLE.size_of(1 << 59), Some(1 << 62));
}

#[test]
fn signatures_do_not_depend_on_places() {
    let pairs = structure(&[(1, 0, &INT), (1, 8, &DOUBLE)])
        .contiguous(1 << 40)
        .expect("fits");
    let half = structure(&[(1, 0, &INT), (1, 4, &DOUBLE)])
        .hvector(1 << 39, 1, 99)
        .expect("fits");
    let both = structure(&[(1, 0, &half), (1, 1 << 60, &half)]);
    assert_eq!(both.signature(), pairs.signature());
    assert_ne!(half.signature(), pairs.signature());
    assert_eq!(pairs.signature().elements_in(12_000_004), Some(2_000_001));
    assert_eq!(pairs.signature().elements_in(12_000_005), None);
}

#[test]
fn spans_cover_the_ranges_of_bytes() {
    for stride in [-9, -3, 2, 9] {
        let runs = StridedRuns {
            offset: 5,
            len: 3,
            stride,
            times: 8,
        };
        for (from, to) in (0..24).flat_map(|from| (from..=24).map(move |to| (from, to))) {
            let ranges = (from..to).map(|at| 5 + (at / 3) as i64 * stride);
            let low = ranges.clone().min();
            let span = low.zip(ranges.max()).map(|(low, high)| low..high + 3);
            assert_eq!(runs.span(from, to), span, "{from}..{to} at {stride}");
        }
    }
    let far = StridedRuns {
        stride: i64::MAX,
        times: u64::MAX,
        ..StridedRuns::one(0, 1)
    };
    assert_eq!(
        [far.span(0, 3), far.span(1, 2), far.span(0, u64::MAX)],
        [const { None }; 3]
    );
}
