//! Reads and writes `cpukind` elements: kinds of cores.

use super::document::Element;
use super::infos;
use super::print::Printer;
use crate::core_kind::CoreKind;
use crate::machine::Machine;
use oxmpi_text::Error;

/// The names of infos that are fields of a kind.
const NAME: &str = "CoreType";
const MAX_MHZ: &str = "FrequencyMaxMHz";
const BASE_MHZ: &str = "FrequencyBaseMHz";
const CAPACITY: &str = "LinuxCapacity";

pub(super) fn read(element: Element<'_>) -> Result<CoreKind, Error> {
    let cpuset = element.need("cpuset", "a kind of cores with a cpuset")?;
    let mut kind = CoreKind {
        cpus: cpuset.set(Machine::LARGEST_CPU, "numbers of processors up to 8191")?,
        ..CoreKind::default()
    };
    let rank = element.get("forced_efficiency");
    if let Some(rank) = rank.filter(|rank| rank.text != "-1") {
        kind.rank = Some(rank.number("a rank among the kinds, or -1 for none")?);
    }
    for child in element.children().filter(|child| child.name() == "info") {
        let info = infos::read(child)?;
        let is_field = infos::fill(&mut kind.name, NAME, &info)
            || infos::fill(&mut kind.max_mhz, MAX_MHZ, &info)
            || infos::fill(&mut kind.base_mhz, BASE_MHZ, &info)
            || infos::fill(&mut kind.capacity, CAPACITY, &info);
        if !is_field {
            kind.infos.push(info);
        }
    }
    Ok(kind)
}

pub(super) fn write(printer: &mut Printer, kind: &CoreKind) {
    printer.begin("cpukind");
    printer.attribute("cpuset", format_args!("{:#}", kind.cpus.mask()));
    printer.option("forced_efficiency", kind.rank);
    infos::write_one(printer, NAME, kind.name.as_ref());
    infos::write_one(printer, MAX_MHZ, kind.max_mhz);
    infos::write_one(printer, BASE_MHZ, kind.base_mhz);
    infos::write_one(printer, CAPACITY, kind.capacity);
    infos::write(printer, &kind.infos);
    printer.end();
}
