use super::{BenchRun, Request, System, ThreadLevel, help, list, parse};
use crate::kernels::{Aggregation, AnyKernel, Kernel};
use crate::lengths::Lengths;
use crate::method::Policy;
use crate::suite::{Benchmark, Map, Multiple, OverlapBase, Plan};
use crate::{DataType, Megabyte, OffCache, Part};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A cache of 6 MiB, and a few files.
struct Here;

impl System for Here {
    fn read(&self, path: &str) -> Result<String, String> {
        let text = match path {
            "names" => "# two of them\nbarrier\n\n  Multi-PingPong # and a comment\n",
            "unknown" => "Barrier\n# next is wrong\nPingPnog\n",
            "two" => "Barrier PingPong\n",
            "lengths" => "100\r\n0\n\n# more\n3\n1000 # long\n",
            "negative" => "1\n-2\n",
            "huge" => "1073741825\n",
            "empty" => "# nothing\n\n",
            _ => return Err("no such file".into()),
        };
        Ok(text.into())
    }

    fn cache(&self) -> Option<OffCache> {
        Some(OffCache {
            cache: 6 << 20,
            line: 128,
        })
    }
}

fn bench_run(line: &str) -> BenchRun {
    match parse(line.split_whitespace(), &Here) {
        Ok(Request::Run(bench_run)) => bench_run,
        other => panic!("{line}: {other:?}"),
    }
}

fn error(line: &str) -> String {
    match parse(line.split_whitespace(), &Here) {
        Err(error) => error.to_string(),
        other => panic!("{line}: {other:?}"),
    }
}

/// The names of the benchmarks in their order, with what is reported of several groups.
fn names(line: &str) -> Vec<(&'static str, Option<Multiple>)> {
    let benchmarks = bench_run(line).plan.benchmarks;
    let name = |benchmark: &Benchmark| (benchmark.kernel.info().name, benchmark.multiple);
    benchmarks.iter().map(name).collect()
}

/// The names of benchmarks that all run on one group at a time.
fn plain(line: &str) -> Vec<&'static str> {
    let names = names(line);
    assert!(names.iter().all(|name| name.1.is_none()), "{names:?}");
    names.into_iter().map(|name| name.0).collect()
}

#[test]
fn nothing_means_everything_by_default() {
    let default = bench_run("");
    let kernels = Kernel::by_default().map(Benchmark::from);
    let plan = Plan {
        benchmarks: kernels.collect(),
        ..Plan::default()
    };
    assert_eq!(
        default,
        BenchRun {
            plan,
            thread_level: None,
            megabyte: Megabyte::Binary
        }
    );
    assert_eq!(default.plan.benchmarks.len(), Kernel::ALL.len() - 2);
}

#[test]
fn names_ignore_case_keep_their_order_and_run_once() {
    assert_eq!(
        plain("mpi1 ALLREDUCE pingpong allreduce"),
        ["Allreduce", "PingPong"]
    );
    assert_eq!(plain("pingpingSPECIFICsource"), ["PingPingSpecificSource"]);
    assert_eq!(plain("Barrier,Bcast"), ["Barrier", "Bcast"]);
}

#[test]
fn included_kernels_are_added_and_excluded_ones_removed() {
    let default: Vec<&str> = Kernel::by_default()
        .map(|kernel| kernel.info().name)
        .collect();
    // In the catalog's order where nothing is named, as the original does.
    let mut wanted = default.clone();
    wanted[0] = "PingPongSpecificSource";
    assert_eq!(
        plain("-include PingPongSpecificSource -exclude PingPong -msglog 3:5"),
        wanted
    );
    assert_eq!(
        plain("Bcast -include pingpong,bcast Barrier -exclude barrier"),
        ["Bcast", "PingPong"]
    );
    assert_eq!(
        plain("-exclude Alltoall Alltoallv").len(),
        default.len() - 2
    );
    assert_eq!(
        names("Multi-Bcast Bcast -exclude multi-bcast"),
        [("Bcast", None)]
    );
    assert_eq!(
        names("-multi 1 PingPong Barrier -exclude Multi-PingPong"),
        [("Barrier", Some(Multiple::Each))]
    );
    assert_eq!(
        error("Bcast -exclude bcast"),
        "no benchmark is left to run: -exclude removes them all"
    );
}

