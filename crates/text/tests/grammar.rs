//! Tables of what is read and what is refused, and how a refusal looks.

use oxmpi_text::{
    Alias, Level, Product, Ranges, Setting, SettingsTable, Words, duration, nearest, size, switch,
    whole,
};

#[test]
fn amounts() {
    for (text, bytes) in [
        ("0", 0),
        ("4096", 4096),
        ("64K", 65_536),
        ("64kb", 65_536),
        ("64KiB", 65_536),
        ("1MiB", 1 << 20),
        ("0.5G", 1 << 29),
        ("1.5k", 1536),
        ("18446744073709551615", u64::MAX),
    ] {
        assert_eq!(size(text), Ok(bytes), "{text}");
    }
    for (text, nanos) in [
        ("0", 0),
        ("250ns", 250),
        ("0.5us", 500),
        ("0.5µs", 500),
        ("20ms", 20_000_000),
        ("2s", 2_000_000_000),
    ] {
        assert_eq!(duration(text), Ok(nanos), "{text}");
    }
    let wrong = [
        "",
        "K",
        "-1",
        "1.",
        "1.5",
        "0.3K",
        "64Q",
        "64 K",
        "99999999999999999999",
        "16777216T",
    ];
    wrong
        .into_iter()
        .for_each(|text| assert!(size(text).is_err(), "{text}"));
    let wrong = ["", "5", "0.5ns", "us", "1h", "2s2"];
    wrong
        .into_iter()
        .for_each(|text| assert!(duration(text).is_err(), "{text}"));
    assert!(
        whole("64", 1..=64, "").is_ok()
            && whole("65", 1..=64, "").is_err()
            && whole("6x", 1..=64, "").is_err()
    );
}

#[test]
fn lists_say_where_they_are_wrong() {
    for (text, span) in [
        ("", 0..0),
        ("0-", 2..2),
        ("0,,1", 2..3),
        ("3-1", 0..3),
        ("0-4:0", 4..5),
        ("0 1", 1..2),
        ("x", 0..1),
        ("0,1,", 4..4),
        ("4294967296", 0..10),
    ] {
        let error = Ranges::new(text)
            .find_map(Result::err)
            .unwrap_or_else(|| panic!("{text} was accepted"));
        assert_eq!(error.span.start..error.span.end, span, "{text}");
    }
}

#[test]
fn a_list_ends_with_its_first_error() {
    assert_eq!(Ranges::new("0,x,1").take(9).count(), 2);
}

#[test]
fn a_caret_stands_under_the_wrong_part() {
    let shown = size("64Q").unwrap_err().show("64Q").to_string();
    assert_eq!(
        shown,
        "expected a size in bytes such as 4096, 64K or 1.5MiB, found `Q`\n  64Q\n    ^"
    );
    let text = "µµ,x\n";
    let error = Ranges::new(text).find_map(Result::err).unwrap().moved(0);
    assert!(
        error
            .show(text)
            .to_string()
            .ends_with("\n  µµ,x\u{fffd}\n  ^"),
        "{}",
        error.show(text)
    );
    let long = format!("{}x{}", "0,".repeat(100), ",0".repeat(100));
    let shown = Ranges::new(&long)
        .find_map(Result::err)
        .unwrap()
        .show(&long)
        .to_string();
    let lines: Vec<_> = shown.lines().collect();
    assert!(lines[1].chars().count() < 100, "{shown}");
    assert_eq!(lines[1].find('x'), lines[2].find('^'), "{shown}");
}

#[test]
fn words_and_switches() {
    const SHAPES: Words = Words(&["core", "socket", "a number"]);
    assert_eq!(SHAPES.find("socket"), Ok(1));
    assert!(SHAPES.find("a number").is_err(), "a phrase is not a word");
    assert_eq!(
        SHAPES.find("Sokcet").unwrap_err().suggestion,
        Some("socket")
    );
    assert_eq!(SHAPES.find("zebra").unwrap_err().suggestion, None);
    assert_eq!((switch("Off"), switch("1")), (Ok(false), Ok(true)));
    assert_eq!(switch("onn").unwrap_err().suggestion, Some("on"));
    assert_eq!(nearest("x", ["y"]), None, "one letter says nothing");
    assert_eq!(nearest(&"x".repeat(100), ["y"]), None);
}

const ROWS: &[Setting] = &[Setting {
    name: "wait_mode",
    aliases: &[
        Alias {
            product: Product::IntelMpi,
            name: "I_MPI_WAIT_MODE",
            values: &[("1", "passive")],
        },
        Alias::new(Product::OpenMpi, "mpi_yield_when_idle"),
        Alias {
            product: Product::Oxmpi,
            name: "idle_mode",
            values: &[("doze", "on")],
        },
    ],
    default: "on",
    kind: "switch",
    level: Level::Basic,
    short: "",
    long: "",
    check: |text| switch(text).map(drop),
}];

#[test]
fn rows_are_found_by_every_name() {
    let table = SettingsTable(&[&[], ROWS]);
    assert_eq!(table.iter().count(), 1);
    assert_eq!(ROWS[0].env().to_string(), "OXMPI_WAIT_MODE");
    assert!(table.find("wait_mode").is_some() && table.find("WAIT_MODE").is_none());
    assert!(table.find_env("OXMPI_WAIT_MODE").is_some());
    assert!(table.find("idle_mode").is_some() && table.find_env("OXMPI_IDLE_MODE").is_some());
    assert_eq!(
        (ROWS[0].current_value("doze"), ROWS[0].current_value("off")),
        ("on", "off")
    );
    assert!(table.find_env("OXMPI_wait_mode").is_none() && table.find_env("WAIT_MODE").is_none());
    let (_, alias) = table
        .find_alias(Product::IntelMpi, "I_MPI_WAIT_MODE")
        .unwrap();
    assert_eq!(
        (alias.translate("1"), alias.translate("7")),
        ("passive", "7")
    );
    let (_, alias) = table
        .find_alias(Product::OpenMpi, "mpi_yield_when_idle")
        .unwrap();
    assert_eq!(alias.product.env_prefix(), "OMPI_MCA_");
    assert!(
        table
            .find_alias(Product::Ucx, "mpi_yield_when_idle")
            .is_none()
    );
    assert_eq!(table.suggest("wiat_mode"), Some("wait_mode"));
    assert!((ROWS[0].check)(ROWS[0].default).is_ok());
}
