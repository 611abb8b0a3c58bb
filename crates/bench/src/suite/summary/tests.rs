use super::rows;
use crate::kernels::Kernel;
use crate::method::{BLOCKS, ComputeTimes, Timing};
use crate::suite::{Multiple, OverlapBase, SampleRow, SampleTable};
use alloc::vec::Vec;

fn timing(blocks: &[u64], repetitions: u32) -> Timing {
    let mut nanoseconds = [0; BLOCKS];
    nanoseconds[..blocks.len()].copy_from_slice(blocks);
    Timing {
        repetitions,
        nanoseconds,
        blocks: blocks.len(),
        overlapped: 0,
        compute: ComputeTimes::default(),
        defect: 0.0,
    }
}

fn table(kernel: Kernel, multiple: Option<Multiple>, groups: &[[usize; 2]]) -> SampleTable {
    SampleTable {
        kernel: kernel.into(),
        aggregation: None,
        multiple,
        groups: groups.iter().map(|group| group.to_vec()).collect(),
        map: None,
        waiting: 0,
        is_checked: false,
        overlap_base: OverlapBase::default(),
    }
}

#[test]
fn pingpong_is_half_the_round_trip_of_rank_0() {
    let timings = [timing(&[4000, 2000], 2), timing(&[90_000, 90_000], 2)];
    let [row] = rows(&table(Kernel::PingPong, None, &[[0, 1]]), 1 << 20, &timings)[..] else {
        panic!("one row of one group");
    };
    assert_eq!((row.t_min, row.t_max, row.t_avg), (1.5, 1.5, 1.5));
    assert_eq!(
        (row.spread.min, row.spread.median, row.spread.p99),
        (1.0, 1.0, 2.0)
    );
    // 2^20 bytes in 1.5 us
    let wanted = f64::from(1 << 20) / 1.5e-6;
    assert!((row.throughput.unwrap() / wanted - 1.0).abs() < 1e-12);
}

#[test]
fn collectives_span_the_ranks() {
    let mut slow = timing(&[3000, 9000], 2);
    slow.defect = 0.5;
    let timings = [timing(&[4000, 2000], 2), slow];
    let row = rows(&table(Kernel::Allreduce, None, &[[0, 1]]), 8, &timings)[0];
    assert_eq!((row.t_min, row.t_max, row.t_avg), (3.0, 6.0, 4.5));
    assert_eq!((row.spread.min, row.spread.p99), (4.0, 9.0));
    assert_eq!((row.throughput, row.defect), (None, 0.5));
}

/// The 99th percentile of a hundred blocks leaves out one.
#[test]
fn the_slowest_block_of_all_is_not_the_99th_percentile() {
    let blocks: Vec<u64> = (1..=BLOCKS as u64).rev().map(|time| time * 1000).collect();
    let timings = [timing(&blocks, BLOCKS as u32)];
    let table = table(Kernel::Allreduce, None, &[[0, 1]]);
    let table = SampleTable {
        groups: [[0].into()].into(),
        ..table
    };
    let spread = rows(&table, 8, &timings)[0].spread;
    assert_eq!((spread.min, spread.median, spread.p99), (1.0, 50.0, 99.0));
}

/// Two groups of PingPong, the second twice as slow; the ranks that answer see no whole round trip.
#[test]
fn groups_are_reported_as_one_or_each() {
    let timings = [4000, 1, 8000, 1].map(|time| timing(&[time], 1));
    let groups = [[0, 1], [2, 3]];
    let of = |multiple| {
        rows(
            &table(Kernel::PingPong, Some(multiple), &groups),
            8,
            &timings,
        )
    };
    let times = |row: &SampleRow| (row.group, row.t_min, row.t_max, row.t_avg);
    let worst: Vec<_> = of(Multiple::Worst).iter().map(times).collect();
    assert_eq!(worst, [(0, 2.0, 4.0, 3.0)]);
    let each: Vec<_> = of(Multiple::Each).iter().map(times).collect();
    assert_eq!(each, [(0, 2.0, 2.0, 2.0), (1, 4.0, 4.0, 4.0)]);
}
