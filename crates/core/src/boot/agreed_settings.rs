//! The settings that all ranks of a job must agree on, and how ranks whose settings differ are named.
//!
//! Each rank publishes a fingerprint of its settings. Where rank 0 sees that fingerprints differ, it
//! publishes the first rank that does. Then that rank and rank 0 publish their settings as text, so that
//! every rank can report both.

use std::fmt;

use super::{ProcessManager, get_published};
use crate::error::{Error, Result};

/// The key, with a rank's number, under which a rank publishes its settings as text.
const SETTINGS: &str = "oxmpi-settings";

/// The longest such text, in bytes: process managers take values twice as long, and it is published as
/// hexadecimal digits.
const LONGEST: usize = 480;

/// The settings by which each rank finds for itself how collectives are done, and which receive queues it has. Ranks that
/// find otherwise would wait for each other, or not connect.
#[derive(Clone, Debug)]
pub struct AgreedSettings {
    /// The hash by which ranks compare them.
    pub fingerprint: Fingerprint,
    /// The version, and the settings that somebody has set, for people.
    pub text: String,
}

/// A hash of agreed settings. Different settings have the same one with a probability of 2^-64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl AgreedSettings {
    /// `values` is a text that differs where settings differ; `set` are the settings that somebody has set,
    /// for people, and `rules` is the content of a file of rules.
    #[must_use]
    pub fn new(values: &str, set: Vec<String>, rules: &str) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let mut set = set;
        if !rules.is_empty() {
            // Two files of one name may have different rules.
            set.push(format!("rules {}", Fingerprint::of(rules)));
        }
        let set = match set.is_empty() {
            true => "the defaults".into(),
            false => set.join(", "),
        };
        Self {
            fingerprint: Fingerprint::of(&format!("{version} {values}")),
            text: format!("oxmpi {version} and {set}"),
        }
    }

    /// The error where rank `other` is the first whose settings differ from those of rank 0. All ranks call
    /// it.
    pub(super) fn differs(&self, manager: &mut ProcessManager, other: u32) -> Error {
        let both = self.exchange(manager, other).map(|[first, second]| {
            format!(
                "rank 0 has {first}, and rank {other} has {second}; all ranks of a job need \
                 the same"
            )
        });
        both.map_or_else(
            |error| error,
            |why| Error::start("comparing the settings of all ranks", why),
        )
    }

    /// The settings of rank 0 and of rank `other`, as text.
    fn exchange(&self, manager: &mut ProcessManager, other: u32) -> Result<[String; 2]> {
        let both = [0, other];
        if both.contains(&manager.rank()) {
            let key = format!("{SETTINGS}-{}", manager.rank());
            manager.put(&key, &encode(&self.text))?;
        }
        manager.barrier()?;
        let mut of = |rank| {
            get_published(manager, rank, &format!("{SETTINGS}-{rank}")).map(|text| decode(&text))
        };
        Ok([of(0)?, of(other)?])
    }
}

/// A text as hexadecimal digits, as process managers take no spaces; a text that is too long is cut.
fn encode(text: &str) -> String {
    let bytes = text.bytes().take(LONGEST);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// The reverse of [`encode`]. Characters that are not digits are left out.
fn decode(text: &str) -> String {
    let pairs = text.as_bytes().chunks(2).map(String::from_utf8_lossy);
    let bytes: Vec<u8> = pairs
        .filter_map(|pair| u8::from_str_radix(&pair, 16).ok())
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Fingerprint {
    fn of(text: &str) -> Self {
        let hash = blake3::hash(text.as_bytes());
        let (first, _) = hash.as_bytes().split_first_chunk().expect("32 bytes");
        Self(u64::from_be_bytes(*first))
    }

    /// Reads a fingerprint that another rank has published; `None`: it is not one.
    pub(super) fn decode(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().map(Self)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Fingerprint, LONGEST, decode, encode};

    #[test]
    fn decode_reads_what_the_other_side_writes() {
        for fingerprint in [
            Fingerprint(0),
            Fingerprint(u64::MAX),
            Fingerprint::of("this"),
        ] {
            let decoded = Fingerprint::decode(&fingerprint.to_string());
            assert_eq!(decoded, Some(fingerprint));
        }
        assert_eq!(Fingerprint::decode("socket"), None);
        for text in ["", "bcast_algorithm = ring (file 1:2)", "ä"] {
            assert_eq!(decode(&encode(text)), text);
        }
        assert_eq!(encode(&"a".repeat(600)).len(), 2 * LONGEST);
        assert_eq!(decode("6g6"), "\u{6}");
    }
}
