//! Tests the suite over threads of this process: every kernel, mode and option that changes the messages.

#![cfg(feature = "std")]

mod common;

use common::transport::{ThreadError, Threads};
use common::watched;
use oxmpi_bench::lengths::Lengths;
use oxmpi_bench::method::{Method, Policy};
use oxmpi_bench::suite::{
    Benchmark, Layout, Map, Multiple, Observer, Plan, Row, Skip, Table, run, tables,
};
use oxmpi_bench::{Comm, Kernel, OffCache, Source};
use std::ops::Range;

#[derive(Debug, Default)]
struct Record {
    tables: Vec<(Table, Vec<Row>)>,
    skipped: Vec<Skip>,
}

impl Observer for Record {
    fn table(&mut self, table: &Table) {
        self.tables.push((table.clone(), Vec::new()));
    }
    fn row(&mut self, _: &Table, row: &Row) {
        let table = self.tables.last_mut().expect("a table before its rows");
        table.1.push(*row);
    }
    fn skip(&mut self, _: &Table, skip: &Skip) {
        self.skipped.push(*skip);
    }
    fn end(&mut self, table: &Table) {
        assert_eq!(self.tables.last().map(|(last, _)| last), Some(table));
    }
}

fn plan(max_log: u32) -> Plan {
    Plan {
        benchmarks: Kernel::ALL.iter().copied().map(Benchmark::from).collect(),
        lengths: Lengths::Powers {
            min_log: max_log - 2,
            max_log,
        },
        method: Method {
            samples: 50,
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
                assert_eq!((row.repetitions, row.spread.blocks), (50, 50));
                assert!(row.t_min <= row.t_avg && row.t_avg <= row.t_max, "{row:?}");
                assert!(row.spread.min <= row.spread.median, "{row:?}");
                assert!(row.spread.median <= row.spread.p99, "{row:?}");
            }
        }
    }
}

/// Options that change which messages are sent, by which rank, and from which buffer.
#[test]
fn data_is_right_whatever_the_options() {
    let map = |rows, columns| Some(Map { rows, columns });
    let layout = |fewest, map| Layout { fewest, map };
    let method = plan(8).method;
    let small = OffCache {
        cache: 1000,
        line: 32,
    };
    for (what, change) in [
        (
            "check",
            Plan {
                method: Method {
                    check: true,
                    ..method
                },
                ..plan(8)
            },
        ),
        (
            "no warm-up",
            Plan {
                method: Method {
                    warm_up: 0,
                    ..method
                },
                ..plan(8)
            },
        ),
        (
            "multiple_np",
            Plan {
                method: Method {
                    policy: Policy::MultipleNp,
                    ..method
                },
                ..plan(8)
            },
        ),
        (
            "off cache",
            Plan {
                off_cache: Some(small),
                ..plan(8)
            },
        ),
        (
            "checked off cache",
            Plan {
                off_cache: Some(small),
                method: Method {
                    check: true,
                    ..method
                },
                ..plan(8)
            },
        ),
        (
            "grid",
            Plan {
                layout: layout(None, map(2, 3)),
                ..plan(8)
            },
        ),
        (
            "small grid",
            Plan {
                layout: layout(Some(1), map(2, 2)),
                ..plan(8)
            },
        ),
        (
            "listed",
            Plan {
                lengths: Lengths::Listed(vec![1000, 7, 0, 30]),
                ..plan(8)
            },
        ),
    ] {
        for multiple in [None, Some(Multiple::Each)] {
            let plan = in_mode(change.clone(), multiple);
            let (record, defect) = recorded(&plan, 6);
            assert_eq!(defect, 0.0, "{what}, {multiple:?}");
            let rows = record.tables.iter().flat_map(|(_, rows)| rows);
            let even = |row: &Row| row.repetitions.is_multiple_of(2) && row.repetitions <= 50;
            assert!(rows.into_iter().all(even), "{what}");
            assert!(
                record
                    .tables
                    .iter()
                    .all(|(table, _)| table.is_checked == plan.method.check)
            );
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

/// Passes calls on, damages the reductions of one length on one rank, and counts its barriers.
struct Faulty {
    inner: Threads,
    rank: usize,
    length: usize,
    /// The damaged reductions of that length, counted from 0.
    spoiled: Range<usize>,
    seen: usize,
    barriers: usize,
}

impl Comm for Faulty {
    type Error = ThreadError;

    fn rank(&self) -> usize {
        self.inner.rank()
    }
    fn size(&self) -> usize {
        self.inner.size()
    }
    fn now(&self) -> u64 {
        self.inner.now()
    }
    fn send(&mut self, bytes: &[u8], to: usize, tag: u32) -> Result<(), ThreadError> {
        self.inner.send(bytes, to, tag)
    }
    fn recv(&mut self, into: &mut [u8], from: Source, tag: u32) -> Result<(), ThreadError> {
        self.inner.recv(into, from, tag)
    }
    fn exchange<const N: usize>(
        &mut self,
        sends: [(&[u8], usize); N],
        receives: [(&mut [u8], Source); N],
        tag: u32,
    ) -> Result<(), ThreadError> {
        self.inner.exchange(sends, receives, tag)
    }
    fn barrier(&mut self) -> Result<(), ThreadError> {
        self.barriers += 1;
        self.inner.barrier()
    }
    fn allreduce_sum(&mut self, from: &[f32], into: &mut [f32]) -> Result<(), ThreadError> {
        self.inner.allreduce_sum(from, into)?;
        if self.rank() == self.rank && into.len() * 4 == self.length {
            if self.spoiled.contains(&self.seen) {
                into[self.length / 8] += 1.0;
            }
            self.seen += 1;
        }
        Ok(())
    }
    fn split(&mut self, group: Option<u32>, key: u32) -> Result<Option<Self>, ThreadError> {
        let (rank, length, spoiled) = (self.rank, self.length, self.spoiled.clone());
        let part = self.inner.split(group, key)?;
        Ok(part.map(|inner| Faulty {
            inner,
            rank,
            length,
            spoiled,
            seen: 0,
            barriers: 0,
        }))
    }
}

/// Damage in the warm-up only, or in the timed part only: each has a proof of its own.
#[test]
fn wrong_data_is_reported_from_any_repetition() {
    let plan = Plan {
        benchmarks: vec![Kernel::Allreduce.into()],
        ..plan(8)
    };
    let warm_up = plan.method.warm_up as usize;
    for (spoiled, rank) in [(0..warm_up, 0), (warm_up + 5..usize::MAX, 1)] {
        let results = watched(2, |inner| {
            let (spoiled, mut record) = (spoiled.clone(), Record::default());
            let mut world = Faulty {
                inner,
                rank,
                length: 128,
                spoiled,
                seen: 0,
                barriers: 0,
            };
            let defect = run(&mut world, &plan, &mut record).expect("no call fails");
            (record.tables, defect)
        });
        let (tables, defect) = &results[0];
        assert!(*defect > 0.0, "on rank {rank} in {spoiled:?}");
        for row in &tables[0].1 {
            assert_eq!(row.defect > 0.0, row.bytes == 128, "at {}", row.bytes);
        }
    }
}

#[test]
fn ranks_that_take_no_part_wait_in_a_barrier() {
    let plan = plan(2);
    let barriers = watched(3, |inner| {
        let mut world = Faulty {
            inner,
            rank: 0,
            length: 1 << 20,
            spoiled: 0..0,
            seen: 0,
            barriers: 0,
        };
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
