//! Tests of `oxmpi run` with real processes: programs, exit codes, output, input, environment.

use std::io::Write;
use std::process::Stdio;

use crate::common::{finish, oxmpi, probe, run};
use oxmpi_testkit::folder::Folder;

#[test]
fn all_ranks_run_and_the_job_succeeds() {
    let done = run(&[
        "-n",
        "3",
        "sh",
        "-c",
        "echo $PMI_RANK/$PMI_SIZE/$MPI_LOCALRANKID/$MPI_LOCALNRANKS",
    ]);
    let mut lines: Vec<&str> = done.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0/3/0/3", "1/3/1/3", "2/3/2/3"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
}

#[test]
fn ranks_exchange_values_by_pmi() {
    let probe = probe();
    let done = run(&["-n", "2", &probe, ":", "-n", "1", &probe, "exchange"]);
    let mut lines: Vec<&str> = done.out.lines().collect();
    lines.sort_unstable();
    let map = "(vector,(0,1,3))";
    let expected = [
        format!("rank 0 of 3: greetings-of-1; {map}; Appnum(Some(0))"),
        format!("rank 1 of 3: greetings-of-2; {map}; Appnum(Some(0))"),
        format!("rank 2 of 3: greetings-of-0; {map}; Appnum(Some(1))"),
    ];
    assert_eq!(lines, expected, "{done:?}");
    assert_eq!((done.code, done.err.as_str()), (0, ""));
}

#[test]
fn more_ranks_than_processors_exchange_values_by_pmi() {
    let done = run(&["-n", "40", &probe()]);
    assert_eq!(
        (done.code, done.out.lines().count(), done.err.as_str()),
        (0, 40, "")
    );
}

/// `-ppn` takes precedence over the variable of Intel MPI; without both each host has one rank.
#[test]
fn consecutive_ranks_share_a_host() {
    let nodes = |options: &[&str], perhost: Option<&str>| {
        let job = ["-n", "4", "--wrap", "env NODE={node}"];
        let program = ["sh", "-c", "echo $PMI_RANK:$NODE"];
        let mut command = oxmpi(&[&["run"], &job[..], options, &program[..]].concat());
        command.envs(perhost.map(|each| ("I_MPI_PERHOST", each)));
        let done = finish(command.spawn().expect("oxmpi starts"));
        let mut lines: Vec<String> = done.out.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines.join(" ")
    };
    assert_eq!(nodes(&[], None), "0:0 1:1 2:2 3:3");
    assert_eq!(nodes(&[], Some("2")), "0:0 1:0 2:1 3:1");
    assert_eq!(nodes(&["-ppn", "3"], Some("2")), "0:0 1:0 2:0 3:1");
}

#[test]
fn output_is_labelled_line_by_line_on_each_stream() {
    let done = run(&[
        "-n",
        "2",
        "-l",
        "sh",
        "-c",
        "echo out; echo err >&2; printf end",
    ]);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        lines.sort_unstable();
        lines.join("|")
    };
    assert_eq!(sorted(&done.out), "[0] end|[0] out|[1] end|[1] out");
    assert_eq!(sorted(&done.err), "[0] err|[1] err");
}

#[test]
fn long_output_is_complete_and_lines_are_whole() {
    let script = "i=0; while [ $i -lt 20000 ]; do echo $PMI_RANK-$i-xxxxxxxxxxxxxxxxxxxxxxxxxxx; i=$((i+1)); done";
    let done = run(&["-n", "2", "sh", "-c", script]);
    for rank in ["0", "1"] {
        let mine = done.out.lines().filter(|line| line.starts_with(rank));
        let expected = (0..20_000).map(|i| format!("{rank}-{i}-xxxxxxxxxxxxxxxxxxxxxxxxxxx"));
        assert!(mine.eq(expected), "rank {rank} lost or tore a line");
    }
}

#[test]
fn only_rank_0_reads_standard_input() {
    let mut command = oxmpi(&["run", "-n", "2", "-l", "cat"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("oxmpi starts");
    child
        .stdin
        .take()
        .expect("piped")
        .write_all(b"a\nb\n")
        .expect("rank 0 reads");
    assert_eq!(finish(child).out, "[0] a\n[0] b\n");
}

#[test]
fn variables_are_set_in_their_ranks() {
    let show = "echo $A,$B,$OMPI_MCA_btl,$C";
    let done = run(&[
        "-x", "B=all", "--mca", "btl", "self", "-n", "1", "-env", "A", "one", "sh", "-c", show,
        ":", "-genv", "C", "late", "-n", "1", "sh", "-c", show,
    ]);
    let mut lines: Vec<&str> = done.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, [",all,self,late", "one,all,self,late"]);
}

#[test]
fn a_program_starts_in_its_directory() {
    assert_eq!(run(&["-n", "1", "-wdir", "/", "pwd"]).out, "/\n");
}

#[test]
fn the_first_failure_sets_the_exit_code_and_is_named() {
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let script = "if [ $PMI_RANK = 1 ]; then exit 7; fi; exec sleep 1000";
    let done = run(&["-n", "3", "sh", "-c", script]);
    assert_eq!(done.code, 7);
    let begin = format!("oxmpi: rank 1 on {host} (pid ");
    let end = ", program `sh`) exited with code 7; the 2 other ranks are being ended\n";
    assert!(
        done.err.starts_with(&begin) && done.err.ends_with(end),
        "{}",
        done.err
    );
}

#[test]
fn programs_may_run_without_joining_the_job() {
    assert_eq!(run(&["-n", "2", "true"]).code, 0);
    assert_eq!(run(&["-n", "2", "false"]).code, 1);
}

#[test]
fn a_rank_that_exits_without_finalize_is_named() {
    let done = run(&[
        "-n",
        "1",
        &probe(),
        "barrier",
        ":",
        "-n",
        "1",
        &probe(),
        "depart",
    ]);
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("rank 1 on ") && done.err.contains("without finalize"),
        "{}",
        done.err
    );
}

