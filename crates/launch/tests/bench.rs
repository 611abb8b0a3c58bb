//! Tests of `oxmpi bench` as a command.

use std::process::{Command, Output};

use oxmpi_testkit::folder::Folder;

/// A command that runs the command in its arguments, and kills it after 300 s.
fn watched() -> Command {
    let mut command = Command::new("timeout");
    command.args(["-k", "1", "300"]);
    command
}

/// Runs `oxmpi bench` with these arguments, and checks that it does not hang.
fn bench(line: &str) -> Output {
    let output = watched()
        .args([env!("CARGO_BIN_EXE_oxmpi"), "bench"])
        .args(line.split_whitespace())
        .output()
        .expect("`timeout` starts");
    assert_ne!(output.status.code(), Some(124), "stuck: oxmpi bench {line}");
    output
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("plain text")
}

#[test]
fn pinning_tables_and_json_are_written() {
    let folder = Folder::fresh();
    let [json, csv] = ["results.json", "results.csv"].map(|name| folder.at(name));
    let line = format!("-n 2 MPI1 PingPong Allreduce -iter 20 --json {json} --csv {csv}");
    let output = bench(&line);
    let out = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for part in [
        "# Rank 0: host ",
        "# Rank 1: host ",
        "# Benchmarking PingPong \n# #processes = 2 \n",
        "       #bytes #repetitions      t[usec]   Mbytes/sec\n            0           20 ",
        "\n      4194304           10 ",
        "# Benchmarking Allreduce \n# #processes = 2 \n",
        "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n",
        "\n# Data of 46 samples checked: 0 wrong\n\n# All processes entering MPI_Finalize\n",
    ] {
        assert!(out.contains(part), "no {part:?} in:\n{out}");
    }
    let read = std::fs::read_to_string(&json).expect("the file was written");
    let read: serde_json::Value = serde_json::from_str(&read).expect("it is JSON");
    let lengths = |table: usize| read["tables"][table]["rows"].as_array().map(Vec::len);
    assert_eq!((lengths(0), lengths(1)), (Some(24), Some(22)));
    assert_eq!(read["ranks"].as_array().map(Vec::len), Some(2));
    assert_eq!(read["tables"][1]["rows"][21]["defect"], 0.0);
    assert_eq!(read["environment"]["transports"][0], "shm");
    assert_eq!(read["method"]["samples"], 20);

    let rows = std::fs::read_to_string(&csv).expect("the file was written");
    let rows = rows.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(rows.count(), 1 + 24 + 22);
}

/// The guide's second example, with fewer and shorter messages.
#[test]
fn groups_of_a_map_run_at_once() {
    let folder = Folder::fresh();
    let lengths = folder.write("lengths", "0\n100\n1000\n");
    let output = bench(&format!(
        "-n 6 pingping allreduce -map 3x2 -msglen {lengths} -multi 0 -iter 5 -check --mb si"
    ));
    let out = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let groups = "# ( 3 groups of 2 processes each running simultaneous ) \n\
                  # Group  0:     0    3\n# \n# Group  1:     1    4\n# \n# Group  2:     2    5\n# \n";
    for part in [
        "# Message lengths were user defined\n",
        &format!("# Benchmarking Multi-PingPing \n{groups}"),
        &format!("# Benchmarking Multi-Allreduce \n{groups}"),
        "# #processes = 4; rank order (rowwise): \n#     0    3\n# \n#     1    4\n# \n\
         # ( 2 additional processes waiting in MPI_Barrier)\n",
        "# #processes = 6; rank order (rowwise): \n",
        "# Every message is checked: timings not valid\n",
        "   Mbytes/sec      defects\n            0            5 ",
        "\n         1000            5 ",
        "# Data of 12 samples checked: 0 wrong\n",
    ] {
        assert!(out.contains(part), "no {part:?} in:\n{out}");
    }
    let output = bench("-n 2 -map 3x2 Barrier");
    let err = text(&output.stderr);
    assert!(
        !output.status.success() && err.contains("-map 3x2 has more places"),
        "{err}"
    );
}

