//! Every kernel over threads of this process, with faults planted.

#![cfg(feature = "std")]

mod common;

use common::transport::{ThreadError, Threads};
use common::watched;
use oxmpi_bench::method::{Lengths, Method};
use oxmpi_bench::suite::{Observer, Plan, Row, Table, run, tables};
use oxmpi_bench::{Comm, Kernel, Source};
use std::ops::Range;

#[derive(Default)]
struct Record(Vec<(Table, Vec<Row>)>);

impl Observer for Record {
    fn table(&mut self, table: &Table) {
        self.0.push((*table, Vec::new()));
    }
    fn row(&mut self, _: &Table, row: &Row) {
        self.0
            .last_mut()
            .expect("a table before its rows")
            .1
            .push(*row);
    }
    fn end(&mut self, table: &Table) {
        assert_eq!(self.0.last().map(|(last, _)| last), Some(table));
    }
}

fn plan(max_log: u32) -> Plan {
    Plan {
        kernels: Kernel::ALL.to_vec(),
        lengths: Lengths {
            min_log: max_log - 2,
            max_log,
        },
        method: Method {
            samples: 50,
            ..Method::default()
        },
    }
}

#[test]
fn every_kernel_runs_on_1_to_8_ranks() {
    for ranks in 1..=8 {
        let plan = plan(6);
        let results = watched(ranks, |mut world| {
            let mut record = Record::default();
            let defect = run(&mut world, &plan, &mut record).expect("no call fails");
            (record.0, defect)
        });
        let (first, others) = results.split_first().expect("at least one rank");
        assert!(
            others.iter().all(|(tables, _)| tables.is_empty()),
            "only rank 0 reports"
        );
        assert_eq!(first.1, 0.0);
        let wanted: Vec<Table> = tables(&plan, ranks).collect();
        assert_eq!(
            first.0.iter().map(|(table, _)| *table).collect::<Vec<_>>(),
            wanted
        );
        for (table, rows) in &first.0 {
            let lengths: Vec<usize> = rows.iter().map(|row| row.bytes).collect();
            let wanted: Vec<usize> = plan.lengths.of(table.kernel.info()).collect();
            assert_eq!(lengths, wanted, "{table:?}");
            for row in rows {
                assert_eq!((row.repetitions, row.spread.blocks), (50, 40));
                assert!(row.t_min <= row.t_max, "{row:?}");
                assert!(row.spread.min <= row.spread.median, "{row:?}");
                assert!(row.spread.median <= row.spread.p99, "{row:?}");
            }
        }
    }
}

/// Passes calls on, spoils the reductions of one length on one rank, and counts its barriers.
struct Faulty {
    inner: Threads,
    rank: usize,
    length: usize,
    /// Which of the reductions of that length, counted from 0.
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

/// In the warm-up only, or in the timed part only: each has a proof of its own.
#[test]
fn wrong_data_is_told_whenever_it_came() {
    let plan = Plan {
        kernels: vec![Kernel::Allreduce],
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
            (record.0, defect)
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
    watched(3, |mut world| {
        let mut record = Record::default();
        run(&mut world, &plan, &mut record).expect("no call fails");
        for row in record.0.iter().flat_map(|(_, rows)| rows) {
            assert_eq!((row.repetitions, row.spread.blocks), (1, 1));
        }
    });
}
