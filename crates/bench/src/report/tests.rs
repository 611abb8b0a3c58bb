use super::{Environment, Rank, RunRecord, Setting};
use crate::OffCache;
use crate::kernels::Kernel;
use crate::suite::{
    Multiple, Observer, Overlap, OverlapBase, Plan, SampleRow, SampleTable, Skip, Spread,
};

/// A run of one table: a row with infinitely wrong data, and one skipped for want of memory.
fn run() -> RunRecord {
    run_of(&Plan::default())
}

/// The same run of `plan`.
fn run_of(plan: &Plan) -> RunRecord {
    let ranks = [Rank {
        rank: 0,
        host: "a".into(),
        pid: 7,
        cpus: "0-1".into(),
    }];
    let environment = Environment {
        library: "oxmpi\n0.1".into(),
        transports: ["shm".into()].into(),
        settings: [Setting {
            name: "eager".into(),
            value: "4K".into(),
            origin: "environment".into(),
        }]
        .into(),
        ..Environment::default()
    };
    let mut run = RunRecord::new(environment, ranks.into(), plan);
    let table = SampleTable {
        kernel: Kernel::Allreduce.into(),
        aggregation: None,
        multiple: Some(Multiple::Each),
        groups: [[0, 3].into(), [1, 4].into()].into(),
        map: None,
        waiting: 1,
        is_checked: false,
        overlap_base: OverlapBase::Longer,
    };
    run.table(&table);
    let row = SampleRow {
        group: 1,
        bytes: 4,
        repetitions: 9,
        t_min: 0.75,
        t_max: 1.25,
        t_avg: 1.0,
        throughput: None,
        overlapped: Some(1.25),
        overlap: Some(Overlap {
            total: 1.25,
            pure: 1.0,
            compute: 0.5,
            compute_alone: 0.25,
            base: OverlapBase::Longer,
        }),
        spread: Spread {
            blocks: 2,
            min: 0.5,
            median: 1.0,
            p99: 2.0,
        },
        defect: f64::INFINITY,
    };
    run.row(&table, &row);
    let skip = Skip {
        bytes: 8,
        needed: 16,
    };
    run.skip(&table, &skip);
    run.end(&table);
    run
}

#[test]
fn json_reads_back() {
    let read: serde_json::Value = serde_json::from_str(&run().to_json().unwrap()).unwrap();
    assert_eq!(read["format"], "oxmpi-bench");
    assert_eq!(read["version"], 2);
    assert_eq!(read["ranks"][0]["cpus"], "0-1");
    assert_eq!(read["environment"]["settings"][0]["value"], "4K");
    assert_eq!(read["method"]["policy"], "dynamic");
    assert_eq!(read["method"]["seconds"], 10.0);
    let table = &read["tables"][0];
    assert_eq!(table["benchmark"], "Allreduce");
    assert_eq!(table["mode"], "multiple-each");
    assert_eq!(table["part"], "MPI1");
    assert!(table["aggregation"].is_null());
    assert_eq!(table["waiting"], 1);
    assert_eq!(table["groups"][1][1], 4);
    assert_eq!(table["skipped"][0]["needed_bytes"], 16);
    let row = &table["rows"][0];
    assert_eq!((&row["group"], &row["t_max_us"]), (&1.into(), &1.25.into()));
    assert_eq!(row["block_p99_us"], 2.0);
    assert!(row["defect"].is_null() && row["mib_per_s"].is_null());
    // Of 1 us and 0.5 us, 0.25 us is saved.
    for (name, value) in [
        ("t_pure_us", 1.0),
        ("t_cpu_us", 0.5),
        ("t_cpu_alone_us", 0.25),
        ("percent_of_min", 50.0),
        ("percent_of_max", 25.0),
        ("availability", 0.5),
    ] {
        assert_eq!(row["overlap"][name], value, "{name}");
    }
}

#[test]
fn csv_has_comments_titles_and_rows() {
    let text = run().to_csv();
    let lines: alloc::vec::Vec<&str> = text.lines().collect();
    let (comments, rows) = lines.split_at(lines.len() - 2);
    assert!(comments.iter().all(|line| line.starts_with("# ")), "{text}");
    for part in [
        "# library: oxmpi 0.1",
        "# transports: shm",
        "# setting eager: 4K (environment)",
        "# rank 0: host a, pid 7, cpus 0-1",
        "# method policy: dynamic",
        "# method seconds: 10",
        "# method check: false",
        "# method off_cache: no",
        "# method map: no",
        "# method sync: false",
        "# skipped Allreduce, multiple-each, 2 processes, 8 bytes: needs 16 bytes of memory",
    ] {
        assert!(comments.contains(&part), "no {part} in {text}");
    }
    let [titles, row] = rows else {
        panic!("{text}")
    };
    assert_eq!(titles.split(',').count(), row.split(',').count());
    assert_eq!(
        *row,
        "Allreduce,multiple-each,2,2,1,1,4,9,0.75,1.25,1,,2,0.5,1,2,inf,MPI1,,1.25,1,0.5,0.25,50,25,0.5"
    );
}

#[test]
fn csv_of_a_checked_run_says_that_its_times_are_not_valid() {
    let mut plan = Plan::default();
    plan.method.check = true;
    plan.method.seconds = f64::INFINITY;
    plan.off_cache = Some(OffCache {
        cache: 4096,
        line: 64,
    });
    let text = run_of(&plan).to_csv();
    for part in [
        "# method check: true (times are not valid)\n",
        "# method seconds: no limit\n",
        "# method off_cache: cache of 4096 bytes, lines of 64\n",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}
