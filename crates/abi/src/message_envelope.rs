//! Ranks and tags of messages, as the core takes them.

use oxmpi_core::{PROC_NULL, Source, Tag};

use crate::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL};
use crate::types::c_int;

/// The rank to which a message goes. A wrong one stays wrong: it is above every rank.
#[inline(always)]
pub(crate) const fn destination(rank: c_int) -> usize {
    match rank {
        MPI_PROC_NULL => PROC_NULL,
        rank => rank as u32 as usize,
    }
}

/// The source of a receive or probe.
#[inline(always)]
pub(crate) const fn source(rank: c_int) -> Source {
    match rank {
        MPI_ANY_SOURCE => Source::Any,
        rank => Source::Rank(destination(rank)),
    }
}

/// The tag of a receive or probe. A wrong one stays wrong: it is above the largest tag.
#[inline(always)]
pub(crate) const fn tag_of(tag: c_int) -> Tag {
    match tag {
        MPI_ANY_TAG => Tag::Any,
        tag => Tag::Is(tag as u32),
    }
}
