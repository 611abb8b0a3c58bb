//! Tests of `oxmpi sim` as a command, and that the pictures in `docs/simulations` are up to date.
//!
//! `OXMPI_BLESS=1 cargo test -p oxmpi-launch --test integration simulations::` writes the pictures that
//! differ; check them before the commit.

use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

use oxmpi_testkit::folder::Folder;

/// A picture's name, and the command that draws it.
const PICTURES: [(&str, &str); 12] = [
    (
        "gatherv",
        "gatherv 8 --ranks 16..12000 --match-ns 1 --algorithm classical,knomial:4",
    ),
    (
        "gatherv-hashed",
        "gatherv 8 --ranks 16..12000 --algorithm classical,knomial:4",
    ),
    (
        "scatterv",
        "scatterv 8 --ranks 16..12000 --algorithm classical,knomial:4",
    ),
    (
        "barrier",
        "barrier --ranks 16..12288 \
         --algorithm dissemination:2,node-aware:6+flags,dissemination:2+flags,node-aware:6",
    ),
    (
        "barrier-slingshot",
        "barrier --ranks 64..12288 --machine slingshot \
         --algorithm dissemination:2,node-aware:6+flags,dissemination:2+flags,node-aware:6",
    ),
    (
        "allgather-block",
        "allgather --sizes 4KiB..500000 -n 1024 --algorithm ring,rail-ring",
    ),
    (
        "allgather-cyclic",
        "allgather --sizes 4KiB..500000 -n 512 --placement cyclic --algorithm ring,rail-ring",
    ),
    (
        "allgather-short",
        "allgather 8 --ranks 16..12000 --algorithm ring,bruck,rail-bruck:3",
    ),
    (
        "alltoall",
        "alltoall --sizes 8..4KiB -n 10000 --algorithm bruck:2,node-aware",
    ),
    (
        "barrier-many",
        "barrier --ranks 1000..700000 --algorithm dissemination:2,node-aware:4+flags",
    ),
    (
        "gatherv-many",
        "gatherv 8 --ranks 1000..700000 --algorithm knomial:4",
    ),
    (
        "allreduce-many",
        "allreduce 8 --ranks 1000..700000 --algorithm recursive-doubling,in-network",
    ),
];

fn sim(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxmpi"));
    command.arg("sim").args(arguments.split_whitespace());
    command.output().expect("oxmpi starts")
}

/// Standard output of `oxmpi sim`, which must succeed.
fn printed(arguments: &str) -> String {
    let output = sim(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "oxmpi sim {arguments}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// Standard error of `oxmpi sim` with a wrong command line (exit code 2).
fn complaint(arguments: &str) -> String {
    let output = sim(arguments);
    assert_eq!(output.status.code(), Some(2), "oxmpi sim {arguments}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn committed_pictures_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/simulations");
    let own = Folder::fresh();
    let drawn = own.at("drawn.svg");
    let mut stale = Vec::new();
    for (name, arguments) in PICTURES {
        printed(&format!("{arguments} --force --svg {drawn}"));
        let picture = fs::read_to_string(&drawn).expect("the picture is there");
        let path = folder.join(format!("{name}.svg"));
        if fs::read_to_string(&path).is_ok_and(|there| there == picture) {
            continue;
        }
        match env::var_os("OXMPI_BLESS") {
            Some(_) => fs::write(&path, &picture).expect("the picture can be written"),
            None => stale.push(name),
        }
    }
    assert!(
        stale.is_empty(),
        "{stale:?} differ: run with OXMPI_BLESS=1 and look at the difference"
    );
}

#[test]
fn a_table_has_a_line_for_each_simulation() {
    let table = printed("bcast 8 --ranks 2..16 --algorithm binomial --machine ndr");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "bcast");
    assert!(lines[1].starts_with("ndr: network L 650 "), "{table}");
    let ranks = lines[4..].iter().map(|line| line.split_whitespace().next());
    assert_eq!(ranks.flatten().collect::<Vec<_>>(), ["2", "4", "8", "16"]);
}

#[test]
fn nodes_may_have_different_sizes() {
    let row = |arguments: &str| {
        let text = printed(arguments);
        let row = text.lines().last().expect("a row");
        row.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for placement in ["block", "cyclic"] {
        let on = format!("--per-node 4+3+4 --placement {placement}");
        // Short vectors go in phases, and each byte crosses as often as it must.
        let bcast = row(&format!("bcast 8 {on}"));
        assert_eq!(
            (&bcast[0][..], &bcast[2][..], &bcast[7][..]),
            ("11", "phased", "16")
        );
        // Long ones go in the order of nodes.
        let chain = row(&format!("bcast 4MiB {on}"));
        assert_eq!((&chain[2][..], &chain[7][..]), ("chain", "8388608"));
    }
    let all = printed("allreduce 8 --per-node 4+3+4 --algorithm all");
    assert!(all.contains("phased") && all.contains("ring") && all.contains("4+3+4 ranks a node"));
}

/// A radix or flag after the name of an algorithm applies to that algorithm only.
#[test]
fn an_algorithm_may_have_a_radix_and_flags_of_its_own() {
    let times = |arguments: &str| {
        let table = printed(&format!("barrier -n 256 {arguments}"));
        let lines = table.lines().skip(4).map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            (words[2].to_owned(), words[3].to_owned())
        });
        lines.collect::<Vec<_>>()
    };
    let beside = times("--algorithm dissemination,node-aware:4+flags");
    let alone = times("--radix 4 --flags --algorithm node-aware");
    let without = times("--radix 4 --algorithm node-aware");
    assert_eq!(beside[0], times("--algorithm dissemination")[0]);
    assert_eq!(beside[1].0, "node-aware:4+flags");
    assert_eq!(beside[1].1, alone[0].1);
    assert_ne!(beside[1].1, without[0].1);
}

