//! Calls on communicators (MPI 5.0, chapter 7).

mod create;
mod inquire;

pub(crate) use create::{
    create, create_from_group, create_group, disconnect, dup, dup_with_info, free, get_parent,
    idup, idup_with_info, intercomm_create, intercomm_merge, split, split_type,
};
pub(crate) use inquire::{
    comm_group, compare, create_keyval, delete_attr, free_keyval, get_attr, get_info, get_name,
    rank, remote_group, remote_size, set_attr, set_info, set_name, size, test_inter,
};
