use super::*;

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn parsed(line: &str) -> Options {
    parse(&words(line)).expect(line)
}

#[test]
fn the_spellings_of_the_field_mean_the_same() {
    for line in [
        "-n 4 a.out",
        "-np 4 a.out",
        "--np 4 a.out",
        "-np=4 a.out",
        "-n 4 -- a.out",
    ] {
        let program = &parsed(line).programs[0];
        assert_eq!(
            (program.ranks, program.command.to_str()),
            (Some(4), Some("a.out")),
            "{line}"
        );
    }
    for line in ["-ppn 2 -n 4 a", "--perhost=2 -n 4 a", "-npernode 2 -n 4 a"] {
        assert_eq!(parsed(line).programs[0].ranks, Some(4), "{line}");
    }
    for line in [
        "-H node1,node2 a",
        "--host node1:2 -host node2 a",
        "-hosts=node1,node2 a",
    ] {
        assert_eq!(parsed(line).hosts, ["node1", "node2"], "{line}");
    }
    for (line, style) in [
        ("-l a", LabelStyle::Rank),
        ("-prepend-rank a", LabelStyle::Rank),
        ("--tag-output a", LabelStyle::Tag),
    ] {
        let labels = parsed(line).output.labels;
        assert_eq!(labels.style, Some(style), "{line}");
    }
}

#[test]
fn words_behind_the_program_are_its_own() {
    let options = parsed("-n 1 a.out -n 5 --help : -n 2 -env A B b.out x");
    let [a, b] = options.programs.as_slice() else {
        panic!("two programs")
    };
    assert_eq!((a.ranks, &a.arguments), (Some(1), &words("-n 5 --help")));
    assert_eq!((b.ranks, &b.arguments), (Some(2), &words("x")));
    assert_eq!(b.env, [("A".into(), "B".into())]);
    assert!(a.env.is_empty() && !options.help);
}

#[test]
fn variables_are_for_one_program_or_all() {
    let options = parsed("-genv A 1 -x B=2=3 --mca btl self,vader -x PATH a.out");
    assert_eq!(options.settings, [("btl".into(), "self,vader".into())]);
    let expected = [("A", "1"), ("B", "2=3")];
    assert_eq!(
        options.env,
        expected.map(|(name, value)| (name.into(), value.into()))
    );
}

#[test]
fn errors_say_what_was_expected() {
    let cases = [
        (
            "-oversubscribed a",
            "unknown option `-oversubscribed`; did you mean `--oversubscribe`? See `oxmpi run --help`.",
        ),
        (
            "--qqqq a",
            "unknown option `--qqqq`. See `oxmpi run --help`.",
        ),
        ("-n", "-n needs N. See `oxmpi run --help`."),
        (
            "-env A",
            "-env needs NAME and VALUE. See `oxmpi run --help`.",
        ),
        ("-l=3 a", "-l takes no value. See `oxmpi run --help`."),
        (
            "-n 0 a",
            "-n: expected a number of ranks from 1 to 1048576, found `0`\n  0\n  ^\nSee `oxmpi run --help`.",
        ),
        (
            "-n 2x a",
            "-n: expected a number of ranks from 1 to 1048576, found `x`\n  2x\n   ^\nSee `oxmpi run --help`.",
        ),
        (
            "-x OXMPI_NOT_SET a",
            "-x: `OXMPI_NOT_SET` is not set in this environment; give `OXMPI_NOT_SET=VALUE`. See `oxmpi run --help`.",
        ),
        (
            "-env A=B C a",
            "-env: `A=B` cannot be the name of a variable. See `oxmpi run --help`.",
        ),
        (
            "-wdir /dev/null a",
            "-wdir: /dev/null is not a directory. See `oxmpi run --help`.",
        ),
        (
            "-n 2",
            "no program given: `oxmpi run -n 2 PROGRAM`. See `oxmpi run --help`.",
        ),
        (
            "a :",
            "no program given: `oxmpi run -n 2 PROGRAM`. See `oxmpi run --help`.",
        ),
        (
            "",
            "no program given: `oxmpi run -n 2 PROGRAM`. See `oxmpi run --help`.",
        ),
    ];
    for (line, says) in cases {
        assert_eq!(parse(&words(line)).expect_err(line), says, "{line}");
    }
}

#[test]
fn help_and_version_need_no_program() {
    OPTIONS.assert_sound();
    assert!(parsed("--help").help && parsed("-n 2 -h").help && parsed("--version").version);
}
