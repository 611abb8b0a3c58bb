//! Reads and writes `info` elements: pairs of a name and a value.

use super::document::Element;
use super::print::Printer;
use crate::facts::Info;
use core::fmt::Display;
use core::str::FromStr;
use oxmpi_text::Error;

pub(super) fn read(element: Element<'_>) -> Result<Info, Error> {
    let name = element.need("name", "an info with a name")?;
    let value = element.need("value", "an info with a value")?;
    Ok(Info::new(name.text, value.text))
}

pub(super) fn write(printer: &mut Printer, infos: &[Info]) {
    for info in infos {
        write_one(printer, &info.name, Some(&info.value));
    }
}

/// Writes an info for a value that a machine has a field for.
pub(super) fn write_one(printer: &mut Printer, name: &str, value: Option<impl Display>) {
    if let Some(value) = value {
        printer.begin("info");
        printer.attribute("name", name);
        printer.attribute("value", value);
        printer.end();
    }
}

/// Moves the value of an info with this name into a field, if the field is empty and the value parses;
/// returns whether it did.
pub(super) fn fill<T: FromStr>(field: &mut Option<T>, name: &str, info: &Info) -> bool {
    let is_new = field.is_none() && info.name == name;
    if is_new {
        *field = info.value.parse().ok();
    }
    is_new && field.is_some()
}
