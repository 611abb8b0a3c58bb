use super::{end, footer, header, heading, idle, row, skip};
use crate::kernels::Kernel;
use crate::lengths::Lengths;
use crate::report::Environment;
use crate::suite::{Map, Multiple, OverlapBase, Plan, SampleRow, SampleTable, Skip, Spread};
use crate::{DataType, Megabyte};
use alloc::string::String;
use alloc::vec::Vec;

const LISTING: &str = include_str!("listing.txt");

fn line(bytes: usize, times: [f64; 3], throughput: Option<f64>) -> SampleRow {
    let [t_min, t_max, t_avg] = times;
    let spread = Spread {
        blocks: 1,
        min: t_min,
        median: t_avg,
        p99: t_max,
    };
    SampleRow {
        group: 0,
        bytes,
        repetitions: 1000,
        t_min,
        t_max,
        t_avg,
        throughput,
        overlapped: None,
        overlap: None,
        spread,
        defect: 0.0,
    }
}

fn table(kernel: Kernel, processes: usize, waiting: usize) -> SampleTable {
    SampleTable {
        kernel: kernel.into(),
        aggregation: None,
        multiple: None,
        groups: [(0..processes).collect()].into(),
        map: None,
        waiting,
        is_checked: false,
        overlap_base: OverlapBase::default(),
    }
}

/// The layout of the original program, with names and figures of our own.
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
        ..Environment::default()
    };
    let plan = Plan {
        benchmarks: [Kernel::PingPong.into(), Kernel::Allreduce.into()].into(),
        lengths: Lengths::Powers {
            min_log: 3,
            max_log: 4,
        },
        ..Plan::default()
    };
    let unit = Megabyte::Binary;
    let mut out = String::new();
    header(&mut out, &environment, &plan).unwrap();
    let pingpong = table(Kernel::PingPong, 2, 2);
    heading(&mut out, &pingpong).unwrap();
    row(&mut out, &pingpong, &line(0, [0.09; 3], Some(0.0)), unit).unwrap();
    let long = line(4_194_304, [249.23; 3], Some(16049.43 * 1_048_576.0));
    row(&mut out, &pingpong, &long, unit).unwrap();
    end(&mut out).unwrap();
    let allreduce = table(Kernel::Allreduce, 4, 0);
    heading(&mut out, &allreduce).unwrap();
    row(&mut out, &allreduce, &line(0, [0.03; 3], None), unit).unwrap();
    row(
        &mut out,
        &allreduce,
        &line(8, [2.1, 4.66, 3.41], None),
        unit,
    )
    .unwrap();
    end(&mut out).unwrap();
    footer(&mut out).unwrap();
    assert_eq!(out, LISTING);
}

#[test]
fn the_header_names_the_type_of_messages() {
    let plan = Plan {
        data_type: DataType::Double,
        ..Plan::default()
    };
    let mut out = String::new();
    header(&mut out, &Environment::default(), &plan).unwrap();
    let lines = "# MPI_Datatype                   :   MPI_DOUBLE \n# MPI_Datatype for reductions    :   MPI_FLOAT ";
    assert!(out.contains(lines), "{out}");
}

#[test]
fn wrong_data_is_a_comment_below_its_row() {
    let mut out = String::new();
    let wrong = SampleRow {
        defect: f64::INFINITY,
        ..line(8, [1.0; 3], Some(8e6))
    };
    row(
        &mut out,
        &table(Kernel::PingPong, 2, 0),
        &wrong,
        Megabyte::Decimal,
    )
    .unwrap();
    assert_eq!(
        out,
        "            8         1000         1.00         8.00\n\
         # Wrong data at 8 bytes: off by up to inf\n"
    );
}

#[test]
fn checked_tables_say_so_and_have_a_column_of_defects() {
    let mut table = table(Kernel::Bcast, 2, 1);
    table.is_checked = true;
    let wrong = SampleRow {
        defect: 2.5,
        ..line(8, [1.0; 3], None)
    };
    let mut out = String::new();
    heading(&mut out, &table).unwrap();
    row(&mut out, &table, &wrong, Megabyte::Binary).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0].len(), 6 * 13);
    assert_eq!(
        lines[3..5],
        [
            "# ( 1 additional process waiting in MPI_Barrier)",
            "# Every message is checked: timings not valid"
        ]
    );
    assert!(lines[6].ends_with("  t_avg[usec]      defects"), "{out}");
    assert!(lines[7].ends_with("         1.00         2.50"), "{out}");
    assert_eq!(lines.len(), 8);

    table.kernel = Kernel::Barrier.into();
    out.clear();
    heading(&mut out, &table).unwrap();
    assert!(out.ends_with("  t_max[usec]  t_avg[usec]\n"), "{out}");
}

#[test]
fn what_a_job_has_too_few_ranks_for_is_named() {
    let plan = Plan {
        benchmarks: [Kernel::Bcast.into(), Kernel::PingPong.into()].into(),
        ..Plan::default()
    };
    for (ranks, wanted) in [
        (1, "# PingPong does not run: it takes 2 ranks, here are 1\n"),
        (2, ""),
    ] {
        let mut out = String::new();
        idle(&mut out, &plan, ranks).unwrap();
        assert_eq!(out, wanted);
    }
}

/// The table of a barrier has no column of defects, checked or not.
#[test]
fn a_barrier_that_does_not_wait_is_a_comment_below_its_row() {
    let early = SampleRow {
        defect: 12.5,
        ..line(0, [1.0; 3], None)
    };
    for is_checked in [false, true] {
        let mut table = table(Kernel::Barrier, 2, 0);
        table.is_checked = is_checked;
        let mut out = String::new();
        row(&mut out, &table, &early, Megabyte::Binary).unwrap();
        let comment = "1.00\n# Wrong: a rank was let go up to 12.5 usec too early\n";
        assert!(out.ends_with(comment), "{out}");
    }
}

#[test]
fn a_row_without_memory_says_what_it_needs() {
    let need = Skip {
        bytes: 4096,
        needed: (3 << 29) + 1,
    };
    let mut out = String::new();
    let mut table = table(Kernel::PingPong, 2, 0);
    skip(&mut out, &table, &need).unwrap();
    let text = " out-of-mem.; needed X=   1.501 GB; use flag \"-mem X\"\n";
    assert_eq!(out, alloc::format!("         4096{text}"));

    table.multiple = Some(Multiple::Each);
    table.groups.push([2, 3].into());
    out.clear();
    skip(&mut out, &table, &need).unwrap();
    assert_eq!(
        out,
        alloc::format!("\n            0         4096{text}            1         4096{text}")
    );
}

#[test]
fn many_ranks_take_several_lines() {
    let mut table = table(Kernel::Bcast, 20, 0);
    table.map = Some(Map {
        rows: 2,
        columns: 18,
    });
    let mut out = String::new();
    heading(&mut out, &table).unwrap();
    let sixteen: String = (0..16).map(|rank| alloc::format!(" {rank:>4}")).collect();
    let lines = alloc::format!("# {sixteen}\n#    16   17\n# \n#    18   19\n# \n#---");
    assert!(out.contains(&lines), "{out}");
}
