//! The threads of teams, against recordings of OpenMP runtimes.

use crate::made_up::{ROWS, machines, rows};
use oxmpi_pin::openmp::{Dialect, Levels, Request, Rules, bind};
use oxmpi_pin::{Warning, WarningCode};
use oxmpi_topo::CpuSet;

fn text(json: &str) -> String {
    serde_json::from_str(json).unwrap()
}

/// The warnings about a setting that do not depend on the machine.
const IN_THE_TEXT: [WarningCode; 9] = [
    WarningCode::ParameterInvalid,
    WarningCode::ParameterRepeated,
    WarningCode::TrailingCharacters,
    WarningCode::TooManyIntegers,
    WarningCode::IntegersIgnored,
    WarningCode::Proclist,
    WarningCode::ListSyntax,
    WarningCode::ListRange,
    WarningCode::GranularityChosen,
];

#[test]
fn every_row_is_explained() {
    let machines = machines();
    let mut exceptions = 0;
    let mut hints = 0;
    let mut count = 0;
    for row in rows(ROWS).filter(|row| row[0] != "machine") {
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
        // These two words exist since LLVM 15; earlier runtimes warn of them.
        let too_new = |text: &String| {
            let is =
                |word| *text == format!("KMP_AFFINITY: parameter invalid, ignoring \"{word}\".");
            *runtime == "libomp14" && (is("reset") || is("noreset"))
        };
        // Each syntax error is shown, with what is expected there.
        let is_of_text = |warning: &&Warning| IN_THE_TEXT.contains(&warning.code);
        assert_eq!(
            team.hints.len(),
            team.warnings.iter().filter(is_of_text).count(),
            "{row:?}"
        );
        for hint in &team.hints {
            let is_shown = hint.lines().count() == 3 && hint.ends_with('^');
            assert!(
                hint.starts_with("KMP_AFFINITY: expected ") && is_shown,
                "{hint}"
            );
        }
        hints += team.hints.len();

        let before = theirs.len();
        theirs.retain(|text| !too_new(text));
        exceptions += before - theirs.len();
        assert_eq!(ours, theirs, "{row:?}");
        count += 1;
    }
    assert!(count >= 1163, "the rows are gone: {count}");
    assert_eq!(exceptions, 4);
    assert!(hints > 0);
}
