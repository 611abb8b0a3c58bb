//! Datatypes (MPI 5.0, chapter 5): handles over the layouts of `oxmpi-wire`.
//!
//! A datatype has a [`Description`], which the datatypes that are made of it and the messages that use it share: it
//! goes when the last of them has. [`Buffer`] makes the core's range of bytes of an address, a count and a datatype.

mod arrays;
mod attributes;
mod buffer;
mod construct;
mod description;
mod elements;
mod envelope;
mod external;
mod inquire;
mod lifetime;
mod object;
mod pack;
mod predefined;
mod sized;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use arrays::{darray, subarray};
pub(crate) use attributes::{create_keyval, delete_attr, free_keyval, get_attr, set_attr};
pub(crate) use buffer::{
    Buffer, basic_len, basic_size, committed, extent_of, is_memory, plain, plain_len,
    predefined_kind, size_of,
};
pub(crate) use construct::{
    contiguous, hindexed, hindexed_block, hvector, indexed, indexed_block, resized, structure,
    vector,
};
pub(crate) use description::Description;
pub(crate) use elements::{get_count, get_elements, set_elements};
pub(crate) use envelope::{get_contents, get_contents_large, get_envelope, get_envelope_large};
pub(crate) use inquire::{address, extent, size, true_extent};
pub(crate) use lifetime::{commit, dup, free, get_name, set_name};
pub(crate) use pack::{
    pack, pack_external, pack_external_size, pack_size, unpack, unpack_external,
};
pub(crate) use sized::{f90_complex, f90_integer, f90_real, match_size, value_index};
pub(crate) use table::{HeldHandle, description, from_int, left, name_of};