/// Every kernel over windows, on ranks that reach each other's memory, and on ranks that send messages instead.
#[test]
fn windows_have_right_data() {
    for (part, heading, ranks, tables) in [
        ("EXT", "MPI-2 part", 2, 1 + 5 * 2),
        ("RMA", "MPI-RMA part", 2, 9 * 2 + 8),
        ("EXT", "MPI-2 part", 3, 2 + 4 * 2 + 2 * 2),
        ("RMA", "MPI-RMA part", 3, 9 * 2 + 1 + 7 * 2),
    ] {
        for direct in ["on", "off"] {
            let line = format!("{part} -msglog 10:12 -iter 20,40,10 -check");
            let output = watched()
                .args([env!("CARGO_BIN_EXE_oxmpi"), "bench", "-n"])
                .arg(ranks.to_string())
                .args(line.split(' '))
                .env("OXMPI_WINDOW_DIRECT", direct)
                .output()
                .expect("`timeout` starts");
            let (out, err) = (text(&output.stdout), text(&output.stderr));
            let what = format!("{line} on {ranks}, direct {direct}: {err}\n{out}");
            assert!(output.status.success(), "{what}");
            assert_eq!(out.matches("# Benchmarking ").count(), tables, "{what}");
            for part in [
                heading,
                " checked: 0 wrong\n",
                "\n#    MODE: NON-AGGREGATE \n#\n",
            ] {
                assert!(out.contains(part), "no {part:?} in {what}");
            }
        }
    }
}

/// Every kernel over nonblocking collectives: right data, whether they complete by a wait or by tests.
#[test]
fn nonblocking_collectives_have_right_data() {
    for (ranks, groups) in [(1, 1), (2, 1), (3, 2)] {
        for options in ["-check", "-sync off -off_cache 1"] {
            let pure = "-include Ibcast_pure Ireduce_pure Ibarrier_pure";
            let line = format!("-n {ranks} NBC -msglog 12:13 -iter 8 {options} {pure}");
            let output = bench(&line);
            let (out, err) = (text(&output.stdout), text(&output.stderr));
            let what = format!("{line}: {err}\n{out}");
            assert!(output.status.success(), "{what}");
            let tables = out.matches("# Benchmarking ").count();
            assert_eq!(tables, (13 + 3) * groups, "{what}");
            for part in [
                "benchmarks, MPI-NBC part\n",
                "# Function CPU_Exploit obtains an undisturbed\n# performance of ",
                "       #bytes #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]",
                " #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]\n",
                " checked: 0 wrong\n",
            ] {
                assert!(out.contains(part), "no {part:?} in {what}");
            }
        }
    }
}

/// JSON has the times of the slowest rank and both overlaps; the listing has the one that is asked for.
#[test]
fn overlap_is_a_share_of_either_time() {
    let folder = Folder::fresh();
    let json = folder.at("results.json");
    for (word, field) in [("min", "percent_of_min"), ("max", "percent_of_max")] {
        let line =
            format!("-n 2 NBC Iallreduce -iter 50 -msglog 12:13 --overlap {word} --json {json}");
        let output = bench(&line);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{err}");
        let read = std::fs::read_to_string(&json).expect("the file was written");
        let read: serde_json::Value = serde_json::from_str(&read).expect("it is JSON");
        assert!(
            read["environment"]["compute_mflops"].as_f64() > Some(0.0),
            "{read}"
        );
        assert_eq!(read["method"]["sync"], true);
        let table = &read["tables"][0];
        assert_eq!(
            (&table["part"], &table["class"]),
            (&"NBC".into(), &"nonblocking".into())
        );
        for row in table["rows"].as_array().expect("rows") {
            let number = |field: &str| row["overlap"][field].as_f64().expect("a number");
            let [pure, cpu] = ["t_pure_us", "t_cpu_us"].map(number);
            assert!(
                number("t_cpu_alone_us") > 0.0 && number("availability") > 0.0,
                "{row}"
            );
            let total = row["t_ovrl_us"].as_f64().expect("a number");
            let wanted = match word {
                "min" => pure.min(cpu),
                _ => pure.max(cpu),
            };
            let percent = 100.0 * ((pure + cpu - total) / wanted).clamp(0.0, 1.0);
            assert!((number(field) - percent).abs() < 1e-6, "{row}");
            let shown = format!("{pure:13.2}{cpu:13.2}{percent:13.2}\n");
            assert!(out.contains(&shown), "no {shown} in:\n{out}");
        }
    }
}

