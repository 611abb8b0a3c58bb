//! `perhost`: how many consecutive ranks a host gets before the next host gets some.

use core::num::NonZeroU32;
use core::str::FromStr;

use oxmpi_text::{Alias, Error, Level, Product, Setting, whole};
use oxmpi_topo::{Kind, Machine};

/// Consecutive ranks of a host, as `I_MPI_PERHOST` of Intel MPI's reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerHost {
    /// This number of ranks.
    Ranks(NonZeroU32),
    /// One rank for each hardware thread.
    All,
    /// One rank for each core.
    AllCores,
}

impl PerHost {
    /// The number of consecutive ranks of a host with this machine; at least one.
    pub fn ranks(self, machine: &Machine) -> u32 {
        let count = match self {
            Self::Ranks(ranks) => return ranks.get(),
            Self::All => machine.online().len(),
            Self::AllCores => machine.objects(Kind::Core).count(),
        };
        u32::try_from(count).unwrap_or(u32::MAX).max(1)
    }
}

impl FromStr for PerHost {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        const EXPECTED: &str =
            "a number of ranks from 1, `all` (one for each hardware thread) or `allcores`";
        match text.to_ascii_lowercase().as_str() {
            "all" => return Ok(Self::All),
            "allcores" => return Ok(Self::AllCores),
            _ => {}
        }
        let ranks = whole(text, 1..=u64::from(u32::MAX), EXPECTED)?;
        let ranks = u32::try_from(ranks).ok().and_then(NonZeroU32::new);
        Ok(Self::Ranks(ranks.unwrap_or(NonZeroU32::MIN)))
    }
}

/// The row of `perhost` in the table of settings.
pub const PER_HOST: &[Setting] = &[Setting {
    name: "perhost",
    aliases: &[Alias::new(Product::IntelMpi, "I_MPI_PERHOST")],
    default: "1",
    kind: "ranks",
    level: Level::Tuning,
    short: "ranks that a host gets side by side, where `oxmpi run --wrap` deals them to hosts",
    long: "A number; `all`: one for each hardware thread; `allcores`: one for each core. A host is filled before \
           the next one gets ranks; after the last host the first gets as many again. `-ppn` goes before it. Process \
           managers that start ranks themselves have options of their own.",
    check: |text| text.parse::<PerHost>().map(drop),
}];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_what_the_host_has() {
        let machine = Machine::from_synthetic("package:2 core:4 pu:2").expect("a machine");
        let ranks = |text: &str| text.parse().map(|each: PerHost| each.ranks(&machine));
        assert_eq!(ranks("3"), Ok(3));
        assert_eq!((ranks("all"), ranks("AllCores")), (Ok(16), Ok(8)));
        for wrong in ["0", "", "-1", "some", "4294967296"] {
            let why = alloc::format!("{}", ranks(wrong).expect_err(wrong));
            assert!(why.contains("allcores"), "{why}");
        }
    }
}
