//! Arithmetic on addresses.

use crate::types::Aint;

/// `MPI_Aint_add`.
pub(crate) const fn add(base: Aint, displacement: Aint) -> Aint {
    base.wrapping_add(displacement)
}

/// `MPI_Aint_diff`.
pub(crate) const fn diff(one: Aint, other: Aint) -> Aint {
    one.wrapping_sub(other)
}
