//! Fuzz body of /proc/cpuinfo: a text is refused with its line, or gives a machine that parses back equal
//! from the list of its processors.

use oxmpi_topo::{Kind, Machine, Object};

/// Parses `data` as /proc/cpuinfo, writes the processors of the machine and parses them again.
///
/// # Panics
/// On a finding.
pub fn cpuinfo(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Machine::from_cpuinfo(&text) {
        Ok(machine) => {
            let written: String = machine.objects(Kind::Pu).map(record).collect();
            let again = Machine::from_cpuinfo(&written).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again, machine, "{written}");
        }
        Err(error) => {
            let lines = text.split('\n').count();
            assert!(error.line().is_some_and(|line| line <= lines), "{error}");
            assert_eq!(error.file(), Some("/proc/cpuinfo"));
        }
    }
}

fn record(pu: Object<'_>) -> String {
    let number = |kind| {
        pu.ancestor(kind)
            .and_then(|object| object.os())
            .expect("numbered")
    };
    format!(
        "processor: {}\nphysical id: {}\ncore id: {}\nthread id: {}\n\n",
        pu.os().expect("numbered"),
        number(Kind::Package),
        number(Kind::Core),
        pu.thread().expect("a thread of its core"),
    )
}
