//! Reads and writes the attributes and infos of caches.

use crate::facts::{Cache, Info};
use crate::kind::Kind;
use crate::xml::document::Element;
use crate::xml::infos;
use crate::xml::print::Printer;
use alloc::vec::Vec;
use oxmpi_text::Error;

/// The info that says whether a cache is inclusive in version 2; version 3 has an attribute for it.
const INCLUSIVE: &str = "Inclusive";

/// Reads a cache of this kind, or the memory-side cache of a NUMA node.
pub(super) fn read(element: Element<'_>, kind: Kind) -> Result<Cache, Error> {
    let size = element.number("cache_size", "bytes as a number")?;
    let line = element.number("cache_linesize", "bytes as a number")?;
    let mut cache = Cache {
        size: size.unwrap_or(0),
        line: line.filter(|line| *line > 0),
        ..Cache::default()
    };
    cache.ways = match element.get("cache_associativity") {
        // In a fully associative cache, each line is a way.
        Some(ways) if ways.text == "-1" => cache
            .line
            .and_then(|line| u32::try_from(cache.size / u64::from(line)).ok()),
        Some(ways) => Some(ways.number("a number of ways, or -1 for fully associative")?),
        None => None,
    };
    cache.ways = cache.ways.filter(|ways| *ways > 0);

    if let Some(level) = element.get("depth").filter(|_| kind.is_cache())
        && Some(level.number("the level of the cache")?) != kind.cache_level()
    {
        return Err(level.wrong("the level that the type of the cache says"));
    }
    let (instructions, wanted) = match kind.holds_instructions_only() {
        true => (true, "2, the type of an instruction cache"),
        false => (false, "0 or 1, the type of a unified or data cache"),
    };
    let holds = match element.get("cache_type") {
        Some(value) => value
            .number(wanted)
            .and_then(|holds: u32| match holds == 2 {
                is_two if is_two == instructions && holds <= 2 => Ok(holds),
                _ => Err(value.wrong(wanted)),
            })?,
        None if instructions => return Err(element.wrong("an instruction cache with cache_type")),
        None => 0,
    };
    cache.unified = holds == 0;
    if let Some(value) = element.get("cache_inclusive") {
        cache.inclusive = Some(truth(value.text).ok_or_else(|| value.wrong("0 or 1"))?);
    }
    Ok(cache)
}

/// Adds an info to an object, or to its cache's fields.
pub(super) fn add_info(cache: Option<&mut Cache>, infos: &mut Vec<Info>, info: Info) {
    match (cache, truth(&info.value)) {
        (Some(cache), inclusive @ Some(_))
            if cache.inclusive.is_none() && info.name == INCLUSIVE =>
        {
            cache.inclusive = inclusive;
        }
        _ => infos.push(info),
    }
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// Writes the last attributes and the first info of a cache of this level.
pub(super) fn write(printer: &mut Printer, cache: Cache, level: u32, instructions: bool) {
    printer.attribute("cache_size", cache.size);
    printer.attribute("depth", level);
    printer.attribute("cache_linesize", cache.line.unwrap_or(0));
    printer.attribute("cache_associativity", cache.ways.unwrap_or(0));
    let holds = match cache.unified {
        _ if instructions => 2,
        true => 0,
        false => 1,
    };
    printer.attribute("cache_type", holds);
    infos::write_one(printer, INCLUSIVE, cache.inclusive.map(u8::from));
}
