//! Operations that the program makes (MPI 5.0, section 6.9.5).

use std::sync::Arc;

use super::code;
use crate::constants::*;
use crate::error_handling::{Error, Result, catch};
use crate::handles::{Handle, Table, slab_handle};
use crate::types::{Callback, Op, c_int};

static MADE: Table<Op, Arc<UserFunction>> = Table::new();

/// A function of the program.
#[derive(Debug)]
pub(super) struct UserFunction {
    /// Its address.
    pub(super) address: usize,
    /// Whether it takes lengths of type `MPI_Count`, in place of `int`.
    pub(super) is_large: bool,
    pub(super) is_commutative: bool,
}

/// The function of a handle.
///
/// # Errors
/// `MPI_ERR_OP` if there is none.
pub(super) fn find(op: Op) -> Result<Arc<UserFunction>> {
    let found = MADE.with(|slab| {
        let index = slab.find(slab_handle(op))?;
        Some(Arc::clone(&slab[index]))
    });
    found.ok_or_else(|| Error::handle(MPI_ERR_OP, "operation", op))
}

/// The operations that the program has not freed.
pub(crate) fn left() -> Vec<Op> {
    MADE.handles()
}

/// The handle of an integer (`MPI_Op_fromint`).
pub(crate) fn from_int(int: c_int) -> Op {
    MADE.handle_of(int)
}

/// # Safety
/// `op` may be written to.
unsafe fn make(name: &'static str, function: UserFunction, op: *mut Op) -> c_int {
    catch(name, || {
        if function.address == 0 {
            return Err(Error::argument("the function of the operation is null"));
        }
        let made = MADE.insert(Arc::new(function));
        // SAFETY: the caller's promise.
        unsafe { op.write(made) };
        Ok(())
    })
}

/// `MPI_Op_create`.
///
/// # Safety
/// `op` may be written to; the function is one of type `MPI_User_function`.
pub(crate) unsafe fn create(function: Callback, commute: c_int, op: *mut Op) -> c_int {
    let function = UserFunction {
        address: function.expose_provenance(),
        is_large: false,
        is_commutative: commute != 0,
    };
    // SAFETY: the caller's promise.
    unsafe { make("MPI_Op_create", function, op) }
}

/// `MPI_Op_create_c`.
///
/// # Safety
/// `op` may be written to; the function is one of type `MPI_User_function_c`.
pub(crate) unsafe fn create_large(function: Callback, commute: c_int, op: *mut Op) -> c_int {
    let function = UserFunction {
        address: function.expose_provenance(),
        is_large: true,
        is_commutative: commute != 0,
    };
    // SAFETY: the caller's promise.
    unsafe { make("MPI_Op_create_c", function, op) }
}

/// `MPI_Op_free`.
///
/// # Safety
/// `op` may be read and written to.
pub(crate) unsafe fn free(op: *mut Op) -> c_int {
    catch("MPI_Op_free", || {
        // SAFETY: the caller's promise.
        let handle = unsafe { *op };
        if MADE.remove(handle).is_none() {
            return Err(Error::handle(
                MPI_ERR_OP,
                "operation of the program",
                handle,
            ));
        }
        // SAFETY: as above.
        unsafe { op.write(Op::from_address(MPI_OP_NULL)) };
        Ok(())
    })
}

/// `MPI_Op_commutative`.
///
/// # Safety
/// `commute` may be written to.
pub(crate) unsafe fn commutative(op: Op, commute: *mut c_int) -> c_int {
    catch("MPI_Op_commutative", || {
        let is_commutative = match op.address() {
            MPI_REPLACE | MPI_NO_OP => false,
            _ => code(op).is_some() || find(op)?.is_commutative,
        };
        // SAFETY: the caller's promise.
        unsafe { commute.write(is_commutative.into()) };
        Ok(())
    })
}
