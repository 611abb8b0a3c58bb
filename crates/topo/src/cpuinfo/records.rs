//! Parses the records of /proc/cpuinfo: one for each processor, with the numbers of the file.

use crate::machine::Machine;
use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;
use core::mem::take;
use oxmpi_text::{Error, Span, Token, whole};

/// The numbers of one processor.
pub(super) struct Record {
    pub(super) cpu: usize,
    pub(super) package: u32,
    pub(super) core: u32,
    pub(super) thread: Option<Number>,
}

/// A number and its position in the text.
pub(super) type Number = (u32, Span);

/// Parses the records, in ascending order of their processors. Errors point into `text`.
pub(super) fn read(text: &str) -> Result<Vec<Record>, Error> {
    let mut reader = Reader::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        match line.split_once(':') {
            Some((key, value)) => {
                reader.line(key.trim(), trim(value, start + key.len() + 1))?;
            }
            None if line.trim().is_empty() => reader.close()?,
            None => {}
        }
        start += line.len();
    }
    reader.close()?;
    if reader.records.is_empty() {
        let end = Span { start, end: start };
        return Err(Error::new(end, "a line such as `processor : 0`"));
    }
    Ok(reader.records.into_values().collect())
}

/// The value of a line without blanks around it; `start` is its position in the text.
fn trim(part: &str, start: usize) -> Token<'_> {
    let text = part.trim();
    let start = start + (part.len() - part.trim_start().len());
    let end = start + text.len();
    Token {
        text,
        span: Span { start, end },
    }
}

#[derive(Default)]
struct Reader {
    /// The complete records, by processor.
    records: BTreeMap<usize, Record>,
    open: Open,
}

/// The record whose lines are being read.
#[derive(Default)]
struct Open {
    cpu: Option<Number>,
    package: Option<Number>,
    core: Option<Number>,
    thread: Option<Number>,
}

impl Reader {
    fn line(&mut self, key: &str, value: Token<'_>) -> Result<(), Error> {
        if key == "processor" && self.open.cpu.is_some() {
            self.close()?;
        }
        let field = match key {
            "processor" => &mut self.open.cpu,
            "cpu number" if self.open.cpu.is_none() => &mut self.open.cpu,
            "physical id" => &mut self.open.package,
            "core id" => &mut self.open.core,
            "thread id" => &mut self.open.thread,
            _ => return Ok(()),
        };
        if field.is_some() {
            return Err(value.error("each key once in a record"));
        }
        let (largest, expected) = match key {
            "processor" | "cpu number" => {
                (Machine::LARGEST_CPU as u64, "a processor from 0 to 8191")
            }
            _ => (u64::from(u32::MAX), "a whole number below 2^32"),
        };
        let number = whole(value.text, 0..=largest, expected);
        let number = number.map_err(|error| error.moved(value.span.start))?;
        *field = Some((number as u32, value.span));
        Ok(())
    }

    /// Completes the record that is being read.
    fn close(&mut self) -> Result<(), Error> {
        let open = take(&mut self.open);
        let Some((cpu, place)) = open.cpu else {
            let stray = open.package.or(open.core).or(open.thread);
            return stray.map_or(Ok(()), |(_, span)| {
                Err(Error::new(span, "a line `processor` in the same record"))
            });
        };
        let Some((package, _)) = open.package else {
            let expected = "a processor with `physical id` in its record";
            return Err(Error::new(place, expected));
        };
        let record = Record {
            cpu: cpu as usize,
            package,
            core: open.core.map_or(0, |(core, _)| core),
            thread: open.thread,
        };
        match self.records.entry(record.cpu) {
            Entry::Vacant(place) => {
                place.insert(record);
                Ok(())
            }
            Entry::Occupied(_) => Err(Error::new(place, "a processor without another record")),
        }
    }
}
