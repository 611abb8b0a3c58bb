//! Operations by functions: elements without a size, and what cannot be reproducible.

use oxmpi_coll::choice::Reproducible;
use oxmpi_coll::plan::Side;
use oxmpi_os::RawBytes;

use super::reduction::sealed::ResolveReduction;
use super::{Combine, Op, ResolvedReduction};

#[test]
fn elements_without_a_size_are_no_elements() {
    let ResolvedReduction { combine, .. } =
        ResolveReduction::<()>::resolve(Op::ordered(|(), ()| unreachable!()), Reproducible::Off)
            .expect("any");
    combine.combine(RawBytes::empty(), RawBytes::empty(), Side::Left);
}

#[test]
fn a_function_is_not_reproducible_on_any_number_of_ranks() {
    let own =
        ResolveReduction::<u8>::resolve(Op::commutative(|a: u8, b: u8| a ^ b), Reproducible::Ranks);
    assert!(own.is_err_and(|why| why.to_string().contains("of the program's own")));
}
