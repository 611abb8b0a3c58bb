//! The command line of the proof.

use std::ops::Range;

use oxmpi_coll::catalog::Algorithm;

use crate::proof::EVERY;

/// [`Options::most_steps`] with `--beyond`. With it all proofs take a minute and a half on two
/// processors, without it six minutes and 11 GiB.
const MOST_BEYOND: u64 = 3_000_000;

/// The parsed command line.
pub(crate) struct Options {
    /// Every one of these numbers of ranks is proved.
    pub every: Range<u32>,
    /// Whether random numbers of ranks beyond [`EVERY`] are proved, too.
    pub random: bool,
    /// A random number of ranks is halved while the steps of all its ranks together exceed this.
    pub most_steps: u64,
    /// The names of collectives and algorithms to prove; empty stands for all.
    names: Vec<String>,
}

impl Options {
    /// Parses the command line, or says what is wrong with it.
    pub(crate) fn of(mut words: Vec<String>) -> Result<Self, String> {
        let mut options = Options {
            every: 1..EVERY + 1,
            random: true,
            most_steps: u64::MAX,
            names: Vec::new(),
        };
        let number = words.get(1).and_then(|word| word.parse::<u64>().ok());
        let consumed = match (words.first().map(String::as_str), number) {
            (Some("--beyond"), _) => {
                options.every = 0..0;
                options.most_steps = MOST_BEYOND;
                1
            }
            (Some("--up-to"), Some(ranks)) if (1..=EVERY.into()).contains(&ranks) => {
                options.every = 1..ranks as u32 + 1;
                options.random = false;
                2
            }
            (Some("--up-to"), _) => {
                return Err(format!("--up-to needs a number of ranks from 1 to {EVERY}"));
            }
            _ => 0,
        };
        options.names = words.split_off(consumed);
        let is_unknown = |name: &&String| !Algorithm::ALL.iter().any(|one| is_named(one, name));
        match options.names.iter().find(is_unknown) {
            Some(name) => Err(format!("no collective or algorithm has the name `{name}`")),
            None => Ok(options),
        }
    }

    /// Whether the command line selects the algorithm.
    pub(crate) fn names(&self, algorithm: &Algorithm) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| is_named(algorithm, name))
    }
}

/// Whether `name` is that of the algorithm or of its collective.
fn is_named(algorithm: &Algorithm, name: &str) -> bool {
    let collective = algorithm.collective().name();
    name == collective || name == format!("{collective}/{}", algorithm.name())
}
