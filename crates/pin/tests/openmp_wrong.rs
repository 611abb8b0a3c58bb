//! Wrong or hostile settings of threads: their warnings and hints, whose size is limited.

use oxmpi_pin::WarningCode;
use oxmpi_pin::openmp::{Dialect, Levels, Request, Rules, Team, bind};
use oxmpi_topo::{CpuSet, Machine};

fn team(request: &Request<'_>) -> Team {
    let machine = Machine::from_synthetic("package:2 core:2 pu:2").unwrap();
    bind(&machine, request, Dialect::default())
}

fn affinity(text: &str) -> Team {
    team(&Request {
        kmp_affinity: Some(text),
        ..Request::default()
    })
}

/// The processors of each thread, as lists.
fn threads(team: &Team) -> Vec<String> {
    team.threads.iter().map(CpuSet::to_string).collect()
}

/// Each hint without its first line, to check the position of the caret and what is expected.
fn assert_hint(team: &Team, expected: &str, shown: &str) {
    let [hint] = &team.hints[..] else {
        panic!("{team:?}");
    };
    let (first, rest) = hint.split_once('\n').unwrap();
    assert!(first.contains(expected), "{first}");
    assert_eq!(rest, shown);
}

#[test]
fn a_list_has_a_limit() {
    let team = affinity("proclist=[0-60000,0-60000,0-60000],explicit");
    let expected = "expected at most 131072 processors in all, found `0-60000`";
    assert!(team.hints[0].contains(expected), "{team:?}");
}

#[test]
fn a_hint_shows_the_place_and_what_would_have_been_right() {
    for (text, expected, carets) in [
        (
            "verbose,compcat",
            "did you mean `compact`?",
            "        ^^^^^^^",
        ),
        (
            "granularity=cor,compact",
            "fine, thread, core",
            "            ^^^",
        ),
        (
            "granularity=cor ,compact",
            "fine, thread, core",
            "            ^^^^",
        ),
        ("compactx", "a comma or the end", "       ^"),
        (
            "scatter,1,2,3",
            "no more than two integers",
            "            ^",
        ),
        ("logical,1,2", "one integer, the offset", "          ^"),
        ("none,7", "no integer with this type", "     ^"),
        ("scatter,compact", "each parameter once", "        ^^^^^^^"),
        ("explicit", "proclist=[0,2]", "^^^^^^^^"),
    ] {
        assert_hint(&affinity(text), expected, &format!("  {text}\n  {carets}"));
    }
}

#[test]
fn a_hint_shows_the_place_in_a_list() {
    for (list, expected, carets) in [
        ("0,{1;2}", "sets such as {0,4}", "      ^"),
        ("0,3-1", "a range such as 0-6", "    ^^^"),
        ("0-4:0", "a range such as 0-6", "  ^^^^^"),
    ] {
        let setting = Request {
            gomp_cpu_affinity: Some(list),
            ..Request::default()
        };
        assert_hint(&team(&setting), expected, &format!("  {list}\n{carets}"));
        let inside = affinity(&format!("explicit,proclist=[{list}]"));
        let hint = inside.hints.first().unwrap();
        let indent = " ".repeat("explicit,proclist=[".len());
        assert!(hint.ends_with(&format!("\n{indent}{carets}")), "{hint}");
    }
}

#[test]
fn each_variable_has_hints() {
    for (name, value, expected, carets) in [
        ("OMP_PLACES", "{0},{1", "`}` at the end", "        ^"),
        (
            "OMP_PROC_BIND",
            "spraed",
            "did you mean `spread`?",
            "  ^^^^^^",
        ),
        ("KMP_HW_SUBSET", "1s,2q", "core", "      ^"),
    ] {
        let request = Request::of(|other| (other == name).then_some(value));
        assert_hint(&team(&request), expected, &format!("  {value}\n{carets}"));
    }
}

#[test]
fn a_long_list_is_refused() {
    let long = vec!["0-65535"; 10_000].join(",");
    let team = affinity(&format!("proclist=[{long}],explicit"));
    assert_eq!(team.warnings[0].code, WarningCode::ListRange);
    assert!(team.threads.iter().all(|cpus| cpus.len() == 8));
    let many = vec!["{0:65536}:65536"; 1000].join(",");
    for places in [many.as_str(), "{0:4294967295}", "{0}:65537"] {
        let request = Request {
            omp_places: Some(places),
            ..Request::default()
        };
        let team = self::team(&request);
        let [warning] = &team.warnings[..] else {
            panic!("{:?}", team.warnings);
        };
        assert_eq!(warning.code, WarningCode::ListRange);
        let text = "OMP_PLACES: more than 65536 processors in all, using cores.";
        assert_eq!(warning.text, text);
        assert!(team.hints[0].contains("at most 65536"), "{:?}", team.hints);
    }
}

#[test]
fn diagnostics_of_many_mistakes_stay_small() {
    for mistake in ["1,", "compcat,", "verbose x,", "granularity=x,"] {
        let text = format!("compact,{}", mistake.repeat(10_000));
        let team = affinity(&text);
        let described = team.warnings.iter().map(|warning| warning.text.len());
        assert!(described.sum::<usize>() < 100 * text.len(), "{mistake}");
        assert_eq!(team.threads.len(), 8);
    }
}

#[test]
fn a_large_team_is_clipped() {
    for kmp_affinity in [None, Some("compact"), Some("balanced,granularity=core")] {
        let team = team(&Request {
            kmp_affinity,
            threads: u32::MAX,
            ..Request::default()
        });
        assert_eq!(team.threads.len(), Team::LARGEST as usize);
        assert_eq!(team.warnings[0].code, WarningCode::TeamClipped);
    }
}

/// A machine without packages and cores, and one of a single processor.
#[test]
fn machines_without_levels() {
    for shape in ["pu:4", "pu:1", "core:3 pu:1", "numa:2 pu:3"] {
        let machine = Machine::from_synthetic(shape).unwrap();
        let pus = machine.online().len();
        for levels in [Levels::Documented, Levels::Current] {
            let types = "compact scatter,1 physical,3 balanced granularity=socket,compact";
            for text in types.split(' ') {
                let request = Request {
                    kmp_affinity: Some(text),
                    ..Request::default()
                };
                let rules = Rules::Runtime;
                let team = bind(&machine, &request, Dialect { levels, rules });
                assert_eq!(team.threads.len(), pus);
                let mut threads = team.threads.iter();
                assert!(threads.all(|cpus| cpus.is_subset(machine.online())));
            }
        }
    }
}

/// `!` removes places and processors from a list: OpenMP has it, LLVM's runtimes do not.
#[test]
fn exclusion() {
    let places = |text| {
        let team = team(&Request {
            omp_places: Some(text),
            omp_proc_bind: Some("close"),
            threads: 3,
            ..Request::default()
        });
        assert_eq!(team.warnings, []);
        threads(&team)
    };
    assert_eq!(places("{0:2}:4:2,!{2:2}"), ["0-1", "4-5", "6-7"]);
    assert_eq!(places("{0:4,!2},{4},{5}"), ["0-1,3", "4", "5"]);
}

/// By the standard, only the missing processor is left out.
#[test]
fn places_beyond_the_mask() {
    let mask = "1,3-7".parse().unwrap();
    let request = Request {
        omp_places: Some("{0:4},{0}:4:2"),
        omp_proc_bind: Some("close"),
        mask: Some(&mask),
        threads: 3,
        ..Request::default()
    };
    assert_eq!(threads(&team(&request)), ["1,3", "4", "6"]);
}
