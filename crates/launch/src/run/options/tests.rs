use oxmpi_testkit::folder::Folder;

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
    for line in [
        "-ppn 2 -n 4 a",
        "--perhost=2 -n 4 a",
        "-npernode 2 -n 4 a",
        "-N 2 -n 4 a",
    ] {
        let options = parsed(line);
        let counts = (options.ranks_per_host, options.programs[0].ranks);
        assert_eq!(counts, (Some(2), Some(4)), "{line}");
    }
    for line in [
        "-H node1:2,node2 a",
        "--host node1:2 -host node2 a",
        "-hosts=node1:2,node2 a",
    ] {
        let hosts: Vec<String> = parsed(line).hosts.iter().map(Host::to_string).collect();
        assert_eq!(hosts, ["node1:2", "node2"], "{line}");
    }
    for line in [
        "-oversubscribe a",
        "--map-by :OVERSUBSCRIBE a",
        "-n 1 a : --map-by=:oversubscribe b",
    ] {
        let options = parsed(line);
        let given = (options.oversubscribe, options.mapping);
        assert_eq!(given, (Some(true), None), "{line}");
    }
    let placed = parsed("--map-by core:NOOVERSUBSCRIBE a");
    assert_eq!(placed.oversubscribe, Some(false));
    assert_eq!(parsed("--cpu-list 3,1 a"), parsed("--cpu-set=3,1 a"));
    assert_ne!(parsed("--cpu-set 1,3 a"), parsed("--cpu-set 3,1 a"));
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
    let variables = |expected: [(&str, &str); 3]| {
        expected.map(|(name, value)| (OsString::from(name), OsString::from(value)))
    };
    let options = parsed("-genv A 1 -x B=2=3 --mca btl self,vader -x PATH -genv C=4=5 a.out");
    assert_eq!(options.settings, [("btl".into(), "self,vader".into())]);
    let expected = [("A", "1"), ("B", "2=3"), ("C", "4=5")];
    assert_eq!(options.env, variables(expected));
    let options = parsed("-env A=1 -env=B=2=3 --env C 4=5 a.out x");
    assert_eq!(options.programs[0].env, variables(expected));
    assert_eq!(options.programs[0].arguments, words("x"));
}

#[test]
fn programs_come_from_a_file() {
    let folder = Folder::fresh();
    let text = "# two\n-n 1 a -n 7 'x y'\n-n 2 -env A B b : -n 3 c\n";
    let file = folder.write("programs", text);
    for line in ["-configfile", "--app", "-env C D --app"] {
        let mut typed = words(line);
        typed.push(file.clone().into());
        let options = parse(&typed).expect(line);
        let [a, b, c] = options.programs.as_slice() else {
            panic!("three programs")
        };
        assert_eq!((a.ranks, b.ranks, c.ranks), (Some(1), Some(2), Some(3)));
        assert_eq!(a.arguments, ["-n", "7", "x y"].map(OsString::from));
        // Options before the file are for each line.
        let shared = usize::from(line.contains('C'));
        assert_eq!((a.env.len(), b.env.len()), (shared, shared + 1), "{line}");
    }
    let refused = |text: &str, more: &str| {
        let file = folder.write("programs", text);
        let mut typed = vec!["--app".into(), file.clone().into()];
        typed.extend(words(more));
        let why = parse(&typed).expect_err(text);
        why.replace(&file, "FILE")
            .replace(". See `oxmpi run --help`.", "")
    };
    for (text, more, says) in [
        (
            "a\n-n 0 b",
            "",
            "FILE:2: -n: expected a number of ranks from 1 to 1048576, found `0`\n",
        ),
        (
            "-n 1",
            "",
            "FILE:1: no program given: `oxmpi run -n 2 PROGRAM`",
        ),
        (
            "--app x",
            "",
            "FILE:1: --app x: a file of programs cannot name another one",
        ),
        ("# none", "", "FILE has no program"),
        (
            "'a",
            "",
            "FILE:1: a quotation mark is not closed in its line",
        ),
        (
            "a",
            "b",
            "`b`: the programs are in FILE: expected none here",
        ),
    ] {
        let why = refused(text, more);
        assert!(why.starts_with(says), "{text}: {why}");
    }
    let missing = parse(&words("-configfile no-such-file")).expect_err("it does not exist");
    assert!(
        missing.starts_with("cannot read no-such-file: "),
        "{missing}"
    );
}

#[test]
fn a_directory_becomes_the_path_that_a_shell_accepts() {
    let folder = Folder::fresh();
    folder.write("below/file", "");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("below"), &link).expect("a link");
    let root = folder.path().canonicalize().expect("it exists");
    let here = std::env::current_dir().expect("it exists");
    for (typed, expected) in [
        (folder.at("link"), link),
        (folder.at("below/./"), folder.path().join("below")),
        (folder.at("link/.."), root),
        (".".into(), here),
    ] {
        let found = directory(OsStr::new(&typed));
        assert_eq!(found.as_deref(), Ok(&*expected), "{typed}");
    }
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
            "-env =B a",
            "-env B: `` cannot be the name of a variable. See `oxmpi run --help`.",
        ),
        (
            "-H node1:x a",
            "-H: host `node1:x`: expected a number of slots from 1 to 1048576, found `x`. See `oxmpi run --help`.",
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

/// Users of other launchers look their options up in that page.
#[test]
fn the_page_on_options_has_every_name() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/launcher.md");
    let page = std::fs::read_to_string(page).expect("a page of this repository");
    for name in OPTIONS.names() {
        let is_there = ["-", "--"]
            .iter()
            .any(|dash| page.contains(&format!("`{dash}{name}`")));
        assert!(is_there, "`{name}` is missing in docs/launcher.md");
    }
}
