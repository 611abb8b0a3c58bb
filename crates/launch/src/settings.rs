//! `oxmpi settings`: every setting, its value, and where the value came from.

mod show;

use std::ffi::OsString;
use std::process::ExitCode;

use lexopt::prelude::*;
use oxmpi::settings::{Sources, TABLE, Value, Values, resolve};
use oxmpi_text::{Level, nearest};

use crate::complain::{self, USAGE};

const HELP: &str = "\
Usage: oxmpi settings [OPTIONS] [PATTERN]

Prints every setting: its name, value, where the value came from, its default and its type.
A PATTERN shows settings with that text in their name (also the name in another product), of every
level; the whole name of one setting shows all there is to know about it.

A value comes from the first of: the command line of a job, the environment variable OXMPI_NAME, the
variable of another product that means the same, the file named by OXMPI_SETTINGS_FILE, the file
oxmpi/settings.toml in $XDG_CONFIG_HOME or ~/.config (lines NAME = \"VALUE\"), the default.

Options:
  --level N      settings up to level N: 1 basic, 2 tuning (usual), 3 expert
  --parsable     one line a setting, fields separated by tabs
  --json         JSON, described in docs/formats.md
";

/// What the user typed.
struct Options {
    level: Option<Level>,
    form: Form,
    pattern: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Parsable,
    Json,
    Help,
}

/// Runs `oxmpi settings` with these arguments.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    match run(arguments) {
        Ok(text) => complain::answer(text),
        Err(why) => {
            complain::error(why);
            USAGE.into()
        }
    }
}

/// What to print.
fn run(arguments: Vec<OsString>) -> Result<String, String> {
    let options = parse(arguments).map_err(|why| format!("{why}. See `oxmpi settings --help`."))?;
    if options.form == Form::Help {
        return Ok(HELP.into());
    }
    let sources = Sources::of_process().map_err(|bad| bad.to_string())?;
    let values = resolve(TABLE, &sources).map_err(|bad| bad.to_string())?;
    values.warnings.iter().for_each(complain::error);
    let shown = select(&values, &options)?;
    Ok(match options.form {
        Form::Json => show::json(&shown, &values.warnings),
        Form::Parsable => show::parsable(&shown),
        _ => match (shown.as_slice(), &options.pattern) {
            ([one], Some(pattern)) if one.setting.name == pattern => show::page(one),
            _ => show::table(&shown, values.all.len()),
        },
    })
}

fn parse(arguments: Vec<OsString>) -> Result<Options, lexopt::Error> {
    let mut options = Options {
        level: None,
        form: Form::Table,
        pattern: None,
    };
    let mut parser = lexopt::Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("level") => options.level = Some(parser.value()?.parse_with(level)?),
            Long("parsable") => options.form = Form::Parsable,
            Long("json") => options.form = Form::Json,
            Long("help") | Short('h') => {
                options.form = Form::Help;
                break;
            }
            Value(pattern) if options.pattern.is_none() => {
                options.pattern = Some(pattern.string()?);
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

fn level(text: &str) -> Result<Level, &'static str> {
    match text {
        "1" => Ok(Level::Basic),
        "2" => Ok(Level::Tuning),
        "3" => Ok(Level::Expert),
        _ => Err("a level is 1, 2 or 3"),
    }
}

/// The values that the options ask for.
fn select<'a>(values: &'a Values, options: &Options) -> Result<Vec<&'a Value>, String> {
    let usual = match options.pattern {
        Some(_) => Level::Expert,
        None => Level::Tuning,
    };
    let level = options.level.unwrap_or(usual);
    let within = values.all.iter().filter(|v| v.setting.level <= level);
    let Some(pattern) = &options.pattern else {
        return Ok(within.collect());
    };
    let exact = values.all.iter().find(|v| v.setting.name == pattern);
    let shown = match exact {
        Some(one) => vec![one],
        None => within.filter(|v| matches(v, pattern)).collect(),
    };
    if shown.is_empty() {
        let names = values.all.iter().map(|v| v.setting.name);
        let hint =
            nearest(pattern, names).map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
        return Err(format!("no setting matches `{pattern}`{hint}"));
    }
    Ok(shown)
}

fn matches(value: &Value, pattern: &str) -> bool {
    let aliases = value.setting.aliases.iter().map(|alias| alias.name);
    let variable = value.setting.env().to_string();
    value.setting.name.contains(pattern)
        || variable.contains(pattern)
        || aliases.into_iter().any(|name| name.contains(pattern))
}

#[cfg(test)]
mod tests;
