//! `oxmpi pin --batch`: answers many queries, one JSON object a line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::path::Path;
use std::rc::Rc;

use oxmpi_pin::openmp::Dialect;
use oxmpi_topo::Machine;
use serde::Deserialize;

use super::json;
use super::query::{self, PinQuery, Variables};

/// The longest line, in bytes.
const LONGEST_LINE: u64 = 16 << 20;

/// The largest number of machines in the cache; then the cache is emptied.
const MOST_MACHINES: usize = 256;

/// A query as a line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchLine {
    machine: String,
    #[serde(default)]
    env: Variables,
    #[serde(default = "one")]
    ranks: u32,
    threads: Option<u32>,
    mask: Option<String>,
    compat: Option<String>,
    levels: Option<String>,
    rules: Option<String>,
}

fn one() -> u32 {
    1
}

/// Answers every query of the file (`-`: standard input) on standard output.
///
/// # Errors
/// A sentence, if the file cannot be read or some lines are wrong; the other lines are answered.
pub(super) fn run(path: &Path) -> Result<(), String> {
    let (name, file): (_, Box<dyn Read>) = match path.as_os_str() == "-" {
        true => ("standard input".into(), Box::new(io::stdin().lock())),
        false => {
            let name = path.display().to_string();
            let file = File::open(path).map_err(|why| format!("{name}: {why}"))?;
            (name, Box::new(file))
        }
    };
    let mut batch = Batch {
        name,
        machines: BTreeMap::new(),
        wrong: Vec::new(),
    };
    batch.answer(BufReader::new(file), io::stdout().lock())?;
    match batch.wrong.first() {
        None => Ok(()),
        Some(first) => Err(format!(
            "{}: {} lines are wrong, the first is line {first}; see the `error` of their answers",
            batch.name,
            batch.wrong.len()
        )),
    }
}

/// The state of a batch.
struct Batch {
    /// The name of the file in errors.
    name: String,
    machines: BTreeMap<String, Result<Rc<Machine>, String>>,
    /// Numbers of wrong lines.
    wrong: Vec<usize>,
}

impl Batch {
    fn answer(&mut self, mut lines: impl BufRead, mut to: impl Write) -> Result<(), String> {
        for number in 1.. {
            let mut line = Vec::new();
            let read = lines
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)
                .map_err(|why| format!("{}: {why}", self.name))?;
            if read == 0 {
                break;
            }
            let is_long = read as u64 == LONGEST_LINE && !line.ends_with(b"\n");
            if is_long {
                let skipped = lines.skip_until(b'\n');
                skipped.map_err(|why| format!("{}: {why}", self.name))?;
            }
            if !is_long && line.trim_ascii().is_empty() {
                continue;
            }
            let query = match is_long {
                true => Err(format!("longer than {} MiB", LONGEST_LINE >> 20)),
                false => self.query(&line),
            };
            let answer = match query {
                Ok((machine, query)) => query.answer(&machine),
                Err(why) => {
                    self.wrong.push(number);
                    Err(format!("{}:{number}: {why}", self.name))
                }
            };
            match to.write_all(json::line(&answer).as_bytes()) {
                Ok(()) => {}
                // A reader that stops early is not an error.
                Err(why) if why.kind() == ErrorKind::BrokenPipe => break,
                Err(why) => return Err(format!("standard output: cannot be written: {why}")),
            }
        }
        Ok(())
    }

    /// The query of a line, and its machine.
    fn query(&mut self, line: &[u8]) -> Result<(Rc<Machine>, PinQuery), String> {
        let line: BatchLine = serde_json::from_slice(line).map_err(|why| {
            let text = why.to_string();
            let place = format!(" at line {} column {}", why.line(), why.column());
            format!(
                "{} (column {})",
                text.strip_suffix(&place).unwrap_or(&text),
                why.column()
            )
        })?;
        let named = |name: &str, why: String| format!("{name}: {why}");
        let mask = line.mask.as_deref().map(query::processors).transpose();
        let compat = line.compat.as_deref().map(query::compat).transpose();
        let levels = line.levels.as_deref().map(query::levels).transpose();
        let rules = line.rules.as_deref().map(query::rules).transpose();
        let query = PinQuery {
            variables: line.env,
            mapping: None,
            ranks: line.ranks,
            threads: line.threads,
            mask: mask.map_err(|why| named("mask", why))?,
            compat: compat
                .map_err(|why| named("compat", why))?
                .unwrap_or_default(),
            dialect: Dialect {
                levels: levels
                    .map_err(|why| named("levels", why))?
                    .unwrap_or_default(),
                rules: rules
                    .map_err(|why| named("rules", why))?
                    .unwrap_or_default(),
            },
        };
        let machine = self.machine(&line.machine);
        Ok((machine.map_err(|why| named("machine", why))?, query))
    }

    fn machine(&mut self, input: &str) -> Result<Rc<Machine>, String> {
        if input == "-" {
            return Err("a machine cannot come from standard input".into());
        }
        if self.machines.len() == MOST_MACHINES && !self.machines.contains_key(input) {
            self.machines.clear();
        }
        let read = || match Machine::from_input(input) {
            Ok(machine) => Ok(Rc::new(machine)),
            Err(why) => Err(why.to_string()),
        };
        let machine = self.machines.entry(input.into()).or_insert_with(read);
        machine.clone()
    }
}
