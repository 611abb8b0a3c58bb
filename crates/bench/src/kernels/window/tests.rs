use super::transfers::Targets;
use super::{Aggregation, WindowKernel};
use crate::kernels::{Active, Part, Schedule, pattern};
use std::vec::Vec;

/// Where data goes: the receiver and its block, the sender and its block.
type Path = [usize; 4];

/// The paths of all ranks' transfers.
fn moved(targets: Targets, gets: bool, ranks: usize) -> Vec<Path> {
    let of = |rank| targets.transfers(gets, rank, ranks).map(move |t| (rank, t));
    let paths = (0..ranks).flat_map(of).map(|(origin, transfer)| {
        let (to, from) = match gets {
            true => (origin, transfer.target),
            false => (transfer.target, origin),
        };
        [to, transfer.destination, from, transfer.source]
    });
    let mut paths: Vec<Path> = paths.collect();
    paths.sort_unstable();
    paths
}

/// The paths that the ranks expect.
fn expected(targets: Targets, gets: bool, ranks: usize) -> Vec<Path> {
    let of = |rank| {
        let pieces = targets.received(gets, (rank, ranks), 1);
        let pieces = pieces.enumerate();
        pieces.map(move |(block, piece)| [rank, block, piece.from, piece.first])
    };
    let mut paths: Vec<Path> = (0..ranks).flat_map(of).collect();
    paths.sort_unstable();
    paths
}

#[test]
fn each_block_is_received_once_from_the_rank_that_is_expected() {
    let pairs = [Targets::Peer, Targets::BothPeers].map(|targets| (targets, 2..=2));
    let groups = [Targets::FromFirst, Targets::FromAll, Targets::Neighbours];
    let groups = groups.map(|targets| (targets, 1..=6));
    for (targets, sizes) in pairs.into_iter().chain(groups) {
        for ranks in sizes {
            for gets in [false, true] {
                let what = std::format!("{targets:?} on {ranks}, gets: {gets}");
                let (moved, expected) =
                    (moved(targets, gets, ranks), expected(targets, gets, ranks));
                assert_eq!(moved, expected, "{what}");
                let blocks = targets.destination_blocks(gets, ranks);
                let fits = |path: &Path| path[1] < blocks && path[3] < targets.source_blocks();
                assert!(moved.iter().all(fits), "{what}: {moved:?}");
            }
        }
    }
    let all_to_rank_0: Vec<Path> = (0..3).map(|from| [0, 0, from, 0]).collect();
    assert_eq!(moved(Targets::Root, false, 3), all_to_rank_0);
}

/// The kernels of a part with their modes.
fn modes(part: Part) -> Vec<(&'static str, usize)> {
    let kernels = WindowKernel::of(part).iter();
    let kernels = kernels.filter(|kernel| kernel.info.by_default);
    kernels
        .map(|kernel| (kernel.info.name, kernel.modes.len()))
        .collect()
}

#[test]
fn kernels_run_in_the_order_of_the_original() {
    let ext = [
        ("Window", 1),
        ("Unidir_Get", 2),
        ("Unidir_Put", 2),
        ("Bidir_Get", 2),
        ("Bidir_Put", 2),
        ("Accumulate", 2),
    ];
    assert_eq!(modes(Part::Ext), ext);
    let rma = [
        ("Unidir_put", 2),
        ("Bidir_put", 2),
        ("Unidir_get", 2),
        ("Bidir_get", 2),
        ("Put_local", 2),
        ("Put_all_local", 1),
        ("One_put_all", 1),
        ("All_put_all", 1),
        ("One_get_all", 1),
        ("All_get_all", 1),
        ("Exchange_put", 1),
        ("Exchange_get", 1),
        ("Accumulate", 2),
        ("Get_accumulate", 2),
        ("Fetch_and_op", 2),
        ("Compare_and_swap", 2),
        ("Truly_passive_put", 1),
    ];
    assert_eq!(modes(Part::Rma), rma);
}

#[test]
fn transfers_complete_as_the_mode_says() {
    use Aggregation::{Aggregate, NonAggregate};
    let schedule = |part, name, mode| {
        let mut kernels = WindowKernel::of(part).iter();
        let kernel = kernels.find(|kernel| kernel.info.name == name).unwrap();
        assert!(kernel.modes.contains(&mode), "{name}");
        kernel.schedule(mode)
    };
    for (part, name, mode, wanted) in [
        (Part::Ext, "Window", None, Schedule::Few),
        (
            Part::Ext,
            "Unidir_Put",
            Some(Aggregate),
            Schedule::Aggregated,
        ),
        (Part::Ext, "Unidir_Put", Some(NonAggregate), Schedule::Few),
        (
            Part::Rma,
            "Put_local",
            Some(Aggregate),
            Schedule::Aggregated,
        ),
        (Part::Rma, "Put_local", Some(NonAggregate), Schedule::Few),
        (Part::Rma, "Put_all_local", None, Schedule::Aggregated),
        (Part::Rma, "All_get_all", None, Schedule::Aggregated),
        (Part::Rma, "Exchange_put", None, Schedule::Many),
        (Part::Rma, "Truly_passive_put", None, Schedule::Many),
    ] {
        assert_eq!(schedule(part, name, mode), wanted, "{name}");
    }
}

#[test]
fn memory_is_that_of_all_blocks() {
    for (name, on_2, on_4) in [
        ("Unidir_put", 200, 200),
        ("Get_accumulate", 300, 300),
        ("One_put_all", 200, 200),
        ("One_get_all", 200, 400),
        ("All_put_all", 200, 400),
        ("Exchange_get", 400, 400),
    ] {
        let mut kernels = WindowKernel::of(Part::Rma).iter();
        let kernel = kernels.find(|kernel| kernel.info.name == name).unwrap();
        assert_eq!(kernel.memory(100, 2, None), on_2, "{name}");
        if kernel.info.active == Active::All {
            assert_eq!(kernel.memory(100, 4, None), on_4, "{name}");
        }
    }
}

#[test]
fn sums_are_proven_as_far_as_single_precision_is_exact() {
    let one = |at| [3.0, 300.0][at];
    let error = |got: [f32; 2], times| pattern::max_multiple_error(&got, times, one);
    assert_eq!(error([30.0, 3000.0], 10), 0.0);
    assert_eq!(error([30.0, 2700.0], 10), 300.0);
    assert_eq!(error([30.0, f32::NAN], 10), f64::INFINITY);
    // 300 * 100,000 is beyond 2^24, from where sums stand still.
    assert_eq!(error([300_000.0, 16_777_216.0], 100_000), 0.0);
    assert_eq!(error([300_000.0, 16_777_215.0], 100_000), 1.0);
    assert_eq!(error([300_000.0, f32::NAN], 100_000), f64::INFINITY);
}