#[test]
fn several_groups_are_asked_for_by_name_or_for_all() {
    use Multiple::{Each, Worst};
    assert_eq!(
        names("multi-PingPong Bcast"),
        [("PingPong", Some(Worst)), ("Bcast", None)]
    );
    for (flag, multiple) in [("0", Worst), ("1", Each)] {
        assert_eq!(
            names(&alloc::format!(
                "Multi-PingPong -multi {flag} PingPong Bcast"
            )),
            [("PingPong", Some(multiple)), ("Bcast", Some(multiple))]
        );
    }
}

/// An option, and what it changes in a plan.
type PlanChange<'a> = (&'a str, &'a dyn Fn(&mut Plan));

#[test]
fn every_option_sets_what_it_says() {
    let powers = |min_log, max_log| Lengths::Powers { min_log, max_log };
    let cache = |cache, line| Some(OffCache { cache, line });
    let map = |rows, columns| Some(Map { rows, columns });
    let changes: &[PlanChange<'_>] = &[
        ("-npmin 1", &|plan| plan.layout.fewest = Some(1)),
        ("-map 3x2", &|plan| plan.layout.map = map(3, 2)),
        ("-off_cache -1", &|plan| {
            plan.off_cache = cache(6 << 20, 128)
        }),
        ("-off_cache 2.5", &|plan| {
            plan.off_cache = cache(5 << 19, 64)
        }),
        ("-off_cache 16,128", &|plan| {
            plan.off_cache = cache(16 << 20, 128)
        }),
        ("-iter 2000", &|plan| plan.method.samples = 2000),
        ("-iter 2000,100", &|plan| {
            (plan.method.samples, plan.method.volume) = (2000, 100 << 20);
        }),
        ("-iter 1000,40,150", &|plan| {
            plan.method.samples_single = 150
        }),
        ("-iter 2000,multiple_np", &|plan| {
            (plan.method.samples, plan.method.policy) = (2000, Policy::MultipleNp);
        }),
        ("-iter auto", &|plan| plan.method.policy = Policy::Auto),
        ("-iter_policy dynamic", &|_| {}),
        ("-iter_policy off", &|plan| {
            (plan.method.policy, plan.method.seconds) = (Policy::Off, f64::INFINITY);
        }),
        ("-iter_policy off -time 2", &|plan| {
            (plan.method.policy, plan.method.seconds) = (Policy::Off, 2.0);
        }),
        ("-time 0.3", &|plan| plan.method.seconds = 0.3),
        ("-mem 0.5", &|plan| plan.memory = 1 << 29),
        ("-mem 1e30", &|plan| plan.memory = usize::MAX),
        ("-msglog 3", &|plan| plan.lengths = powers(0, 3)),
        ("-msglog 3:7", &|plan| plan.lengths = powers(3, 7)),
        ("-msglen lengths", &|plan| {
            plan.lengths = Lengths::Listed([100, 0, 3, 1000].into())
        }),
        ("-check", &|plan| plan.method.check = true),
        ("-aggregate_mode aggregate", &|plan| {
            plan.aggregation = Some(Aggregation::Aggregate)
        }),
        ("-aggregate_mode non_aggregate", &|plan| {
            plan.aggregation = Some(Aggregation::NonAggregate)
        }),
        ("-aggregate_mode multi", &|_| {}),
        ("EXT", &|plan| {
            (plan.part, plan.lengths) = (Part::Ext, powers(2, 22));
        }),
        ("-msglog 3 ext", &|plan| {
            (plan.part, plan.lengths) = (Part::Ext, powers(0, 3));
        }),
        ("rma", &|plan| plan.part = Part::Rma),
        ("NBC", &|plan| plan.part = Part::Nbc),
        ("nbc -sync on", &|plan| plan.part = Part::Nbc),
        ("-sync off nbc", &|plan| {
            (plan.part, plan.synchronises) = (Part::Nbc, false);
        }),
        ("-sync 0", &|_| {}),
        ("--overlap min", &|_| {}),
        ("--overlap max", &|plan| {
            plan.overlap_base = OverlapBase::Longer
        }),
        ("-warm_up off", &|plan| plan.method.warm_up = 0),
        ("-warm_up yes", &|_| {}),
        (
            "-root_shift on -sync off -imb_barrier 0 -zero_size 1",
            &|_| {},
        ),
        ("-data_type double", &|plan| {
            plan.data_type = DataType::Double
        }),
        (
            "-data_type byte -red_data_type float -contig_type base",
            &|_| {},
        ),
    ];
    for (line, change) in changes {
        let (mut got, mut wanted) = (bench_run(line).plan, Plan::default());
        got.benchmarks.clear();
        change(&mut wanted);
        assert_eq!(got, wanted, "{line}");
    }
    assert_eq!(
        names("-input names"),
        [("Barrier", None), ("PingPong", Some(Multiple::Worst))]
    );
    assert_eq!(
        plain("Bcast -input names -exclude Multi-PingPong"),
        ["Bcast", "Barrier"]
    );
    assert_eq!(bench_run("--mb si").megabyte, Megabyte::Decimal);
    assert_eq!(bench_run("--mb binary").megabyte, Megabyte::Binary);
    for (word, level) in [
        ("single", ThreadLevel::Single),
        ("funneled", ThreadLevel::Funneled),
        ("serialized", ThreadLevel::Serialized),
        ("multiple", ThreadLevel::Multiple),
    ] {
        let line = alloc::format!("-thread_level {word}");
        assert_eq!(bench_run(&line).thread_level, Some(level));
    }
}

