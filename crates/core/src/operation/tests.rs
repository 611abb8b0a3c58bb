//! Predefined operations: their results, their bits in any order, and the errors of missing ones.

use oxmpi_coll::choice::Reproducible;
use proptest::prelude::*;

use super::{Element, Op, OperandOrder, Predefined, ValueLoc};

/// `op` on two elements.
fn apply<T: Element>(op: Op, a: T, b: T) -> T {
    let mut into = [a];
    T::fold(op).expect("it has it")(&mut into, &[b]);
    into[0]
}

#[test]
fn the_least_and_the_greatest_have_the_same_bits_in_either_order() {
    let strange = f64::from_bits(f64::NAN.to_bits() ^ 5);
    let values = [
        0.0,
        -0.0,
        1.5,
        -3.0,
        f64::INFINITY,
        f64::NAN,
        strange,
        -f64::NAN,
    ];
    for a in values {
        for b in values {
            for op in [Op::MIN, Op::MAX] {
                let (ab, ba) = (apply(op, a, b), apply(op, b, a));
                assert_eq!(ab.to_bits(), ba.to_bits(), "{op:?} of {a} and {b}");
                assert_eq!(ab.is_nan(), a.is_nan() && b.is_nan());
            }
        }
    }
    assert_eq!(apply(Op::MIN, 0.0f64, -0.0).to_bits(), (-0.0f64).to_bits());
    assert_eq!(apply(Op::MAX, -0.0f64, 0.0).to_bits(), 0);
    assert_eq!(apply(Op::MAX, f32::NAN, 1.0), 1.0);
}

#[test]
fn logical_operations_know_only_zero_and_others() {
    for (a, b, and, or, xor) in [
        (0u8, 0, 0, 0, 0),
        (2, 0, 0, 1, 1),
        (0, 4, 0, 1, 1),
        (2, 4, 1, 1, 0),
    ] {
        assert_eq!(apply(Op::LAND, a, b), and);
        assert_eq!(apply(Op::LOR, a, b), or);
        assert_eq!(apply(Op::LXOR, a, b), xor);
    }
}

#[test]
fn the_lower_index_wins_between_equal_values() {
    let least = |a, b| apply(Op::MINLOC, a, b);
    let most = |a, b| apply(Op::MAXLOC, a, b);
    let (one, two) = (ValueLoc::new(1, 9), ValueLoc::new(2, 5));
    assert_eq!(least(two, one), one);
    assert_eq!(most(two, one), two);
    for (a, b) in [(3, 4), (4, 3)] {
        for op in [Op::MINLOC, Op::MAXLOC] {
            assert_eq!(
                apply(op, ValueLoc::new(1.5, a), ValueLoc::new(1.5, b)).index(),
                3
            );
        }
    }
    let nan = ValueLoc::new(f64::NAN, 0);
    for number in [f64::NEG_INFINITY, 0.0, f64::INFINITY] {
        let number = ValueLoc::new(number, 7);
        for op in [Op::MINLOC, Op::MAXLOC] {
            assert_eq!(apply(op, nan, number), number);
            assert_eq!(apply(op, number, nan), number);
        }
    }
}

#[test]
fn what_a_type_does_not_have_is_an_error() {
    let words = |error: crate::error::Error| error.to_string();
    let missing = f64::fold(Op::LAND).expect_err("floats have no logic");
    assert_eq!(words(missing), "the operation LAND does not exist for f64");
    let missing = ValueLoc::<i32>::fold(Op::SUM).expect_err("pairs have no sum");
    let expected = "the operation SUM does not exist for ValueLoc<i32>";
    assert_eq!(words(missing), expected);
    assert!(u8::fold(Op::MINLOC).is_err());
}

fn kind<T: Element>(op: Op) -> OperandOrder {
    let reduced = Predefined::<T>::resolve(op, Reproducible::Off);
    reduced.expect("it has it").kind
}

#[test]
fn what_rounds_is_not_exact() {
    assert_eq!(kind::<u64>(Op::SUM), OperandOrder::Exact);
    assert_eq!(kind::<f64>(Op::SUM), OperandOrder::Commutative);
    assert_eq!(kind::<f64>(Op::MAX), OperandOrder::Exact);
    assert_eq!(kind::<ValueLoc<i32>>(Op::MINLOC), OperandOrder::Exact);
    assert_eq!(kind::<ValueLoc<f32>>(Op::MINLOC), OperandOrder::Commutative);
}

#[test]
fn what_is_to_be_the_same_on_any_number_of_ranks_is_exact_or_refused() {
    fn kind<T: Element>(op: Op) -> Result<OperandOrder, crate::error::Error> {
        Predefined::<T>::resolve(op, Reproducible::Ranks).map(|reduced| reduced.kind)
    }
    for exact in [
        kind::<f64>(Op::SUM),
        kind::<f32>(Op::SUM),
        kind::<f32>(Op::MIN),
        kind::<u8>(Op::PROD),
    ] {
        assert_eq!(exact.expect("it can"), OperandOrder::Exact);
    }
    let why = kind::<f64>(Op::PROD).expect_err("it rounds").to_string();
    let expected = "PROD may have other bits on another number of ranks";
    assert!(why.starts_with(expected), "{why}");
}

/// Bits of an exact operation do not depend on the order and the grouping.
fn exact<T: Element + PartialEq + std::fmt::Debug>(op: Op, [a, b, c]: [T; 3]) {
    if T::fold(op).is_err() || !T::is_exact(op) {
        return;
    }
    let bits = |x: T| x.as_bytes().to_vec();
    let left = bits(apply(op, apply(op, a, b), c));
    assert_eq!(left, bits(apply(op, a, apply(op, b, c))), "{op:?}");
    assert_eq!(left, bits(apply(op, apply(op, c, a), b)), "{op:?}");
}

proptest! {
    #[test]
    fn exact_operations_are_exact(
        wide in any::<[u64; 3]>(),
        narrow in any::<[i8; 3]>(),
        index in any::<[u8; 3]>(),
    ) {
        for op in Op::ALL {
            exact(op, wide);
            exact(op, wide.map(f64::from_bits));
            exact(op, wide.map(|x| f32::from_bits(x as u32)));
            exact(op, narrow);
            exact(op, [0, 1, 2].map(|i| ValueLoc::new(narrow[i] % 3, (index[i] % 3).into())));
        }
    }

    /// A loop over many elements, vectors and a rest, is the operation on each.
    #[test]
    fn loops_are_the_operation_on_each(values in prop::collection::vec(any::<[i32; 2]>(), 0..70)) {
        for op in Op::ALL {
            let Ok(fold) = i32::fold(op) else { continue };
            let mut into: Vec<i32> = values.iter().map(|pair| pair[0]).collect();
            let from: Vec<i32> = values.iter().map(|pair| pair[1]).collect();
            fold(&mut into, &from);
            for (got, [a, b]) in into.iter().zip(&values) {
                assert_eq!(*got, apply(op, *a, *b));
            }
        }
    }
}
