//! Reads and writes `distances2` and `distances2hetero` elements: matrices between objects of one type, or of
//! several.

use super::devices;
use super::document::Element;
use super::marks::{device_index, object_index};
use super::print::Printer;
use crate::distances::{Distances, End, Measure};
use crate::facts::ObjectId;
use crate::kind::Kind;
use crate::machine::Machine;
use crate::tree::Marks;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;
use oxmpi_text::Error;

/// The bits of the attribute `kind`.
const FROM_OS: u32 = 1;
const FROM_USER: u32 = 2;
const LATENCY: u32 = 4;
const BANDWIDTH: u32 = 8;
const HETEROGENEOUS: u32 = 16;

/// The numbers in one element.
const NUMBERS: usize = 10;

/// Finds the objects and devices that matrices name.
pub(super) struct MatrixObjects {
    marks: Marks,
    numbered: BTreeMap<(Kind, u32), ObjectId>,
}

impl MatrixObjects {
    pub(super) fn new(machine: &Machine, marks: Marks) -> Self {
        let by_number = [Kind::Pu, Kind::Numa].into_iter();
        let objects = by_number.flat_map(|kind| machine.objects(kind));
        let number = |object: crate::Object<'_>| Some(((object.kind(), object.os()?), object.id()));
        Self {
            marks,
            numbered: objects.filter_map(number).collect(),
        }
    }

    /// The object or device of this type that an index names.
    fn find(&self, type_name: &str, index: u64, by_os: bool) -> Option<End> {
        if devices::is_device(type_name) {
            return self.marks.devices.get(&index).copied().map(End::Device);
        }
        let kind = Kind::all().find(|kind| kind.name() == type_name);
        let id = match kind.filter(|_| by_os) {
            Some(kind) => self.numbered.get(&(kind, u32::try_from(index).ok()?)),
            None => self.marks.objects.get(&index),
        };
        id.copied().map(End::Object)
    }
}

/// Reads a matrix with only the ends that the machine has, and whether it has all; `None` if fewer than two
/// are left.
pub(super) fn read(
    element: Element<'_>,
    places: &MatrixObjects,
) -> Result<(Option<Distances>, bool), Error> {
    let mut ends = Vec::new();
    let mut values = Vec::new();
    let type_name = element.get("type").map(|value| value.text);
    if element.name() == "distances2" && type_name.is_none() {
        return Err(element.wrong("an attribute `type`, the type of its objects"));
    }
    let by_os = element.get("indexing").is_some_and(|by| by.text == "os");
    for child in element.children() {
        match child.name() {
            "indexes" => {
                for word in child.words() {
                    let (type_name, index) = match type_name {
                        Some(type_name) => (type_name, word),
                        None => word.split_once(':').unwrap_or(("", word)),
                    };
                    let index = index.parse();
                    let index = index.map_err(|_| child.wrong("numbers of objects"))?;
                    ends.push(places.find(type_name, index, by_os));
                }
            }
            "u64values" => {
                let wrong = |_| child.wrong("distances as numbers");
                let numbers = child.words().map(|word| word.parse().map_err(wrong));
                for number in numbers {
                    values.push(number?);
                }
            }
            _ => {}
        }
    }
    let count = element.need("nbobjs", "distances between nbobjs objects")?;
    if count.number("a number of objects") != Ok(ends.len()) {
        return Err(count.wrong("the number of indexes"));
    }
    if ends.len().checked_mul(ends.len()) != Some(values.len()) {
        return Err(count.wrong("the square root of the number of values"));
    }
    let bits: u32 = element.number("kind", "a number")?.unwrap_or(0);
    let measure = match (bits & LATENCY > 0, bits & BANDWIDTH > 0) {
        (true, false) => Measure::Latency,
        (false, true) => Measure::Bandwidth,
        _ => Measure::Unknown,
    };
    let all = ends.iter().all(Option::is_some);
    let matrix = Distances {
        name: element.text("name"),
        measure,
        of_user: bits & FROM_USER > 0,
        ends: Vec::new(),
        values,
    };
    Ok((matrix.with_ends(&ends), all))
}

/// Writes the matrices of a machine.
pub(super) fn write(printer: &mut Printer, machine: &Machine) {
    for matrix in machine.distances() {
        write_one(printer, machine, matrix);
    }
}

fn write_one(printer: &mut Printer, machine: &Machine, matrix: &Distances) {
    let type_name = common_type(machine, matrix);
    printer.begin(match type_name {
        Some(_) => "distances2",
        None => "distances2hetero",
    });
    printer.option("type", type_name);
    printer.attribute("nbobjs", matrix.ends.len());
    let from = if matrix.of_user { FROM_USER } else { FROM_OS };
    let means = match matrix.measure {
        Measure::Latency => LATENCY,
        Measure::Bandwidth => BANDWIDTH,
        Measure::Unknown => 0,
    };
    let types = type_name.map_or(HETEROGENEOUS, |_| 0);
    printer.attribute("kind", from | means | types);
    printer.option("name", matrix.name());
    let by_os = ["PU", "NUMANode"].map(Some).contains(&type_name);
    let indexing = if by_os { "os" } else { "gp" };
    printer.option("indexing", type_name.map(|_| indexing));

    let index = |end: &End| match *end {
        End::Object(id) if by_os => u64::from(machine.object(id).os().unwrap_or(0)),
        End::Object(id) => object_index(id.0),
        End::Device(id) => device_index(machine.device(id)),
    };
    let ends = matrix.ends.iter();
    match type_name {
        Some(_) => write_words(printer, "indexes", ends.map(index)),
        None => {
            let word = |end: &End| format!("{}:{}", type_of(machine, *end), index(end));
            write_words(printer, "indexes", ends.map(word));
        }
    }
    write_words(printer, "u64values", matrix.values.iter());
    printer.end();
}

/// Writes words, each followed by a blank, in elements that state their length.
fn write_words(
    printer: &mut Printer,
    name: &'static str,
    words: impl Iterator<Item = impl Display>,
) {
    let words: Vec<String> = words.map(|word| format!("{word} ")).collect();
    for words in words.chunks(NUMBERS) {
        let content = words.concat();
        printer.begin(name);
        printer.attribute("length", content.len());
        printer.end_with(&content);
    }
}

/// The type of all ends, if they have the same.
fn common_type(machine: &Machine, matrix: &Distances) -> Option<&'static str> {
    let mut types = matrix.ends.iter().map(|end| type_of(machine, *end));
    let first = types.next()?;
    types.all(|other| other == first).then_some(first)
}

fn type_of(machine: &Machine, end: End) -> &'static str {
    match end {
        End::Object(id) => machine.object(id).kind().name(),
        End::Device(id) => devices::type_name(machine.device(id).kind()),
    }
}
