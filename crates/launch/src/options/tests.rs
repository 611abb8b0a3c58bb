//! Tests of option parsing with a small table, and [`OptionTable::assert_sound`], with which the tests of each
//! subcommand check their own table.

use super::*;

#[derive(Debug, Default, PartialEq)]
struct Sample {
    count: Option<u32>,
    force: bool,
    list: bool,
    file: Option<PathBuf>,
    variable: Option<(String, String)>,
    setting: Option<(String, String)>,
    words: Vec<String>,
}

#[rustfmt::skip]
const GROUPS: &[OptionGroup<Sample>] = &[OptionGroup { title: "Options", rows: &[
    value(&["n", "np"], &["N"], "a number", |o, v| v.set(&mut o.count, str::parse::<u32>)),
    value(&["o", "output"], &["FILE"], "a file", |o, v| { o.file = Some(v.path()); Ok(()) }),
    pair(&["env"], &["NAME", "VALUE"], "a variable", |o, a, b| {
        o.variable = Some((a.text()?.into(), b.text()?.into()));
        Ok(())
    }),
    assignment(&["set"], "a setting", |o, a, b| {
        o.setting = Some((a.text()?.into(), b.text()?.into()));
        Ok(())
    }),
    flag(&["f", "force"], "overwrite", |o| o.force = true),
    flag(&["l"], "list", |o| o.list = true),
    help(), version(),
] }];

/// A table of [`GROUPS`] that treats single dashes and operands as given.
const fn table(single_dash: SingleDash, operands: Operands<Sample>) -> OptionTable<Sample> {
    OptionTable {
        command: "sample",
        intro: "Usage: sample\n",
        groups: GROUPS,
        outro: "",
        single_dash,
        operands,
    }
}

/// Options as GNU programs read them: letters join, and operands may stand between options.
const GNU: OptionTable<Sample> = table(
    SingleDash::Letters,
    Operands::Each(|o, v| {
        o.words.push(v.text()?.into());
        Ok(())
    }),
);
/// Options as `mpiexec` reads them: a single dash may start a name, and the first operand is the program.
const MPIEXEC: OptionTable<Sample> = table(SingleDash::Names, Operands::Program);

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

/// The options of a line, or the error message.
fn read(table: &OptionTable<Sample>, line: &str) -> Result<Sample, String> {
    let mut sample = Sample::default();
    table.read(&words(line), &mut sample).map(|_| sample)
}

#[test]
fn every_spelling_of_a_value_is_read() {
    for line in ["-n 4", "-n4", "-n=4", "-np 4", "--np 4", "--np=4"] {
        assert_eq!(read(&GNU, line).expect(line).count, Some(4), "{line}");
    }
    for line in ["-n 4 a", "-n=4 a", "--n 4 a", "-np=4 a", "--np 4 a"] {
        assert_eq!(read(&MPIEXEC, line).expect(line).count, Some(4), "{line}");
    }
    let joined = read(&GNU, "-lfn 3 word -- -f").expect("joined letters");
    assert_eq!(
        (joined.list, joined.force, joined.count),
        (true, true, Some(3))
    );
    assert_eq!(joined.words, ["word", "-f"]);
    let pair = read(&GNU, "--env=A B -").expect("two values");
    assert_eq!(pair.variable, Some(("A".into(), "B".into())));
    assert_eq!(pair.words, ["-"]);
}

#[test]
fn an_assignment_is_one_word_or_two() {
    for line in [
        "-set A B=C a",
        "--set A B=C a",
        "-set=A B=C a",
        "-set A=B=C a",
        "--set A=B=C a",
        "--set=A=B=C a",
    ] {
        let words = words(line);
        let mut sample = Sample::default();
        let parsed = MPIEXEC.read(&words, &mut sample).expect(line);
        assert_eq!(sample.setting, Some(("A".into(), "B=C".into())), "{line}");
        assert_eq!(parsed, Parsed::Run(&words[words.len() - 1..]), "{line}");
    }
    assert_eq!(
        read(&MPIEXEC, "-set A").unwrap_err(),
        "-set needs NAME and VALUE. See `sample --help`."
    );
}

