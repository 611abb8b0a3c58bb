//! Tests of the arguments, placements, tables and aims, which start no program.

use super::figures::{FigureKey, Figures, Pick};
use super::lines::{self, MeasuredRow};
use super::placement::tag;
use super::programs::Implementation;
use super::rounds::MeasuredRun;
use super::targets::{Verdict, summary, targets};
use super::{CompareOptions, tables};

fn options(line: &str) -> Result<CompareOptions, clap::Error> {
    crate::tests::parsed(line)
}

#[test]
fn arguments_are_checked() {
    let given =
        options("--what init,pingpong --sizes 8,64 --rounds 7 --lock turns --publish").unwrap();
    assert_eq!((given.rounds, given.publish), (7, true));
    let works = given.works();
    assert_eq!((works.len(), &works[0].name), (2, &"init"));
    assert_eq!(works[1].arguments, ["8", "64"]);
    assert_eq!(given.lock.as_deref(), Some("turns".as_ref()));
    for (line, part) in [
        ("--rounds 0", "0 is not in 1.."),
        ("--rounds", "a value is required"),
        ("--sizes 8,x", "'x'"),
        ("--ranks 2,0", "0 is not in 1.."),
        ("--operations bcast,scan", "'scan'"),
        ("--what pingpong,latency", "'latency'"),
        ("--what all,everything", "'everything'"),
        ("--fast", "'--fast'"),
    ] {
        let error = options(line).unwrap_err().to_string();
        assert!(error.contains(part), "{line}: {error}");
    }
}

#[test]
fn collectives_are_asked_by_operation_length_and_ranks() {
    let given =
        options("--what collectives --operations bcast,gather --sizes 8 --ranks 2,8").unwrap();
    let works = given.works();
    let ranks: Vec<usize> = works.iter().map(|work| work.ranks).collect();
    assert_eq!(ranks, [2, 8]);
    assert_eq!(works[0].arguments, ["bcast,gather", "8"]);
    let own = options("--what collectives").unwrap().works();
    let lengths: Vec<u64> = own[2].lengths().collect();
    assert_eq!(lengths, [8, 1024, 65536, 1048576]);
}

#[test]
fn ours_is_held_against_those_that_are_named() {
    let all = || {
        ["oxmpi", "mpich", "intel", "floor"]
            .map(implementation)
            .into()
    };
    let names = |against: &[String]| -> Vec<&str> {
        let chosen = super::chosen(all(), Some(against)).unwrap();
        chosen.iter().map(|i| i.name).collect()
    };
    assert_eq!(
        names(&["floor".into(), "mpich".into()]),
        ["oxmpi", "mpich", "floor"]
    );
    let error = super::chosen(all(), Some(&["mpi".into()]))
        .map(drop)
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("'mpi': there are mpich, intel, floor")
    );
}

#[test]
fn placements_are_distinct_where_they_differ_in_kind() {
    assert_eq!(tag("amd", 44.0), Some("near"));
    assert_eq!(tag("amd", 175.0), Some("far"));
    assert_eq!(tag("amd", 900.0), None);
    assert_eq!(tag("intel", 60.0), Some("one"));
}

fn implementation(name: &'static str) -> Implementation {
    Implementation {
        name,
        ..Implementation::default()
    }
}

