//! Which source wins, what is an error, and what is a warning.

mod collectives;
mod network;
#[cfg(feature = "verbs")]
mod openfabrics;
mod progress;

use oxmpi_text::{Alias, Level, Product, Setting, SettingsTable, size, switch};

use super::*;

const ROWS: &[Setting] = &[
    Setting {
        name: "limit",
        aliases: &[
            Alias::new(Product::IntelMpi, "I_MPI_LIMIT"),
            Alias {
                product: Product::OpenMpi,
                name: "btl_limit",
                values: &[("none", "0")],
            },
        ],
        default: "4K",
        kind: "bytes",
        level: Level::Basic,
        short: "",
        long: "",
        check: |text| size(text).map(drop),
    },
    Setting {
        name: "quiet",
        aliases: &[],
        default: "off",
        kind: "switch",
        level: Level::Basic,
        short: "",
        long: "",
        check: |text| switch(text).map(drop),
    },
];
const TEST: SettingsTable = SettingsTable(&[ROWS]);

/// An assignment of the command line: its option, the product whose option that is, the name and
/// the value.
type Typed<'a> = (&'a str, Option<Product>, &'a str, &'a str);

const OPEN_MPI: Option<Product> = Some(Product::OpenMpi);

fn sources(files: &[&str], environment: &[(&str, &str)], command_line: &[Typed]) -> Sources {
    let file = |(i, content): (usize, &&str)| File {
        path: format!("file{i}").into(),
        content: (*content).into(),
    };
    let assignment = |&(option, product, name, value): &Typed| Assignment {
        option: option.into(),
        product,
        name: name.into(),
        value: value.into(),
    };
    let variable = |&(name, value): &(&str, &str)| (name.into(), value.into());
    Sources {
        files: files.iter().enumerate().map(file).collect(),
        environment: environment.iter().map(variable).collect(),
        command_line: command_line.iter().map(assignment).collect(),
    }
}

fn files(files: &[&str]) -> Sources {
    sources(files, &[], &[])
}

fn environment(environment: &[(&str, &str)]) -> Sources {
    sources(&[], environment, &[])
}

/// The values when only these variables are set.
fn given(variables: &[(&str, &str)]) -> Values {
    resolve(TABLE, &environment(variables)).unwrap()
}

fn typed(option: Typed) -> Sources {
    sources(&[], &[], &[option])
}

#[test]
fn every_row_of_the_real_table_accepts_its_default_and_has_its_own_names() {
    let mut names = std::collections::HashSet::new();
    for row in TABLE.iter() {
        let name = row.name;
        assert!((row.check)(row.default).is_ok(), "{name}");
        assert!(names.insert(name.to_string()), "{name} twice");
        let is_lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(name.chars().all(is_lower), "{name}");
        for alias in row.aliases {
            let alias_name = alias.name;
            assert!(names.insert(alias_name.to_string()), "{alias_name} twice");
            for (theirs, ours) in alias.values {
                assert!((row.check)(ours).is_ok(), "{alias_name}: {theirs} = {ours}");
            }
        }
        let mut texts = [row.short, row.long, row.kind].into_iter();
        assert!(texts.all(|text| !text.is_empty()), "{name}");
    }
}

