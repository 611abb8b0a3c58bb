//! The command-line reader of all subcommands: one table of options per subcommand, one loop, one help format.
//!
//! A subcommand describes its options as an [`OptionTable`]: a row per option with its names, values, help and the
//! function that stores the value. [`OptionTable::read`] applies the rows to the arguments, and
//! [`OptionTable::help`] prints them. Values are `OsStr`, so a file name need not be UTF-8.

mod help;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use oxmpi_text::nearest;

use crate::diagnostics::with_help;

/// The options of one subcommand; `T` is the struct that the rows fill.
pub(crate) struct OptionTable<T: 'static> {
    /// The command as typed, such as `oxmpi topo`.
    pub(crate) command: &'static str,
    /// The help above the options: usage, purpose, examples.
    pub(crate) intro: &'static str,
    pub(crate) groups: &'static [OptionGroup<T>],
    /// The help below the options.
    pub(crate) outro: &'static str,
    pub(crate) single_dash: SingleDash,
    pub(crate) operands: Operands<T>,
}

/// Options under one heading of the help.
pub(crate) struct OptionGroup<T: 'static> {
    pub(crate) title: &'static str,
    pub(crate) rows: &'static [OptionRow<T>],
}

/// One option.
pub(crate) struct OptionRow<T: 'static> {
    /// Names without dashes; the help prints all of them.
    names: &'static [&'static str],
    /// What the help calls the values, such as `FILE`. The option takes exactly as many.
    values: &'static [&'static str],
    /// What the option does. The help wraps the text; a row with an empty text is hidden.
    help: &'static str,
    action: Action<T>,
}

/// What an option does with its values.
enum Action<T> {
    Flag(fn(&mut T)),
    One(fn(&mut T, OptionValue<'_>) -> Result<(), String>),
    Two(fn(&mut T, OptionValue<'_>, OptionValue<'_>) -> Result<(), String>),
    /// As `Two`; one value with a `=` between them is both.
    Assignment(fn(&mut T, OptionValue<'_>, OptionValue<'_>) -> Result<(), String>),
    Help,
    Version,
}

/// How a word with one dash is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SingleDash {
    /// As in GNU programs: single letters, which may be joined (`-fl`) and followed by their value (`-n4`).
    Letters,
    /// As in mpiexec: one dash and two dashes are the same (`-np 4`).
    Names,
}

/// What happens to words that are neither options nor values of options.
pub(crate) enum Operands<T> {
    /// They are errors.
    None,
    /// Each is passed to this function.
    Each(fn(&mut T, OptionValue<'_>) -> Result<(), String>),
    /// Each is passed to this function, also those that begin with a dash and name no option here.
    PassThrough(fn(&mut T, OptionValue<'_>) -> Result<(), String>),
    /// The first one ends the options: it is a program, and the rest are the program's arguments.
    Program,
}

/// The outcome of reading a command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed<'a> {
    /// Run the command. The words are those of the program, with [`Operands::Program`].
    Run(&'a [OsString]),
    /// Print [`OptionTable::help`].
    Help,
    /// Print the version.
    Version,
}

/// A value from the command line.
#[derive(Clone, Copy)]
pub(crate) struct OptionValue<'a>(pub(crate) &'a OsStr);

/// An option without a value.
pub(crate) const fn flag<T>(
    names: &'static [&'static str],
    help: &'static str,
    set: fn(&mut T),
) -> OptionRow<T> {
    row(names, &[], help, Action::Flag(set))
}

/// An option with one value; the help calls it `value[0]`.
pub(crate) const fn value<T>(
    names: &'static [&'static str],
    value: &'static [&'static str; 1],
    help: &'static str,
    set: fn(&mut T, OptionValue<'_>) -> Result<(), String>,
) -> OptionRow<T> {
    row(names, value, help, Action::One(set))
}

/// An option with two values.
pub(crate) const fn pair<T>(
    names: &'static [&'static str],
    values: &'static [&'static str; 2],
    help: &'static str,
    set: fn(&mut T, OptionValue<'_>, OptionValue<'_>) -> Result<(), String>,
) -> OptionRow<T> {
    row(names, values, help, Action::Two(set))
}