#[test]
fn operations_of_the_network_are_listed_beside_plans() {
    let table = printed("barrier --ranks 32..1024 --algorithm in-network,nic-atomic");
    let times = |name: &str| {
        let lines = table.lines().filter(|line| line.contains(name));
        let times = lines
            .filter_map(|line| line.split_whitespace().nth(3))
            .map(str::to_owned);
        times.collect::<Vec<_>>()
    };
    assert_eq!(times("in-network").len(), 6, "{table}");
    assert!(
        times("in-network")
            .windows(2)
            .all(|pair| pair[0] == pair[1]),
        "{table}"
    );
    assert!(
        times("nic-atomic")
            .windows(2)
            .all(|pair| pair[0] != pair[1]),
        "{table}"
    );
}

#[test]
fn json_has_the_rows_of_the_table() {
    let json = printed("allgather 100 -n 48 --algorithm ring --json");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["version"], 1);
    assert_eq!(json["network"]["latency_ps"], 1_100_000);
    let row = &json["rows"][0];
    assert_eq!(
        (&row["ranks"], &row["messages"]),
        (&48.into(), &(48 * 47).into())
    );
    assert!(
        row["last_ps"].as_u64() > Some(0) && row["mean_ps"].as_u64() <= row["last_ps"].as_u64()
    );
}

#[test]
fn a_schedule_has_a_receive_for_each_send() {
    let folder = Folder::fresh();
    let path = folder.at("schedule.goal");
    let arguments = format!("allreduce 64 -n 6 --algorithm ring --goal {path}");
    printed(&arguments);
    assert!(failure(&arguments).contains("--force overwrites it"));
    let schedule = fs::read_to_string(&path).expect("the schedule is there");
    assert!(
        schedule.starts_with("num_ranks 6\n\nrank 0 {\nl1: calc 0\n"),
        "{schedule}"
    );
    let count = |word: &str| schedule.matches(word).count();
    assert_eq!((count(": send "), count(": recv ")), (60, 60));
    assert_eq!(count("rank "), 6);
}

/// The schedule has the lengths of blocks that ranks inside a tree learn from messages.
#[test]
fn a_schedule_has_the_lengths_that_ranks_learn() {
    let folder = Folder::fresh();
    let path = folder.at("schedule.goal");
    for collective in ["gatherv", "scatterv"] {
        printed(&format!(
            "{collective} 24 -n 8 --radix 2 --algorithm knomial --force --goal {path}"
        ));
        let schedule = fs::read_to_string(&path).expect("the schedule is there");
        let count = |word: &str| schedule.matches(word).count();
        assert_eq!((count(": send "), count(": recv ")), (7, 7), "{schedule}");
    }
}

