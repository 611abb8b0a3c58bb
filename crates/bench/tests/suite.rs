//! Tests the suite over threads of this process: every kernel, mode and option that changes the messages.

use crate::common::watched;
use crate::faulty::{Fault, Faulty, When};
use oxmpi_bench::kernels::{Aggregation, AnyKernel, Class};
use oxmpi_bench::lengths::Lengths;
use oxmpi_bench::method::{Method, Policy};
use oxmpi_bench::suite::{
    Benchmark, Map, Multiple, Observer, Plan, SampleRow, SampleTable, Skip, run, tables,
};
use oxmpi_bench::{Kernel, OffCache, Part};

#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) tables: Vec<(SampleTable, Vec<SampleRow>)>,
    skipped: Vec<Skip>,
}

impl Observer for Record {
    fn table(&mut self, table: &SampleTable) {
        self.tables.push((table.clone(), Vec::new()));
    }
    fn row(&mut self, _: &SampleTable, row: &SampleRow) {
        let table = self.tables.last_mut().expect("a table before its rows");
        table.1.push(*row);
    }
    fn skip(&mut self, _: &SampleTable, skip: &Skip) {
        self.skipped.push(*skip);
    }
    fn end(&mut self, table: &SampleTable) {
        assert_eq!(self.tables.last().map(|(last, _)| last), Some(table));
    }
}

/// The kernels of all parts.
fn plan(max_log: u32) -> Plan {
    let kernels = Part::ALL.into_iter().flat_map(AnyKernel::of);
    Plan {
        benchmarks: kernels.map(Benchmark::from).collect(),
        lengths: Lengths::Powers {
            min_log: max_log - 2,
            max_log,
        },
        method: Method {
            samples: 50,
            samples_single: 50,
            ..Method::default()
        },
        ..Plan::default()
    }
}

/// Runs the plan on threads; returns the record of rank 0 and the largest defect. Other ranks observe
/// nothing.
fn recorded(plan: &Plan, ranks: usize) -> (Record, f64) {
    let results = watched(ranks, |mut world| {
        let mut record = Record::default();
        let defect = run(&mut world, plan, &mut record).expect("no call fails");
        (record, defect)
    });
    let mut results = results.into_iter();
    let first = results.next().expect("at least one rank");
    for (record, defect) in results {
        assert!(record.tables.is_empty() && record.skipped.is_empty());
        assert_eq!(defect, 0.0);
    }
    first
}

/// All benchmarks of the plan in this mode.
fn in_mode(mut plan: Plan, multiple: Option<Multiple>) -> Plan {
    for benchmark in &mut plan.benchmarks {
        benchmark.multiple = multiple;
    }
    plan
}

#[test]
fn every_kernel_runs_on_1_to_8_ranks_in_every_mode() {
    for (ranks, multiple) in (1..=8).flat_map(|ranks| {
        let modes = [None, Some(Multiple::Worst), Some(Multiple::Each)];
        modes.map(|multiple| (ranks, multiple))
    }) {
        let plan = in_mode(plan(6), multiple);
        let (record, defect) = recorded(&plan, ranks);
        assert_eq!(defect, 0.0, "{ranks} ranks, {multiple:?}");
        let got = record.tables.iter().map(|(table, _)| table.clone());
        assert!(got.eq(tables(&plan, ranks)), "{ranks} ranks, {multiple:?}");
        for (table, rows) in &record.tables {
            let each = match multiple {
                Some(Multiple::Each) => table.groups.len(),
                _ => 1,
            };
            let lengths = plan.lengths_of(table.kernel);
            let wanted = lengths.flat_map(|bytes| (0..each).map(move |group| (group, bytes)));
            let got = rows.iter().map(|row| (row.group, row.bytes));
            assert!(got.eq(wanted), "{table:?}");
            for row in rows {
                assert_eq!(row.repetitions, 50);
                match (table.kernel, table.aggregation) {
                    (_, Some(Aggregation::Aggregate)) => assert_eq!(row.spread.blocks, 1),
                    (AnyKernel::Messages(_), _) | (_, Some(Aggregation::NonAggregate)) => {
                        assert_eq!(row.spread.blocks, 50);
                    }
                    _ => assert!([1, 50].contains(&row.spread.blocks)),
                }
                assert!(row.t_min <= row.t_avg && row.t_avg <= row.t_max, "{row:?}");
                assert!(row.spread.min <= row.spread.median, "{row:?}");
                assert!(row.spread.median <= row.spread.p99, "{row:?}");
            }
        }
    }
}

/// An option, and what it changes in a plan.
type PlanChange<'a> = (&'a str, &'a dyn Fn(&mut Plan));