#[test]
fn only_mpi1_is_simulated() {
    for line in ["EXT", "RMA Unidir_put", "NBC", "NBC Ibcast_pure"] {
        let output = bench(&format!("--sim gemini:4 {line}"));
        assert_eq!(output.status.code(), Some(2), "{line}");
        let says = "--sim: windows and overlap are not simulated; name benchmarks of MPI1, or leave --sim out";
        assert!(text(&output.stderr).contains(says), "{line}");
        assert!(output.stdout.is_empty(), "{line}");
    }
}

#[test]
fn links_with_the_names_of_the_original_run_with_and_without_a_launcher() {
    for (name, benchmark) in [
        ("IMB-MPI1", "PingPong"),
        ("IMB-EXT", "Unidir_Put"),
        ("IMB-RMA", "Unidir_put"),
        ("IMB-NBC", "Ibcast"),
    ] {
        link_runs(name, benchmark);
    }
}

/// Runs a benchmark by a link of that name, as ranks of a job and outside of it.
fn link_runs(name: &str, benchmark: &str) {
    let folder = Folder::fresh();
    let program = folder.path().join(name);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_oxmpi"), &program).expect("a link");
    let launcher = [
        env!("CARGO_BIN_EXE_oxmpi"),
        "run",
        "-n",
        "2",
        "--oversubscribe",
    ];
    let outputs = [&launcher[..], &[]].map(|launcher| {
        let output = watched()
            .args(launcher)
            .arg(&program)
            .args([benchmark, "-msglog", "2", "-iter", "5,40,5"])
            .output();
        output.expect("`timeout` starts")
    });
    for output in outputs {
        let out = text(&output.stdout);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(
            out.contains(&format!("# {name} {benchmark} -msglog 2 -iter 5,40,5 \n")),
            "{out}"
        );
        assert!(out.contains("\n            4            5 "), "{out}");
    }
}

#[test]
fn one_rank_of_a_job_prints_lists_and_errors() {
    let started = |word: &str| {
        let output = watched()
            .args([env!("CARGO_BIN_EXE_oxmpi"), "run"])
            .args(["--oversubscribe", "-n", "3", env!("CARGO_BIN_EXE_oxmpi")])
            .args(["bench", word])
            .output();
        output.expect("`timeout` starts")
    };
    let output = started("-list");
    assert_eq!(
        (output.status.code(), text(&output.stdout).lines().count()),
        (Some(0), 4 + 20 + 6 + 19 + 26)
    );
    let output = started("-msglg");
    let err = text(&output.stderr);
    assert_eq!(
        (output.status.code(), err.matches("-msglg").count()),
        (Some(2), 1),
        "{err}"
    );
}

/// `--progress` prints a line for each sample but the last.
#[test]
fn progress_prints_a_line_for_each_sample() {
    let output = bench("-n 2 PingPong -msglog 2 -iter 5 --progress stderr");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success() && err.contains("] 1 of 4 samples, "),
        "{err}"
    );
    assert_eq!(err.matches(" of 4 samples, ").count(), 3, "{err}");
    assert!(!out.contains("samples, "), "{out}");
    let output = bench("-n 2 PingPong -msglog 2 -iter 5");
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn benchmarks_are_listed() {
    let output = bench("--list");
    let out = text(&output.stdout);
    assert!(
        output.status.success() && out.lines().count() == 4 + 20 + 6 + 19 + 26,
        "{out}"
    );
    assert!(out.contains("\n *PingPongSpecificSource "), "{out}");
    assert_eq!(text(&bench("EXT -list").stdout).lines().count(), 6);
}

#[test]
fn every_kernel_has_right_data_on_1_to_8_ranks() {
    for (ranks, groups) in [
        (1, 1),
        (2, 1),
        (3, 2),
        (4, 2),
        (5, 3),
        (6, 3),
        (7, 3),
        (8, 3),
    ] {
        let pairs = if ranks > 1 { 2 } else { 0 };
        let tables = pairs + 16 * groups;
        let output = bench(&format!("-n {ranks} -iter 9 -msglog 6:12"));
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{ranks} ranks: {err}");
        assert_eq!(
            out.matches("# Benchmarking ").count(),
            tables,
            "{ranks} ranks:\n{out}"
        );
    }
}