#[test]
fn messages_have_whole_items_of_the_type_and_reductions_their_own() {
    for (line, kernel, wanted) in [
        (
            "-data_type byte -msglog 4",
            Kernel::PingPong,
            &[0, 1, 2, 4, 8, 16][..],
        ),
        (
            "-data_type char -msglog 4",
            Kernel::Bcast,
            &[0, 1, 2, 4, 8, 16],
        ),
        ("-data_type int -msglog 4", Kernel::PingPong, &[0, 4, 8, 16]),
        (
            "-data_type float -msglog 4",
            Kernel::Alltoall,
            &[0, 4, 8, 16],
        ),
        ("-data_type double -msglog 4", Kernel::PingPong, &[0, 8, 16]),
        (
            "-data_type double -msglog 4",
            Kernel::Allreduce,
            &[0, 4, 8, 16],
        ),
        ("-data_type double -msglog 4", Kernel::Barrier, &[0]),
        (
            "-data_type double -msglen lengths",
            Kernel::PingPong,
            &[96, 0, 1000],
        ),
    ] {
        let plan = bench_run(line).plan;
        let lengths: Vec<usize> = plan.lengths_of(kernel).collect();
        assert_eq!(lengths, wanted, "{line} {kernel:?}");
    }
}

#[test]
fn options_stand_anywhere() {
    let plan = bench_run("-time 0.3 PingPong -iter 2000,100 Bcast -msglog 3:7").plan;
    assert_eq!(plan.benchmarks.len(), 2);
    assert_eq!((plan.method.samples, plan.method.seconds), (2000, 0.3));
    assert_eq!(plan.lengths.largest(), 128);
}

#[test]
fn help_and_list_name_everything() {
    for word in ["-h", "-help", "--help"] {
        assert_eq!(parse(["PingPong", word, "-time"], &Here), Ok(Request::Help));
    }
    for word in ["-list", "--list"] {
        assert_eq!(parse([word], &Here), Ok(Request::List(None)));
        let rma = Ok(Request::List(Some(Part::Rma)));
        assert_eq!(parse(["rma", word], &Here), rma);
    }
    for part in Part::ALL {
        let all = [list(None), list(Some(part)), help()];
        for name in AnyKernel::of(part).map(|kernel| kernel.info().name) {
            let line = alloc::format!("{name} ");
            assert!(all.iter().all(|text| text.contains(&line)), "{name}");
        }
    }
    assert!(!list(Some(Part::Ext)).contains("PingPong"));
    for line in help().lines() {
        assert!(line.len() <= 110, "{line}");
    }
    for row in super::table::ROWS {
        assert!(help().contains(row.name), "{}", row.name);
    }
}

