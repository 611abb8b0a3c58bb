//! What all ranks of a job must have been told alike.

use std::fmt;

use oxmpi_coll::choice::Tuning;
use oxmpi_coll::settings::SETTINGS;

use crate::error::Error;
use crate::settings::{Origin, Value, Values};

/// What a rank was told that all have to be told alike: by it each finds for itself how they do what they do
/// together, and ranks that find otherwise would wait for each other.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(super) print: Print,
    /// What somebody has set of it, for people.
    set: String,
}

/// Stands for all that a rank was told. Those of different things differ, but for one pair in 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Print(u64);

impl Told {
    /// What these values say, of which `tuning` is made.
    pub(crate) fn of(values: &Values, tuning: &Tuning) -> Self {
        let is_of_all = |value: &&Value| {
            let name = value.setting.name;
            name == "shm_collectives" || SETTINGS.iter().any(|row| row.name == name)
        };
        let set = (values.all.iter().filter(is_of_all))
            .filter(|value| value.origin != Origin::Default)
            .map(|value| format!("{} = {} ({})", value.setting.name, value.text, value.origin));
        let set: Vec<_> = set.collect();
        let (in_node, checks) = (values.node_collectives(), values.checks_collectives());
        Self {
            // By their values, as one value can be told in several ways, and a file has what stands in it.
            print: Print::of(&format!("{tuning:?} {in_node} {checks}")),
            set: match set.is_empty() {
                true => "nothing, so that it takes the defaults".into(),
                false => set.join(", "),
            },
        }
    }

    /// The error of rank `own`, which was told this, where rank `other` is the first that was told otherwise
    /// than rank 0.
    pub(super) fn differs(&self, own: u32, other: u32) -> Error {
        let why = format!(
            "rank 0 and rank {other} are told different things about collectives, and all ranks of a job need the \
             same; this one, rank {own}, is told {}",
            self.set
        );
        Error::start("comparing the settings of all ranks", why)
    }
}

impl Print {
    fn of(text: &str) -> Self {
        let hash = blake3::hash(text.as_bytes());
        let (first, _) = hash.as_bytes().split_first_chunk().expect("32 bytes");
        Self(u64::from_be_bytes(*first))
    }

    /// Reads what another rank wrote; `None`: that is none.
    pub(super) fn decode(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().map(Self)
    }
}

impl fmt::Display for Print {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Print, Told};
    use crate::settings::{Sources, TABLE, resolve};

    fn told(variables: &[(&str, &str)]) -> Told {
        let set = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
        let sources = Sources {
            environment: variables.iter().map(set).collect(),
            ..Sources::default()
        };
        let values = resolve(TABLE, &sources).expect("they read");
        Told::of(&values, &values.tuning())
    }

    #[test]
    fn values_count_and_not_how_they_are_told() {
        let one = told(&[("OXMPI_GATHERV_SHORT", "64KiB")]);
        let same = told(&[("OXMPI_GATHERV_SHORT", "65536"), ("OXMPI_WAIT", "passive")]);
        assert_eq!(one.print, same.print);
        for other in [
            ("OXMPI_GATHERV_SHORT", "1KiB"),
            ("OXMPI_SHM_COLLECTIVES", "off"),
            ("OXMPI_COLL_CHECK", "on"),
            ("OXMPI_COLL_NODE_LATENCY", "7ns"),
            ("OXMPI_BCAST_ALGORITHM", "binomial"),
        ] {
            let other = told(&[other]);
            assert_ne!(told(&[]).print, other.print, "{other:?}");
            let said = other.differs(2, 2).to_string();
            assert!(
                said.contains(&other.set) && other.set.contains(" = "),
                "{said}"
            );
        }
    }

    #[test]
    fn decode_reads_what_display_writes() {
        for print in [Print(0), Print(u64::MAX), Print::of("this")] {
            assert_eq!(Print::decode(&print.to_string()), Some(print));
        }
        assert_eq!(Print::decode("socket"), None);
    }
}