#[test]
fn the_stronger_source_wins() {
    let mca = ("--mca", OPEN_MPI, "btl_limit", "9");
    let set = ("--set", None, "limit", "10");
    let steps: &[(Sources, &str, &str)] = &[
        (files(&[]), "4K", "default"),
        (files(&["limit = 1 # a comment"]), "1", "file0:1"),
        (files(&["limit = 1", "\nlimit = \"2K\""]), "2K", "file1:2"),
        (
            sources(&["limit = 1"], &[("OMPI_MCA_btl_limit", "3")], &[]),
            "3",
            "OMPI_MCA_btl_limit",
        ),
        (
            environment(&[("OMPI_MCA_btl_limit", "none")]),
            "0",
            "OMPI_MCA_btl_limit",
        ),
        (
            environment(&[("OMPI_MCA_btl_limit", "3"), ("I_MPI_LIMIT", "4")]),
            "4",
            "I_MPI_LIMIT",
        ),
        (
            environment(&[("OXMPI_LIMIT", "5"), ("I_MPI_LIMIT", "4")]),
            "5",
            "OXMPI_LIMIT",
        ),
        (
            environment(&[("OXMPI_LIMIT", ""), ("I_MPI_LIMIT", "4")]),
            "4",
            "I_MPI_LIMIT",
        ),
        (
            sources(&[], &[("OXMPI_LIMIT", "5")], &[mca]),
            "9",
            "--mca btl_limit",
        ),
        (sources(&[], &[], &[mca, set]), "10", "--set limit"),
    ];
    for (sources, text, origin) in steps {
        let values = resolve(TEST, sources).unwrap();
        let limit = values.get("limit");
        assert_eq!((&*limit.text, &*limit.origin.to_string()), (*text, *origin));
        assert_eq!(values.warnings, [""; 0]);
        assert_eq!(values.get("quiet").origin, Origin::Default);
        assert_eq!(values.parse("limit", size), size(text).unwrap());
    }
}

#[test]
fn a_wrong_value_of_ours_is_an_error_with_origin_and_caret() {
    let caret = "expected a size in bytes such as 4096, 64K or 1.5MiB, found `Q`\n  5Q\n   ^";
    for (sources, origin) in [
        (files(&["\n\nlimit = '5Q'"]), "file0:3"),
        (environment(&[("OXMPI_LIMIT", "5Q")]), "OXMPI_LIMIT"),
        (typed(("--set", None, "limit", "5Q")), "--set limit"),
        (
            typed(("--mca", OPEN_MPI, "btl_limit", "5Q")),
            "--mca btl_limit",
        ),
    ] {
        let error = resolve(TEST, &sources).unwrap_err().to_string();
        assert_eq!(error, format!("{origin}: {caret}"));
    }
    let unknown = resolve(TEST, &typed(("--set", None, "limits", "1"))).unwrap_err();
    let expected = "--set limits: no setting is called `limits`; did you mean `limit`?";
    assert_eq!(unknown.to_string(), expected);
}

#[test]
fn what_may_be_meant_for_others_is_warned_about_once() {
    for (sources, warning) in [
        (
            files(&["limt = 1"]),
            "ignored: file0:1: `limt` names no setting; did you mean `limit`?",
        ),
        (
            environment(&[("OXMPI_LIMT", "1")]),
            "ignored: the variable OXMPI_LIMT names no setting; did you mean `OXMPI_LIMIT`?",
        ),
        (
            environment(&[("OMPI_MCA_pml", "ob1")]),
            "ignored: OMPI_MCA_pml: messages have one implementation here",
        ),
        (
            environment(&[("OMPI_MCA_vprotocol", "x")]),
            "ignored: OMPI_MCA_vprotocol: the MCA parameter `vprotocol` of Open MPI",
        ),
        (
            typed(("--mca", OPEN_MPI, "vprotocol", "x")),
            "ignored: --mca vprotocol: the MCA parameter",
        ),
        (
            environment(&[("I_MPI_LIMIT", "x")]),
            "ignored, this value is not known here: I_MPI_LIMIT: expected a size",
        ),
    ] {
        let values = resolve(TEST, &sources).unwrap();
        let [said] = values.warnings.as_slice() else {
            panic!("{:?}", values.warnings);
        };
        assert!(said.starts_with(warning), "{said}");
        assert_eq!(values.get("limit").text, "4K");
    }
    let others = ["OXMPI_SETTINGS_FILE", "OXMPI_JOB", "I_MPI_OTHER"].map(|name| (name, "x"));
    let values = resolve(TEST, &environment(&others)).unwrap();
    assert!(values.warnings.is_empty());
}

