//! Warnings of more ranks, or threads, than processors.

use oxmpi_os::affinity;

use crate::common::{finish, oxmpi};

/// What a job says on one processor, with this number of OpenMP threads.
fn on_one_processor(threads: Option<&str>, options: &[&str]) -> String {
    let mask = affinity::current().expect("every thread has a mask");
    let first = affinity::cpus(&mask).next().expect("it runs somewhere");
    let mut command = std::process::Command::new("taskset");
    command.args(["-c", &first.to_string()]);
    let plain = oxmpi(&[&["run"], options, &["true"]].concat());
    command.arg(plain.get_program()).args(plain.get_args());
    command.stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::piped());
    command.env_remove("OMP_NUM_THREADS");
    command.envs(threads.map(|threads| ("OMP_NUM_THREADS", threads)));
    let done = finish(command.spawn().expect("taskset starts"));
    assert_eq!(done.code, 0, "{done:?}");
    done.err
}

/// The reports ompi#1009 and ompi PR 7160.
#[test]
fn one_processor_is_crowded_by_two() {
    for (threads, options, says) in [
        (None, &["-n", "1"][..], &[][..]),
        (Some("1"), &["-n", "1"], &[]),
        (None, &["-n", "4"], &["oxmpi: 4 ranks on 1 processor ("]),
        (
            Some("4"),
            &["-n", "1"],
            &["oxmpi: OMP_NUM_THREADS asks for 4 threads, rank 0 has 1 processor ("],
        ),
        (
            Some("2"),
            &["-n", "2"],
            &[
                "oxmpi: OMP_NUM_THREADS asks for 2 threads, rank 0 has 1 processor (",
                "oxmpi: 2 ranks with 2 threads each (OMP_NUM_THREADS) on 1 processor (",
            ],
        ),
        (
            None,
            &["-n", "2", "--bind-to", "none"],
            &["oxmpi: 2 ranks on 1 processor ("],
        ),
        (None, &["-n", "4", "--oversubscribe"], &[]),
        // Each program's ranks have their own threads.
        (
            None,
            &[
                "-n",
                "1",
                "-env",
                "OMP_NUM_THREADS",
                "64",
                "true",
                ":",
                "-n",
                "1",
                "-env",
                "OMP_NUM_THREADS",
                "1",
            ],
            &[
                "oxmpi: OMP_NUM_THREADS asks for 64 threads, rank 0 has 1 processor (",
                "oxmpi: 2 ranks with 65 threads together (OMP_NUM_THREADS) on 1 processor (",
            ],
        ),
        (
            None,
            &[
                "-n",
                "1",
                "-env",
                "OMP_NUM_THREADS",
                "1",
                "true",
                ":",
                "-n",
                "1",
                "-env",
                "OMP_NUM_THREADS",
                "5",
            ],
            &[
                "oxmpi: OMP_NUM_THREADS asks for 5 threads, rank 1 has 1 processor (",
                "oxmpi: 2 ranks with 6 threads together (OMP_NUM_THREADS) on 1 processor (",
            ],
        ),
    ] {
        let said = on_one_processor(threads, options);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), says.len(), "{options:?}: {said}");
        for (line, says) in lines.iter().zip(says) {
            assert!(line.starts_with(says), "{options:?}: {line}");
        }
    }
}

/// Ranks that may use all processors are more than these.
#[test]
fn unbound_ranks_crowd_too() {
    let mask = affinity::current().expect("every thread has a mask");
    let ranks = affinity::cpus(&mask).count() + 1;
    let options = ["run", "-n", &ranks.to_string(), "--bind-to", "none", "true"];
    let done = finish(oxmpi(&options).spawn().expect("oxmpi starts"));
    let says = format!("oxmpi: {ranks} ranks on ");
    assert!(done.err.starts_with(&says), "{done:?}");
    assert_eq!((done.code, done.err.lines().count()), (0, 1));
}
