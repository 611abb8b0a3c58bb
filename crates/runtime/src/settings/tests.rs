//! Which source wins, what is an error, and what is a warning.

mod collectives;
mod network;

use oxmpi_text::{Alias, Level, Product, Setting, Table, size, switch};

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
const TEST: Table = Table(&[ROWS]);

fn sources(
    files: &[&str],
    environment: &[(&str, &str)],
    command_line: &[(&str, Option<Product>, &str, &str)],
) -> Sources {
    let file = |(i, content): (usize, &&str)| File {
        path: format!("file{i}").into(),
        content: (*content).into(),
    };
    let assignment =
        |&(option, product, name, value): &(&str, Option<Product>, &str, &str)| Assignment {
            option: option.into(),
            product,
            name: name.into(),
            value: value.into(),
        };
    Sources {
        files: files.iter().enumerate().map(file).collect(),
        environment: environment
            .iter()
            .map(|(n, v)| ((*n).into(), (*v).into()))
            .collect(),
        command_line: command_line.iter().map(assignment).collect(),
    }
}

#[test]
fn every_row_of_the_real_table_accepts_its_default_and_has_its_own_names() {
    let mut names = std::collections::HashSet::new();
    for row in TABLE.iter() {
        assert!((row.check)(row.default).is_ok(), "{}", row.name);
        assert!(names.insert(row.name.to_string()), "{} twice", row.name);
        assert!(
            row.name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
            "{}",
            row.name
        );
        for alias in row.aliases {
            assert!(names.insert(alias.name.to_string()), "{} twice", alias.name);
            for (theirs, ours) in alias.values {
                assert!(
                    (row.check)(ours).is_ok(),
                    "{}: {theirs} = {ours}",
                    alias.name
                );
            }
        }
        assert!(
            !row.short.is_empty() && !row.long.is_empty() && !row.kind.is_empty(),
            "{}",
            row.name
        );
    }
}

#[test]
fn the_stronger_source_wins() {
    let mca = ("--mca", Some(Product::OpenMpi), "btl_limit", "9");
    let set = ("--set", None, "limit", "10");
    let steps: &[(Sources, &str, &str)] = &[
        (sources(&[], &[], &[]), "4K", "default"),
        (
            sources(&["limit = 1 # a comment"], &[], &[]),
            "1",
            "file0:1",
        ),
        (
            sources(&["limit = 1", "\nlimit = \"2K\""], &[], &[]),
            "2K",
            "file1:2",
        ),
        (
            sources(&["limit = 1"], &[("OMPI_MCA_btl_limit", "3")], &[]),
            "3",
            "OMPI_MCA_btl_limit",
        ),
        (
            sources(&[], &[("OMPI_MCA_btl_limit", "none")], &[]),
            "0",
            "OMPI_MCA_btl_limit",
        ),
        (
            sources(
                &[],
                &[("OMPI_MCA_btl_limit", "3"), ("I_MPI_LIMIT", "4")],
                &[],
            ),
            "4",
            "I_MPI_LIMIT",
        ),
        (
            sources(&[], &[("OXMPI_LIMIT", "5"), ("I_MPI_LIMIT", "4")], &[]),
            "5",
            "OXMPI_LIMIT",
        ),
        (
            sources(&[], &[("OXMPI_LIMIT", ""), ("I_MPI_LIMIT", "4")], &[]),
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
        assert_eq!(
            (limit.text.as_str(), limit.origin.to_string().as_str()),
            (*text, *origin)
        );
        assert_eq!(values.warnings, [""; 0]);
        assert_eq!(values.get("quiet").origin, Origin::Default);
        assert_eq!(values.parse("limit", size), size(text).unwrap());
    }
}

#[test]
fn a_wrong_value_of_ours_is_an_error_with_origin_and_caret() {
    let caret = "expected a size in bytes such as 4096, 64K or 1.5MiB, found `Q`\n  5Q\n   ^";
    for (sources, origin) in [
        (sources(&["\n\nlimit = '5Q'"], &[], &[]), "file0:3"),
        (sources(&[], &[("OXMPI_LIMIT", "5Q")], &[]), "OXMPI_LIMIT"),
        (
            sources(&[], &[], &[("--set", None, "limit", "5Q")]),
            "--set limit",
        ),
        (
            sources(
                &[],
                &[],
                &[("--mca", Some(Product::OpenMpi), "btl_limit", "5Q")],
            ),
            "--mca btl_limit",
        ),
    ] {
        assert_eq!(
            resolve(TEST, &sources).unwrap_err().to_string(),
            format!("{origin}: {caret}")
        );
    }
    let unknown = resolve(TEST, &sources(&[], &[], &[("--set", None, "limits", "1")])).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "--set limits: no setting is called `limits`; did you mean `limit`?"
    );
}

