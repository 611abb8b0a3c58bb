//! A datatype made again from its envelope and contents.

#![expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "one call of them, by the constructor, or calls with the same promise"
)]

use super::{freed, made};
use crate::constants::*;
use crate::datatype::{arrays, construct, envelope, lifetime};
use crate::handles::Handle;
use crate::types::{Aint, Count, Datatype, c_int};

/// What the two inquiries say of a datatype.
#[derive(Default)]
struct Said {
    combiner: c_int,
    integers: Vec<c_int>,
    addresses: Vec<Aint>,
    counts: Vec<Count>,
    types: Vec<Datatype>,
}

fn said(datatype: Datatype) -> Said {
    let (mut lens, mut combiner) = ([0 as Count; 4], 0);
    let [integers, addresses, counts, types] = &mut lens;
    // SAFETY: all may be written to.
    let code = unsafe {
        envelope::get_envelope_large(
            datatype,
            integers,
            addresses,
            counts,
            types,
            &raw mut combiner,
        )
    };
    assert_eq!(code, MPI_SUCCESS);
    let mut said = Said {
        combiner,
        integers: vec![0; lens[0] as usize],
        addresses: vec![0; lens[1] as usize],
        counts: vec![0; lens[2] as usize],
        types: vec![Datatype::from_address(MPI_DATATYPE_NULL); lens[3] as usize],
    };
    if combiner != MPI_COMBINER_NAMED {
        // SAFETY: the vectors have as many elements as is said.
        let code = unsafe {
            envelope::get_contents_large(
                datatype,
                lens[0],
                lens[1],
                lens[2],
                lens[3],
                said.integers.as_mut_ptr(),
                said.addresses.as_mut_ptr(),
                said.counts.as_mut_ptr(),
                said.types.as_mut_ptr(),
            )
        };
        assert_eq!(code, MPI_SUCCESS);
    }
    said
}

/// The datatype that the contents of another one describe, and so on down to the predefined ones. The standard's tables
/// say where each argument is (MPI 5.0, section 5.1.13).
pub(super) fn rebuilt(datatype: Datatype) -> Datatype {
    let said = said(datatype);
    if said.combiner == MPI_COMBINER_NAMED {
        return datatype;
    }
    let types: Vec<Datatype> = said.types.iter().map(|&one| rebuilt(one)).collect();
    let made = made(|to| match said.counts.is_empty() {
        true => small(&said, &types, to),
        false => large(&said, &types, to),
    });
    let inner = said.types.iter().zip(&types);
    for (&given, &again) in inner {
        if given != again {
            freed(again);
        }
        freed(given);
    }
    made
}

fn small(said: &Said, types: &[Datatype], to: *mut Datatype) -> c_int {
    let (i, a) = (&said.integers[..], &said.addresses[..]);
    let old = types
        .first()
        .copied()
        .unwrap_or(Datatype::from_address(MPI_DATATYPE_NULL));
    let lens = |n: usize| i[n..].as_ptr();
    // SAFETY: the arrays have as many elements as is said, and the handle may be written to.
    unsafe {
        match said.combiner {
            MPI_COMBINER_DUP => lifetime::dup(old, to),
            MPI_COMBINER_CONTIGUOUS => construct::contiguous(i[0], old, to),
            MPI_COMBINER_VECTOR => construct::vector(i[0], i[1], i[2], old, to),
            MPI_COMBINER_HVECTOR => construct::hvector(i[0], i[1], a[0], old, to),
            MPI_COMBINER_INDEXED => {
                construct::indexed(i[0], lens(1), lens(1 + i[0] as usize), old, to)
            }
            MPI_COMBINER_HINDEXED => construct::hindexed(i[0], lens(1), a.as_ptr(), old, to),
            MPI_COMBINER_INDEXED_BLOCK => construct::indexed_block(i[0], i[1], lens(2), old, to),
            MPI_COMBINER_HINDEXED_BLOCK => {
                construct::hindexed_block(i[0], i[1], a.as_ptr(), old, to)
            }
            MPI_COMBINER_STRUCT => {
                construct::structure(i[0], lens(1), a.as_ptr(), types.as_ptr(), to)
            }
            MPI_COMBINER_SUBARRAY => {
                let n = i[0] as usize;
                let (sizes, parts, starts) = (lens(1), lens(1 + n), lens(1 + 2 * n));
                arrays::subarray(i[0], sizes, parts, starts, i[1 + 3 * n], old, to)
            }
            MPI_COMBINER_DARRAY => {
                let n = i[2] as usize;
                let [sizes, kinds, blocks, grid] = [0, 1, 2, 3].map(|list| lens(3 + list * n));
                let storage = i[3 + 4 * n];
                arrays::darray(
                    i[0], i[1], i[2], sizes, kinds, blocks, grid, storage, old, to,
                )
            }
            MPI_COMBINER_RESIZED => construct::resized(old, a[0], a[1], to),
            combiner => panic!("unknown combiner {combiner}"),
        }
    }
}

fn large(said: &Said, types: &[Datatype], to: *mut Datatype) -> c_int {
    let (i, c) = (&said.integers[..], &said.counts[..]);
    let old = types
        .first()
        .copied()
        .unwrap_or(Datatype::from_address(MPI_DATATYPE_NULL));
    let counts = |n: usize| c[n..].as_ptr();
    let integers = |n: usize| i[n..].as_ptr();
    // SAFETY: as above.
    unsafe {
        match said.combiner {
            MPI_COMBINER_CONTIGUOUS => construct::contiguous(c[0], old, to),
            MPI_COMBINER_VECTOR => construct::vector(c[0], c[1], c[2], old, to),
            MPI_COMBINER_HVECTOR => construct::hvector(c[0], c[1], c[2], old, to),
            MPI_COMBINER_INDEXED => {
                construct::indexed(c[0], counts(1), counts(1 + c[0] as usize), old, to)
            }
            MPI_COMBINER_HINDEXED => {
                construct::hindexed(c[0], counts(1), counts(1 + c[0] as usize), old, to)
            }
            MPI_COMBINER_INDEXED_BLOCK => construct::indexed_block(c[0], c[1], counts(2), old, to),
            MPI_COMBINER_HINDEXED_BLOCK => {
                construct::hindexed_block(c[0], c[1], counts(2), old, to)
            }
            MPI_COMBINER_STRUCT => {
                let places = counts(1 + c[0] as usize);
                construct::structure(c[0], counts(1), places, types.as_ptr(), to)
            }
            MPI_COMBINER_SUBARRAY => {
                let n = i[0] as usize;
                let (sizes, parts, starts) = (counts(0), counts(n), counts(2 * n));
                arrays::subarray(i[0], sizes, parts, starts, i[1], old, to)
            }
            MPI_COMBINER_DARRAY => {
                let n = i[2] as usize;
                let [kinds, blocks, grid] = [0, 1, 2].map(|list| integers(3 + list * n));
                let storage = i[3 + 3 * n];
                arrays::darray(
                    i[0],
                    i[1],
                    i[2],
                    counts(0),
                    kinds,
                    blocks,
                    grid,
                    storage,
                    old,
                    to,
                )
            }
            MPI_COMBINER_RESIZED => construct::resized(old, c[0], c[1], to),
            combiner => panic!("unknown combiner {combiner}"),
        }
    }
}
