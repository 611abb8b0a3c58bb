use super::pattern::Piece;
use super::{Kernel, Sample, pattern, roots};
use crate::Memory;
use std::vec::Vec;

#[test]
fn sums_are_those_of_the_ranks_numbers() {
    for ranks in [1, 2, 3, 63, 64, 65, 200] {
        for at in [0, 1, 77, 4095] {
            let added: f32 = (0..ranks).map(|rank| pattern::number(9, rank, at)).sum();
            assert_eq!(
                added,
                pattern::sum(9, ranks, at),
                "{ranks} ranks, place {at}"
            );
        }
    }
}

#[test]
fn the_largest_sum_is_exact() {
    assert!(50_000.0 * 320.0 < (1u32 << f32::MANTISSA_DIGITS) as f32);
}

const SAMPLE: Sample = Sample {
    rank: 0,
    ranks: 4,
    seed: 3,
};

#[test]
fn spoiled_buffers_differ_everywhere() {
    let mut right = [0; 512];
    pattern::fill(SAMPLE, &mut right);
    let mut spoiled = [0; 512];
    pattern::fill_wrong(SAMPLE, Piece::all(0), &mut spoiled);
    assert!(right.iter().zip(&spoiled).all(|(a, b)| a != b));
    assert_eq!(pattern::max_error(SAMPLE, Piece::all(0), &right), 0.0);
    for at in 0..512 {
        let mut one = right;
        one[at] ^= 1;
        assert_eq!(pattern::max_error(SAMPLE, Piece::all(0), &one), 1.0);
    }
}

#[test]
fn another_rank_or_seed_or_place_is_seen() {
    let sample = Sample { rank: 1, ..SAMPLE };
    let mut data = [0; 64];
    pattern::fill(sample, &mut data);
    assert!(pattern::max_error(sample, Piece::all(0), &data) > 0.0);
    let other = Sample { seed: 4, ..sample };
    assert!(pattern::max_error(other, Piece::all(1), &data) > 0.0);
    assert!(pattern::max_error(sample, Piece::all(1), &data[1..]) > 0.0);
    let piece = Piece { from: 1, first: 1 };
    assert_eq!(pattern::max_error(sample, piece, &data[1..]), 0.0);
}

#[test]
fn blocks_are_distinct() {
    let mut all = [0; 64];
    for (rank, block) in all.chunks_mut(16).enumerate() {
        pattern::fill(Sample { rank, ..SAMPLE }, block);
    }
    assert_eq!(pattern::max_block_error(SAMPLE, Piece::all, &all), 0.0);
    let (low, high) = all.split_at_mut(32);
    low[..16].swap_with_slice(&mut high[16..]);
    assert!(pattern::max_block_error(SAMPLE, Piece::all, &all) > 0.0);
}

/// Compares with a simple count.
#[test]
fn roots_rotate_and_are_found_again() {
    for ranks in 1..6 {
        let all: Vec<usize> = roots::from(0, ranks).take(20).collect();
        assert_eq!(
            all,
            (0..20)
                .map(|repetition| repetition % ranks)
                .collect::<Vec<_>>()
        );
        for repetition in 0..20 {
            assert!(
                roots::from(repetition, ranks)
                    .take(9)
                    .eq((repetition..repetition + 9).map(|n| n % ranks))
            );
            for rank in 0..ranks {
                let last = all[..repetition].iter().rposition(|&root| root == rank);
                assert_eq!(
                    roots::last_of(rank, ranks, repetition),
                    last,
                    "{rank} of {ranks}, {repetition}"
                );
            }
        }
    }
}

#[test]
fn names_are_found_in_any_case_and_two_run_only_when_named() {
    for &kernel in Kernel::ALL {
        let name = kernel.info().name;
        assert_eq!(Kernel::named(&name.to_uppercase()), Some(kernel));
    }
    let named: Vec<&Kernel> = Kernel::ALL
        .iter()
        .filter(|kernel| !kernel.info().by_default)
        .collect();
    assert_eq!(
        named,
        [
            &Kernel::PingPongSpecificSource,
            &Kernel::PingPingSpecificSource
        ]
    );
}

/// Of 11 items on 4 ranks: 3, 3, 3, 2.
#[test]
fn the_rest_of_a_reduction_goes_to_the_first_ranks() {
    let kernel = Kernel::ReduceScatter;
    let buffer_sizes = (kernel.info().buffer_sizes)(47, 4);
    assert_eq!(
        (buffer_sizes.out, buffer_sizes.into, buffer_sizes.counts),
        (47, 12, 4)
    );
    let mut memory = Memory::new(buffer_sizes, None);
    let mut buffers = memory.buffers(buffer_sizes);
    kernel.fill(SAMPLE, &mut buffers);
    assert_eq!(buffers.advance().counts, [3, 3, 3, 2]);
}

#[test]
fn the_parts_of_a_reduction_hold_whole_numbers() {
    for (bytes, part) in [(0, 0), (3, 0), (4, 4), (6, 4), (8, 8)] {
        let buffer_sizes = (Kernel::ReduceScatterBlock.info().buffer_sizes)(bytes, 3);
        assert_eq!(
            (buffer_sizes.out, buffer_sizes.into),
            (3 * part, part),
            "{bytes} bytes"
        );
    }
}

#[test]
fn what_is_not_a_number_is_infinitely_wrong() {
    assert_eq!(pattern::farther(0.0, f32::NAN, 1.0), f64::INFINITY);
    assert_eq!(pattern::farther(0.5, 3.0, 1.0), 2.0);
    assert_eq!(pattern::farther(0.5, 1.0, 3.0), 2.0);
}