#[test]
fn a_program_keeps_its_arguments() {
    for line in ["-n 2 a.out -n 5 --help", "-n 2 -- a.out -n 5 --help"] {
        let words = words(line);
        let mut sample = Sample::default();
        let parsed = MPIEXEC.read(&words, &mut sample);
        let rest = &words[words.len() - 4..];
        assert_eq!((parsed, sample.count), (Ok(Parsed::Run(rest)), Some(2)));
    }
}

#[test]
fn unknown_options_pass_through_where_another_reader_follows() {
    let pass = |o: &mut Sample, v: OptionValue<'_>| {
        o.words.push(v.text()?.into());
        Ok(())
    };
    let table = table(SingleDash::Names, Operands::PassThrough(pass));
    let sample = read(&table, "-iter 20 PingPong -n 3 -cache -1").expect("all words");
    assert_eq!(sample.words, ["-iter", "20", "PingPong", "-cache", "-1"]);
    assert_eq!(sample.count, Some(3));
}

#[test]
fn file_names_need_not_be_text() {
    let name = OsStr::from_bytes(b"\xff.svg");
    let joined = OsStr::from_bytes(b"--output=\xff.svg").to_owned();
    for words in [vec!["-o".into(), name.to_owned()], vec![joined]] {
        let mut sample = Sample::default();
        assert!(GNU.read(&words, &mut sample).is_ok());
        assert_eq!(sample.file.as_deref(), Some(name.as_ref()));
    }
    let words = ["-n".into(), name.to_owned()];
    let why = GNU.read(&words, &mut Sample::default()).unwrap_err();
    assert!(why.contains("is not UTF-8"), "{why}");
}

#[test]
fn errors_name_the_option_and_what_was_expected() {
    for (line, says) in [
        (
            "--forec",
            "unknown option `--forec`; did you mean `--force`? See `sample --help`.",
        ),
        ("-q", "unknown option `-q`. See `sample --help`."),
        ("-lq", "unknown option `-q`. See `sample --help`."),
        ("--n 4", "unknown option `--n`. See `sample --help`."),
        ("-n", "-n needs N. See `sample --help`."),
        (
            "--env A",
            "--env needs NAME and VALUE. See `sample --help`.",
        ),
        ("--force=3", "--force takes no value. See `sample --help`."),
        (
            "-n x",
            "-n x: invalid digit found in string. See `sample --help`.",
        ),
    ] {
        assert_eq!(read(&GNU, line).unwrap_err(), says, "{line}");
    }
    let why = read(&MPIEXEC, "-forced a").unwrap_err();
    assert_eq!(
        why,
        "unknown option `-forced`; did you mean `--force`? See `sample --help`."
    );
}

#[test]
fn help_and_version_end_the_reading() {
    let parsed = |line| {
        GNU.read(&words(line), &mut Sample::default())
            .map(|end| match end {
                Parsed::Run(_) => "run",
                Parsed::Help => "help",
                Parsed::Version => "version",
            })
    };
    assert_eq!(parsed("-f -h --nonsense"), Ok("help"));
    assert_eq!(parsed("-fh"), Ok("help"));
    assert_eq!(parsed("--version -n"), Ok("version"));
    let expected = "\
Usage: sample

Options:
  -n, --np N         a number
  -o, --output FILE  a file
  --env NAME VALUE   a variable
  --set NAME VALUE   a setting
  -f, --force        overwrite
  -l                 list
  -h, --help         print this text
  -V, --version      print the version
";
    assert_eq!(GNU.help(), expected);
}

impl<T> OptionTable<T> {
    /// All names, without dashes.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rows().flat_map(|row| row.names.iter().copied())
    }

    /// Panics if a name occurs twice or a line of the help is too long.
    pub(crate) fn assert_sound(&self) {
        let mut names: Vec<&str> = self.names().collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None, "{}", self.command);
        for line in self.help().lines() {
            assert!(line.chars().count() <= 110, "{}: {line}", self.command);
        }
    }
}
