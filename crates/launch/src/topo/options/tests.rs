//! What words mean, and what is said of wrong ones.

use super::*;

fn parsed(line: &str) -> Result<TopoRequest, String> {
    let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
    parse(&words)
}

fn options(line: &str) -> Options {
    match parsed(line) {
        Ok(TopoRequest::Show(options)) => options,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn without_words_this_machine_is_shown_as_text() {
    let shown = options("");
    assert_eq!(shown, Options::default());
    assert_eq!(shown.input, MachineInput::This(MachineSource::Linux));
    assert_eq!(
        (shown.format, shown.target),
        (TopoFormat::Text, Destination::Stdout)
    );
}

#[test]
fn machines_are_called_as_they_were_named() {
    let name = |line: &str| options(line).input.name();
    assert_eq!(name("-i package:2"), "package:2");
    assert_eq!(name("-i -"), "standard input");
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    assert_eq!(name(&format!("-i {manifest}")), "Cargo.toml");
    assert_eq!(name(""), host::name());
}

#[test]
fn the_file_names_the_format_unless_it_is_given() {
    let format = |line| options(line).format;
    assert_eq!(format("a.b/machine.xml"), TopoFormat::Xml);
    assert_eq!(format("m.SVG"), TopoFormat::Svg);
    assert_eq!(format("--format json m.xml"), TopoFormat::Json);
    assert_eq!(format("--of synthetic m"), TopoFormat::Synthetic);
    assert_eq!(format("--output-format console"), TopoFormat::Text);
    let target = Destination::File {
        path: "m.txt".into(),
        overwrite: true,
    };
    assert_eq!(options("-f m.txt").target, target);
    for line in ["-.xml", "--format xml -", "- --of xml"] {
        let shown = options(line);
        assert_eq!(
            (shown.format, shown.target),
            (TopoFormat::Xml, Destination::Stdout),
            "{line}"
        );
    }
}

#[test]
fn sets_are_lists_masks_or_a_word() {
    let to = |list: &str| Some(CpuRestriction::To(list.parse().unwrap()));
    for (text, expected) in [
        ("0-3,8", to("0-3,8")),
        ("3", to("3")),
        ("0x3", to("0-1")),
        ("0x1,0x00000001", to("0,32")),
        ("binding", Some(CpuRestriction::Binding)),
    ] {
        assert_eq!(
            options(&format!("--restrict {text}")).restrict,
            expected,
            "{text}"
        );
    }
}

#[test]
fn lstopos_words_mean_what_they_mean_there() {
    let shown = options("-i m.xml --no-io --merge -p --restrict binding");
    assert_eq!(shown.input, MachineInput::Input("m.xml".into()));
    assert_eq!(shown.view.devices, Devices::None);
    assert_eq!(shown.view.levels, Levels::Structure);
    assert_eq!(shown.numbers, Numbers::Physical);
    assert_eq!(options("--whole-io").view.devices, Devices::All);
    assert_eq!(options("--only pu -l").part, ShownPart::Only(Kind::Pu));
    let disallowed = options("--disallowed").view;
    assert!(disallowed.disallowed && disallowed.levels == Levels::AllKinds);
    let all = options("--all").view;
    assert!(all.disallowed && all.levels == Levels::Every);
}

#[test]
fn mistakes_are_answered_with_what_would_be_right() {
    for (line, part) in [
        (
            "--onli core",
            "unknown option `--onli`; did you mean `--only`? See",
        ),
        (
            "--only croe",
            "unknown kind of object; did you mean `Core`? known are Machine",
        ),
        (
            "--format jsno",
            "unknown format; did you mean `json`? known are text",
        ),
        (
            "--source linus",
            "unknown source; did you mean `linux`? known are linux, cpuid",
        ),
        ("--restrict 0-x", "expected "),
        ("--restrict ,", "expected "),
        ("--restrict 0x0", "the set is empty"),
        ("--input", "--input needs X"),
        ("m.png", "m.png: the ending names no format; known are .txt"),
        ("machine", "machine: the ending names no format"),
        ("a.xml b.xml", "unexpected argument"),
        ("--source cpuid -i m.xml", "--source describes this machine"),
        ("--only core m.xml", "--only needs the format text"),
        ("--no-collapse m.svg", "--no-collapse needs the format text"),
        ("-p --of xml", "-l and -p need the format text or svg"),
        ("--cpukinds --of json", "--cpukinds needs the format text"),
        ("--distances --of xml", "--distances needs the format text"),
        ("--distances --only core", "exclude each other"),
        ("--record d --of xml", "--record writes all of this machine"),
        ("--record d --no-io", "--record writes all of this machine"),
        ("--record d m.xml", "--record writes all of this machine"),
    ] {
        let why = parsed(line).unwrap_err();
        assert!(why.contains(part), "{line}: {why}");
    }
}

#[test]
fn help_and_version_win_and_help_names_every_option() {
    assert_eq!(parsed("--of xml -h --nonsense"), Ok(TopoRequest::Help));
    assert_eq!(parsed("-V"), Ok(TopoRequest::Version));
    OPTIONS.assert_sound();
}
