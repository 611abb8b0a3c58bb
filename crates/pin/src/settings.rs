//! The settings of pinning: their values, how they are read, and their rows in the table of settings.

mod lenient;

use oxmpi_text::{Alias, Error, Level, Product, Setting, Words, switch};
use oxmpi_topo::CpuSet;

use crate::intel::{Cell, Domain, Order, ProcessorList};
use crate::openmpi::{BindTo, Mapping};

/// The rule set that placement follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// `documented`: Intel's Developer Reference, 2021.12. The default.
    #[default]
    Documented,
    /// `intel-2021`: what the launchers of Intel MPI up to 2021.14 do, which differs from the reference.
    Intel2021,
}

const COMPATS: Words = Words(&["documented", "intel-2021"]);

impl core::str::FromStr for Compat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(match COMPATS.find(text)? {
            0 => Self::Documented,
            _ => Self::Intel2021,
        })
    }
}

impl core::fmt::Display for Compat {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(COMPATS.0[*self as usize])
    }
}

/// The pinning that a user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The rule set.
    pub compat: Compat,
    /// Whether ranks are pinned at all.
    pub pin: bool,
    /// Open MPI's options; if set, only these and the inherited mask count.
    pub mapping: Option<Mapping>,
    /// The processors of one rank; `None`: not set, so that [`processors`](Self::processors) count, or else
    /// size `auto`.
    pub domain: Option<Domain>,
    /// One processor for each rank. Ignored where a domain is set.
    pub processors: Option<ProcessorList>,
    /// The order in which ranks take domains.
    pub order: Order,
    /// The unit that counts as one processor; `None`: not set, which means hardware threads.
    pub cell: Option<Cell>,
    /// Processors that no rank gets.
    pub exclude: CpuSet,
    /// Whether ranks stay inside the inherited mask.
    pub respect_cpuset: bool,
    /// Whether processors near an RDMA device come first, where no domain is set.
    pub respect_hca: bool,
    /// The threads of each rank, as `OMP_NUM_THREADS` says; `None` if it is not set or not a number.
    pub omp_threads: Option<u32>,
}

impl Default for Settings {
    /// Pinned, domains of size `auto`, order `bunch`: what Intel's reference names as defaults.
    fn default() -> Self {
        Self {
            compat: Compat::Documented,
            pin: true,
            mapping: None,
            domain: None,
            processors: None,
            order: Order::default(),
            cell: None,
            exclude: CpuSet::new(),
            respect_cpuset: true,
            respect_hca: true,
            omp_threads: None,
        }
    }
}

impl From<BindTo> for Settings {
    fn from(bind_to: BindTo) -> Self {
        Mapping {
            bind_to: Some(bind_to),
            ..Mapping::default()
        }
        .into()
    }
}

impl From<Mapping> for Settings {
    fn from(mapping: Mapping) -> Self {
        Self {
            mapping: Some(mapping),
            ..Self::default()
        }
    }
}

impl Settings {
    /// Whether placement depends on the machine's caches. With usual settings it does not: callers may then
    /// read the machine without caches, which is much faster.
    pub fn needs_caches(&self) -> bool {
        if let Some(mapping) = &self.mapping {
            return mapping.needs_caches();
        }
        let far_apart = matches!(self.order, Order::Scatter | Order::Spread);
        let domain = self.domain.as_ref().is_some_and(Domain::needs_caches);
        let listed = self
            .processors
            .as_ref()
            .is_some_and(ProcessorList::needs_caches);
        self.pin && (far_apart || domain || listed)
    }
}

/// The environment variables that [`Settings::read`] asks for.
pub const VARIABLES: [&str; 10] = [
    "I_MPI_PIN",
    "I_MPI_PIN_DOMAIN",
    "I_MPI_PIN_ORDER",
    "I_MPI_PIN_PROCESSOR_LIST",
    "I_MPI_PIN_PROCS",
    "I_MPI_PIN_CELL",
    "I_MPI_PIN_PROCESSOR_EXCLUDE_LIST",
    "I_MPI_PIN_RESPECT_CPUSET",
    "I_MPI_PIN_RESPECT_HCA",
    "OMP_NUM_THREADS",
];

/// A variable whose value has a syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The variable.
    pub name: &'static str,
    /// Its value.
    pub text: alloc::string::String,
    /// Where in the value the error is, and what is expected there.
    pub cause: Error,
}

impl core::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.name, self.cause.show(&self.text))
    }
}

impl core::error::Error for Unreadable {}