#[test]
fn errors_say_what_would_be_right() {
    for (line, want) in [
        (
            "PingPnog",
            "unknown benchmark 'PingPnog'; did you mean 'PingPong'?",
        ),
        (
            "-msglg 3",
            "unknown option '-msglg'; did you mean '-msglog'?",
        ),
        (
            "xyzzyxyzzy",
            "unknown benchmark 'xyzzyxyzzy'; -h lists them all",
        ),
        ("-time", "-time needs a value: -time SECONDS"),
        (
            "-include -check",
            "-include needs a value: -include NAME...",
        ),
        (
            "-time -1",
            "'-1' does not fit -time SECONDS: a number above 0, such as 0.5",
        ),
        (
            "EXT Unidir_Putt",
            "unknown benchmark 'Unidir_Putt'; did you mean 'Unidir_Put'?",
        ),
        (
            "Unidir_put",
            "unknown benchmark 'Unidir_put'; -h lists them all",
        ),
        (
            "EXT rma",
            "RMA after EXT: a run has one part of the benchmarks",
        ),
        (
            "Barrier EXT",
            "EXT stands before the names of its benchmarks",
        ),
        (
            "-msglog 7:3",
            "'7:3' does not fit -msglog [MIN:]MAX: powers of two from 0 to 30, the smaller first",
        ),
        (
            "-data_type long",
            "'long' does not fit -data_type byte|char|int|float|double: byte, char, int, float or double",
        ),
        (
            "-multi 2",
            "'2' does not fit -multi 0|1: 0 for the worst group, or 1 for each",
        ),
        (
            "-map 3",
            "'3' does not fit -map PxQ: two whole numbers from 1 with an x between them, such as 3x2",
        ),
        (
            "-input nowhere",
            "-input: cannot read nowhere: no such file",
        ),
        (
            "-input unknown",
            "unknown, line 3: 'PingPnog' is not the name of one benchmark (-h lists them)",
        ),
        (
            "-input two",
            "two, line 1: 'Barrier PingPong' is not the name of one benchmark (-h lists them)",
        ),
        ("-input empty", "-input: empty has no entry"),
        (
            "-msglen negative",
            "negative, line 2: '-2' is not a whole number of bytes from 0 to 1073741824",
        ),
        (
            "-root_shift off",
            "-root_shift off: of this option of later releases, only 'on' is offered here",
        ),
        (
            "RMA -sync on",
            "-sync on: of this option of later releases, only 'off' is offered here, and both in NBC",
        ),
        (
            "-msgsize 8",
            "-msgsize 8: this option of later releases is not offered here",
        ),
    ] {
        assert_eq!(error(line), want, "{line}");
    }
    for line in [
        "-iter 0",
        "-iter 1,2,3,4",
        "-iter x",
        "-iter ,",
        "-iter 1,off,2",
        "-iter_policy never",
        "-msglog 31",
        "-msglog :",
        "-time x",
        "-time inf",
        "-time nan",
        "-mem 0",
        "-npmin 0",
        "-npmin two",
        "-map 0x2",
        "-map 3x",
        "-map 2x3x4",
        "-off_cache 0",
        "-off_cache -2",
        "-off_cache inf",
        "-off_cache 2,0",
        "-thread_level many",
        "--mb 1000",
        "-aggregate_mode both",
        "-warm_up maybe",
        "NBC -sync maybe",
        "--overlap all",
    ] {
        assert!(
            error(line).contains("does not fit"),
            "{line}: {}",
            error(line)
        );
    }
    assert!(error("-msglen huge").contains("line 1"));
}

#[test]
fn a_machine_that_hides_its_cache_is_named() {
    struct Blind;
    impl System for Blind {
        fn read(&self, _: &str) -> Result<String, String> {
            Err("no file".into())
        }
        fn cache(&self) -> Option<OffCache> {
            None
        }
    }
    let why = parse(["-off_cache", "-1"], &Blind).unwrap_err().to_string();
    assert!(why.contains("give it in MB"), "{why}");
}

/// Benchmarks of two parts may differ in case only, or not at all.
#[test]
fn names_are_those_of_the_part() {
    assert_eq!(plain("EXT unidir_put"), ["Unidir_Put"]);
    assert_eq!(plain("RMA unidir_put"), ["Unidir_put"]);
    for (line, part) in [("EXT accumulate", Part::Ext), ("RMA accumulate", Part::Rma)] {
        let benchmarks = bench_run(line).plan.benchmarks;
        let parts = benchmarks.iter().map(|benchmark| benchmark.kernel.part());
        assert!(parts.eq([part]), "{line}");
    }
    assert_eq!(plain("NBC").len(), 13);
    let ibarriers = plain("NBC -include ibarrier_pure");
    assert_eq!(ibarriers[12..], ["Ibarrier", "Ibarrier_pure"]);
    let default = plain("RMA");
    assert_eq!(default.len(), 17);
    assert_eq!(plain("RMA -include get_local").len(), 18);
    assert_eq!(
        names("EXT -exclude Window -include Multi-Window -exclude Unidir_Get,Unidir_Put,Bidir_Get"),
        [("Bidir_Put", None), ("Accumulate", None)]
    );
}
