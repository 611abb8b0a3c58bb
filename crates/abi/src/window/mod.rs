//! Windows: memory that ranks access without its owner's help (MPI 5.0, chapter 12).

mod access;
mod accumulate;
mod attributes;
mod calls;
mod create;
mod epoch;
mod inquire;
mod requested;
mod target;

pub(crate) use access::{get, put};
pub(crate) use accumulate::{accumulate, compare_and_swap, fetch_and_op, get_accumulate};
pub(crate) use attributes::{create_keyval, delete_attr, free_keyval, get_attr, set_attr};
pub(crate) use create::{
    allocate, allocate_shared, attach, create, create_dynamic, detach, free, shared_query,
};
pub(crate) use epoch::{
    complete, fence, flush, flush_all, flush_local, flush_local_all, lock, lock_all, post, start,
    sync, test, unlock, unlock_all, wait,
};
pub(crate) use inquire::{
    call_errhandler, get_errhandler, get_group, get_info, get_name, set_errhandler, set_info,
    set_name,
};
pub(crate) use requested::{raccumulate, rget, rget_accumulate, rput};