impl Settings {
    /// Reads the settings from the variables of Intel MPI; `value` returns a variable's text by its
    /// [name](VARIABLES).
    ///
    /// With [`Compat::Intel2021`] no value is refused: values mean what they mean to that launcher, and the
    /// list has the errors that the documented rules find in them.
    ///
    /// # Errors
    /// With [`Compat::Documented`], the first variable with a syntax error.
    pub fn read<'a>(
        compat: Compat,
        value: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<(Self, alloc::vec::Vec<Unreadable>), Unreadable> {
        let mut wrong = alloc::vec::Vec::new();
        let strict = Self::read_strictly(&value, &mut wrong);
        match compat {
            Compat::Intel2021 => Ok((lenient::read(&value), wrong)),
            Compat::Documented => match wrong.into_iter().next() {
                None => Ok((strict, alloc::vec::Vec::new())),
                Some(first) => Err(first),
            },
        }
    }

    /// Reads the variables by the documented rules. Those with a syntax error keep their defaults.
    fn read_strictly<'a>(
        value: &impl Fn(&str) -> Option<&'a str>,
        wrong: &mut alloc::vec::Vec<Unreadable>,
    ) -> Self {
        let mut settings = Self::default();
        let mut read = |name: &'static str, parse: &mut dyn FnMut(&str) -> Result<(), Error>| {
            let Some(text) = value(name) else { return };
            if let Err(cause) = parse(text) {
                wrong.push(Unreadable {
                    name,
                    text: text.into(),
                    cause,
                });
            }
        };
        read("I_MPI_PIN", &mut |text| {
            switch(text).map(|on| settings.pin = on)
        });
        read("I_MPI_PIN_DOMAIN", &mut |text| {
            text.parse().map(|domain| settings.domain = Some(domain))
        });
        read("I_MPI_PIN_ORDER", &mut |text| {
            text.parse().map(|order| settings.order = order)
        });
        for name in ["I_MPI_PIN_PROCESSOR_LIST", "I_MPI_PIN_PROCS"] {
            read(name, &mut |text| {
                text.parse().map(|list| settings.processors = Some(list))
            });
        }
        read("I_MPI_PIN_CELL", &mut |text| {
            text.parse().map(|cell| settings.cell = Some(cell))
        });
        read("I_MPI_PIN_PROCESSOR_EXCLUDE_LIST", &mut |text| {
            excluded(text).map(|set| settings.exclude = set)
        });
        read("I_MPI_PIN_RESPECT_CPUSET", &mut |text| {
            switch(text).map(|on| settings.respect_cpuset = on)
        });
        read("I_MPI_PIN_RESPECT_HCA", &mut |text| {
            switch(text).map(|on| settings.respect_hca = on)
        });
        settings.omp_threads = value("OMP_NUM_THREADS").and_then(omp_threads);
        settings
    }
}

