//! Random nested datatypes, made by the calls of the C face, against their typemaps.

#![expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "one call of them, by the constructor, or calls with the same promise"
)]

mod calls;
mod rebuild;

use oxmpi_os::RawBytes;
use oxmpi_testkit::datatypes::{Description, Typemap};
use oxmpi_testkit::rng::Rng;
use oxmpi_wire::Bytes;
use oxmpi_wire::layout::{Basic, Block, Distribution, Order};
use proptest::collection::vec;
use proptest::prelude::*;

use super::description::Argument;
use super::{arrays, buffer, construct, external, inquire, lifetime, table};
use crate::constants::*;
use crate::handles::Handle;
use crate::types::{Aint, Count, Datatype, c_int, c_void};

/// Entries of a typemap that is not too slow to compare.
const LIMIT: usize = 100;

/// Instances that are packed.
const INSTANCES: u64 = 2;

/// The handles of the basic datatypes of descriptions, which have their sizes and alignments.
const BASICS: [usize; 5] = [
    MPI_CHAR,
    MPI_SHORT,
    MPI_INT,
    MPI_DOUBLE,
    MPI_C_DOUBLE_COMPLEX,
];

/// The handle of a call that makes one, and succeeds.
fn made(call: impl FnOnce(*mut Datatype) -> c_int) -> Datatype {
    let mut made = Datatype::from_address(MPI_DATATYPE_NULL);
    assert_eq!(call(&raw mut made), MPI_SUCCESS);
    made
}

/// Frees a datatype, unless it is predefined.
fn freed(mut datatype: Datatype) {
    if !datatype.is_predefined() {
        // SAFETY: the handle may be written to.
        assert_eq!(unsafe { lifetime::free(&raw mut datatype) }, MPI_SUCCESS);
        assert_eq!(datatype.address(), MPI_DATATYPE_NULL);
    }
}

/// An argument of a small number.
trait Small: Argument {
    fn small(number: i64) -> Self;
}

impl Small for c_int {
    fn small(number: i64) -> Self {
        number.try_into().expect("it is small")
    }
}

impl Small for Aint {
    fn small(number: i64) -> Self {
        number as Self
    }
}

impl Small for Count {
    fn small(number: i64) -> Self {
        number
    }
}

fn list<N: Small>(numbers: impl IntoIterator<Item = i64>) -> Vec<N> {
    numbers.into_iter().map(N::small).collect()
}

fn lens<N: Small>(blocks: &[Block]) -> Vec<N> {
    list(blocks.iter().map(|block| block.len as i64))
}

fn places<N: Small>(blocks: &[Block]) -> Vec<N> {
    list(blocks.iter().map(|block| block.displacement))
}

const fn order(order: Order) -> c_int {
    match order {
        Order::C => MPI_ORDER_C,
        Order::Fortran => MPI_ORDER_FORTRAN,
    }
}

