//! [`Processor`]: one processor with its leaves, vendor and model, for the decoders of cpuid.

use super::{Cpuid, Registers, wrong};
use crate::error::SyntaxError;
use crate::facts::Info;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The first extended leaf, which names the highest one.
const EXTENDED: u32 = 0x8000_0000;

/// The vendor whose manual a processor follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VendorManual {
    /// Intel; also Centaur, Zhaoxin and unknown vendors.
    Intel,
    /// AMD; also Hygon, whose processors are AMD's of family 17h.
    Amd,
}

/// Vendor, name and model of a processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    /// The twelve letters of the vendor.
    vendor: [u32; 3],
    /// The 48 letters of the name; zero if it has none.
    name: [Registers; 3],
    pub(super) family: u32,
    pub(super) model: u32,
    stepping: u32,
}

/// The highest leaf of each of the two ranges, read from one processor for all: cores of all types have the
/// same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Highest {
    basic: u32,
    extended: u32,
}

impl Highest {
    /// Reads them from processor `cpu`.
    pub(super) fn read(cpuid: &impl Cpuid, cpu: usize) -> Self {
        let named = |leaf| cpuid.leaf(cpu, leaf, 0).unwrap_or_default().eax;
        Self {
            basic: named(0),
            extended: named(EXTENDED),
        }
    }

    fn has(self, leaf: u32) -> bool {
        let highest = if leaf >= EXTENDED {
            self.extended
        } else {
            self.basic
        };
        leaf <= highest
    }
}

/// A processor, and access to its leaves.
pub(super) struct Processor<'a, C> {
    cpuid: &'a C,
    cpu: usize,
    highest: Highest,
    pub(super) manual: VendorManual,
    pub(super) identity: Identity,
}

impl<'a, C: Cpuid> Processor<'a, C> {
    /// Reads the identity of processor `cpu`, which must know leaves 0 and 1.
    pub(super) fn read(cpuid: &'a C, cpu: usize, highest: Highest) -> Result<Self, SyntaxError> {
        let must = |leaf| {
            let expected = "a processor with cpuid leaves 0 and 1";
            let registers = cpuid.leaf(cpu, leaf, 0);
            registers.ok_or_else(|| wrong(&format!("processor {cpu}"), expected))
        };
        let first = must(0)?;
        let identity = Identity::new([first.ebx, first.edx, first.ecx], must(1)?.eax);
        let mut processor = Self {
            cpuid,
            cpu,
            highest,
            manual: identity.manual(),
            identity,
        };
        let name = [2, 3, 4].map(|part| processor.leaf(EXTENDED + part));
        processor.identity.name = name.map(Option::unwrap_or_default);
        Ok(processor)
    }

    /// The answer to a leaf, if the processor has it.
    pub(super) fn leaf(&self, leaf: u32) -> Option<Registers> {
        self.subleaf(leaf, 0)
    }

    /// The answer to a subleaf, if the processor has the leaf.
    pub(super) fn subleaf(&self, leaf: u32, subleaf: u32) -> Option<Registers> {
        let known = self.highest.has(leaf);
        known
            .then(|| self.cpuid.leaf(self.cpu, leaf, subleaf))
            .flatten()
    }

    /// Whether the processor has AMD's topology extensions: leaves 8000001Dh and 8000001Eh.
    pub(super) fn has_topology_extensions(&self) -> bool {
        let features = self.leaf(0x8000_0001);
        self.manual == VendorManual::Amd
            && features.is_some_and(|registers| registers.ecx >> 22 & 1 == 1)
    }
}

impl Identity {
    /// Decodes family and model: a full family field continues in its extension; the model has eight bits.
    fn new(vendor: [u32; 3], signature: u32) -> Self {
        let family = signature >> 8 & 0xf;
        let further = signature >> 20 & 0xff;
        Self {
            vendor,
            name: Default::default(),
            family: family + if family == 0xf { further } else { 0 },
            model: (signature >> 4 & 0xf) | (signature >> 12 & 0xf0),
            stepping: signature & 0xf,
        }
    }

    fn manual(&self) -> VendorManual {
        match text(self.vendor).as_str() {
            "AuthenticAMD" | "HygonGenuine" => VendorManual::Amd,
            _ => VendorManual::Intel,
        }
    }

    /// The info pairs that hwloc gives a package: vendor, family, model, name and stepping.
    pub(super) fn infos(&self) -> Vec<Info> {
        let name = self.name.iter();
        let name =
            text(name.flat_map(|registers| {
                [registers.eax, registers.ebx, registers.ecx, registers.edx]
            }));
        let mut infos = Vec::from([
            Info::new("CPUVendor", text(self.vendor)),
            Info::new("CPUFamilyNumber", self.family.to_string()),
            Info::new("CPUModelNumber", self.model.to_string()),
        ]);
        if !name.trim().is_empty() {
            infos.push(Info::new("CPUModel", name.trim()));
        }
        infos.push(Info::new("CPUStepping", self.stepping.to_string()));
        infos
    }
}

/// The text in these registers up to the first zero byte; characters that are not printable ASCII become `?`.
fn text(registers: impl IntoIterator<Item = u32>) -> String {
    let bytes = registers.into_iter().flat_map(u32::to_le_bytes);
    let printable = |byte: u8| match byte {
        b' '..=b'~' => char::from(byte),
        _ => '?',
    };
    let text = bytes.take_while(|byte| *byte != 0);
    text.map(printable).collect()
}
