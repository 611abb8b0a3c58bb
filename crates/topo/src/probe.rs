//! [`Probe`]: finds the topology of the running machine from the best source that works.
//!
//! The order is that of Intel's OpenMP runtime: cpuid on every processor; cpuid on one processor, which
//! assumes that all are alike and numbered without gaps; /proc/cpuinfo; and as the last resort a flat
//! machine. [`Machine::source`] is the source that was used, [`Probed::refused`] says why those before it
//! were not.
//!
//! ```
//! use oxmpi_topo::probe::{Probe, Refusal};
//! use oxmpi_topo::{CpuSet, Source};
//!
//! let no_cpuid = || Err(Refusal::Absent("not an x86 processor".into()));
//! let probed = Probe {
//!     processors: &CpuSet::range(0, 2),
//!     global: &no_cpuid,
//!     local: &no_cpuid,
//!     cpuinfo: &|| Ok("processor: 0\nphysical id: 0\n\nprocessor: 1\nphysical id: 1\n".into()),
//! }
//! .run();
//! assert_eq!(probed.machine.source(), Source::Cpuinfo);
//! let (source, refusal) = &probed.refused[0];
//! assert_eq!(format!("{source}: {refusal}"), "global cpuid info: not an x86 processor");
//! ```
//!
//! Source: the Intel C++ Compiler's documentation of `KMP_AFFINITY`, "Determining machine topology" and the table of
//! messages.

use crate::cpuset::CpuSet;
use crate::error::SyntaxError;
use crate::machine::Machine;
use crate::source::Source;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A function that reads the machine from one source.
pub type Ask<'a> = &'a dyn Fn() -> Result<Machine, Refusal>;

/// The sources in order; each is asked only if those before it are refused.
#[derive(Clone, Copy)]
pub struct Probe<'a> {
    /// The processors that a machine must have to be accepted: those that the program may use.
    pub processors: &'a CpuSet,
    /// The machine from cpuid on every processor, see [`Machine::from_cpuid`].
    pub global: Ask<'a>,
    /// The machine from cpuid on one processor, see [`Machine::from_local_cpuid`].
    pub local: Ask<'a>,
    /// The text of /proc/cpuinfo.
    pub cpuinfo: &'a dyn Fn() -> Result<String, Refusal>,
}

/// The machine, and why better sources were not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// The machine; its [`source`](Machine::source) is the one that was used.
    pub machine: Machine,
    /// The sources that were refused before, in order.
    pub refused: Vec<(Source, Refusal)>,
}

/// Why a source was not used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The source is missing or may not be used; the reason in words.
    Absent(String),
    /// The source has a syntax error or a contradiction.
    Wrong(SyntaxError),
    /// The source has no information on these processors.
    Incomplete(CpuSet),
}

impl Probe<'_> {
    /// Asks the sources in order, up to the first that has all processors. The flat machine, which is the
    /// last, has a [note](Machine::notes) with a warning.
    pub fn run(&self) -> Probed {
        let cpuinfo = || Ok(Machine::from_cpuinfo(&(self.cpuinfo)()?)?);
        let sources: [(Source, Ask<'_>); 3] = [
            (Source::CpuidGlobal, self.global),
            (Source::CpuidLocal, self.local),
            (Source::Cpuinfo, &cpuinfo),
        ];
        let mut refused = Vec::new();
        for (source, ask) in sources {
            match ask().and_then(|machine| self.complete(machine)) {
                Ok(machine) => return Probed { machine, refused },
                Err(refusal) => refused.push((source, refusal)),
            }
        }
        Probed {
            machine: Machine::flat(self.processors),
            refused,
        }
    }

    /// `machine` if it has all processors, else that of the first source that has: then a
    /// [note](Machine::notes) names the source and the processors that were missing. For an empty /sys, as in
    /// sandboxes.
    pub fn or_else(&self, machine: Machine) -> Machine {
        let source = machine.source();
        match self.complete(machine) {
            Ok(machine) => machine,
            Err(refusal) => {
                let mut machine = self.run().machine;
                let used = machine.source();
                let note = format!("the topology is from {used}, because in {source} {refusal}");
                machine.notes.insert(0, note);
                machine
            }
        }
    }

    fn complete(&self, machine: Machine) -> Result<Machine, Refusal> {
        let missing = self.processors - machine.online();
        match missing.is_empty() {
            true => Ok(machine),
            false => Err(Refusal::Incomplete(missing)),
        }
    }
}

impl fmt::Debug for Probe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut probe = f.debug_struct("Probe");
        probe.field("processors", self.processors);
        probe.finish_non_exhaustive()
    }
}

impl From<SyntaxError> for Refusal {
    fn from(error: SyntaxError) -> Self {
        Self::Wrong(error)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(reason) => f.write_str(reason),
            Self::Wrong(error) => error.fmt(f),
            Self::Incomplete(missing) => write!(f, "processors {missing} are missing"),
        }
    }
}

