use super::{BLOCKS, Plan, Timing, summarise, tables};
use crate::kernels::Kernel;
use crate::method::{Lengths, Method};
use alloc::vec::Vec;

fn sizes(ranks: usize) -> Vec<(Kernel, usize, usize)> {
    let plan = Plan {
        kernels: [Kernel::PingPong, Kernel::Allreduce].to_vec(),
        lengths: Lengths::default(),
        method: Method::default(),
    };
    tables(&plan, ranks)
        .map(|t| (t.kernel, t.processes, t.waiting))
        .collect()
}

#[test]
fn groups_double_and_end_with_all() {
    use Kernel::{Allreduce, PingPong};
    assert_eq!(sizes(1), [(Allreduce, 1, 0)]);
    assert_eq!(sizes(2), [(PingPong, 2, 0), (Allreduce, 2, 0)]);
    assert_eq!(
        sizes(3),
        [(PingPong, 2, 1), (Allreduce, 2, 1), (Allreduce, 3, 0)]
    );
    let eight = [
        (PingPong, 2, 6),
        (Allreduce, 2, 6),
        (Allreduce, 4, 4),
        (Allreduce, 8, 0),
    ];
    assert_eq!(sizes(8), eight);
}

fn timing(blocks: &[u64], repetitions: u32) -> Timing {
    let mut nanoseconds = [0; BLOCKS];
    nanoseconds[..blocks.len()].copy_from_slice(blocks);
    Timing {
        repetitions,
        nanoseconds,
        blocks: blocks.len(),
        defect: 0.0,
    }
}

#[test]
fn pingpong_is_half_the_round_trip_of_rank_0() {
    let row = summarise(
        Kernel::PingPong,
        1 << 20,
        &[timing(&[4000, 2000], 2), timing(&[90_000, 90_000], 2)],
    );
    assert_eq!((row.t_min, row.t_max, row.t_avg), (1.5, 1.5, 1.5));
    assert_eq!(
        (row.spread.min, row.spread.median, row.spread.p99),
        (1.0, 1.0, 2.0)
    );
    // 2^20 bytes in 1.5 us
    assert!((row.throughput.unwrap() - 1e6 / 1.5).abs() < 1e-6);
}

#[test]
fn collectives_span_the_ranks() {
    let mut slow = timing(&[3000, 9000], 2);
    slow.defect = 0.5;
    let row = summarise(Kernel::Allreduce, 8, &[timing(&[4000, 2000], 2), slow]);
    assert_eq!((row.t_min, row.t_max, row.t_avg), (3.0, 6.0, 4.5));
    assert_eq!((row.spread.min, row.spread.p99), (4.0, 9.0));
    assert_eq!((row.throughput, row.defect), (None, 0.5));
}