/// Options that change which messages are sent, by which rank, and from which buffer.
#[test]
fn data_is_right_whatever_the_options() {
    let map = |rows, columns| Some(Map { rows, columns });
    let small = Some(OffCache {
        cache: 1000,
        line: 32,
    });
    let changes: [PlanChange<'_>; 9] = [
        ("check", &|plan| plan.method.check = true),
        ("one mode", &|plan| {
            plan.aggregation = Some(Aggregation::NonAggregate)
        }),
        ("no warm-up", &|plan| plan.method.warm_up = 0),
        ("multiple_np", &|plan| {
            plan.method.policy = Policy::MultipleNp
        }),
        ("off cache", &|plan| plan.off_cache = small),
        ("checked off cache", &|plan| {
            (plan.off_cache, plan.method.check) = (small, true);
        }),
        ("grid", &|plan| plan.layout.map = map(2, 3)),
        ("small grid", &|plan| {
            (plan.layout.fewest, plan.layout.map) = (Some(1), map(2, 2));
        }),
        ("listed", &|plan| {
            plan.lengths = Lengths::Listed(vec![1000, 7, 0, 30])
        }),
    ];
    for (what, change) in changes {
        for multiple in [None, Some(Multiple::Each)] {
            let mut plan = in_mode(plan(8), multiple);
            change(&mut plan);
            let (record, defect) = recorded(&plan, 6);
            assert_eq!(defect, 0.0, "{what}, {multiple:?}");
            let rows = record.tables.iter().flat_map(|(_, rows)| rows);
            let even = |row: &SampleRow| row.repetitions.is_multiple_of(2) && row.repetitions <= 50;
            assert!(rows.into_iter().all(even), "{what}");
            let mut checked = record.tables.iter().map(|(table, _)| table.is_checked);
            assert!(checked.all(|is_checked| is_checked == plan.method.check));
        }
    }
}

#[test]
fn what_does_not_fit_into_memory_is_skipped_and_said() {
    let plan = Plan {
        benchmarks: vec![Kernel::Alltoall.into()],
        memory: 512,
        ..plan(6)
    };
    // Both buffers have a block for each rank: 2 * 64 * 4 bytes fit, 2 * 64 * 5 do not.
    let (record, _) = recorded(&plan, 5);
    let lengths = record.tables.iter().map(|(_, rows)| rows.len());
    assert!(lengths.eq([4, 4, 3]), "{record:?}");
    let skip = Skip {
        bytes: 64,
        needed: 640,
    };
    assert_eq!(record.skipped, [skip]);
}

/// Damage in the warm-up only, in the timed part only, or in the part with a computation only: each has a proof of its own.
#[test]
fn wrong_data_is_reported_from_any_repetition() {
    let started = AnyKernel::named(Part::Nbc, "Iallreduce").expect("a kernel");
    let warm_up = Method::default().warm_up as usize;
    for (kernel, rank, from, to) in [
        (Kernel::Allreduce.into(), 0, 0, warm_up),
        (Kernel::Allreduce.into(), 1, warm_up + 5, usize::MAX),
        (started, 0, 0, warm_up),
        (started, 1, warm_up + 5, warm_up + 2 + 50),
        (started, 0, warm_up + 2 + 50, usize::MAX),
    ] {
        let plan = Plan {
            benchmarks: vec![kernel.into()],
            ..plan(8)
        };
        let when = When::Length {
            bytes: 128,
            from,
            to,
        };
        let results = watched(2, |inner| {
            let mut record = Record::default();
            let mut world = Faulty::new(inner, rank, Fault::Flip, when);
            let defect = run(&mut world, &plan, &mut record).expect("no call fails");
            (record.tables, defect)
        });
        let (tables, defect) = &results[0];
        assert!(*defect > 0.0, "{kernel:?} on rank {rank} in {from}..{to}");
        for row in &tables[0].1 {
            assert_eq!(row.defect > 0.0, row.bytes == 128, "at {}", row.bytes);
        }
    }
}

/// With or without barriers, overlap is the share of what can be hidden, and the times are of one rank.
#[test]
fn overlap_is_reported_of_nonblocking_collectives_only() {
    for synchronises in [true, false] {
        let plan = Plan {
            synchronises,
            ..plan(6)
        };
        let (record, defect) = recorded(&plan, 3);
        assert_eq!(defect, 0.0);
        for (table, rows) in &record.tables {
            let overlaps = table.kernel.info().class == Class::Nonblocking;
            for row in rows {
                assert_eq!(row.overlap.is_some(), overlaps, "{table:?}");
                let Some(overlap) = row.overlap else { continue };
                assert_eq!(
                    (Some(overlap.total), overlap.total),
                    (row.overlapped, row.t_max)
                );
                assert!(
                    overlap.compute <= overlap.total && overlap.pure > 0.0,
                    "{row:?}"
                );
                // Threads start nothing: all is one after the other.
                assert!((0.0..=100.0).contains(&overlap.percent()), "{row:?}");
                assert!(overlap.compute_alone > 0.0 && overlap.availability() > 0.0);
            }
        }
    }
}

#[test]
fn ranks_that_take_no_part_wait_in_a_barrier() {
    let plan = plan(2);
    let barriers = watched(3, |inner| {
        let mut world = Faulty::new(inner, 0, Fault::Flip, When::Never);
        run(&mut world, &plan, &mut Record::default()).expect("no call fails");
        world.barriers
    });
    let waiting = tables(&plan, 3).filter(|table| table.waiting > 0).count();
    assert_eq!(barriers, [waiting; 3]);
}

#[test]
fn time_cuts_the_repetitions_of_all_ranks_alike() {
    let method = Method {
        seconds: 1e-9,
        ..Method::default()
    };
    let plan = Plan { method, ..plan(6) };
    let (record, _) = recorded(&plan, 3);
    for row in record.tables.iter().flat_map(|(_, rows)| rows) {
        assert_eq!((row.repetitions, row.spread.blocks), (1, 1));
    }
}
