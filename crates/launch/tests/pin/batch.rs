//! Tests of `oxmpi pin --batch`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use oxmpi_testkit::folder::Folder;
use oxmpi_topo::Machine;
use serde_json::{Value, json};

use super::{command, text};

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
fn wrong_lines_do_not_stop_the_others() {
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
        "standard input:7: compat: the rules `intel-2021-ipl2` are not implemented",
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
    // The longest line that is accepted: 16 MiB with its line end.
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

/// An answer for 65536 ranks is printed, and a setting longer than a variable can be is refused.
#[test]
fn a_long_answer_for_many_ranks_is_printed() {
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
    // The tables are missing when the crate is built outside of the repository.
    let text = fs::read_to_string(folder.join(name)).ok()?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| line.split('\t').map(String::from).collect();
    Some(lines.map(row).collect())
}

/// The expected answer of a row: the processors of ranks or threads, and warnings if recorded.
type Expected = (String, Option<Vec<String>>);

/// Recorded cases of Intel MPI 2021.
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

/// Recorded cases of OpenMP runtimes.
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
        // LLVM 15 added these two words; earlier versions warn of them.
        let is = |text: &String, word| {
            *text == format!("KMP_AFFINITY: parameter invalid, ignoring \"{word}\".")
        };
        warnings.retain(|text| runtime != "libomp14" || !is(text, "reset") && !is(text, "noreset"));
        cases.push((case, (expected.clone(), Some(warnings))));
    }
    Some(cases)
}

#[test]
fn recorded_cases_have_the_recorded_answers() {
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
