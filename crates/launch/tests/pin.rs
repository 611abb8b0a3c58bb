//! `oxmpi pin` as a command: answers, streams, files, exit codes.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use oxmpi_testkit::folder::Folder;
use oxmpi_topo::Machine;
use serde_json::{Value, json};

/// Two sockets with a NUMA node each, four cores of two threads in each.
const MACHINE: &str = "package:2 [numa] l3:1 l2:4 core:1 pu:2";

/// The command in an environment without settings.
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

/// What is printed when all goes well.
fn shown(words: &[&str]) -> String {
    printed(&command(words).output().unwrap()).into()
}

/// What is said when it does not, with the exit code.
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
fn a_job_is_a_table_in_the_words_of_the_machine() {
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
fn settings_come_from_the_environment_and_options_go_before_it() {
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
fn two_settings_stand_side_by_side() {
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
fn the_readme_shows_what_is_printed() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    // The crate stands alone: that page is the repository's.
    let Ok(readme) = fs::read_to_string(readme) else {
        return;
    };
    let listings = readme.split("```").skip(1).step_by(2);
    let mut count = 0;
    for listing in listings.filter_map(|listing| listing.strip_prefix("\n$ oxmpi pin ")) {
        let (words, expected) = listing.split_once('\n').unwrap();
        // No word has a quote in it, so what is between quotes is a word.
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
fn an_answer_says_why_and_goes_into_a_picture() {
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
fn what_is_wrong_is_shown_with_what_would_be_right() {
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
            "are not there yet",
        ),
        (
            &["-n", "2", "--levels", "curent"],
            "did you mean `current`?",
        ),
        (&["-n", "2", "--mask", ""], "no processor is in this set"),
        (&["-n", "0"], "expected a number from 1 on"),
        (&["-t", "2"], "how many ranks?"),
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
    assert!(code == 2 && said.contains("--batch goes alone"), "{said}");
}

#[test]
fn what_does_not_read_is_taken_as_the_launcher_takes_it() {
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

/// The answers to these lines, and the exit code.
fn batch(lines: &str) -> (Vec<Value>, i32) {
    let mut command = command(&["--batch", "-"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines = lines.to_owned();
    let writer = thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let answers = text(&output.stdout).lines();
    let answers = answers
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    (answers, output.status.code().unwrap())
}

#[test]
fn lines_that_are_no_cases_do_not_stop_the_others() {
    let lines = r#"{"machine":"core:2 pu:1","ranks":2}
{"machine":"core:2 pu:1","rank":2}

{"machine":"core:2 pu:1","ranks":"2"}
{"machine":"croe:2 pu:1"}
{"ranks":2}
{"machine":"core:2 pu:1","compat":"intel-2021-ipl2"}
{"machine":"core:2 pu:1","mask":"0-x"}
{"machine":"core:2 pu:1","ranks":4294967295}
{"machine":"core:2 pu:1","env":{"I_MPI_PIN_DOMAIN":"x"}}
{"machine":"core:2 pu:1","threads":0}
"#;
    let (answers, code) = batch(lines);
    assert_eq!(code, 1);
    assert_eq!(
        answers[0],
        json!({"ranks": [{"rank": 0, "cpus": "0"}, {"rank": 1, "cpus": "1"}], "warnings": [], "error": null,
            "format": "oxmpi-pin", "version": 1})
    );
    for (answer, part) in answers[1..9].iter().zip([
        "standard input:2: unknown field `rank`, expected one of `machine`",
        "standard input:4: invalid type",
        "did you mean `core`?",
        "standard input:6: missing field `machine`",
        "standard input:7: compat: the rules `intel-2021-ipl2` are not there yet",
        "standard input:8: mask: ",
        "4294967295 ranks: expected 1 to 65536",
        "I_MPI_PIN_DOMAIN: ",
    ]) {
        assert_eq!(answer["ranks"], json!([]));
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(
        answers[9]["ranks"],
        json!([{"rank": 0, "cpus": "0-1", "threads": ["0-1", "0-1"]}])
    );
    assert_eq!(answers.len(), 10);

    let (answers, code) = batch(r#"{"machine":"pu:1","env":{"I_MPI_PIN_DOMAIN":"x"}}"#);
    assert_eq!((answers.len(), code), (1, 0));
}

#[test]
fn a_line_that_is_too_long_does_not_stop_the_others() {
    let case = r#"{"machine":"core:2 pu:1"}"#;
    let long = " ".repeat(16 << 20) + case;
    // The longest: with its end it has as many bytes.
    let longest = " ".repeat((16 << 20) - 1 - case.len()) + case;
    let (answers, code) = batch(&[case, &long, &longest, case, ""].join("\n"));
    assert_eq!((answers.len(), code), (4, 1));
    let errors: Vec<_> = answers
        .iter()
        .map(|answer| answer["error"].as_str())
        .collect();
    let too_long = "standard input:2: longer than 16 MiB";
    assert_eq!(errors, [None, Some(too_long), None, None]);
}

/// What is told of threads is told once, however many ranks there are, and no setting is longer than a variable can be.
#[test]
fn many_ranks_with_much_to_tell_are_answered() {
    let case = |ranks: u32, setting: &str| {
        let env = json!({"KMP_AFFINITY": setting});
        json!({"machine": "package:2 core:4 pu:2", "ranks": ranks, "threads": 2, "env": env})
            .to_string()
            + "\n"
    };
    let lines = case(65_536, "explicit,proclist=[0-65535]") + &case(1, &"1,".repeat(1 << 20));
    let (answers, code) = batch(&lines);
    assert_eq!(code, 0);
    assert_eq!(answers[0]["ranks"].as_array().unwrap().len(), 65_536);
    assert_eq!(
        answers[0]["ranks"][17],
        json!({"rank": 17, "cpus": "1", "threads": ["1", "1"]})
    );
    let error = answers[1]["error"].as_str().unwrap();
    assert_eq!(
        error,
        "KMP_AFFINITY: a value of 2097152 bytes: expected at most 131072"
    );
}

/// The lines of a table in the tests of `oxmpi-pin`, without its comments.
fn rows(name: &str) -> Option<Vec<Vec<String>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pin/tests");
    // The crate stands alone: the tables are the repository's.
    let text = fs::read_to_string(folder.join(name)).ok()?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| line.split('\t').map(String::from).collect();
    Some(lines.map(row).collect())
}

/// What a row says of an answer: the processors of ranks or threads, and warnings where they are recorded.
type Expected = (String, Option<Vec<String>>);

/// The rows of what Intel MPI 2021 did.
fn processes(folder: &Folder) -> Option<Vec<(Value, Expected)>> {
    let mut machines = BTreeMap::new();
    let mut cases = Vec::new();
    for row in rows("intel2021.txt")? {
        if row[0] == "machine" {
            let machine = match row.get(3) {
                None => row[2].clone(),
                Some(there) => {
                    let machine = Machine::from_synthetic(&row[2]).unwrap();
                    let machine = machine.restrict(&there.parse().unwrap());
                    folder.write(&row[1], &machine.to_xml())
                }
            };
            machines.insert(row[1].clone(), machine);
            continue;
        }
        let [name, ranks, mask, variables @ .., expected] = &row[..] else {
            panic!("{row:?}");
        };
        let env: BTreeMap<_, _> = variables
            .iter()
            .filter_map(|text| text.split_once('='))
            .collect();
        let mut case = json!({"machine": machines[name], "env": env, "compat": "intel-2021"});
        case["ranks"] = ranks.parse::<u32>().unwrap().into();
        if mask != "-" {
            case["mask"] = mask.as_str().into();
        }
        cases.push((case, (expected.clone(), None)));
    }
    Some(cases)
}

/// The rows of what OpenMP runtimes did.
fn threads(folder: &Folder) -> Option<Vec<(Value, Expected)>> {
    let mut machines = BTreeMap::new();
    let mut cases = Vec::new();
    let text = |json: &String| serde_json::from_str::<String>(json).unwrap();
    for row in rows("openmp.txt")? {
        if row[0] == "machine" {
            let record = |processor: &str| {
                let [cpu, package, core, thread] =
                    processor.split(':').collect::<Vec<_>>().try_into().unwrap();
                format!(
                    "processor : {cpu}\nphysical id : {package}\ncore id : {core}\nthread id : {thread}\n\n"
                )
            };
            let cpuinfo: String = row[2].split(' ').map(record).collect();
            let name = format!("{}.cpuinfo", row[1]);
            machines.insert(row[1].clone(), folder.write(&name, &cpuinfo));
            continue;
        }
        let [
            name,
            runtime,
            threads,
            mask,
            setting,
            expected,
            warnings @ ..,
        ] = &row[..]
        else {
            panic!("{row:?}");
        };
        let levels = match runtime.as_str() {
            "iomp2018" => "documented",
            _ => "current",
        };
        let mut case = json!({"machine": machines[name], "levels": levels, "rules": "runtime"});
        case["env"] = json!({"KMP_AFFINITY": text(setting)});
        case["threads"] = threads.parse::<u32>().unwrap().into();
        if mask != "-" {
            case["mask"] = mask.as_str().into();
        }
        let mut warnings: Vec<String> = warnings.iter().map(text).collect();
        // LLVM 15 brought these two words; what came before warns of them.
        let is = |text: &String, word| {
            *text == format!("KMP_AFFINITY: parameter invalid, ignoring \"{word}\".")
        };
        warnings.retain(|text| runtime != "libomp14" || !is(text, "reset") && !is(text, "noreset"));
        cases.push((case, (expected.clone(), Some(warnings))));
    }
    Some(cases)
}

#[test]
fn recorded_cases_are_answered_as_they_were_recorded() {
    let folder = Folder::fresh();
    let (Some(mut cases), Some(threads)) = (processes(&folder), threads(&folder)) else {
        return;
    };
    cases.extend(threads);
    assert!(cases.len() > 5700, "the rows are gone: {}", cases.len());
    let lines: String = cases.iter().map(|(case, _)| format!("{case}\n")).collect();
    let (answers, code) = batch(&lines);
    assert_eq!((answers.len(), code), (cases.len(), 0));
    let list = |value: &Value| value.as_str().unwrap().to_owned();
    for ((case, (expected, recorded)), answer) in cases.iter().zip(&answers) {
        let ranks = answer["ranks"].as_array().unwrap();
        let sets: Vec<String> = match ranks[0].get("threads") {
            None => ranks.iter().map(|rank| list(&rank["cpus"])).collect(),
            Some(threads) => threads.as_array().unwrap().iter().map(list).collect(),
        };
        assert_eq!(format!("=>{}", sets.join("|")), *expected, "{case}");
        if let Some(recorded) = recorded {
            let warnings = answer["warnings"].as_array().unwrap().iter();
            let texts: Vec<String> = warnings.map(|warning| list(&warning["text"])).collect();
            assert_eq!(texts, *recorded, "{case}");
        }
    }
}
