//! [`Description`]: what a datatype describes, and the call that made it (MPI 5.0, section 5.1.13).

use std::sync::Arc;

use oxmpi_core::ElementKind;
use oxmpi_wire::layout;

use crate::constants::*;
use crate::counts::Counting;
use crate::types::{Aint, Count, c_int};

/// What a datatype describes. Datatypes made of it and messages share it.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) layout: layout::Datatype,
    /// Its elements in predefined operations.
    pub(crate) kind: Option<ElementKind>,
    pub(super) origin: Origin,
}

/// Where a datatype comes from.
#[derive(Debug)]
pub(super) enum Origin {
    /// The standard names it: its handle and name.
    Named(usize, &'static str),
    /// The program has made it: by this call.
    Made(Contents),
}

impl Description {
    pub(super) const fn named(
        handle: usize,
        name: &'static str,
        layout: layout::Datatype,
        kind: Option<ElementKind>,
    ) -> Self {
        Self {
            layout,
            kind,
            origin: Origin::Named(handle, name),
        }
    }

    pub(super) const fn made(layout: layout::Datatype, contents: Contents) -> Self {
        Self {
            layout,
            kind: None,
            origin: Origin::Made(contents),
        }
    }

    /// The kind of its elements, if all are of one.
    pub(crate) fn element_kind(&self) -> Option<ElementKind> {
        match &self.origin {
            Origin::Made(contents) if self.kind.is_none() => {
                let mut kinds = contents.types.iter().map(|part| part.element_kind());
                let first = kinds.next()??;
                kinds.all(|kind| kind == Some(first)).then_some(first)
            }
            _ => self.kind,
        }
    }

    /// Whether the datatype is never freed: it is predefined, or was made by the precision of numbers.
    pub(super) const fn is_permanent(&self) -> bool {
        match &self.origin {
            Origin::Named(..) => true,
            Origin::Made(contents) => is_by_precision(contents.combiner),
        }
    }
}

pub(super) const fn is_by_precision(combiner: c_int) -> bool {
    matches!(
        combiner,
        MPI_COMBINER_F90_REAL | MPI_COMBINER_F90_COMPLEX | MPI_COMBINER_F90_INTEGER
    )
}

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