#[test]
fn the_rules_of_a_launcher_read_what_our_grammar_refuses() {
    let wrong = [("I_MPI_PIN_ORDER", "woof"), ("I_MPI_PIN_DOMAIN", "sokcet")];
    let launchers = [wrong[0], wrong[1], ("OXMPI_PIN_COMPAT", "intel-2021")];
    let ours = given(&wrong);
    assert_eq!(ours.pinning(), oxmpi_pin::Settings::default());
    let theirs = given(&launchers);
    let value = |name: &str| {
        let found = wrong.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value)
    };
    let read = oxmpi_pin::Settings::read(oxmpi_pin::Compat::Intel2021, value);
    assert_eq!(Ok(theirs.pinning()), read.map(|(settings, _)| settings));
    assert_ne!(theirs.pinning().order, ours.pinning().order);
    for (values, how) in [
        (&ours, "ignored, this value is not known here: I_MPI_PIN_"),
        (
            &theirs,
            "read as the launcher of Intel MPI reads it: I_MPI_PIN_",
        ),
    ] {
        let warnings = &values.warnings;
        assert_eq!(warnings.len(), 2);
        let is_reported = warnings.iter().all(|text| text.starts_with(how));
        assert!(is_reported, "{warnings:?}");
    }
}

#[test]
fn files_are_flat_toml() {
    let content = "# comment\n\n a = 1\nb=\"x # y\" # z\nc = 'd'\ne = true\nf = 10000\r\n";
    let found: Vec<_> = entries(content)
        .unwrap()
        .iter()
        .map(|e| (e.line, e.name, e.value))
        .collect();
    assert_eq!(
        found,
        [
            (3, "a", "1"),
            (4, "b", "x # y"),
            (5, "c", "d"),
            (6, "e", "true"),
            (7, "f", "10000")
        ]
    );
    for (wrong, column) in [
        ("[table]", 0),
        ("a", 1),
        ("a 1", 2),
        ("= 1", 0),
        ("a = ", 4),
        ("a = x", 4),
        ("a = \"x", 4),
        ("a = \"x\\n\"", 4),
        ("a = 1 2", 6),
        ("a = [1]", 4),
    ] {
        let (line, text, error) = entries(wrong).unwrap_err();
        let shown = error.show(wrong);
        let found = (line, text, error.span.start);
        assert_eq!(found, (1, wrong, column), "{shown}");
    }
}

#[test]
fn defaults_are_those_of_the_crates_that_own_the_rows() {
    let values = resolve(TABLE, &Sources::default()).unwrap();
    assert_eq!(values.pinning(), oxmpi_pin::Settings::default());
    assert_eq!(values.tuning(), oxmpi_coll::choice::Tuning::default());
    let wanted = oxmpi_wire::paths::network::NetworkSettings::default();
    assert_eq!(values.network(), wanted);
    assert_eq!(values.layout(3), oxmpi_shm::SegmentLayout::new(3));
    let wait = values.parse::<oxmpi_core::WaitMode>("wait", str::parse);
    assert_eq!(wait, oxmpi_core::WaitMode::default());
    let switches = oxmpi_wire::engine::EngineConfig::default().overrides;
    assert_eq!(values.switch_points(), switches);
}

#[test]
fn what_was_typed_reaches_other_processes_in_our_spelling() {
    let typed = sources(
        &[],
        &[("OXMPI_QUIET", "on")],
        &[("--mca", OPEN_MPI, "btl_limit", "none")],
    );
    let values = resolve(TEST, &typed).unwrap();
    let exports: Vec<_> = values.exports().collect();
    assert_eq!(exports, [("OXMPI_LIMIT".to_string(), "0")]);
}

proptest::proptest! {
    #[test]
    fn a_file_is_read_or_refused_in_place(content in "([a-z_]{0,4}[ \t]*=?[ ]*[\"'#\\\\]?[a-z0-9µ\n]{0,4}[\"']?\n?){0,6}") {
        match entries(&content) {
            Ok(all) => assert!(all.iter().all(|entry| !entry.name.is_empty())),
            Err((line, text, error)) => {
                assert_eq!(content.lines().nth(line - 1), Some(text));
                assert!(text.get(error.span.start..error.span.end).is_some(), "{error:?}");
            }
        }
    }
}