/// Standard error of `oxmpi sim` that fails with exit code 1.
fn failure(arguments: &str) -> String {
    let output = sim(arguments);
    assert_eq!(output.status.code(), Some(1), "oxmpi sim {arguments}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn errors_say_what_was_expected() {
    for (arguments, right) in [
        ("", "the collective is missing"),
        ("bcasst 8 -n 4", "did you mean `bcast`?"),
        ("bcast 8", "add -n 1000 or --ranks 16..4096"),
        ("bcast -n 4", "such as `oxmpi sim bcast 64KiB`"),
        ("barrier 1MiB -n 4", "a barrier has no size"),
        ("barrier --sizes 8..64 -n 4", "a barrier has no size"),
        ("bcast 8 9 -n 4", "unexpected argument `9`"),
        ("bcast 8 -n 0", "from 1 to"),
        ("bcast 8 -n 4 --ranks 2..8", "leave one out"),
        ("bcast 8 --ranks 8..2", "write 2..8"),
        ("bcast 8 --ranks 8", "a range is written A..B"),
        ("bcast 8 -n 4 --algorithm ring2", "it has binomial"),
        ("bcast 8 -n 4 --machine gemimi", "did you mean `gemini`?"),
        ("bcast 8 -n 4 --placement random", "block or cyclic"),
        ("bcast 8 -n 4 --match-ns -1", "from 0 to 1000000"),
        ("bcast 8 -n 4 --radix 1", "from 2 to 64"),
        (
            "gatherv 8 -n 4 --radix 8 --algorithm linear,knomial",
            "gatherv knomial takes a radix from 2 to 4, not 8",
        ),
        (
            "gatherv 8 -n 4 --algorithm linear,knomial:8",
            "gatherv knomial takes a radix from 2 to 4, not 8",
        ),
        (
            "gatherv 8 -n 4 --algorithm classical:8",
            "gatherv classical takes no radix",
        ),
        (
            "gatherv 8 -n 4 --algorithm linaer:8",
            "no algorithm `linaer`",
        ),
        ("barrier -n 4 --algorithm node-aware:1", "from 2 to 64"),
        ("bcast 8 -n 4 --ppn 0", "from 1 to 65536"),
        ("bcast 8 -n 4 --svg x.svg", "add --ranks"),
        (
            "bcast 8 -n 4 --algorithm all --goal x",
            "name it with --algorithm",
        ),
        ("bcast 8 -n 4 --jsn", "did you mean `--json`?"),
        ("bcast 1TiB -n 100000", "are too many"),
        ("neighbor_allgather 8 -n 4", "is not simulated"),
    ] {
        let complaint = complaint(arguments);
        assert!(complaint.contains(right), "{arguments}: {complaint}");
    }
}

/// A simulation that does not fit in memory is refused before it starts, with the bytes that it needs.
#[test]
fn a_simulation_that_needs_more_memory_than_there_is_is_refused() {
    for (arguments, ranks) in [
        (
            "allreduce 8 -n 2000000 --algorithm recursive-doubling",
            "2000000 simulated ranks need 5",
        ),
        (
            "gatherv 8 -n 16000000 --algorithm classical",
            "16000000 simulated ranks need",
        ),
    ] {
        let oxmpi = env!("CARGO_BIN_EXE_oxmpi");
        let mut command = Command::new("sh");
        command.args([
            "-c",
            &format!("ulimit -v 600000 && exec {oxmpi} sim {arguments}"),
        ]);
        let output = command.output().expect("sh starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(
            errors.contains(ranks) && errors.contains(" MiB are left"),
            "{errors}"
        );
    }
}

/// Also a table that cannot grow while the simulation runs is an error, whatever memory there is.
#[test]
fn a_simulation_never_aborts_for_lack_of_memory() {
    let oxmpi = env!("CARGO_BIN_EXE_oxmpi");
    for arguments in [
        "allreduce 8 -n 30000 --algorithm recursive-doubling",
        "gatherv 8 -n 30000",
        "scatterv 8 -n 30000",
    ] {
        let mut codes = Vec::new();
        for kibibytes in (60_000..220_000).step_by(8_000) {
            let mut command = Command::new("sh");
            let line = format!("ulimit -v {kibibytes} && exec {oxmpi} sim {arguments}");
            let output = command.args(["-c", &line]).output().expect("sh starts");
            let errors = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            let is_refused = code == Some(1) && errors.contains(" MiB are left");
            assert!(code == Some(0) || is_refused, "{line}: {code:?} {errors}");
            codes.push(code);
        }
        codes.dedup();
        assert_eq!(codes, [Some(1), Some(0)], "{arguments}");
    }
}

#[test]
fn wire_up_takes_rounds_instead_of_a_request_for_each_pair() {
    let table = printed("wireup -n 64,100000 --ppn 64 --serve 5us");
    let words = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let find = |method: &str| {
        let line = table
            .lines()
            .find(|line| line.starts_with("100000") && line.contains(method));
        words(line.unwrap_or_else(|| panic!("{method}: {table}")))
    };
    let (ours, server) = (find("leaders in rounds"), find("all from one server"));
    let before = find("counting nodes");
    assert_eq!(ours[5..8], ["11", "17193", "17193"], "{table}");
    assert_eq!(server[7], "9999900000", "{table}");
    let seconds = |words: &[String]| words[words.len() - 2].parse::<f64>().unwrap();
    assert!(seconds(&ours) * 1000.0 < seconds(&server), "{table}");
    let both = seconds(&ours) + seconds(&before);
    assert!(both * 1000.0 < seconds(&server), "{table}");

    for (wrong, says) in [
        ("wireup", "the number of ranks is missing"),
        ("wireup -n 0", "from 1 to 16777216"),
        ("wireup -n 4 --latency 20", "20"),
        ("wireup -n 4 --pnp 2", "--pnp"),
    ] {
        let output = sim(wrong);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && errors.contains(says),
            "{wrong}: {errors}"
        );
    }
}