/// An option with a name and a value, as one word (`NAME=VALUE`) or as two.
pub(crate) const fn assignment<T>(
    names: &'static [&'static str],
    help: &'static str,
    set: fn(&mut T, OptionValue<'_>, OptionValue<'_>) -> Result<(), String>,
) -> OptionRow<T> {
    row(names, &["NAME", "VALUE"], help, Action::Assignment(set))
}

/// Splits `NAME=VALUE` at the first `=`.
pub(crate) fn split_assignment(word: &OsStr) -> Option<[&OsStr; 2]> {
    let bytes = word.as_bytes();
    let end = bytes.iter().position(|byte| *byte == b'=')?;
    Some([&bytes[..end], &bytes[end + 1..]].map(OsStr::from_bytes))
}

/// `-h` and `--help`.
pub(crate) const fn help<T>() -> OptionRow<T> {
    row(&["h", "help"], &[], "print this text", Action::Help)
}

/// `-V` and `--version`.
pub(crate) const fn version<T>() -> OptionRow<T> {
    row(&["V", "version"], &[], "print the version", Action::Version)
}

const fn row<T>(
    names: &'static [&'static str],
    values: &'static [&'static str],
    help: &'static str,
    action: Action<T>,
) -> OptionRow<T> {
    OptionRow {
        names,
        values,
        help,
        action,
    }
}

impl<'a> OptionValue<'a> {
    /// The value as text.
    ///
    /// # Errors
    /// If the value is not UTF-8.
    pub(crate) fn text(self) -> Result<&'a str, String> {
        (self.0.to_str()).ok_or_else(|| format!("{:?} is not UTF-8", self.0))
    }

    /// The value as a path, whatever its bytes are.
    pub(crate) fn path(self) -> PathBuf {
        self.0.into()
    }

    /// The value as `parse` reads it.
    ///
    /// # Errors
    /// If the value is not UTF-8, or what `parse` says.
    pub(crate) fn parse<V, E: Display>(
        self,
        parse: impl FnOnce(&str) -> Result<V, E>,
    ) -> Result<V, String> {
        parse(self.text()?).map_err(|why| why.to_string())
    }

    /// Stores the value as `parse` reads it.
    ///
    /// # Errors
    /// As [`OptionValue::parse`].
    pub(crate) fn set<S: From<V>, V, E: Display>(
        self,
        slot: &mut S,
        parse: impl FnOnce(&str) -> Result<V, E>,
    ) -> Result<(), String> {
        *slot = self.parse(parse)?.into();
        Ok(())
    }
}

/// Stores the first operand of a command that takes at most one.
///
/// # Errors
/// If there is one already.
pub(crate) fn only_operand<V>(slot: &mut Option<V>, operand: V) -> Result<(), String> {
    match slot.replace(operand) {
        None => Ok(()),
        Some(_) => Err("unexpected argument".into()),
    }
}

impl<T> OptionTable<T> {
    /// An empty table for single-letter options and no operands, to be completed.
    pub(crate) const GNU: Self = Self {
        command: "",
        intro: "",
        groups: &[],
        outro: "",
        single_dash: SingleDash::Letters,
        operands: Operands::None,
    };

