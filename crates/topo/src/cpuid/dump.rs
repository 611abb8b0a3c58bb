//! [`Dump`]: recorded cpuid answers of processors, in the file format of `hwloc-gather-cpuid`.
//!
//! Each processor N has a file `puN` with a line for each query: a mask of the input registers (1: eax; 5:
//! eax and ecx, for leaves with subleaves), the four registers before, `=>`, and the four after, all
//! hexadecimal. Lines that begin with `#` are comments.
//!
//! ```text
//! 5 b 0 1 0 => 4 4 201 0
//! ```

use super::{Cpuid, Registers, record, wrong};
use crate::cpuset::CpuSet;
use crate::error::SyntaxError;
use crate::linux::Files;
use crate::machine::Machine;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use core::fmt::Write as _;
use oxmpi_text::{Expected, Scanner};

/// The name and the content of the file `hwloc-cpuid-info`.
const INFO: (&str, &str) = ("hwloc-cpuid-info", "Architecture: x86\n");

/// A leaf, and its subleaf where it has them.
type Question = (u32, Option<u32>);

/// Recorded answers of processors to cpuid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    processors: BTreeMap<usize, BTreeMap<Question, Registers>>,
}

impl Dump {
    /// A dump without processors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the processors whose files `puN` are in `directory`. Other files are ignored.
    ///
    /// # Errors
    ///
    /// Names the file and the line with the error; the directory if it has no such file; the file of a
    /// processor above [`LARGEST_CPU`](Machine::LARGEST_CPU).
    pub fn read(files: &impl Files, directory: &str) -> Result<Self, SyntaxError> {
        let directory = directory.trim_end_matches('/');
        let mut dump = Self::new();
        for name in files.list(directory) {
            let Some(cpu) = number(&name) else {
                continue;
            };
            let path = format!("{directory}/{name}");
            let cpu = cpu.filter(|cpu| *cpu <= Machine::LARGEST_CPU);
            let cpu = cpu.ok_or_else(|| wrong(&name, "a file pu0 to pu8191").in_file(&path))?;
            let text = files.read(&path).unwrap_or_default();
            dump.insert(cpu, &text)
                .map_err(|error| error.in_file(&path))?;
        }
        if dump.processors.is_empty() {
            let directory = if directory.is_empty() { "/" } else { directory };
            return Err(wrong(directory, "files pu0, pu1 and so on").in_file(directory));
        }
        Ok(dump)
    }

    /// Adds or replaces a processor; `text` is the content of its file.
    ///
    /// # Errors
    ///
    /// Points at the first line with an error.
    pub fn insert(&mut self, cpu: usize, text: &str) -> Result<(), SyntaxError> {
        let mut answers = BTreeMap::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let content = line.trim_end();
            if !content.is_empty() && !content.starts_with('#') {
                let answer = answer(content).map_err(|cause| cause.moved(start));
                let (question, registers) =
                    answer.map_err(|cause| SyntaxError::in_lines(text, cause))?;
                answers.entry(question).or_insert(registers);
            }
            start += line.len();
        }
        self.processors.insert(cpu, answers);
        Ok(())
    }

    /// Adds a processor by calling `ask` with leaves (eax) and subleaves (ecx): all that this crate and hwloc
    /// need for the topology, and the processor's model.
    ///
    /// # Cost
    ///
    /// About 35 calls, at most 200 whatever the answers.
    pub fn record(&mut self, cpu: usize, ask: impl FnMut(u32, u32) -> Registers) {
        self.processors.insert(cpu, record::answers(ask));
    }

    /// The files, by name, that [`read`](Self::read) and hwloc (variable `HWLOC_CPUID_PATH`) read back.
    pub fn files(&self) -> impl Iterator<Item = (String, String)> {
        let info = (INFO.0.into(), INFO.1.into());
        let file = |(cpu, answers): (&usize, &BTreeMap<_, _>)| (format!("pu{cpu}"), text(answers));
        core::iter::once(info).chain(self.processors.iter().map(file))
    }
}

impl Cpuid for Dump {
    fn processors(&self) -> CpuSet {
        self.processors.keys().copied().collect()
    }

    fn leaf(&self, cpu: usize, leaf: u32, subleaf: u32) -> Option<Registers> {
        let answers = self.processors.get(&cpu)?;
        let answer = answers.get(&(leaf, Some(subleaf)));
        answer.or_else(|| answers.get(&(leaf, None))).copied()
    }
}

/// The number in a file name `puN`: `None` for other names, `Some(None)` for a number that is too large.
fn number(name: &str) -> Option<Option<usize>> {
    let digits = name.strip_prefix("pu")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let is_plain = digits == "0" || !digits.starts_with('0');
    (is_number && is_plain).then(|| digits.parse().ok())
}

/// Parses a line.
fn answer(line: &str) -> Result<(Question, Registers), oxmpi_text::Error> {
    let mut scanner = Scanner::new(line);
    let before = scanner.clone();
    let mask = hexadecimal(&mut scanner)?;
    let [leaf, _, subleaf, _] = four(&mut scanner)?;
    scanner.skip_blanks();
    if !(scanner.eat('=') && scanner.eat('>')) {
        return Err(scanner.wrong(Expected::Text("=> and the registers after")));
    }
    let [eax, ebx, ecx, edx] = four(&mut scanner)?;
    scanner.skip_blanks();
    scanner.end("the end of the line behind four registers")?;
    let subleaf = match mask {
        1 => None,
        5 => Some(subleaf),
        _ => return Err(before.wrong(Expected::Text("1 for a leaf, 5 for a leaf and subleaf"))),
    };
    Ok(((leaf, subleaf), Registers { eax, ebx, ecx, edx }))
}

fn four(scanner: &mut Scanner<'_>) -> Result<[u32; 4], oxmpi_text::Error> {
    let mut registers = [0; 4];
    for register in &mut registers {
        scanner.skip_blanks();
        *register = hexadecimal(scanner)?;
    }
    Ok(registers)
}

fn hexadecimal(scanner: &mut Scanner<'_>) -> Result<u32, oxmpi_text::Error> {
    let wrong = scanner.wrong(Expected::Text("a hexadecimal number of 32 bits"));
    let digits = scanner.take_while(|c| c.is_ascii_hexdigit());
    u32::from_str_radix(digits.text, 16).map_err(|_| wrong)
}

/// Writes the lines of a processor.
fn text(answers: &BTreeMap<Question, Registers>) -> String {
    let mut text = String::from("# mask e[abcd]x => e[abcd]x\n");
    for ((leaf, subleaf), after) in answers {
        let mask = if subleaf.is_some() { 5 } else { 1 };
        let Registers { eax, ebx, ecx, edx } = after;
        let subleaf = subleaf.unwrap_or(0);
        let line = writeln!(
            text,
            "{mask} {leaf:x} 0 {subleaf:x} 0 => {eax:x} {ebx:x} {ecx:x} {edx:x}"
        );
        debug_assert!(line.is_ok(), "writing to a string cannot fail");
    }
    text
}
