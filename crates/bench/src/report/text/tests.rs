use super::{end, footer, header, heading, row};
use crate::kernels::Kernel;
use crate::method::{Lengths, Method};
use crate::report::Environment;
use crate::suite::{Plan, Row, Spread, Table};
use alloc::string::String;

const LISTING: &str = include_str!("listing.txt");

fn line(bytes: usize, times: [f64; 3], throughput: Option<f64>) -> Row {
    let [t_min, t_max, t_avg] = times;
    let spread = Spread {
        blocks: 1,
        min: t_min,
        median: t_avg,
        p99: t_max,
    };
    Row {
        bytes,
        repetitions: 1000,
        t_min,
        t_max,
        t_avg,
        throughput,
        spread,
        defect: 0.0,
    }
}

/// Laid out as the original program does, with names and figures of our own.
#[test]
fn listing_is_laid_out_as_the_originals() {
    let environment = Environment {
        library: "oxmpi 0.1.0 benchmarks".into(),
        date: "Sat Nov 21 07:03:22 2026".into(),
        machine: "x86_64".into(),
        system: "Linux".into(),
        release: "6.18.0".into(),
        version: "#1 SMP".into(),
        mpi_version: "5.0".into(),
        thread_level: "MPI_THREAD_MULTIPLE".into(),
        command: "oxmpi bench -n 4 PingPong Allreduce -msglog 3:4".into(),
    };
    let plan = Plan {
        kernels: [Kernel::PingPong, Kernel::Allreduce].into(),
        lengths: Lengths {
            min_log: 3,
            max_log: 4,
        },
        method: Method::default(),
    };
    let mut out = String::new();
    header(&mut out, &environment, &plan).unwrap();
    let pingpong = Table {
        kernel: Kernel::PingPong,
        processes: 2,
        waiting: 2,
    };
    heading(&mut out, &pingpong).unwrap();
    row(&mut out, &pingpong, &line(0, [0.09; 3], Some(0.0))).unwrap();
    row(
        &mut out,
        &pingpong,
        &line(4_194_304, [249.23; 3], Some(16049.43)),
    )
    .unwrap();
    end(&mut out).unwrap();
    let allreduce = Table {
        kernel: Kernel::Allreduce,
        processes: 4,
        waiting: 0,
    };
    heading(&mut out, &allreduce).unwrap();
    row(&mut out, &allreduce, &line(0, [0.03; 3], None)).unwrap();
    row(&mut out, &allreduce, &line(8, [2.1, 4.66, 3.41], None)).unwrap();
    end(&mut out).unwrap();
    footer(&mut out).unwrap();
    assert_eq!(out, LISTING);
}

#[test]
fn wrong_data_is_a_comment_below_its_row() {
    let mut out = String::new();
    let table = Table {
        kernel: Kernel::PingPong,
        processes: 2,
        waiting: 0,
    };
    let wrong = Row {
        defect: f64::INFINITY,
        ..line(8, [1.0; 3], Some(7.63))
    };
    row(&mut out, &table, &wrong).unwrap();
    assert!(
        out.ends_with("\n# Wrong data at 8 bytes: off by up to inf\n"),
        "{out}"
    );
}
