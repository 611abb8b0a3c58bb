//! /proc/cpuinfo: any text is refused with its line, or makes a machine of the processors it lists, which written
//! anew read back.

use oxmpi_topo::cpuinfo::{Processor, processors};
use oxmpi_topo::{Kind, Machine};

/// Reads `data` as /proc/cpuinfo, writes the processors and reads them again.
///
/// # Panics
/// On a finding.
pub fn cpuinfo(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let machine = Machine::from_cpuinfo(&text);
    let list = match processors(&text) {
        Ok(list) => list,
        Err(error) => {
            let lines = text.split('\n').count();
            assert!(error.line().is_some_and(|line| line <= lines), "{error}");
            assert_eq!(error.file(), Some("/proc/cpuinfo"));
            assert_eq!(machine, Err(error));
            return;
        }
    };
    let machine = machine.unwrap_or_else(|error| panic!("{error}"));
    let cpus = list.iter().map(|processor| processor.cpu);
    assert_eq!(machine.online(), &cpus.collect());
    assert_eq!(machine.objects(Kind::Pu).len(), list.len());

    let written: String = list.iter().map(record).collect();
    let again = processors(&written).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, list, "{written}");
}

fn record(processor: &Processor) -> String {
    let Processor {
        cpu,
        package,
        core,
        thread,
    } = processor;
    format!("processor: {cpu}\nphysical id: {package}\ncore id: {core}\nthread id: {thread}\n\n")
}