/// The datatype of a description, by constructors with counts of type `N` and distances in bytes of type `D`. The
/// datatypes that it is made of are freed before it is used.
fn datatype<N: Small, D: Small>(description: &Description) -> Datatype {
    let n = |number: u64| N::small(number as i64);
    let (old, new);
    // SAFETY: the arrays have as many elements as is said, and the handle may be written to; here and below.
    unsafe {
        match description {
            Description::Basic(basic) => {
                return Datatype::from_address(BASICS[usize::from(basic.kind()) - 1]);
            }
            Description::Structure(members) => {
                let parts: Vec<Block> = members.iter().map(|member| member.0).collect();
                let types: Vec<_> = members
                    .iter()
                    .map(|member| datatype::<N, D>(&member.1))
                    .collect();
                let (lens, places) = (lens::<N>(&parts), places::<D>(&parts));
                let all = n(parts.len() as u64);
                new = made(|to| {
                    construct::structure(all, lens.as_ptr(), places.as_ptr(), types.as_ptr(), to)
                });
                types.into_iter().for_each(freed);
                return new;
            }
            Description::Contiguous(count, unit) => {
                old = datatype::<N, D>(unit);
                new = made(|to| construct::contiguous(n(*count), old, to));
            }
            Description::Vector(count, len, stride, unit) => {
                old = datatype::<N, D>(unit);
                new = made(|to| construct::vector(n(*count), n(*len), N::small(*stride), old, to));
            }
            Description::Hvector(count, len, stride, unit) => {
                old = datatype::<N, D>(unit);
                new = made(|to| construct::hvector(n(*count), n(*len), D::small(*stride), old, to));
            }
            Description::Indexed(blocks, unit) => {
                old = datatype::<N, D>(unit);
                let (lens, places) = (lens::<N>(blocks), places::<N>(blocks));
                let all = n(blocks.len() as u64);
                new = made(|to| construct::indexed(all, lens.as_ptr(), places.as_ptr(), old, to));
            }
            Description::Hindexed(blocks, unit) => {
                old = datatype::<N, D>(unit);
                let (lens, places) = (lens::<N>(blocks), places::<D>(blocks));
                let all = n(blocks.len() as u64);
                new = made(|to| construct::hindexed(all, lens.as_ptr(), places.as_ptr(), old, to));
            }
            Description::IndexedBlock(len, starts, unit) => {
                old = datatype::<N, D>(unit);
                let (all, starts) = (n(starts.len() as u64), list::<N>(starts.iter().copied()));
                new = made(|to| construct::indexed_block(all, n(*len), starts.as_ptr(), old, to));
            }
            Description::HindexedBlock(len, starts, unit) => {
                old = datatype::<N, D>(unit);
                let (all, starts) = (n(starts.len() as u64), list::<D>(starts.iter().copied()));
                new = made(|to| construct::hindexed_block(all, n(*len), starts.as_ptr(), old, to));
            }
            // The standard has no arrays without dimensions.
            Description::Subarray(dimensions, _, unit) if dimensions.is_empty() => {
                old = datatype::<N, D>(unit);
                let extent = table::description(old).expect("it lives").layout.extent();
                new = made(|to| construct::resized(old, 0, extent, to));
            }
            Description::Subarray(dimensions, storage, unit) => {
                old = datatype::<N, D>(unit);
                let sizes = list::<N>(dimensions.iter().map(|one| one.whole as i64));
                let parts = list::<N>(dimensions.iter().map(|one| one.len as i64));
                let starts = list::<N>(dimensions.iter().map(|one| one.start as i64));
                let (all, storage) = (dimensions.len() as c_int, order(*storage));
                let arrays = [&sizes, &parts, &starts].map(|list| list.as_ptr());
                new = made(|to| {
                    arrays::subarray(all, arrays[0], arrays[1], arrays[2], storage, old, to)
                });
            }
            Description::Darray(dimensions, rank, storage, unit) => {
                old = datatype::<N, D>(unit);
                let sizes = list::<N>(dimensions.iter().map(|one| one.whole as i64));
                let grid = list::<c_int>(dimensions.iter().map(|one| one.ranks as i64));
                let ranks: c_int = grid.iter().product();
                let (kinds, blocks): (Vec<_>, Vec<_>) = dimensions
                    .iter()
                    .map(|one| match one.distribution {
                        Distribution::None => (MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_DFLT_DARG),
                        Distribution::Block(None) => {
                            (MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG)
                        }
                        Distribution::Block(Some(block)) => (MPI_DISTRIBUTE_BLOCK, block as c_int),
                        Distribution::Cyclic(1) => {
                            (MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG)
                        }
                        Distribution::Cyclic(block) => (MPI_DISTRIBUTE_CYCLIC, block as c_int),
                    })
                    .unzip();
                let (all, rank, storage) =
                    (dimensions.len() as c_int, *rank as c_int, order(*storage));
                let [kinds, blocks, grid] = [&kinds, &blocks, &grid].map(|list| list.as_ptr());
                new = made(|to| {
                    let sizes = sizes.as_ptr();
                    arrays::darray(
                        ranks, rank, all, sizes, kinds, blocks, grid, storage, old, to,
                    )
                });
            }
            Description::Resized(low, extent, unit) => {
                old = datatype::<N, D>(unit);
                new = made(|to| construct::resized(old, D::small(*low), D::small(*extent), to));
            }
        }
    }
    freed(old);
    new
}

/// The bytes that a vector has, and nobody else uses while they are used.
fn all(bytes: &mut [u8]) -> RawBytes {
    // SAFETY: the callers use the bytes inside one statement.
    unsafe { RawBytes::new(bytes.as_mut_ptr(), bytes.len()) }
}

/// Bytes of a basic datatype in external32: each of its numbers in the other order.
fn reversed(basic: Basic, bytes: &[u8]) -> Vec<u8> {
    let number = if basic.kind() == 5 {
        8
    } else {
        usize::from(basic.size())
    };
    let numbers = bytes.chunks(number);
    numbers
        .flat_map(|number| number.iter().rev().copied())
        .collect()
}