    fn rows(&self) -> impl Iterator<Item = &'static OptionRow<T>> {
        self.groups.iter().flat_map(|group| group.rows)
    }

    fn find(&self, name: &[u8]) -> Option<&'static OptionRow<T>> {
        self.rows()
            .find(|row| row.names.iter().any(|known| known.as_bytes() == name))
    }

    /// Reads the command line into `parsed`, from the left. Help and version end the reading.
    ///
    /// # Errors
    /// A sentence with the option, what is wrong, what was expected, and the help command.
    pub(crate) fn read<'a>(
        &self,
        arguments: &'a [OsString],
        parsed: &mut T,
    ) -> Result<Parsed<'a>, String> {
        self.read_without_help(arguments, parsed)
            .map_err(|why| self.with_help(why))
    }

    /// An error of this command, followed by its help command.
    pub(crate) fn with_help(&self, why: impl Display) -> String {
        with_help(why, &format!("{} --help", self.command))
    }

    /// As [`OptionTable::read`]; errors do not name the help command.
    ///
    /// # Errors
    /// As [`OptionTable::read`].
    pub(crate) fn read_without_help<'a>(
        &self,
        arguments: &'a [OsString],
        parsed: &mut T,
    ) -> Result<Parsed<'a>, String> {
        let mut at = 0;
        let mut options_ended = false;
        while let Some(word) = arguments.get(at) {
            at += 1;
            let bytes = word.as_bytes();
            if bytes == b"--" && !options_ended {
                options_ended = true;
                continue;
            }
            if options_ended || bytes.len() < 2 || bytes[0] != b'-' {
                let value = OptionValue(word);
                match self.operands {
                    Operands::None => {
                        return Err(format!("unexpected argument `{}`", word.display()));
                    }
                    Operands::Program => return Ok(Parsed::Run(&arguments[at - 1..])),
                    Operands::Each(take) | Operands::PassThrough(take) => {
                        take(parsed, value).map_err(|why| with_value(why, "", &[value.0]))?;
                    }
                }
                continue;
            }
            let mut letters = self.split(bytes)?;
            if let (None, Operands::PassThrough(take)) = (&letters, &self.operands) {
                take(parsed, OptionValue(word))?;
            }
            while let Some(option) = letters.take() {
                match self.apply(&option, arguments, &mut at, parsed)? {
                    Some(end) => return Ok(end),
                    None => letters = self.next_letter(&option)?,
                }
            }
        }
        Ok(Parsed::Run(&[]))
    }

    /// The option that a word names, and what is joined to it. `None`: the word is passed through.
    fn split<'w>(&self, word: &'w [u8]) -> Result<Option<TypedOption<'w, T>>, String> {
        let is_double = word.starts_with(b"--");
        let name = &word[if is_double { 2 } else { 1 }..];
        let (name, joined) = match name.iter().position(|byte| *byte == b'=') {
            Some(end) => (&name[..end], Joined::Value(&name[end + 1..])),
            None => (name, Joined::Nothing),
        };
        let is_letter = self.single_dash == SingleDash::Letters && !is_double;
        // `--n` is a letter with two dashes only where names do not depend on dashes.
        let is_name = name.len() > 1 || !is_double || self.single_dash == SingleDash::Names;
        if let Some(row) = self.find(name).filter(|_| is_name) {
            let typed = &word[..word.len() - joined.len()];
            return Ok(Some(TypedOption {
                row,
                typed: typed.into(),
                joined,
            }));
        }
        if is_letter && word.len() > 2 {
            return self.letter(&word[1..], word).map(Some);
        }
        match self.operands {
            Operands::PassThrough(_) => Ok(None),
            _ => Err(self.unknown(&word[..word.len() - joined.len()])),
        }
    }

    /// The first of several joined letters; the rest is its value, or more letters.
    fn letter<'w>(&self, letters: &'w [u8], word: &[u8]) -> Result<TypedOption<'w, T>, String> {
        let (first, rest) = letters.split_at(1);
        let row = self.find(first).ok_or_else(|| self.unknown(word))?;
        let joined = match rest {
            [] => Joined::Nothing,
            [b'=', value @ ..] if !row.values.is_empty() => Joined::Value(value),
            rest => Joined::Letters(rest),
        };
        let typed = [b"-", first].concat();
        Ok(TypedOption { row, typed, joined })
    }

    fn next_letter<'w>(
        &self,
        option: &TypedOption<'w, T>,
    ) -> Result<Option<TypedOption<'w, T>>, String> {
        match option.joined {
            Joined::Letters(rest) if option.row.values.is_empty() => {
                self.letter(rest, &[b"-", rest].concat()).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Collects the values of an option and does what its row says.
    fn apply<'a>(
        &self,
        option: &TypedOption<'_, T>,
        arguments: &'a [OsString],
        at: &mut usize,
        parsed: &mut T,
    ) -> Result<Option<Parsed<'a>>, String> {
        let TypedOption { row, typed, joined } = option;
        let typed = String::from_utf8_lossy(typed);
        let mut values: Vec<&OsStr> = Vec::new();
        match joined {
            Joined::Value(value) => values.push(OsStr::from_bytes(value)),
            Joined::Letters(value) if !row.values.is_empty() => {
                values.push(OsStr::from_bytes(value));
            }
            Joined::Letters(_) | Joined::Nothing => {}
        }
        loop {
            if let (Action::Assignment(_), [word]) = (&row.action, values.as_slice())
                && let Some(both) = split_assignment(word)
            {
                values = both.into();
            }
            if values.len() >= row.values.len() {
                break;
            }
            let missing = || format!("{typed} needs {}", row.values.join(" and "));
            values.push(arguments.get(*at).ok_or_else(missing)?);
            *at += 1;
        }
        if values.len() > row.values.len() {
            return Err(format!("{typed} takes no value"));
        }
        let done = match (&row.action, values.as_slice()) {
            (Action::Help, _) => return Ok(Some(Parsed::Help)),
            (Action::Version, _) => return Ok(Some(Parsed::Version)),
            (Action::Flag(set), _) => {
                set(parsed);
                Ok(())
            }
            (Action::One(set), [value]) => set(parsed, OptionValue(value)),
            (Action::Two(set) | Action::Assignment(set), [a, b]) => {
                set(parsed, OptionValue(a), OptionValue(b))
            }
            (Action::One(_) | Action::Two(_) | Action::Assignment(_), _) => Ok(()),
        };
        done.map(|()| None)
            .map_err(|why| with_value(why, &typed, &values))
    }

    /// An error for an option that is in no row, with the nearest name.
    fn unknown(&self, typed: &[u8]) -> String {
        let typed = String::from_utf8_lossy(typed);
        let bare = typed.trim_start_matches('-');
        // Any letter is near any other.
        let names = self.rows().flat_map(|row| row.names.iter().copied());
        let near = nearest(bare, names.filter(|name| name.len() > 1 && bare.len() > 1));
        match near {
            Some(near) => format!(
                "unknown option `{typed}`; did you mean `{}`?",
                help::dashed(near, self.single_dash)
            ),
            None => format!("unknown option `{typed}`"),
        }
    }
}

