//! What all ranks of a job must have been told alike.
//!
//! Each rank makes a number known that stands for it. Where rank 0 sees that numbers differ, it says whose,
//! and then those two say what they were told, so that every rank can name both.

use std::fmt;

use super::{ProcessManager, asked};
use crate::error::{Error, Result};

/// The key under which two ranks say what they were told, with a rank's number.
const TOLD: &str = "oxmpi-told";

/// Bytes that they say of it at most: the process managers take twice as many as a value.
const LONGEST: usize = 480;

/// What a rank was told that all have to be told alike: by it each finds for itself how they do what they do
/// together, and ranks that find otherwise would wait for each other.
#[derive(Clone, Debug)]
pub(crate) struct AgreedSettings {
    pub(crate) fingerprint: Fingerprint,
    /// The version, and what somebody has set, for people.
    pub(crate) text: String,
}

/// Stands for all that a rank was told. Those of different things differ, but for one pair in 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint(u64);

impl AgreedSettings {
    /// `values` is what they say in any form that differs where they do; `set` are those that somebody has set,
    /// for people, and `rules` the contents of a file of rules.
    pub(crate) fn new(values: &str, set: Vec<String>, rules: &str) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let mut set = set;
        if !rules.is_empty() {
            // Files of one name may differ.
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

    /// The error where rank `other` is the first that was told otherwise than rank 0. All ranks come here.
    pub(super) fn differs(&self, manager: &mut ProcessManager, other: u32) -> Error {
        let both = self.exchange(manager, other).map(|[first, second]| {
            format!(
                "for collectives rank 0 has {first}, and rank {other} has {second}; all ranks of a job need \
                 the same"
            )
        });
        both.map_or_else(
            |error| error,
            |why| Error::start("comparing the settings of all ranks", why),
        )
    }

    /// What rank 0 and rank `other` were told.
    fn exchange(&self, manager: &mut ProcessManager, other: u32) -> Result<[String; 2]> {
        let both = [0, other];
        if both.contains(&manager.rank()) {
            let key = format!("{TOLD}-{}", manager.rank());
            manager.put(&key, &encode(&self.text))?;
        }
        manager.barrier()?;
        let mut of =
            |rank| asked(manager, rank, &format!("{TOLD}-{rank}")).map(|text| decode(&text));
        Ok([of(0)?, of(other)?])
    }
}

/// A text as digits, as the managers take no spaces; what is too long is left out.
fn encode(text: &str) -> String {
    let bytes = text.bytes().take(LONGEST);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// The reverse of [`encode`]. Digits that are none stand for nothing.
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

    /// Reads what another rank wrote; `None`: that is none.
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
            assert_eq!(
                Fingerprint::decode(&fingerprint.to_string()),
                Some(fingerprint)
            );
        }
        assert_eq!(Fingerprint::decode("socket"), None);
        for text in ["", "bcast_algorithm = ring (file 1:2)", "ä"] {
            assert_eq!(decode(&encode(text)), text);
        }
        assert_eq!(encode(&"a".repeat(600)).len(), 2 * LONGEST);
        assert_eq!(decode("6g6"), "\u{6}");
    }
}
