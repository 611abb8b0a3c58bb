//! Tests of `oxmpi pin` as a command: answers, streams, files and exit codes.

mod batch;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use oxmpi_testkit::folder::Folder;
use serde_json::{Value, json};

/// Two sockets with a NUMA node each, four cores of two threads in each.
const MACHINE: &str = "package:2 [numa] l3:1 l2:4 core:1 pu:2";

/// `oxmpi pin` in an environment without settings.
fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxmpi"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["I_MPI_", "OXMPI_", "OMP_", "KMP_", "GOMP_"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
        {
            command.env_remove(&name);
        }
    }
    command.arg("pin").args(words).stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn printed(output: &Output) -> &str {
    assert_eq!(text(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
    text(&output.stdout)
}

/// Standard output of a command that succeeds.
fn shown(words: &[&str]) -> String {
    printed(&command(words).output().unwrap()).into()
}

/// Exit code and standard error of a command that fails.
fn refused(words: &[&str]) -> (i32, String) {
    let output = command(words).output().unwrap();
    assert_eq!(text(&output.stdout), "", "{words:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("oxmpi: "), "{words:?}: {said}");
    (output.status.code().unwrap(), said)
}

fn on(words: &[&str]) -> Vec<String> {
    let words = [&["--on", MACHINE], words].concat();
    words.into_iter().map(String::from).collect()
}

fn shown_on(words: &[&str]) -> String {
    let words = on(words);
    shown(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_job_is_a_table_of_locations() {
    let expected = "\
rank  processors  where               NUMA node  threads
0     0-3         package 0 core 0-1  0          0-1 2-3
1     4-7         package 0 core 2-3  0          4-5 6-7
2     8-11        package 1 core 4-5  1          8-9 10-11
3     12-15       package 1 core 6-7  1          12-13 14-15

neighbouring ranks that share a core                0 of 3
neighbouring ranks that share an L2 cache           0 of 3
neighbouring ranks that share an L3 cache           2 of 3
neighbouring ranks that share a NUMA node           2 of 3
neighbouring ranks on different NUMA nodes          1 of 3
ranks across NUMA nodes                             none
idle processors                                     none
ranks that share a processor while another is idle  none
ranks with more threads than processors             none
";
    let threads = ["--set", "OMP_PLACES=cores", "--set", "OMP_PROC_BIND=close"];
    assert_eq!(
        shown_on(&[&["-n", "4", "-t", "2"], &threads[..]].concat()),
        expected
    );
}

#[test]
fn options_override_the_environment() {
    let words = on(&["-n", "2", "--format", "json"]);
    let cpus = |command: &mut Command| -> Vec<String> {
        let output = command.output().unwrap();
        let answer: Value = serde_json::from_str(printed(&output)).unwrap();
        let ranks = answer["ranks"].as_array().unwrap().iter();
        ranks
            .map(|rank| rank["cpus"].as_str().unwrap().into())
            .collect()
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut of_environment = command(&words);
    of_environment
        .env("I_MPI_PIN_DOMAIN", "core")
        .env("I_MPI_PIN_ORDER", "compact");
    assert_eq!(cpus(&mut of_environment), ["0-1", "2-3"]);
    let mut of_option = command(&[&words[..], &["--domain", "1"]].concat());
    of_option
        .env("I_MPI_PIN_DOMAIN", "core")
        .env("I_MPI_PIN_ORDER", "compact");
    assert_eq!(cpus(&mut of_option), ["0", "1"]);
    let bound = [&words[..], &["--bind-to", "socket"]].concat();
    assert_eq!(cpus(&mut command(&bound)), ["0-7", "8-15"]);
    let cut = [&words[..], &["--cpu-set", "2-3", "--map-by", "core"]].concat();
    assert_eq!(cpus(&mut command(&cut)), ["2-3", "2-3"]);
    let masked = [&words[..], &["--mask", "0-5"]].concat();
    assert_eq!(cpus(&mut command(&masked)), ["0-2", "3-5"]);

    let mut mistyped = command(&words);
    let output = mistyped.env("I_MPI_PIN_DOMIAN", "core").output().unwrap();
    assert_eq!(
        text(&output.stderr),
        "oxmpi: ignored: unknown variable `I_MPI_PIN_DOMIAN`; did you mean `I_MPI_PIN_DOMAIN`?\n"
    );
}

#[test]
fn two_sets_of_settings_are_compared_side_by_side() {
    let expected = "\
A: I_MPI_PIN_ORDER=compact
B: I_MPI_PIN_ORDER=scatter

rank  A    B
0     0-1  0-1
1     2-3  8-9  differs

                                                    A          B
neighbouring ranks that share a core                0 of 1     0 of 1
";
    let sets = [
        "--compare",
        "I_MPI_PIN_ORDER=compact",
        "I_MPI_PIN_ORDER=scatter",
    ];
    let table = shown_on(&[&["-n", "2", "--domain", "core"], &sets[..]].concat());
    assert!(table.starts_with(expected), "{table}");
    let crossings = "neighbouring ranks on different NUMA nodes          0 of 1     1 of 1";
    assert!(table.contains(crossings), "{table}");
}

#[test]
fn the_readme_shows_the_output_of_the_command() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    // The README is missing when the crate is built outside of the repository.
    let Ok(readme) = fs::read_to_string(readme) else {
        return;
    };
    let listings = readme.split("```").skip(1).step_by(2);
    let mut count = 0;
    for listing in listings.filter_map(|listing| listing.strip_prefix("\n$ oxmpi pin ")) {
        let (words, expected) = listing.split_once('\n').unwrap();
        // Words contain no quotes, so each text between two quotes is one word.
        let words: Vec<&str> = words
            .split('\'')
            .enumerate()
            .flat_map(|(part, text)| match part % 2 {
                0 => text.split_whitespace().collect(),
                _ => vec![text],
            })
            .collect();
        assert_eq!(shown(&words), expected);
        count += 1;
    }
    assert_eq!(count, 2);
}

#[test]
fn reasons_warnings_and_a_picture_are_written() {
    let why = shown_on(&["-n", "2", "--explain"]);
    assert!(why.contains("domain size auto = 16/2 = 8"), "{why}");
    let verbose = [
        "--set",
        "KMP_AFFINITY=verbose,compact",
        "-t",
        "2",
        "--explain",
    ];
    let why = shown_on(&[&["-n", "2"], &verbose[..]].concat());
    assert!(why.contains("The threads of rank 0:\n"), "{why}");

    let tight = shown_on(&["-n", "2", "-t", "3", "--domain", "core"]);
    assert!(
        tight.contains("warning: OMP_NUM_THREADS asks for 3 threads, rank 0 has 2"),
        "{tight}"
    );
    let wrong = shown_on(&["-n", "2", "-t", "2", "--set", "OMP_PLACES=coers"]);
    assert!(
        wrong.contains("warning: ") && wrong.contains("^"),
        "{wrong}"
    );

    let folder = Folder::fresh();
    let path = folder.path().join("ranks.svg");
    assert_eq!(
        shown_on(&["-n", "2", "-t", "2", path.to_str().unwrap()]),
        ""
    );
    let picture = fs::read_to_string(path).unwrap();
    assert!(picture.contains("rank 1 thread 1") && picture.starts_with("<svg"));
}

#[test]
fn a_picture_is_titled_with_its_ranks_and_machine() {
    for (ranks, title) in [("1", "1 rank on"), ("3", "3 ranks on")] {
        let picture = shown_on(&["-n", ranks, "--format", "svg"]);
        let title = format!(">{title} {MACHINE}<");
        assert!(picture.contains(&title), "{title} is missing in {picture}");
    }
}

#[test]
fn errors_say_what_was_expected() {
    for (words, part) in [
        (
            &["-n", "2", "--domian", "core"][..],
            "did you mean `--domain`?",
        ),
        (&["-n", "2", "--format", "jsn"], "did you mean `json`?"),
        (
            &["-n", "2", "--set", "I_MPI_PIN_DOMIAN=core"],
            "did you mean `I_MPI_PIN_DOMAIN`?",
        ),
        (
            &["-n", "2", "--set", "I_MPI_PIN_DOMAIN"],
            "expected NAME=VALUE",
        ),
        (
            &["-n", "2", "--compat", "intel-2021-ipl2"],
            "are not implemented",
        ),
        (
            &["-n", "2", "--levels", "curent"],
            "did you mean `current`?",
        ),
        (&["-n", "2", "--mask", ""], "the set is empty"),
        (&["-n", "0"], "expected a number of at least 1"),
        (&["-t", "2"], "the number of ranks is missing"),
        (&["-n", "70000"], "expected 1 to 65536"),
        (&["-n", "2", "--domain", "sokcet"], "I_MPI_PIN_DOMAIN: "),
        (
            &["-n", "2", "--compare", "I_MPI_PIN=maybe", "I_MPI_PIN=on"],
            "--compare, A: I_MPI_PIN: ",
        ),
    ] {
        let words = on(words);
        let (code, said) = refused(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(code == 2 && said.contains(part), "{words:?}: {said}");
    }
    let (_, said) = refused(&["-n", "2", "--on", MACHINE, "--domain", "sokcet"]);
    assert!(
        said.contains("^") && said.contains("did you mean `socket`?"),
        "{said}"
    );
    let (code, said) = refused(&["-n", "2", "--on", "croe:2 pu:2"]);
    assert!(code == 1 && said.contains("did you mean `core`?"), "{said}");
    let (code, said) = refused(&["--batch", "cases", "-n", "2"]);
    assert!(
        code == 2 && said.contains("leave the other options out"),
        "{said}"
    );
}

#[test]
fn unreadable_settings_are_treated_as_in_the_launcher() {
    let words = ["-n", "2", "--domain", "sokcet", "--format", "json"];
    let output = command(&[&["--on", MACHINE], &words[..]].concat())
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(answer["ranks"], json!([]));
    let error = answer["error"].as_str().unwrap();

    let answer = shown_on(&[&words[..], &["--compat", "intel-2021"]].concat());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["error"], Value::Null);
    let ranks = json!([{"rank": 0, "cpus": "0"}, {"rank": 1, "cpus": "1"}]);
    assert_eq!(answer["ranks"], ranks);
    let warning =
        json!({"code": "setting-unreadable", "args": ["I_MPI_PIN_DOMAIN"], "text": error});
    assert_eq!(answer["warnings"], json!([warning]));
}
