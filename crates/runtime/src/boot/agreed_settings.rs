//! What all ranks of a job must have been told alike.
//!
//! Each rank makes a number known that stands for it. Where rank 0 sees that numbers differ, it says whose,
//! and then those two say what they were told, so that every rank can name both.

use std::fmt;

use oxmpi_coll::choice::Tuning;
use oxmpi_coll::settings::SETTINGS;

use super::{ProcessManager, asked};
use crate::error::{Error, Result};
use crate::settings::{Origin, SettingValue, Values};

/// The key under which two ranks say what they were told, with a rank's number.
const TOLD: &str = "oxmpi-told";

/// Bytes that they say of it at most: the process managers take twice as many as a value.
const LONGEST: usize = 480;

/// What a rank was told that all have to be told alike: by it each finds for itself how they do what they do
/// together, and ranks that find otherwise would wait for each other.
#[derive(Clone, Debug)]
pub(crate) struct AgreedSettings {
    pub(super) fingerprint: Fingerprint,
    /// The version, and what somebody has set, for people.
    text: String,
}

/// Stands for all that a rank was told. Those of different things differ, but for one pair in 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint(u64);

impl AgreedSettings {
    /// What these values say, of which `tuning` is made.
    pub(crate) fn of(values: &Values, tuning: &Tuning) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let is_of_all = |value: &&SettingValue| {
            let name = value.setting.name;
            name == "shm_collectives" || SETTINGS.iter().any(|row| row.name == name)
        };
        let set = (values.all.iter().filter(is_of_all))
            .filter(|value| value.origin != Origin::Default)
            .map(|value| format!("{} = {} ({})", value.setting.name, value.text, value.origin));
        let mut set: Vec<_> = set.collect();
        if !tuning.rules.is_empty() {
            // Files of one name may differ.
            set.push(format!(
                "rules {}",
                Fingerprint::of(&format!("{:?}", tuning.rules))
            ));
        }
        let set = match set.is_empty() {
            true => "the defaults".into(),
            false => set.join(", "),
        };
        let (in_node, checks) = (values.node_collectives(), values.checks_collectives());
        Self {
            // By their values, as one value can be told in several ways.
            fingerprint: Fingerprint::of(&format!("{version} {tuning:?} {in_node} {checks}")),
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
    use oxmpi_coll::catalog::Algorithm;
    use oxmpi_coll::choice::{Tuning, read_rules};
    use oxmpi_coll::settings::SETTINGS;

    use super::{AgreedSettings, Fingerprint, LONGEST, decode, encode};
    use crate::settings::{Sources, TABLE, Values, resolve};

    fn values(name: &str, value: &str) -> Values {
        let sources = Sources {
            environment: vec![(format!("OXMPI_{}", name.to_uppercase()), value.into())],
            ..Sources::default()
        };
        resolve(TABLE, &sources).expect("they read")
    }

    fn told(name: &str, value: &str) -> AgreedSettings {
        let values = values(name, value);
        AgreedSettings::of(&values, &values.tuning())
    }

    /// But for rules, whose file is read apart.
    #[test]
    fn every_setting_of_collectives_counts() {
        let plain = told("wait", "passive");
        assert!(plain.text.ends_with("the defaults"), "{}", plain.text);
        let rows = TABLE.iter().filter(|row| {
            let is_of_all =
                row.name == "shm_collectives" || SETTINGS.iter().any(|one| one.name == row.name);
            is_of_all && row.name != "coll_rules"
        });
        let mut count = 0;
        for row in rows {
            let algorithms = Algorithm::ALL.into_iter().map(Algorithm::name);
            let others = ["off", "on", "7ns", "12345678", "gemini", "all", "ranks"];
            let mut values = algorithms.chain(others);
            let value = values.find(|value| *value != row.default && (row.check)(value).is_ok());
            let value = value.expect("the row takes one of them");
            let other = told(row.name, value);
            assert_ne!(
                plain.fingerprint, other.fingerprint,
                "{} = {value}",
                row.name
            );
            let said = format!("{} = {value} (OXMPI_", row.name);
            assert!(other.text.contains(&said), "{}", other.text);
            count += 1;
        }
        assert_eq!(count, SETTINGS.len());
    }

    #[test]
    fn values_count_and_not_how_they_are_told() {
        let prints = ["64KiB", "65536"].map(|value| told("gatherv_short", value).fingerprint);
        assert_eq!(prints[0], prints[1]);
    }

    #[test]
    fn what_stands_in_a_file_of_rules_counts() {
        let values = values("wait", "passive");
        let of = |algorithm: &str| {
            let text = format!(
                r#"{{"version": 1, "rules": [{{"collective": "bcast", "algorithm": "{algorithm}"}}]}}"#
            );
            let rules = read_rules(&text).expect("they read");
            let tuning = Tuning {
                rules,
                ..values.tuning()
            };
            AgreedSettings::of(&values, &tuning)
        };
        let [one, other] = ["binomial", "chain"].map(of);
        assert_ne!(one.fingerprint, other.fingerprint);
        assert_ne!(one.text, other.text);
    }

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
