//! Settings as data: the row type of every crate's table, and finding rows.

use core::fmt;

use crate::{Error, nearest};

/// A product whose setting names we answer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Intel MPI: environment variables `I_MPI_...`.
    IntelMpi,
    /// Open MPI: MCA parameters, in the environment as `OMPI_MCA_` + name.
    OpenMpi,
    /// Cray MPICH: environment variables `MPICH_...`.
    CrayMpich,
    /// UCX: environment variables `UCX_...`.
    Ucx,
    /// LLVM's and Intel's OpenMP runtime: `KMP_...`, `OMP_...`.
    Libomp,
}

impl Product {
    /// What stands before a name in the environment.
    pub fn env_prefix(self) -> &'static str {
        match self {
            Self::OpenMpi => "OMPI_MCA_",
            Self::IntelMpi | Self::CrayMpich | Self::Ucx | Self::Libomp => "",
        }
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IntelMpi => "Intel MPI",
            Self::OpenMpi => "Open MPI",
            Self::CrayMpich => "Cray MPICH",
            Self::Ucx => "UCX",
            Self::Libomp => "libomp",
        })
    }
}

/// The name that a setting has in another product.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// Whose name it is.
    pub product: Product,
    /// The name, without [`Product::env_prefix`].
    pub name: &'static str,
    /// Values that are spelled otherwise there: (theirs, ours). Other values are taken as they are.
    pub values: &'static [(&'static str, &'static str)],
}

impl Alias {
    /// A name under which values are spelled as ours.
    pub const fn new(product: Product, name: &'static str) -> Self {
        Self {
            product,
            name,
            values: &[],
        }
    }

    /// What `value`, as that product spells it, is in our spelling.
    pub fn translate<'a>(&self, value: &'a str) -> &'a str {
        let found = self.values.iter().find(|(theirs, _)| *theirs == value);
        found.map_or(value, |(_, ours)| ours)
    }
}

/// For whom a setting is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// 1: everybody.
    Basic = 1,
    /// 2: who tunes a program or a machine.
    Tuning = 2,
    /// 3: who looks for faults or measures.
    Expert = 3,
}

/// One setting: everything that the parser, the help, the documentation and the tests need.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Our name, lower case with `_`: `eager_limit`.
    pub name: &'static str,
    /// The names it answers to in other products.
    pub aliases: &'static [Alias],
    /// The default, as text that `check` accepts.
    pub default: &'static str,
    /// Type and unit in a word or two: `bytes`, `switch`, `count`, `word`.
    pub kind: &'static str,
    /// For whom it is.
    pub level: Level,
    /// One line.
    pub short: &'static str,
    /// What it does, when to change it, what its values mean.
    pub long: &'static str,
    /// The grammar: accepts what the owner of the setting will understand.
    pub check: fn(&str) -> Result<(), Error>,
}

impl Setting {
    /// The prefix of our names in the environment.
    pub const ENV_PREFIX: &'static str = "OXMPI_";

    /// The name in the environment: `OXMPI_EAGER_LIMIT`.
    pub fn env(&self) -> EnvName<'static> {
        EnvName(self.name)
    }
}

/// Shows the name of a setting as an environment variable: `OXMPI_` + upper case.
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

/// Several crates' tables as one.
#[derive(Clone, Copy, Debug)]
pub struct SettingsTable(pub &'static [&'static [Setting]]);

impl SettingsTable {
    /// All rows, in the order of the tables.
    pub fn iter(&self) -> impl Iterator<Item = &'static Setting> + use<> {
        self.0.iter().flat_map(|rows| rows.iter())
    }

    /// The row with our name `name`.
    pub fn find(&self, name: &str) -> Option<&'static Setting> {
        self.iter().find(|row| row.name == name)
    }

    /// The row whose environment variable (with our prefix) is `variable`.
    pub fn find_env(&self, variable: &str) -> Option<&'static Setting> {
        self.iter().find(|row| row.env() == *variable)
    }

    /// The row that answers to `name` (without the prefix of the environment) of `product`.
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

    /// Our name nearest to `name`.
    pub fn suggest(&self, name: &str) -> Option<&'static str> {
        nearest(name, self.iter().map(|row| row.name))
    }
}
