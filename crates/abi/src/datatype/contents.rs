//! [`Contents`]: the call that made a datatype (MPI 5.0, section 5.1.13).

use std::sync::Arc;

use super::object::Description;
use crate::counts::Counting;
use crate::types::{Aint, Count, c_int};

/// The arguments of a constructor, by their kinds, in the order in which `MPI_Type_get_contents` gives them.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(super) combiner: c_int,
    pub(super) integers: Vec<c_int>,
    pub(super) addresses: Vec<Aint>,
    pub(super) counts: Vec<Count>,
    pub(super) types: Vec<Arc<Description>>,
}

/// An argument of a constructor that is a number: `int`, `MPI_Aint`, or `MPI_Count` in the constructors whose name
/// ends in `_c`.
pub(crate) trait Argument: Counting {
    /// Appends numbers to those of their kind.
    fn keep(numbers: &[Self], contents: &mut Contents);
}

macro_rules! arguments {
    ($($t:ident $list:ident)*) => {$(
        impl Argument for $t {
            fn keep(numbers: &[Self], contents: &mut Contents) {
                contents.$list.extend_from_slice(numbers);
            }
        }
    )*};
}

arguments! { c_int integers Aint addresses Count counts }

impl Contents {
    pub(super) fn new(combiner: c_int) -> Self {
        Self {
            combiner,
            ..Self::default()
        }
    }

    /// Appends numbers.
    pub(super) fn with<N: Argument>(mut self, numbers: &[N]) -> Self {
        N::keep(numbers, &mut self);
        self
    }

    /// Appends a datatype.
    pub(super) fn of(mut self, datatype: &Arc<Description>) -> Self {
        self.types.push(Arc::clone(datatype));
        self
    }
}
