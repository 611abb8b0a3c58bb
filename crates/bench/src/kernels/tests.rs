use super::{Sample, pattern};

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

#[test]
fn spoiled_buffers_differ_everywhere() {
    let sample = Sample {
        rank: 0,
        ranks: 2,
        seed: 3,
    };
    let mut right = [0; 512];
    pattern::fill_bytes(sample, &mut right);
    let mut spoiled = [0; 512];
    pattern::spoil_bytes(sample, 0, &mut spoiled);
    assert!(right.iter().zip(&spoiled).all(|(a, b)| a != b));
    assert_eq!(pattern::differ_bytes(sample, 0, &right), 0.0);
    for at in 0..512 {
        let mut one = right;
        one[at] ^= 1;
        assert_eq!(pattern::differ_bytes(sample, 0, &one), 1.0);
    }
}

#[test]
fn another_rank_or_seed_or_place_is_seen() {
    let sample = Sample {
        rank: 1,
        ranks: 2,
        seed: 3,
    };
    let mut data = [0; 64];
    pattern::fill_bytes(sample, &mut data);
    assert!(pattern::differ_bytes(sample, 0, &data) > 0.0);
    assert!(pattern::differ_bytes(Sample { seed: 4, ..sample }, 1, &data) > 0.0);
    assert!(pattern::differ_bytes(sample, 1, &data[1..]) > 0.0);
}

#[test]
fn what_is_not_a_number_is_infinitely_wrong() {
    assert_eq!(pattern::farther(0.0, f32::NAN, 1.0), f64::INFINITY);
    assert_eq!(pattern::farther(0.5, 3.0, 1.0), 2.0);
    assert_eq!(pattern::farther(0.5, 1.0, 3.0), 2.0);
}
