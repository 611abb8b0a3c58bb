//! The settings table: its row type [`Setting`], names in other products ([`Alias`]), and look-ups
//! ([`SettingsTable`]).

use core::fmt;

use crate::{Error, nearest};

/// A product whose names of settings are accepted, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Intel MPI: environment variables `I_MPI_...`.
    IntelMpi,
    /// Open MPI: MCA parameters, in the environment as `OMPI_MCA_` + name.
    OpenMpi,
    /// MPICH: environment variables `MPIEXEC_...`, some of which Open MPI reads, too.
    Mpich,
    /// Cray MPICH: environment variables `MPICH_...`.
    CrayMpich,
    /// UCX: environment variables `UCX_...`.
    Ucx,
    /// LLVM's and Intel's OpenMP runtime: `KMP_...`, `OMP_...`.
    Libomp,
    /// An earlier release of this library: names and values that were renamed since.
    Oxmpi,
}

impl Product {
    /// The prefix of its names in the environment.
    pub fn env_prefix(self) -> &'static str {
        match self {
            Self::OpenMpi => "OMPI_MCA_",
            Self::Oxmpi => Setting::ENV_PREFIX,
            Self::IntelMpi | Self::Mpich | Self::CrayMpich | Self::Ucx | Self::Libomp => "",
        }
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IntelMpi => "Intel MPI",
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
            Self::CrayMpich => "Cray MPICH",
            Self::Ucx => "UCX",
            Self::Libomp => "libomp",
            Self::Oxmpi => "an earlier oxmpi",
        })
    }
}

/// The name of a setting in another product, or in an earlier release of this library.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The product.
    pub product: Product,
    /// The name, without [`Product::env_prefix`].
    pub name: &'static str,
    /// Values with another spelling there, as pairs (theirs, ours). Other values are taken unchanged.
    pub values: &'static [(&'static str, &'static str)],
}

impl Alias {
    /// An alias whose values have the same spelling as ours.
    pub const fn new(product: Product, name: &'static str) -> Self {
        Self {
            product,
            name,
            values: &[],
        }
    }

    /// Translates `value` from the product's spelling to ours.
    pub fn translate<'a>(&self, value: &'a str) -> &'a str {
        let found = self.values.iter().find(|(theirs, _)| *theirs == value);
        found.map_or(value, |(_, ours)| ours)
    }
}

/// The audience of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// 1: everybody.
    Basic = 1,
    /// 2: people who tune a program or a machine.
    Tuning = 2,
    /// 3: people who debug or measure.
    Expert = 3,
}

/// One setting, as a row of a table: what the parser, the help, the documentation and the tests need.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Our name, lower case with `_`: `eager_limit`.
    pub name: &'static str,
    /// Its names in other products and in earlier releases.
    pub aliases: &'static [Alias],
    /// The default, as text that `check` accepts.
    pub default: &'static str,
    /// Type and unit in a word or two: `bytes`, `switch`, `count`, `word`.
    pub kind: &'static str,
    /// Its audience.
    pub level: Level,
    /// Help in one line. It starts with `unused: ` while no code reads the setting.
    pub short: &'static str,
    /// What it does, when to change it, what its values mean.
    pub long: &'static str,
    /// The grammar: refuses a text that the owner of the setting cannot parse.
    pub check: fn(&str) -> Result<(), Error>,
}

impl Setting {
    /// The prefix of all settings in the environment.
    pub const ENV_PREFIX: &'static str = "OXMPI_";

    /// The name in the environment: `OXMPI_EAGER_LIMIT`.
    pub fn env(&self) -> EnvName<'static> {
        EnvName(self.name)
    }

    /// Translates a value that an earlier release spelled otherwise; other values are returned unchanged.
    pub fn current_value<'a>(&self, value: &'a str) -> &'a str {
        let mut renamed = self.earlier().map(|alias| alias.translate(value));
        renamed.find(|ours| *ours != value).unwrap_or(value)
    }

    /// Whether `is_name` holds for its name or for one of an earlier release.
    fn answers_to(&self, is_name: impl Fn(&'static str) -> bool) -> bool {
        is_name(self.name) || self.earlier().any(|alias| is_name(alias.name))
    }

    fn earlier(&self) -> impl Iterator<Item = &'static Alias> + use<> {
        self.aliases
            .iter()
            .filter(|alias| alias.product == Product::Oxmpi)
    }
}

/// Displays the name of a setting as an environment variable: `OXMPI_` + upper case.
#[derive(Clone, Copy, Debug)]
pub struct EnvName<'a>(pub &'a str);

impl PartialEq<str> for EnvName<'_> {
    fn eq(&self, variable: &str) -> bool {
        variable
            .strip_prefix(Setting::ENV_PREFIX)
            .is_some_and(|name| {
                name.eq_ignore_ascii_case(self.0)
                    && !name.contains(|c: char| c.is_ascii_lowercase())
            })
    }
}

impl fmt::Display for EnvName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        f.write_str(Setting::ENV_PREFIX)?;
        self.0
            .chars()
            .try_for_each(|c| f.write_char(c.to_ascii_uppercase()))
    }
}

/// The settings tables of several crates as one table.
#[derive(Clone, Copy, Debug)]
pub struct SettingsTable(pub &'static [&'static [Setting]]);

impl SettingsTable {
    /// Iterates over all rows, in the order of the tables.
    pub fn iter(&self) -> impl Iterator<Item = &'static Setting> + use<> {
        self.0.iter().flat_map(|rows| rows.iter())
    }

    /// Finds the row of the setting `name`, which may be the name of an earlier release.
    pub fn find(&self, name: &str) -> Option<&'static Setting> {
        self.iter()
            .find(|row| row.answers_to(|known| known == name))
    }

    /// Finds the row by its environment variable, prefix included; the name may be an earlier release's.
    pub fn find_env(&self, variable: &str) -> Option<&'static Setting> {
        self.iter()
            .find(|row| row.answers_to(|known| EnvName(known) == *variable))
    }

    /// Finds the row that has the alias `name` (without the environment's prefix) of `product`.
    pub fn find_alias(
        &self,
        product: Product,
        name: &str,
    ) -> Option<(&'static Setting, &'static Alias)> {
        self.iter().find_map(|row| {
            let alias = row
                .aliases
                .iter()
                .find(|a| a.product == product && a.name == name)?;
            Some((row, alias))
        })
    }

    /// The setting whose name is nearest to `name`, for "did you mean".
    pub fn suggest(&self, name: &str) -> Option<&'static str> {
        nearest(name, self.iter().map(|row| row.name))
    }
}