/// An option as it stands in a word.
struct TypedOption<'w, T: 'static> {
    row: &'static OptionRow<T>,
    /// The option with its dashes, for errors.
    typed: Vec<u8>,
    joined: Joined<'w>,
}

/// What follows an option in the same word.
enum Joined<'w> {
    Nothing,
    /// The bytes after `=`.
    Value(&'w [u8]),
    /// The bytes after a letter: its value, or more letters.
    Letters(&'w [u8]),
}

impl Joined<'_> {
    /// Bytes in the word, with the `=`.
    fn len(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Value(value) => value.len() + 1,
            Self::Letters(letters) => letters.len(),
        }
    }
}

/// An error with its option, and with the values unless the error shows them.
fn with_value(why: String, typed: &str, values: &[&OsStr]) -> String {
    let values: Vec<_> = values.iter().map(|value| value.to_string_lossy()).collect();
    let mut head: Vec<&str> = vec![typed];
    if !why.contains('\n')
        && !values
            .iter()
            .any(|value| !value.is_empty() && why.contains(&**value))
    {
        let shown = values.iter().filter(|value| !value.is_empty());
        head.extend(shown.map(|value| &**value));
    }
    let head = head.join(" ");
    match head.trim_start() {
        "" => why,
        head => format!("{head}: {why}"),
    }
}
