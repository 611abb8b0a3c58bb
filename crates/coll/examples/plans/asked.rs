//! The command line.

use std::ops::Range;

use oxmpi_coll::catalog::Algorithm;

use crate::proof::EVERY;

/// [`Asked::most`] with `--beyond`: so all take a minute and a half on two processors, else six minutes and 11 GiB.
const MOST_BEYOND: u64 = 3_000_000;

/// What is asked for.
pub(crate) struct Asked {
    /// Every one of these numbers of ranks is proved.
    pub every: Range<u32>,
    /// Whether random ones beyond [`EVERY`] are.
    pub random: bool,
    /// Steps of all ranks together beyond which half as many ranks are taken of those, and so on.
    pub most: u64,
    /// The algorithms by name; all if none is named.
    names: Vec<String>,
}

impl Asked {
    /// Reads the command line; what is wrong with it is told.
    pub(crate) fn of(mut words: Vec<String>) -> Result<Self, String> {
        let mut asked = Asked {
            every: 1..EVERY + 1,
            random: true,
            most: u64::MAX,
            names: Vec::new(),
        };
        let number = words.get(1).and_then(|word| word.parse::<u64>().ok());
        let options = match (words.first().map(String::as_str), number) {
            (Some("--beyond"), _) => {
                asked.every = 0..0;
                asked.most = MOST_BEYOND;
                1
            }
            (Some("--up-to"), Some(ranks)) if (1..=EVERY.into()).contains(&ranks) => {
                asked.every = 1..ranks as u32 + 1;
                asked.random = false;
                2
            }
            (Some("--up-to"), _) => {
                return Err(format!("--up-to needs a number of ranks from 1 to {EVERY}"));
            }
            _ => 0,
        };
        asked.names = words.split_off(options);
        let is_unknown = |name: &&String| !Algorithm::ALL.iter().any(|one| is_named(one, name));
        match asked.names.iter().find(is_unknown) {
            Some(name) => Err(format!("no collective or algorithm has the name `{name}`")),
            None => Ok(asked),
        }
    }

    /// Whether the algorithm is asked for.
    pub(crate) fn names(&self, algorithm: &Algorithm) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| is_named(algorithm, name))
    }
}

/// Whether that is the algorithm's name, or its collective's.
fn is_named(algorithm: &Algorithm, name: &str) -> bool {
    let collective = algorithm.collective().name();
    name == collective || name == format!("{collective}/{}", algorithm.name())
}
