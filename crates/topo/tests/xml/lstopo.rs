//! The installed lstopo prints the same for this crate's XML as for the original, except for the listed
//! differences.

use super::{here, machine, names, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The listed differences of one file.
#[derive(Default)]
struct Differences {
    only_copy: Vec<String>,
    only_ours: Vec<String>,
    warnings: Vec<String>,
}

fn differences(name: &str) -> Differences {
    let all = fs::read_to_string(here().join("differences.txt")).unwrap();
    let heading = format!("file {name}");
    let lines = all.lines().skip_while(|line| **line != heading).skip(1);
    let mut differences = Differences::default();
    for line in lines.take_while(|line| !line.starts_with("file ")) {
        match line.split_at(2) {
            ("- ", line) => differences.only_copy.push(line.into()),
            ("+ ", line) => differences.only_ours.push(line.into()),
            ("! ", line) => differences.warnings.push(line.into()),
            _ => panic!("{line}"),
        }
    }
    differences
}

/// The lines of a tree without the listed ones, which must be there in this order.
fn without<'a>(tree: &'a str, listed: &[String]) -> Vec<&'a str> {
    let mut listed = listed.iter().peekable();
    let is_listed = |line: &&str| {
        listed
            .next_if(|listed| *listed == line.trim_start())
            .is_some()
    };
    let mut is_listed = is_listed;
    let rest = tree.lines().filter(|line| !is_listed(line)).collect();
    assert_eq!(listed.next(), None, "a listed line is missing in\n{tree}");
    rest
}

#[track_caller]
fn assert_same(name: &str, copy: &str, ours: &str) {
    let listed = differences(name);
    assert_eq!(
        without(ours, &listed.only_ours),
        without(copy, &listed.only_copy),
        "{name}"
    );
}

pub(crate) fn lstopo(file: &Path, flags: &[&str]) -> Output {
    Command::new("lstopo-no-graphics")
        .args(flags)
        .arg("-i")
        .arg(file)
        // lstopo reports everything that it does not understand, and checks the rest.
        .env("HWLOC_XML_VERBOSE", "1")
        .env("HWLOC_DEBUG_CHECK", "1")
        .output()
        .unwrap()
}

/// Whether the installed lstopo has the version with which the differences were found.
pub(crate) fn is_installed() -> bool {
    let version = Command::new("lstopo-no-graphics").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let known = version
        .as_ref()
        .is_ok_and(|version| version.contains(" 2.9."));
    if !known {
        println!("skipped: no lstopo-no-graphics of hwloc 2.9 ({version:?})");
    }
    known
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn our_text_is_what_lstopo_printed() {
    for name in names() {
        let recorded = fs::read_to_string(here().join(format!("{name}.lstopo"))).unwrap();
        let ours = machine(&name).default_view().text().to_string();
        assert_same(&name, &recorded, &ours);
    }
}

#[test]
fn lstopo_prints_the_same_tree() {
    if !is_installed() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for name in names() {
        let copy = folder.join(format!("{name}.copy.xml"));
        let version_2 = "<topology version=\"2.0\">";
        fs::write(
            &copy,
            text(&name).replacen("<topology version=\"3.0\">", version_2, 1),
        )
        .unwrap();
        let ours = folder.join(format!("{name}.ours.xml"));
        fs::write(&ours, machine(&name).to_xml()).unwrap();

        let (of_copy, of_ours) = (lstopo(&copy, &[]), lstopo(&ours, &[]));
        assert_same(&name, &stdout(&of_copy), &stdout(&of_ours));
        let recorded = fs::read_to_string(here().join(format!("{name}.lstopo"))).unwrap();
        assert_eq!(stdout(&of_copy), recorded, "{name}");
        assert_eq!(String::from_utf8_lossy(&of_ours.stderr), "", "{name}");
        let warnings = String::from_utf8(of_copy.stderr).unwrap();
        let of_file = format!("{name}.copy.xml: ");
        let warnings: Vec<&str> = warnings
            .lines()
            .map(|line| line.trim_start_matches(&of_file))
            .collect();
        assert_eq!(warnings, differences(&name).warnings, "{name}");

        for flags in [
            &["--physical"][..],
            &["--no-io"],
            &["--no-io", "--distances"],
            &["--cpukinds"],
        ] {
            let [of_copy, of_ours] = [&copy, &ours].map(|file| stdout(&lstopo(file, flags)));
            match flags {
                ["--physical"] => assert_same(&name, &of_copy, &of_ours),
                _ => assert_eq!(of_ours, of_copy, "{name} {flags:?}"),
            }
        }
    }
}