fn compare(handle: Datatype, typemap: &Typemap, seed: u64) {
    let (mut bounds, mut true_bounds) = ([0 as Count; 2], [0 as Count; 2]);
    let mut size = 0 as Count;
    let [low, extent] = &mut bounds;
    let [true_low, true_extent] = &mut true_bounds;
    // SAFETY: all may be written to.
    unsafe {
        assert_eq!(inquire::size(handle, &raw mut size), MPI_SUCCESS);
        assert_eq!(inquire::extent(handle, low, extent), MPI_SUCCESS);
        assert_eq!(
            inquire::true_extent(handle, true_low, true_extent),
            MPI_SUCCESS
        );
    }
    assert_eq!(bounds, [typemap.lower_bound(), typemap.extent()]);
    assert_eq!(
        true_bounds,
        [typemap.true_lower_bound(), typemap.true_extent()]
    );
    let offsets = typemap.bytes(INSTANCES);
    assert_eq!(size as usize * INSTANCES as usize, offsets.len());
    let (Some(&low), Some(&high)) = (offsets.iter().min(), offsets.iter().max()) else {
        return;
    };
    let mut rng = Rng::new(seed);
    let mut memory: Vec<u8> = (low..=high).map(|_| rng.next() as u8).collect();
    let expected: Vec<u8> = offsets
        .iter()
        .map(|at| memory[(at - low) as usize])
        .collect();
    let instances = |memory: &mut [u8]| {
        let start = memory.as_mut_ptr().wrapping_offset(-low as isize);
        // SAFETY: the memory has all bytes of the instances.
        let buffer =
            unsafe { buffer::Buffer::new(start.cast::<c_void>(), INSTANCES as Count, handle) };
        buffer.expect("it is committed")
    };
    let mut packed = vec![0; expected.len()];
    let buffer = instances(&mut memory);
    assert_eq!(buffer.bytes.len() as usize, packed.len());
    all(&mut packed).copy_from(&buffer.bytes);
    assert_eq!(packed, expected);
    let description = table::description(handle).expect("it lives");
    let signature = description.layout.signature();
    let external = external::encoded(signature, INSTANCES, &packed);
    assert_eq!(external.len() as u64, external::size(signature) * INSTANCES);
    let mut rest = &packed[..];
    let mut oracle = Vec::new();
    for _ in 0..INSTANCES {
        for (basic, _) in typemap.basics() {
            let (bytes, others) = rest.split_at(basic.size().into());
            oracle.extend(reversed(basic, bytes));
            rest = others;
        }
    }
    assert_eq!(external, oracle);
    assert_eq!(external::decoded(signature, INSTANCES, &external), packed);
    let mut places: Vec<_> = offsets.clone();
    places.sort_unstable();
    places.dedup();
    let mut unpacked = None;
    if places.len() == offsets.len() {
        let mut fresh = vec![0; memory.len()];
        let buffer = instances(&mut fresh);
        buffer.bytes.copy_from(&all(&mut packed));
        let mut oracle = vec![0; memory.len()];
        for (at, byte) in offsets.iter().zip(&expected) {
            oracle[(at - low) as usize] = *byte;
        }
        assert_eq!(fresh, oracle);
        unpacked = Some(oracle);
    }
    calls::compare(&calls::Expected {
        handle,
        low,
        memory: &memory,
        packed: &expected,
        external: &external,
        unpacked: unpacked.as_deref(),
    });
}

/// How many datatypes are made at random: as many as `OXMPI_TEST_TYPES` says.
fn cases() -> u32 {
    let count = std::env::var("OXMPI_TEST_TYPES").ok();
    count.map_or(20_000, |count| {
        count.parse().expect("a number of datatypes")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 5 * cases(), ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn random_datatypes_equal_their_typemaps(bytes in vec(any::<u8>(), 16..96), seed: u64) {
        let description = Description::read(&mut &bytes[..]);
        let typemap = Typemap::of(&description, LIMIT);
        prop_assume!(typemap.is_some());
        let typemap = typemap.expect("it is there");
        let mut handle = match seed % 2 {
            0 => datatype::<c_int, Aint>(&description),
            _ => datatype::<Count, Count>(&description),
        };
        // SAFETY: the handle may be read.
        assert_eq!(unsafe { lifetime::commit(&raw mut handle) }, MPI_SUCCESS);
        compare(handle, &typemap, seed);
        let mut again = rebuild::rebuilt(handle);
        freed(handle);
        // SAFETY: as above.
        assert_eq!(unsafe { lifetime::commit(&raw mut again) }, MPI_SUCCESS);
        compare(again, &typemap, seed);
        freed(again);
    }
}
