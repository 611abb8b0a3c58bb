//! Tests of `oxmpi settings`, `oxmpi info` and `oxmpi explain` as commands: streams and exit codes.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use oxmpi_testkit::folder::Folder;

/// Runs `oxmpi` with `words` and with no other variables than `environment`.
fn oxmpi(words: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxmpi"));
    command
        .env_clear()
        .args(words)
        .envs(environment.iter().copied());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn a_wrong_value_is_shown_with_a_caret_and_a_suggestion() {
    let output = oxmpi(&["settings"], &[("OXMPI_PIN_DOMAIN", "sokcet")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let said = text(&output.stderr);
    assert!(
        said.starts_with("oxmpi: OXMPI_PIN_DOMAIN: expected core, "),
        "{said}"
    );
    assert!(
        said.ends_with("did you mean `socket`?\n  sokcet\n  ^^^^^^\n"),
        "{said}"
    );
}

#[test]
fn a_settings_file_is_read_and_named() {
    let folder = Folder::fresh();
    let file = folder.write(
        "settings.toml",
        "# ours\neager_limit = \"4K\"\npin_ordr = 1\n",
    );
    let named = [("OXMPI_SETTINGS_FILE", file.as_str())];
    let output = oxmpi(&["settings", "--parsable", "eager_limit"], &named);
    let expected = format!("eager_limit\t4K\t{file}:2\tauto\tbytes\t2\n");
    assert_eq!(text(&output.stdout), expected);
    let warning = format!(
        "oxmpi: ignored: {file}:3: `pin_ordr` names no setting; did you mean `pin_order`?\n"
    );
    assert_eq!(text(&output.stderr), warning);

    drop(folder);
    let missing = oxmpi(&["settings"], &named);
    assert_eq!(missing.status.code(), Some(2));
    assert!(
        text(&missing.stderr).starts_with("oxmpi: OXMPI_SETTINGS_FILE: cannot read "),
        "{missing:?}"
    );
}

/// A job reads the settings file that `--tune` writes; `--tune` does not overwrite an existing file.
#[test]
fn a_file_of_tuned_settings_reads_back() {
    let folder = Folder::fresh();
    let name = folder.at("tuned.toml");
    let name = name.as_str();
    let tune = [
        "settings", "--tune", "--rounds", "1", "--json", "--output", name,
    ];
    let output = oxmpi(&tune, &[]);
    if std::thread::available_parallelism().is_ok_and(|number| number.get() < 2) {
        assert!(
            text(&output.stderr).contains("measured between two"),
            "{output:?}"
        );
        assert!(!Path::new(name).exists());
        return;
    }
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["format"], "oxmpi-tuning");
    assert_eq!(report["file"], name);
    let choices = report["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 7);
    for choice in choices {
        let setting = choice["setting"].as_str().unwrap();
        let words = ["settings", "--parsable", setting];
        let output = oxmpi(&words, &[("OXMPI_SETTINGS_FILE", name)]);
        let fields: Vec<&str> = text(&output.stdout).split('\t').collect();
        assert_eq!(fields[..2], [setting, choice["value"].as_str().unwrap()]);
        let from = if choice["differs"] == true {
            name
        } else {
            "default"
        };
        assert!(fields[2].starts_with(from), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
    let figures = report["figures"].as_array().unwrap();
    assert!(
        figures
            .iter()
            .all(|figure| figure["ns"].as_f64() > Some(0.0))
    );

    std::fs::write(name, "# by hand\n").unwrap();
    let again = oxmpi(&tune, &[]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("exists"), "{again:?}");
    assert_eq!(std::fs::read_to_string(name).unwrap(), "# by hand\n");
}

/// A variable switches off what a file of settings names.
#[test]
fn rules_of_a_file_of_settings_can_be_left_out() {
    let folder = Folder::fresh();
    let [rules, settings] = ["rules.json", "settings.toml"].map(|name| folder.at(name));
    let rule = r#"{"collective": "bcast", "ranks": "2..3", "algorithm": "chain"}"#;
    std::fs::write(&rules, format!(r#"{{"version": 1, "rules": [{rule}]}}"#)).unwrap();
    std::fs::write(&settings, format!("coll_rules = \"{rules}\"\n")).unwrap();
    let why = |environment: &[(&str, &str)]| {
        let output = oxmpi(&["explain", "bcast", "8", "-n", "3"], environment);
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout).lines().nth(1).unwrap().to_owned()
    };
    let file = ("OXMPI_SETTINGS_FILE", settings.as_str());
    assert_eq!(why(&[file]), format!("  set by a rule in {rules}"));
    assert_eq!(why(&[file, ("OXMPI_COLL_RULES", "none")]), why(&[]));
}

#[test]
fn json_goes_to_standard_output_alone() {
    for words in [&["settings", "--json"][..], &["info", "--json"]] {
        let output = oxmpi(words, &[("OMPI_MCA_pml", "ob1")]);
        assert!(output.status.success());
        let read: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(read["version"], 1);
    }
}

#[test]
fn a_closed_standard_output_is_no_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxmpi"));
    let mut child = command
        .args(["settings", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn unknown_options_are_refused() {
    for words in [
        &["settings", "--levl", "1"][..],
        &["info", "--jsn"],
        &["settings", "nothing_like_it"],
        &[
            "settings",
            "--tune",
            "--output",
            "/no/such/folder/file.toml",
        ],
        &["explain", "--jsn"],
        &["explain", "-n", "0"],
    ] {
        let output = oxmpi(words, &[]);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(text(&output.stderr).starts_with("oxmpi: "), "{output:?}");
    }
}

#[test]
fn explain_names_paths_and_the_settings_of_their_limits() {
    let set = [
        ("MPICH_GNI_MAX_EAGER_MSG_SIZE", "4K"),
        ("OXMPI_RENDEZVOUS", "put"),
    ];
    let output = oxmpi(&["explain", "-n", "1024"], &set);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let said = text(&output.stdout);
    for part in [
        "\n  113..8192  E1    eager, through buffers              151..441 ns",
        "\n  8193..     R1    rendezvous, the sender puts chunks",
        "rendezvous = put (OXMPI_RENDEZVOUS)\n",
        "\n  2009..4056  E1  ",
        "network_eager_limit = 4K (MPICH_GNI_MAX_EAGER_MSG_SIZE)\n",
        "\nnetwork mailboxes of a job of 1024: 8 slots of 2048 B a peer",
    ] {
        assert!(said.contains(part), "{part:?} is not in\n{said}");
    }
    let json = oxmpi(&["explain", "--json"], &set);
    let read: serde_json::Value = serde_json::from_str(text(&json.stdout)).unwrap();
    assert_eq!(read["format"], "oxmpi-explain");
    assert_eq!(read["peers"][1]["paths"][2]["path"], "R1");
}
