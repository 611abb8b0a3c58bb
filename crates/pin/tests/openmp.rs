//! Teams of threads, against what OpenMP runtimes did.

use std::collections::BTreeMap;

use oxmpi_pin::openmp::{Dialect, Levels, Request, Rules, bind};
use oxmpi_topo::{CpuSet, Machine};

/// Its first lines say what the columns are.
const ROWS: &str = include_str!("openmp.txt");

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    let lines = ROWS.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').collect())
}

/// A machine as the text of /proc/cpuinfo would show it.
fn machine(processors: &str) -> Machine {
    let record = |processor: &str| {
        let [cpu, package, core, thread] =
            processor.split(':').collect::<Vec<_>>().try_into().unwrap();
        format!(
            "processor : {cpu}\nphysical id : {package}\ncore id : {core}\nthread id : {thread}\n\n"
        )
    };
    let text: String = processors.split(' ').map(record).collect();
    Machine::from_cpuinfo(&text).unwrap()
}

fn text(json: &str) -> String {
    serde_json::from_str(json).unwrap()
}

#[test]
fn every_row_is_explained() {
    let named = |row: Vec<&'static str>| (row[0] == "machine").then(|| (row[1], machine(row[2])));
    let machines: BTreeMap<&str, Machine> = rows().filter_map(named).collect();
    let mut exceptions = 0;
    let mut count = 0;
    for row in rows().filter(|row| row[0] != "machine") {
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
        let mask: Option<CpuSet> = (*mask != "-").then(|| mask.parse().unwrap());
        let levels = match *runtime {
            "iomp2018" => Levels::Documented,
            _ => Levels::Current,
        };
        let setting = text(setting);
        let request = Request {
            kmp_affinity: Some(&setting),
            mask: mask.as_ref(),
            threads: threads.parse().unwrap(),
            ..Request::default()
        };
        let dialect = Dialect {
            levels,
            rules: Rules::Runtime,
        };
        let team = bind(&machines[name], &request, dialect);
        let sets: Vec<String> = team.threads.iter().map(|cpus| cpus.to_string()).collect();
        assert_eq!(format!("=>{}", sets.join("|")), **expected, "{row:?}");

        let ours: Vec<&str> = team
            .warnings
            .iter()
            .map(|warning| warning.text.as_str())
            .collect();
        let mut theirs: Vec<String> = warnings.iter().map(|json| text(json)).collect();
        // LLVM 15 brought these two words; what came before warns of them.
        let too_new = |text: &String| {
            let is =
                |word| *text == format!("KMP_AFFINITY: parameter invalid, ignoring \"{word}\".");
            *runtime == "libomp14" && (is("reset") || is("noreset"))
        };
        let before = theirs.len();
        theirs.retain(|text| !too_new(text));
        exceptions += before - theirs.len();
        assert_eq!(ours, theirs, "{row:?}");
        count += 1;
    }
    assert!(count >= 1163, "the rows are gone: {count}");
    assert_eq!(exceptions, 4);
}