#[test]
fn what_may_be_meant_for_others_is_warned_about_once() {
    for (sources, warning) in [
        (
            sources(&["limt = 1"], &[], &[]),
            "ignored: file0:1: `limt` names no setting; did you mean `limit`?",
        ),
        (
            sources(&[], &[("OXMPI_LIMT", "1")], &[]),
            "ignored: the variable OXMPI_LIMT names no setting; did you mean `OXMPI_LIMIT`?",
        ),
        (
            sources(&[], &[("OMPI_MCA_pml", "ob1")], &[]),
            "ignored: OMPI_MCA_pml: the MCA parameter `pml` of Open MPI",
        ),
        (
            sources(&[], &[], &[("--mca", Some(Product::OpenMpi), "pml", "ob1")]),
            "ignored: --mca pml: the MCA parameter",
        ),
        (
            sources(&[], &[("I_MPI_LIMIT", "x")], &[]),
            "ignored, this value is not known here: I_MPI_LIMIT: expected a size",
        ),
    ] {
        let values = resolve(TEST, &sources).unwrap();
        assert_eq!(values.warnings.len(), 1, "{:?}", values.warnings);
        assert!(
            values.warnings[0].starts_with(warning),
            "{}",
            values.warnings[0]
        );
        assert_eq!(values.get("limit").text, "4K");
    }
    let values = resolve(
        TEST,
        &sources(
            &[],
            &[
                ("OXMPI_SETTINGS_FILE", "x"),
                ("OXMPI_JOB", "x"),
                ("I_MPI_OTHER", "x"),
            ],
            &[],
        ),
    )
    .unwrap();
    assert!(values.warnings.is_empty());
}

#[test]
fn the_rules_of_a_launcher_read_what_our_grammar_refuses() {
    let wrong = [("I_MPI_PIN_ORDER", "woof"), ("I_MPI_PIN_DOMAIN", "sokcet")];
    let launchers = [wrong[0], wrong[1], ("OXMPI_PIN_COMPAT", "intel-2021")];
    let ours = resolve(super::TABLE, &sources(&[], &wrong, &[])).unwrap();
    assert_eq!(ours.pinning(), oxmpi_pin::Settings::default());
    let theirs = resolve(super::TABLE, &sources(&[], &launchers, &[])).unwrap();
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
        assert_eq!(values.warnings.len(), 2);
        assert!(
            values.warnings.iter().all(|text| text.starts_with(how)),
            "{:?}",
            values.warnings
        );
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
        assert_eq!(
            (line, text, error.span.start),
            (1, wrong, column),
            "{}",
            error.show(wrong)
        );
    }
}

#[test]
fn defaults_are_those_of_the_crates_that_own_the_rows() {
    let values = resolve(TABLE, &Sources::default()).unwrap();
    assert_eq!(values.pinning(), oxmpi_pin::Settings::default());
    assert_eq!(values.tuning(), oxmpi_coll::choice::Tuning::default());
    assert_eq!(
        values.network(),
        oxmpi_wire::paths::network::Wanted::default()
    );
    assert_eq!(values.layout(3), oxmpi_shm::Layout::new(3));
    assert_eq!(
        values.parse::<WaitMode>("wait", str::parse),
        WaitMode::default()
    );
    assert_eq!(
        values.switch_points(),
        oxmpi_wire::engine::Rules::default().switches
    );
}

#[test]
fn what_was_typed_reaches_other_processes_in_our_spelling() {
    let typed = sources(
        &[],
        &[("OXMPI_QUIET", "on")],
        &[("--mca", Some(Product::OpenMpi), "btl_limit", "none")],
    );
    let values = resolve(TEST, &typed).unwrap();
    assert_eq!(
        values.exports().collect::<Vec<_>>(),
        [("OXMPI_LIMIT".to_string(), "0")]
    );
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
