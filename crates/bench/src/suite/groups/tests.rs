use super::{Layout, tables};
use crate::kernels::Kernel;
use crate::suite::{Benchmark, Map, Multiple, Plan};
use alloc::vec::Vec;

/// The groups of each table of `kernel`, and the number of waiting ranks.
fn groups(
    kernel: Kernel,
    multiple: Option<Multiple>,
    layout: Layout,
    ranks: usize,
) -> Vec<(Vec<Vec<usize>>, usize)> {
    let plan = Plan {
        benchmarks: [Benchmark {
            kernel: kernel.into(),
            multiple,
        }]
        .into(),
        layout,
        ..Plan::default()
    };
    let tables = tables(&plan, ranks);
    tables.map(|table| (table.groups, table.waiting)).collect()
}

/// The sizes of single groups.
fn sizes(kernel: Kernel, fewest: Option<usize>, ranks: usize) -> Vec<usize> {
    let layout = Layout { fewest, map: None };
    let groups = groups(kernel, None, layout, ranks);
    let sizes = groups.iter().map(|(groups, waiting)| {
        let [group] = &groups[..] else {
            panic!("one group: {groups:?}")
        };
        assert!(group.iter().copied().eq(0..group.len()), "{group:?}");
        assert_eq!(*waiting, ranks - group.len());
        group.len()
    });
    sizes.collect()
}

#[test]
fn groups_double_and_end_with_all() {
    let of = |ranks| sizes(Kernel::Allreduce, None, ranks);
    assert_eq!(of(1), [1]);
    assert_eq!(of(2), [2]);
    assert_eq!(of(3), [2, 3]);
    assert_eq!(of(8), [2, 4, 8]);
    assert_eq!(of(9), [2, 4, 8, 9]);
}

#[test]
fn kernels_of_two_need_two_whatever_the_smallest_group() {
    for fewest in [None, Some(1), Some(4)] {
        assert!(sizes(Kernel::PingPong, fewest, 1).is_empty());
        assert_eq!(sizes(Kernel::PingPong, fewest, 2), [2]);
        assert_eq!(sizes(Kernel::PingPong, fewest, 9), [2]);
    }
}

#[test]
fn the_smallest_group_may_be_chosen() {
    let of = |fewest, ranks| sizes(Kernel::Allreduce, Some(fewest), ranks);
    assert_eq!(of(1, 4), [1, 2, 4]);
    assert_eq!(of(3, 14), [3, 6, 12, 14]);
    assert_eq!(of(5, 11), [5, 10, 11]);
    assert_eq!(of(7, 14), [7, 14]);
    assert_eq!(of(4, 4), [4]);
    // More than the job has: all.
    assert_eq!(of(9, 4), [4]);
}

#[test]
fn as_many_groups_as_there_are_ranks_for() {
    let multiple = Some(Multiple::Each);
    let of = |kernel, ranks| groups(kernel, multiple, Layout::default(), ranks);
    let pairs = |pairs: &[[usize; 2]]| pairs.iter().map(|pair| pair.to_vec()).collect::<Vec<_>>();
    assert_eq!(of(Kernel::PingPong, 5), [(pairs(&[[0, 1], [2, 3]]), 1)]);
    assert_eq!(
        of(Kernel::Allreduce, 7),
        [
            (pairs(&[[0, 1], [2, 3], [4, 5]]), 1),
            // More than half of all ranks: one group.
            ([[0, 1, 2, 3].to_vec()].into(), 3),
            ([(0..7).collect()].into(), 0),
        ]
    );
}

/// The second and third example listing of the original.
#[test]
fn a_grid_numbers_the_ranks_and_groups_are_sorted_by_their_first() {
    let of = |rows, columns| {
        let map = Some(Map { rows, columns });
        let layout = Layout { fewest: None, map };
        groups(Kernel::PingPong, Some(Multiple::Worst), layout, 6)
            .remove(0)
            .0
    };
    assert_eq!(of(3, 2), [[0, 3], [1, 4], [2, 5]]);
    assert_eq!(of(2, 3), [[0, 2], [3, 5], [4, 1]]);
    assert_eq!(of(1, 6), [[0, 1], [2, 3], [4, 5]]);
    assert_eq!(of(6, 1), [[0, 1], [2, 3], [4, 5]]);
}

#[test]
fn every_rank_has_one_place_whatever_the_grid() {
    for ranks in 1..20 {
        for (rows, columns) in [
            (1, 1),
            (2, 3),
            (3, 2),
            (7, 7),
            (100, 1),
            (1, 100),
            (4, usize::MAX),
        ] {
            let map = Map { rows, columns };
            let mut order = map.order(ranks);
            assert_eq!(order[0], 0, "{map:?}");
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..ranks), "{map:?}: {order:?}");
            assert_eq!(map.fits(ranks), rows.saturating_mul(columns) <= ranks);
        }
    }
}