/// Long messages arrive by both rendezvous: the receiver gets the data, or the sender puts it in chunks.
#[test]
fn both_rendezvous_have_right_data() {
    for rendezvous in ["get", "put"] {
        let output = watched()
            .args([env!("CARGO_BIN_EXE_oxmpi"), "bench", "-n", "3"])
            .args(["PingPong", "Allreduce", "-msglog", "13:19", "-iter", "10"])
            .env("OXMPI_RENDEZVOUS", rendezvous)
            .env("OXMPI_PUT_CHUNK", "20K")
            .output()
            .expect("`timeout` starts");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{rendezvous}: {err}");
        assert!(
            out.contains(" samples checked: 0 wrong\n"),
            "{rendezvous}:\n{out}"
        );
    }
}

#[test]
fn a_rank_of_a_job_joins_that_job() {
    let started = |words: &[&str]| {
        let output = watched()
            .args([env!("CARGO_BIN_EXE_oxmpi"), "run"])
            .args(["--oversubscribe", "-n", "3", env!("CARGO_BIN_EXE_oxmpi")])
            .args(["bench", "Allreduce", "-iter", "5", "-msglog", "2"])
            .args(words)
            .output();
        output.expect("`timeout` starts")
    };
    let output = started(&[]);
    let out = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(out.matches("# Rank ").count(), 3, "{out}");
    assert!(out.contains("# #processes = 3 \n"), "{out}");

    let output = started(&["-n", "2"]);
    let says =
        "oxmpi: -n 2 conflicts with the job in which this process was started: it has 3 ranks";
    assert!(!output.status.success() && text(&output.stderr).contains(says));
}

#[test]
fn an_incomplete_environment_of_a_process_manager_is_reported() {
    let output = Command::new(env!("CARGO_BIN_EXE_oxmpi"))
        .args(["bench", "-n", "2"])
        .env("PMIX_NAMESPACE", "a-job")
        .output()
        .expect("it starts");
    assert!(!output.status.success() && output.stdout.is_empty());
    let err = text(&output.stderr);
    assert!(
        err.contains("PMIX_NAMESPACE is set but PMIX_RANK is not"),
        "{err}"
    );
}

#[test]
fn wrong_command_lines_are_refused_before_a_job_starts() {
    for (line, part) in [
        (
            "PingPnog",
            "unknown benchmark 'PingPnog'; did you mean 'PingPong'?",
        ),
        ("-n 0", "-n: expected a whole number from 1"),
        ("-msglog 40", "'40' does not fit -msglog"),
        (
            "-input /dev/zero",
            "-input: cannot read /dev/zero: longer than 1 MiB",
        ),
        (
            "-msglen /nowhere/lengths",
            "-msglen: cannot read /nowhere/lengths: ",
        ),
        (
            "-sync on",
            "of this option of later releases, only 'off' is offered here",
        ),
    ] {
        let output = bench(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(
            text(&output.stderr).contains(part),
            "{line}: {}",
            text(&output.stderr)
        );
        assert!(output.stdout.is_empty(), "{line}");
    }
}

#[test]
fn a_json_file_that_cannot_be_written_is_named() {
    let output = bench("-n 2 -msglog 2 -iter 2 --json /nowhere/out.json");
    assert!(!output.status.success());
    let err = text(&output.stderr);
    assert!(err.contains("cannot write /nowhere/out.json"), "{err}");
}

#[test]
fn the_kernels_run_on_a_simulated_machine() {
    let output = bench("--sim gemini:1000 PingPong Sendrecv Allreduce Barrier -msglog 3:4");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{err}");
    for part in [
        "# Simulated: 1000 ranks on gemini, 16 on a node; one repetition from a common start\n",
        "# Benchmarking PingPong \n# #processes = 2 \n# ( 998 additional processes waiting",
        "# Benchmarking Allreduce \n# #processes = 1000 \n",
        "\n           16            1 ",
        "\n# All processes entering MPI_Finalize\n",
    ] {
        assert!(out.contains(part), "no {part:?} in:\n{out}");
    }
    assert!(!out.contains("checked"), "no data travels:\n{out}");

    let output = bench("--sim gemini:4 -n 4");
    assert_eq!(output.status.code(), Some(2));
    let says = "-n: --sim sets the number of ranks; leave it or --sim out";
    assert!(text(&output.stderr).contains(says));
}
