//! The settings of pinning, how they are read, and their rows in the table of settings.

mod lenient;

use oxmpi_text::{Alias, Error, Level, Product, Setting, Words, switch};
use oxmpi_topo::CpuSet;

use crate::intel::{Cell, Domain, Order, ProcessorList};
use crate::openmpi::{BindTo, Mapping};

/// Whose rules placing follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// `documented`: Intel's Developer Reference, 2021.12. The default.
    #[default]
    Documented,
    /// `intel-2021`: what the launchers of Intel MPI up to 2021.14 do. They differ from their reference.
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

/// What a user asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whose rules.
    pub compat: Compat,
    /// Whether ranks are pinned at all.
    pub pin: bool,
    /// Open MPI's options; where there are any, only these and the inherited mask count.
    pub mapping: Option<Mapping>,
    /// What one rank gets; `None`: not set, so that [`processors`](Self::processors) count, or else size `auto`.
    pub domain: Option<Domain>,
    /// One processor for each rank. Ignored where a domain is set.
    pub processors: Option<ProcessorList>,
    /// Which rank gets which domain.
    pub order: Order,
    /// What counts as one processor; `None`: not set, hardware threads.
    pub cell: Option<Cell>,
    /// Processors that no rank gets.
    pub exclude: CpuSet,
    /// Whether ranks keep to the inherited mask.
    pub respect_cpuset: bool,
    /// Whether ranks that nobody placed closer move next to an RDMA device.
    pub respect_hca: bool,
    /// The threads of each rank, as `OMP_NUM_THREADS` says; `None` if it is not set or no number.
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
    /// Whether the caches of the machine matter: not for the usual settings, so that a machine may then be read without its
    /// caches, which is much faster.
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

/// The variables that [`Settings::read`] asks for.
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

/// A variable whose value does not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The variable.
    pub name: &'static str,
    /// Its value.
    pub text: alloc::string::String,
    /// Where in it, and what would have been right.
    pub cause: Error,
}

impl core::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.name, self.cause.show(&self.text))
    }
}

impl core::error::Error for Unreadable {}

impl Settings {
    /// The settings that the variables of Intel MPI make, as `value` gives them by [name](VARIABLES).
    ///
    /// With [`Compat::Intel2021`] nothing is refused: values are read as that launcher reads them, with the meaning it gives to
    /// what it does not understand. The list has what the documented reading says of such values.
    ///
    /// # Errors
    /// With [`Compat::Documented`], the first variable that does not read.
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

    /// Leaves what does not read at its default.
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

/// The threads of the outermost region, as a value of `OMP_NUM_THREADS` says; `None` where it does not read: OpenMP's own
/// runtime is who complains of that.
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

/// A processor list, or none.
fn optional(text: &str) -> Result<Option<ProcessorList>, Error> {
    match text {
        "" => Ok(None),
        text => text.parse().map(Some),
    }
}

/// A list of processors, which may be empty.
fn excluded(text: &str) -> Result<CpuSet, Error> {
    match text {
        "" => Ok(CpuSet::new()),
        text => CpuSet::parse_list(text).map_err(|error| error.cause()),
    }
}

/// The value of a row, and whether anybody set it.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// In our spelling.
    pub text: &'a str,
    /// Whether it is not the default.
    pub is_set: bool,
}

impl Settings {
    /// The settings that the rows of [`SETTINGS`] make, as `value` gives them by name.
    ///
    /// # Errors
    /// The first row whose value its own check refuses.
    pub fn of_rows<'a>(value: impl Fn(&str) -> Given<'a>) -> Result<Self, Error> {
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