impl core::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    //! The first source that works is used, and no later one is asked.

    use super::{Probe, Probed, Refusal};
    use crate::cpuset::CpuSet;
    use crate::machine::Machine;
    use crate::source::Source;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use core::cell::RefCell;

    const CPUINFO: &str =
        "processor: 0\nphysical id: 0\n\nprocessor: 1\nphysical id: 0\ncore id: 1\n";

    /// A probe whose cpuid sources work if `true`, with a machine of processors 0-1.
    fn probe(
        global: bool,
        local: bool,
        cpuinfo: Result<&str, &str>,
        cpus: &str,
    ) -> (Probed, Vec<Source>) {
        let asked = RefCell::new(Vec::new());
        let cpuid = |source, answers: bool| {
            asked.borrow_mut().push(source);
            let mut machine = Machine::from_cpuinfo(CPUINFO).unwrap();
            machine.source = source;
            answers
                .then_some(machine)
                .ok_or(Refusal::Absent("no cpuid".into()))
        };
        let text = || {
            asked.borrow_mut().push(Source::Cpuinfo);
            let absent = |reason: &str| Refusal::Absent(reason.into());
            cpuinfo.map(String::from).map_err(absent)
        };
        let probed = Probe {
            processors: &cpus.parse().unwrap(),
            global: &|| cpuid(Source::CpuidGlobal, global),
            local: &|| cpuid(Source::CpuidLocal, local),
            cpuinfo: &text,
        }
        .run();
        (probed, asked.into_inner())
    }

    #[test]
    fn the_first_that_answers_is_used() {
        use Source::{CpuidGlobal, CpuidLocal, Cpuinfo, Flat};
        let order = [CpuidGlobal, CpuidLocal, Cpuinfo];
        let cases = [
            (true, true, Ok(CPUINFO), CpuidGlobal),
            (true, false, Err("no such file"), CpuidGlobal),
            (false, true, Ok(CPUINFO), CpuidLocal),
            (false, false, Ok(CPUINFO), Cpuinfo),
            (false, false, Ok("processor: 0\nprocessor: 1\n"), Flat),
            (false, false, Err("no such file"), Flat),
        ];
        for (global, local, cpuinfo, used) in cases {
            let (probed, asked) = probe(global, local, cpuinfo, "0-1");
            assert_eq!(probed.machine.source(), used);
            let before = order.iter().take_while(|source| **source != used);
            let before: Vec<Source> = before.copied().collect();
            let refused: Vec<Source> = probed.refused.iter().map(|(source, _)| *source).collect();
            assert_eq!(refused, before);
            assert_eq!(asked, order[..order.len().min(before.len() + 1)]);
        }
    }

    #[test]
    fn refusals_say_why() {
        let reasons = |cpuinfo| -> Vec<String> {
            let (probed, _) = probe(false, false, cpuinfo, "0-1");
            probed
                .refused
                .iter()
                .map(|(_, why)| why.to_string())
                .collect()
        };
        assert_eq!(
            reasons(Err("no such file")),
            ["no cpuid", "no cpuid", "no such file"]
        );
        let why = &reasons(Ok("processor: 0\n"))[2];
        assert!(
            why.starts_with("/proc/cpuinfo:1: expected a processor with `physical id`"),
            "{why}"
        );
    }

    #[test]
    fn a_machine_without_all_processors_is_not_used() {
        let (probed, asked) = probe(true, true, Ok(CPUINFO), "1-3");
        assert_eq!(probed.machine, Machine::flat(&CpuSet::range(1, 4)));
        assert_eq!(asked.len(), 3);
        for (source, refusal) in probed.refused {
            assert_eq!(
                refusal,
                Refusal::Incomplete(CpuSet::range(2, 4)),
                "{source}"
            );
            assert_eq!(refusal.to_string(), "processors 2-3 are missing");
        }
    }

    #[test]
    fn a_machine_without_all_processors_is_replaced_with_a_note() {
        let refuse = || Err(Refusal::Absent("no cpuid".into()));
        let or_else = |cpus: &str, cpuinfo: &dyn Fn() -> Result<String, Refusal>| {
            let probe = Probe {
                processors: &cpus.parse().unwrap(),
                global: &refuse,
                local: &refuse,
                cpuinfo,
            };
            let empty = alloc::collections::BTreeMap::<String, String>::new();
            probe.or_else(Machine::from_linux(&empty).unwrap())
        };
        let text = || Ok(CPUINFO.into());
        let notes = |machine: &Machine| machine.notes().map(String::from).collect::<Vec<_>>();
        let kept = or_else("0", &text);
        assert_eq!((kept.source(), notes(&kept).len()), (Source::Linux, 0));
        let other = or_else("0-1", &text);
        assert_eq!(other, Machine::from_cpuinfo(CPUINFO).unwrap());
        assert_eq!(
            notes(&other),
            [
                "the topology is from /proc/cpuinfo, because in /proc and /sys processors 1 are missing"
            ]
        );
        let counted = or_else("1-3", &|| refuse().map(|_: Machine| String::new()));
        assert_eq!(counted, Machine::flat(&CpuSet::range(1, 4)));
        assert_eq!(notes(&counted).len(), 2);
    }

    #[test]
    fn flat_is_warned_of_once() {
        let (probed, _) = probe(false, false, Err("no such file"), "0-1");
        assert_eq!(probed.machine.notes().count(), 1);
    }
}