/// A run of one row: `kernel` on two ranks took `nanoseconds`.
fn run(
    implementation: &'static str,
    tag: Option<&'static str>,
    (kernel, bytes): (&'static str, u64),
    nanoseconds: f64,
) -> MeasuredRun {
    let row = MeasuredRow {
        bytes,
        ..MeasuredRow::times(kernel, 2, vec![nanoseconds])
    };
    MeasuredRun {
        round: 0,
        implementation,
        work: kernel,
        ranks: 2,
        probes: None,
        tag,
        rows: vec![row],
    }
}

/// A run of the floor, by one method.
fn bare(method: &str, (kernel, bytes): (&'static str, u64), nanoseconds: f64) -> MeasuredRun {
    let mut run = run("floor", Some("near"), (kernel, bytes), nanoseconds);
    run.rows[0].method = method.into();
    run
}

const SHORT: (&str, u64) = ("pingpong", 8);

#[test]
fn tables_take_medians_within_a_placement_and_show_losses() {
    let works = options("--what pingpong --sizes 8").unwrap().works();
    let all = ["oxmpi", "mpich", "openmpi", "floor"].map(implementation);
    let near = Some("near");
    let mut runs = Vec::new();
    for (ours, theirs) in [(90.0, 800.0), (100.0, 900.0), (5000.0, 850.0)] {
        runs.push(run("oxmpi", near, SHORT, ours));
        runs.push(run("mpich", near, SHORT, theirs));
        runs.push(run("openmpi", near, SHORT, 80.0));
        runs.push(run("oxmpi", None, SHORT, 1.0));
        runs.push(bare("copy", SHORT, 40.0));
        runs.push(bare("ring", SHORT, 50.0));
    }
    runs.push(run("oxmpi", Some("far"), SHORT, 200.0));
    let text = tables::tables(&works[0], &all, &runs);
    let near = text
        .split("placement ")
        .find(|part| part.starts_with("near"))
        .unwrap();
    let rows: Vec<Vec<&str>> = near
        .lines()
        .map(|line| line.split_whitespace().collect())
        .filter(|row: &Vec<&str>| row.first() == Some(&"8"))
        .collect();
    let median = "8 0.100 0.850 0.080 openmpi 1.25 0.040 2.50 lost";
    let fastest = "8 0.090 0.800 0.080 openmpi 1.12 0.040 2.25 lost";
    assert_eq!(rows[0].join(" "), median, "{text}");
    assert_eq!(rows[1].join(" "), fastest, "{text}");
    for part in ["far", "3 runs dropped", "copy 0.040, ring 0.050 us"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// The verdict on aim `number` in the line that contains these words.
fn verdict(runs: &[MeasuredRun], number: u32, words: &str) -> Verdict {
    let figures = Figures::new(runs, "near", Pick::Median);
    let list = targets(&figures);
    let fits = |target: &&super::targets::Target| {
        target.number == number && format!("{} {}", target.what, target.bound).contains(words)
    };
    let found: Vec<_> = list.iter().filter(fits).collect();
    assert_eq!(found.len(), 1, "'{words}' among {list:#?}");
    found[0].verdict()
}

#[test]
fn the_shortest_message_is_held_against_two_lines_and_the_best_single_peer() {
    let near = Some("near");
    let with = |ours, posted| {
        vec![
            run("oxmpi", near, SHORT, ours),
            run("oxmpi", near, ("posted", 8), posted),
            run("mpich", near, SHORT, 500.0),
            run("openmpi", near, SHORT, 80.0),
            run("oxmpi", Some("far"), SHORT, 1.0),
            bare("plain", ("two lines", 0), 50.0),
            bare("pause", ("two lines", 0), 40.0),
        ]
    };
    let lines = "pingpong 8 B two lines, pause 0.040, plain 0.050";
    assert_eq!(verdict(&with(50.0, 65.0), 1, lines), Verdict::Met);
    assert_eq!(verdict(&with(51.0, 65.0), 1, lines), Verdict::Missed);
    let posted = "posted 8 B two lines, pause 0.040, plain 0.050; + 0.015";
    assert_eq!(verdict(&with(50.0, 65.0), 1, posted), Verdict::Met);
    assert_eq!(verdict(&with(50.0, 66.0), 1, posted), Verdict::Missed);
    let peer = "pingpong 8 B 0.65 x openmpi 0.080";
    assert_eq!(verdict(&with(52.0, 65.0), 1, peer), Verdict::Met);
    assert_eq!(verdict(&with(53.0, 65.0), 1, peer), Verdict::Missed);
    let mut elsewhere = with(50.0, 65.0);
    elsewhere.push(run("intel", Some("far"), SHORT, 60.0));
    let unsure = "pingpong 8 B 0.65 x best peer";
    assert_eq!(verdict(&elsewhere, 1, unsure), Verdict::NotMeasured);
    let unmeasured = "posted 8 B 0.65 x best peer";
    assert_eq!(
        verdict(&with(50.0, 65.0), 1, unmeasured),
        Verdict::NotMeasured
    );
}

#[test]
fn short_messages_need_each_cell_and_the_geometric_mean() {
    let with = |ratios: [f64; 3]| -> Vec<MeasuredRun> {
        let cells = [64, 1024, 8192].map(|bytes| ("pingpong", bytes));
        cells
            .into_iter()
            .zip(ratios)
            .flat_map(|(cell, ratio)| {
                [
                    run("oxmpi", Some("near"), cell, 1000.0 * ratio),
                    run("intel", Some("near"), cell, 1000.0),
                    bare("copy", cell, 500.0),
                ]
            })
            .collect()
    };
    let mean = "pingpong 64 B, 1 KiB, 8 KiB geometric mean";
    assert_eq!(verdict(&with([0.95, 0.75, 0.71]), 2, mean), Verdict::Met);
    assert_eq!(verdict(&with([0.95, 0.75, 0.73]), 2, mean), Verdict::Missed);
    let cell = "pingpong 64 B 0.95 x intel";
    assert_eq!(verdict(&with([0.96, 0.5, 0.5]), 2, cell), Verdict::Missed);
    // 1.25 times 500 and 25 are 650.
    let floor = "pingpong 1024 B 1.25 x floor 0.500 (copy) + 0.025";
    assert_eq!(verdict(&with([0.5, 0.65, 0.5]), 2, floor), Verdict::Met);
    assert_eq!(verdict(&with([0.5, 0.66, 0.5]), 2, floor), Verdict::Missed);
}

#[test]
fn bandwidth_is_held_against_the_best_method_and_patterns_know_noise() {
    let (bulk, shift) = (("pingpong", 65536), ("sendrecv", 8));
    let with = |ours, shifted| {
        vec![
            run("oxmpi", Some("near"), bulk, ours),
            run("intel", Some("near"), bulk, 1100.0),
            bare("ring", bulk, 800.0),
            bare("single copy", bulk, 900.0),
            run("oxmpi", Some("near"), shift, shifted),
            run("intel", Some("near"), shift, 100.0),
        ]
    };
    let peer = "pingpong 65536 B 0.91 x intel";
    assert_eq!(verdict(&with(1000.0, 1.0), 3, peer), Verdict::Met);
    assert_eq!(verdict(&with(1001.0, 1.0), 3, peer), Verdict::Missed);
    let floor = "pingpong 65536 B 1.25 x floor 0.800 (ring)";
    assert_eq!(verdict(&with(1000.0, 1.0), 3, floor), Verdict::Met);
    assert_eq!(verdict(&with(1001.0, 1.0), 3, floor), Verdict::Missed);
    let shifted = "sendrecv 8 B 1.00 x intel";
    assert_eq!(verdict(&with(1.0, 100.0), 4, shifted), Verdict::Met);
    assert_eq!(verdict(&with(1.0, 105.0), 4, shifted), Verdict::Noise);
    assert_eq!(verdict(&with(1.0, 106.0), 4, shifted), Verdict::Missed);
}

#[test]
fn collectives_need_the_geometric_mean_and_each_cell() {
    let with = |ratios: [f64; 2]| -> Vec<MeasuredRun> {
        let cells = [("bcast", 8), ("alltoall", 1048576)];
        let both = cells.into_iter().zip(ratios).flat_map(|(cell, ratio)| {
            [
                run("oxmpi", Some("near"), cell, 1000.0 * ratio),
                run("intel", Some("near"), cell, 1000.0),
            ]
        });
        both.collect()
    };
    let mean = "collectives, 2 ranks geometric mean over the best peer, 2 of 33 cells";
    assert_eq!(verdict(&with([1.1, 0.5]), 8, mean), Verdict::Met);
    assert_eq!(verdict(&with([1.1, 0.52]), 8, mean), Verdict::Missed);
    let cell = "alltoall 1048576 B, 2 ranks 1.10 x intel";
    assert_eq!(verdict(&with([0.1, 1.1]), 8, cell), Verdict::Met);
    assert_eq!(verdict(&with([0.1, 1.11]), 8, cell), Verdict::Missed);
}

#[test]
fn over_tcp_ours_is_held_against_the_best_peer() {
    let with = |short, long| {
        let (eight, mebibyte) = (("network", 8), ("network", 1048576));
        vec![
            run("oxmpi", Some("near"), eight, short),
            run("oxmpi", Some("near"), mebibyte, long),
            run("mpich", Some("near"), eight, 1000.0),
            run("mpich", Some("near"), mebibyte, 1100.0),
        ]
    };
    let short = "network 8 B 0.90 x mpich";
    assert_eq!(verdict(&with(900.0, 1.0), 9, short), Verdict::Met);
    assert_eq!(verdict(&with(901.0, 1.0), 9, short), Verdict::Missed);
    let long = "network 1048576 B 0.91 x mpich";
    assert_eq!(verdict(&with(1.0, 1000.0), 9, long), Verdict::Met);
    assert_eq!(verdict(&with(1.0, 1001.0), 9, long), Verdict::Missed);
}

#[test]
fn puts_are_held_against_limits_peers_copies_and_messages() {
    let with = |short, long, polled| {
        let (eight, mebibyte) = (("put", 8), ("put", 1048576));
        vec![
            run("oxmpi", Some("near"), eight, short),
            run("mpich", Some("near"), eight, 400.0),
            run("oxmpi", Some("near"), mebibyte, long),
            run("mpich", Some("near"), mebibyte, 2000.0),
            bare("copy", mebibyte, 1000.0),
            run("oxmpi", Some("near"), ("private_put", 8), short),
            bare("single copy", ("private_put", 8), 1.0),
            run("oxmpi", Some("near"), ("put_pingpong", 8), polled),
            run("oxmpi", Some("near"), SHORT, 100.0),
        ]
    };
    for aim in [
        "put 8 B a fixed limit",
        "put 8 B 0.25 x mpich",
        "put 1048576 B 0.95 x mpich",
        "put 1048576 B 1.15 x floor 1.000 (copy)",
        "private_put 8 B 1.00 x floor 0.001 (single copy) + 0.100",
        "put_pingpong 8 B pingpong 8 B",
    ] {
        let list = with(100.0, 1150.0, 100.0);
        assert_eq!(verdict(&list, 11, aim), Verdict::Met, "{aim}");
        let list = with(102.0, 1901.0, 101.0);
        assert_eq!(verdict(&list, 11, aim), Verdict::Missed, "{aim}");
    }
    let mut alone = with(1.0, 1.0, 1.0);
    alone.pop();
    let message = "put_pingpong 8 B pingpong 8 B";
    assert_eq!(verdict(&alone, 11, message), Verdict::NotMeasured);
}

#[test]
fn kernels_by_tcp_have_names_of_their_own() {
    let works = options("--what pingpong,network,rma,rma-network").unwrap();
    let mut works = works.works();
    works.retain(|work| !work.crowded());
    let kernels = works.iter().map(|work| work.kernel("put".into()));
    let kernels: Vec<String> = kernels.collect();
    assert_eq!(kernels, ["put", "network", "put", "network put"]);
    assert_eq!(works[3].arguments, ["far", "8", "1048576"]);
}

#[test]
fn only_works_over_tcp_get_its_variables_and_only_who_can_runs_them() {
    let works = options("--what network,stream,rma-network,pingpong");
    let works = works.unwrap().works();
    let peer = Implementation {
        environment: vec![("FABRIC", "shm".into())],
        network: vec![("FABRIC", "tcp".into())],
        ..implementation("mpich")
    };
    for work in &works {
        let command = peer.command(work, "true".as_ref());
        let set = command.get_envs().find(|(name, _)| *name == "FABRIC");
        let expected = if work.network { "tcp" } else { "shm" };
        assert_eq!(set, Some(("FABRIC".as_ref(), Some(expected.as_ref()))));
        assert!(work.suits(&peer));
        assert_eq!(work.suits(&implementation("openmpi-ucx")), !work.network);
        let bare = !["stream", "rma-network"].contains(&work.name);
        assert_eq!(work.suits(&implementation("floor")), bare);
    }
}

#[test]
fn memory_is_of_the_largest_rank_and_counts_shared_memory_once() {
    let line = |rank, private, from, to| {
        format!(
            "{{\"kernel\":\"memory\",\"ranks\":2,\"rank\":{rank},\"private\":{private},\
             \"touched\":4096,\"shared\":[[\"00:01 7\",{from},{to}],[\"00:01 {rank}\",0,100]]}}\n"
        )
    };
    let text = line(0, 1_900_000, 0, 3_000_000) + &line(1, 2_100_000, 2_000_000, 7_999_800);
    let rows = lines::rows(&text, 2).unwrap();
    let of = |name: &str| rows.iter().find(|row| row.kernel == name).unwrap().median;
    assert_eq!(of("private, largest rank"), 2_100_000.0);
    assert_eq!(of("shared and mapped, job"), 8_000_000.0);

    let rows = rows
        .into_iter()
        .map(|row| MeasuredRow { ranks: 8, ..row })
        .collect();
    let runs = [MeasuredRun {
        rows,
        tag: Some("any"),
        ..run("oxmpi", None, ("memory", 0), 1.0)
    }];
    assert_eq!(verdict(&runs, 6, "private"), Verdict::Missed);
    assert_eq!(verdict(&runs, 6, "shared"), Verdict::Met);
}

#[test]
fn the_summary_states_every_aim_and_says_when_runs_are_few() {
    let near = Some("near");
    let mut runs: Vec<MeasuredRun> = (0..5).map(|_| run("intel", near, SHORT, 100.0)).collect();
    runs.extend((0..4).map(|_| run("oxmpi", near, SHORT, 60.0)));
    let figures = Figures::new(&runs, "near", Pick::Median);
    assert_eq!(figures.fewest_runs(&FigureKey::new("pingpong", 2, 8)), 4);
    let text = summary("near", &figures);
    let met = text.lines().find(|line| line.contains(" met ")).unwrap();
    assert!(met.contains("0.060 <=      0.065 us"), "{met}");
    assert!(met.contains("only 4 runs"), "{met}");
    assert!(text.starts_with("Aims; placement near; medians; the best of intel\n"));
    assert!(text.contains("1 met, 0 missed"), "{text}");
    assert!(!text.contains("sendrecv"), "not asked for: {text}");
    for number in 1..=11 {
        let list = targets(&figures);
        assert!(list.iter().any(|target| target.number == number));
    }
}