#[test]
fn a_barrier_that_an_ended_rank_cannot_enter_ends_the_job() {
    let done = run(&["-n", "1", &probe(), "barrier", ":", "-n", "1", "true"]);
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("rank 0 on ")
            && done.err.contains("rank 1 has ended without entering it"),
        "{}",
        done.err
    );
}

#[test]
fn an_abort_ends_the_job_with_its_code() {
    let done = run(&[
        "-n",
        "1",
        &probe(),
        "abort",
        "9",
        ":",
        "-n",
        "2",
        &probe(),
        "barrier",
    ]);
    assert_eq!(done.code, 9);
    assert!(
        done.err.contains("rank 0 on ") && done.err.contains("called abort with code 9"),
        "{}",
        done.err
    );
}

#[test]
fn a_wrong_pmi_request_is_quoted() {
    let done = run(&[
        "-n",
        "1",
        &probe(),
        "say",
        "cmd=dance",
        ":",
        "-n",
        "1",
        &probe(),
        "barrier",
    ]);
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("`cmd=dance` is not a PMI-1 request"),
        "{}",
        done.err
    );
}

#[test]
fn a_missing_program_is_named_and_no_rank_starts() {
    let done = run(&[
        "-n",
        "1",
        "sleep",
        "1000",
        ":",
        "-n",
        "1",
        "no-such-program",
    ]);
    assert_eq!(done.code, 127);
    assert_eq!(
        done.err,
        "oxmpi: cannot start rank 1: program `no-such-program`: not found (looked in PATH if it has no slash)\n"
    );
    assert_eq!(run(&["-n", "1", "/etc/passwd"]).code, 126);
}

#[test]
fn wrong_command_lines_are_explained() {
    let cases: [(&[&str], &str); 5] = [
        (
            &["-n", "0", "true"],
            "oxmpi: -n: expected a number of ranks from 1 to 1048576, found `0`\n  0\n  ^\n",
        ),
        (
            &["--oversubscibe", "true"],
            "oxmpi: unknown option `--oversubscibe`; did you mean `--oversubscribe`? See `oxmpi run --help`.\n",
        ),
        (
            &["-n", "2"],
            "oxmpi: no program given: `oxmpi run -n 2 PROGRAM`. See `oxmpi run --help`.\n",
        ),
        (
            &["-H", "elsewhere", "true"],
            "oxmpi: host `elsewhere` is another machine than this one",
        ),
        (&["-n", "1048576", "true"], "oxmpi: 1048576 ranks need "),
    ];
    for (arguments, says) in cases {
        let done = run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}");
        assert!(done.err.starts_with(says), "{}", done.err);
    }
}

#[test]
fn the_command_runs_as_mpirun_and_mpiexec() {
    let folder = Folder::fresh();
    for name in ["mpirun", "mpiexec"] {
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_oxmpi"), &link).expect("a link");
        let output = std::process::Command::new(&link)
            .args(["-np", "1", "echo", name])
            .output()
            .expect("it starts");
        assert_eq!(output.stdout, format!("{name}\n").into_bytes());
    }
}

#[test]
fn a_missing_command_around_ranks_is_named() {
    let done = run(&["-n", "1", "--wrap", "no-such-command x", "true"]);
    assert_eq!(done.code, 127, "{done:?}");
    assert_eq!(
        done.err,
        "oxmpi: cannot start rank 0: command of --wrap `no-such-command`: not found (looked in PATH if it has no slash)\n"
    );
}

#[test]
fn help_shows_usage_and_an_example() {
    for arguments in [&["--help"] as &[&str], &["help", "run"], &["run", "--help"]] {
        let done = finish(oxmpi(arguments).spawn().expect("oxmpi starts"));
        assert_eq!(done.code, 0);
        assert!(
            done.out.contains("Usage: oxmpi") && done.out.contains("oxmpi run -n 2"),
            "{}",
            done.out
        );
    }
    let done = finish(oxmpi(&["rum"]).spawn().expect("oxmpi starts"));
    assert_eq!(
        done.err,
        "oxmpi: unknown command `rum`; did you mean `run`? See `oxmpi --help`.\n"
    );
}

/// As `subprocess.run` of Python does, whose `close_fds` is true by default.
#[test]
fn a_wrapper_that_closes_or_replaces_the_descriptor_of_the_process_manager_is_named() {
    let folder = Folder::fresh();
    let file = folder.at("precious");
    std::fs::write(&file, "data").expect("a file");
    let oxmpi = env!("CARGO_BIN_EXE_oxmpi");
    for (change, says) in [
        ("exec {PMI_FD}>&-".to_owned(), "Bad file descriptor"),
        (
            format!("eval \"exec $PMI_FD>>{file}\""),
            "precious is open there",
        ),
    ] {
        let script = format!("{change}; exec {oxmpi} settings --measure 8");
        let done = run(&["-n", "2", "bash", "-c", &script]);
        assert!(done.code != 0, "{done:?}");
        for part in ["PMI_FD=", says, "pass_fds=["] {
            assert!(done.err.contains(part), "{done:?}");
        }
        assert_eq!(std::fs::read_to_string(&file).expect("text"), "data");
    }
}