/// The threads of the outermost region in a value of `OMP_NUM_THREADS`; `None` for a syntax error, which
/// OpenMP's runtime reports itself.
pub fn omp_threads(text: &str) -> Option<u32> {
    let text = text.trim_start();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    text[..digits].parse().ok().filter(|threads| *threads > 0)
}
/// The rows of pinning in the table of settings.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "pin",
        aliases: &[Alias::new(Product::IntelMpi, "I_MPI_PIN")],
        default: "on",
        kind: "switch",
        level: Level::Basic,
        short: "whether each rank is kept on processors of its own",
        long: "With `off`, ranks run wherever the system puts them, inside the mask that the job \
               inherited. Messages between ranks that wander cost more, and more unevenly.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "pin_domain",
        aliases: &[Alias::new(Product::IntelMpi, "I_MPI_PIN_DOMAIN")],
        default: "auto",
        kind: "domain",
        level: Level::Basic,
        short: "the processors that one rank gets",
        long: "`core`, `socket` (`sock`), `numa`, `node`, `cache1`, `cache2`, `cache3`, `cache` (the \
               largest): one such part of the machine for each rank. `auto`: processors divided by ranks. \
               `omp`: as many as OMP_NUM_THREADS says. A number: that many processors. A size may be \
               followed by `:compact` (close together), `:scatter` (far apart) or `:platform` (by the \
               system's numbers). `[55,aa]`: masks, one for each rank. `auto` with one rank and `node` \
               pin nothing.",
        check: |text| text.parse::<Domain>().map(drop),
    },
    Setting {
        name: "pin_order",
        aliases: &[Alias::new(Product::IntelMpi, "I_MPI_PIN_ORDER")],
        default: "bunch",
        kind: "order",
        level: Level::Tuning,
        short: "which rank gets which domain",
        long: "`bunch`: ranks are shared out to the sockets in proportion and sit close together on \
               each. `spread`: the same, but far from each other on each. `compact`: domains in the order \
               of the machine, from its first processor on. `scatter`: neighbours in rank far apart. \
               `range`: by the system's numbers.",
        check: |text| text.parse::<Order>().map(drop),
    },
    Setting {
        name: "pin_processor_list",
        aliases: &[
            Alias::new(Product::IntelMpi, "I_MPI_PIN_PROCESSOR_LIST"),
            Alias::new(Product::IntelMpi, "I_MPI_PIN_PROCS"),
        ],
        default: "",
        kind: "processors",
        level: Level::Tuning,
        short: "one processor for each rank; only where pin_domain is not set",
        long: "`0,2-3`: these, one for each rank; `-1` leaves a rank unpinned. `all`, `allcores`, \
               `allsocks`: every processor, or the first of each core or socket, and behind it options: \
               `:map=bunch|scatter|spread`, or `:grain=`, `shift=`, `preoffset=`, `postoffset=` with a \
               number or `fine`, `core`, `cache1` to `cache3`, `socket`, `half`, `third`, `quarter`, \
               `octavo`.",
        check: |text| optional(text).map(drop),
    },
    Setting {
        name: "pin_cell",
        aliases: &[Alias::new(Product::IntelMpi, "I_MPI_PIN_CELL")],
        default: "unit",
        kind: "cell",
        level: Level::Tuning,
        short: "what counts as one processor",
        long: "`unit`: each hardware thread. `core`: only the first one of each core; the others stay idle.",
        check: |text| text.parse::<Cell>().map(drop),
    },
    Setting {
        name: "pin_processor_exclude_list",
        aliases: &[Alias::new(
            Product::IntelMpi,
            "I_MPI_PIN_PROCESSOR_EXCLUDE_LIST",
        )],
        default: "",
        kind: "processors",
        level: Level::Tuning,
        short: "processors that no rank gets",
        long: "A list such as `0,8-9`: to leave some to the system or to other programs.",
        check: |text| excluded(text).map(drop),
    },
    Setting {
        name: "pin_respect_cpuset",
        aliases: &[Alias::new(Product::IntelMpi, "I_MPI_PIN_RESPECT_CPUSET")],
        default: "on",
        kind: "switch",
        level: Level::Tuning,
        short: "whether ranks keep to the mask that the job inherited",
        long: "With `off`, ranks are placed on the whole machine, also where a batch system or `taskset` \
               gave the job a part of it.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "pin_respect_hca",
        aliases: &[Alias::new(Product::IntelMpi, "I_MPI_PIN_RESPECT_HCA")],
        default: "on",
        kind: "switch",
        level: Level::Tuning,
        short: "whether ranks move next to the RDMA device",
        long: "Where nothing but the default or a processor list places them, the sockets or processors \
               near an RDMA device come first.",
        check: |text| switch(text).map(drop),
    },
    Setting {
        name: "pin_compat",
        aliases: &[],
        default: "documented",
        kind: "rules",
        level: Level::Expert,
        short: "whose rules placing follows",
        long: "`documented`: the reference of Intel MPI 2021.12. `intel-2021`: what its launcher really does, \
               which differs in places.",
        check: |text| text.parse::<Compat>().map(drop),
    },
    Setting {
        name: "omp_num_threads",
        aliases: &[Alias::new(Product::Libomp, "OMP_NUM_THREADS")],
        default: "",
        kind: "number of threads",
        level: Level::Tuning,
        short: "the threads of each rank, for pin_domain=omp",
        long: "OpenMP's own variable; of a list the first number counts. `oxmpi run` gives it to ranks where it is \
               not set.",
        check: |_| Ok(()),
    },
];

/// A processor list; `None` for an empty text.
fn optional(text: &str) -> Result<Option<ProcessorList>, Error> {
    match text {
        "" => Ok(None),
        text => text.parse().map(Some),
    }
}

/// A list of processors; an empty text is an empty set.
fn excluded(text: &str) -> Result<CpuSet, Error> {
    match text {
        "" => Ok(CpuSet::new()),
        text => CpuSet::parse_list(text).map_err(|error| error.cause()),
    }
}

/// The value of a row, and whether the user set it.
#[derive(Clone, Copy, Debug)]
pub struct SettingText<'a> {
    /// The text of the value, in our spelling.
    pub text: &'a str,
    /// Whether the value is not the default.
    pub is_set: bool,
}

impl Settings {
    /// Reads the settings from the rows of [`SETTINGS`]; `value` returns a row's value by its name.
    ///
    /// # Errors
    /// The first row whose value has a syntax error.
    pub fn of_rows<'a>(value: impl Fn(&str) -> SettingText<'a>) -> Result<Self, Error> {
        let text = |name| value(name).text;
        let domain = value("pin_domain");
        let cell = value("pin_cell");
        Ok(Self {
            compat: text("pin_compat").parse()?,
            pin: switch(text("pin"))?,
            mapping: None,
            domain: domain.is_set.then(|| domain.text.parse()).transpose()?,
            processors: optional(text("pin_processor_list"))?,
            order: text("pin_order").parse()?,
            cell: cell.is_set.then(|| cell.text.parse()).transpose()?,
            exclude: excluded(text("pin_processor_exclude_list"))?,
            respect_cpuset: switch(text("pin_respect_cpuset"))?,
            respect_hca: switch(text("pin_respect_hca"))?,
            omp_threads: omp_threads(text("omp_num_threads")),
        })
    }
}
