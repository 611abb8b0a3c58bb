//! A value's text as what it means.

use super::{OptionError, System, ThreadLevel};
use crate::kernels::Aggregation;
use crate::lengths::Lengths;
use crate::method::{Method, Policy};
use crate::suite::{Map, Multiple, OverlapBase};
use crate::{DataType, Megabyte, OffCache};
use alloc::string::ToString;

/// The largest power of two for `-msglog`: 1 GiB.
const MAX_LOG: u32 = 30;

/// The longest message in bytes.
pub(super) const LONGEST: usize = 1 << MAX_LOG;

/// No cache has more bytes: 2^40.
const CACHE_MAX: f64 = (1u64 << 40) as f64;

/// Bytes of a cache line where the user gives only the cache's size.
const LINE: usize = 64;

/// An option with its value.
pub(super) struct Value<'a> {
    pub(super) option: &'static str,
    pub(super) takes: &'static str,
    pub(super) text: &'a str,
}

impl Value<'_> {
    fn refuse(&self, rule: &'static str) -> OptionError {
        OptionError::Malformed {
            option: self.option,
            takes: self.takes,
            value: self.text.to_string(),
            rule,
        }
    }

    /// The thing that one of these words stands for.
    fn word<T: Copy>(&self, words: &[(&str, T)], rule: &'static str) -> Result<T, OptionError> {
        let found = words.iter().find(|(word, _)| *word == self.text);
        found.map(|row| row.1).ok_or_else(|| self.refuse(rule))
    }

    pub(super) fn count(&self) -> Result<usize, OptionError> {
        match self.text.parse() {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(self.refuse("a whole number from 1")),
        }
    }

    pub(super) fn multiple(&self) -> Result<Multiple, OptionError> {
        self.word(
            &[("0", Multiple::Worst), ("1", Multiple::Each)],
            "0 for the worst group, or 1 for each",
        )
    }

    /// `None`: both modes.
    pub(super) fn aggregation(&self) -> Result<Option<Aggregation>, OptionError> {
        let modes = [
            ("aggregate", Some(Aggregation::Aggregate)),
            ("non_aggregate", Some(Aggregation::NonAggregate)),
            ("multi", None),
        ];
        self.word(&modes, "aggregate, non_aggregate, or multi for both")
    }

    pub(super) fn policy(&self) -> Result<Policy, OptionError> {
        self.word(&Policy::NAMES, "dynamic, multiple_np, auto or off")
    }

    pub(super) fn thread_level(&self) -> Result<ThreadLevel, OptionError> {
        let levels = [
            ("single", ThreadLevel::Single),
            ("funneled", ThreadLevel::Funneled),
            ("serialized", ThreadLevel::Serialized),
            ("multiple", ThreadLevel::Multiple),
        ];
        self.word(&levels, "single, funneled, serialized or multiple")
    }

    pub(super) fn megabyte(&self) -> Result<Megabyte, OptionError> {
        let units = [("binary", Megabyte::Binary), ("si", Megabyte::Decimal)];
        self.word(&units, "binary for 2^20 bytes, or si for 10^6")
    }

    pub(super) fn data_type(&self) -> Result<DataType, OptionError> {
        self.word(&DataType::NAMES, "byte, char, int, float or double")
    }

    pub(super) fn overlap_base(&self) -> Result<OverlapBase, OptionError> {
        let bases = [("min", OverlapBase::Shorter), ("max", OverlapBase::Longer)];
        self.word(&bases, "min or max")
    }

    pub(super) fn switch(&self) -> Result<bool, OptionError> {
        let on = ["on", "1", "enable", "yes"].map(|word| (word, true));
        let off = ["off", "0", "disable", "no"].map(|word| (word, false));
        self.word(&[on, off].concat(), "on or off")
    }

    /// Numbers, then a policy, of which all but one may be left out.
    pub(super) fn iterations(&self, method: &mut Method) -> Result<(), OptionError> {
        let rule = "up to three whole numbers from 1 to 1000000000, then dynamic, multiple_np, auto or off";
        let mut parts: alloc::vec::Vec<&str> = self.text.split(',').collect();
        let named = |name: &str| Policy::NAMES.iter().find(|row| row.0 == name);
        if let Some((_, policy)) = parts.last().and_then(|last| named(last)) {
            method.policy = *policy;
            parts.pop();
        }
        if parts.len() > 3 {
            return Err(self.refuse(rule));
        }
        for (place, text) in parts.iter().enumerate() {
            let number = match text.parse() {
                Ok(number @ 1..=1_000_000_000) => number,
                _ => return Err(self.refuse(rule)),
            };
            match place {
                0 => method.samples = number,
                1 => method.volume = u64::from(number) << 20,
                _ => method.samples_single = number,
            }
        }
        Ok(())
    }

    pub(super) fn seconds(&self) -> Result<f64, OptionError> {
        self.positive()
            .ok_or_else(|| self.refuse("a number above 0, such as 0.5"))
    }

    fn positive(&self) -> Option<f64> {
        let number = self.text.parse::<f64>().ok();
        number.filter(|number| *number > 0.0 && number.is_finite())
    }

    /// 2^30 bytes each, in bytes.
    pub(super) fn memory(&self) -> Result<usize, OptionError> {
        match self.positive() {
            // A float becomes the nearest integer that there is.
            Some(gigabytes) => Ok((gigabytes * f64::from(1 << 30)) as usize),
            None => Err(self.refuse("a number above 0, such as 0.5")),
        }
    }

    pub(super) fn powers(&self) -> Result<Lengths, OptionError> {
        let (min, max) = self.text.split_once(':').unwrap_or(("0", self.text));
        match (min.parse(), max.parse()) {
            (Ok(min_log), Ok(max_log)) if min_log <= max_log && max_log <= MAX_LOG => {
                Ok(Lengths::Powers { min_log, max_log })
            }
            _ => Err(self.refuse("powers of two from 0 to 30, the smaller first")),
        }
    }

    pub(super) fn map(&self) -> Result<Map, OptionError> {
        let numbers = self
            .text
            .split_once('x')
            .map(|(p, q)| (p.parse(), q.parse()));
        match numbers {
            Some((Ok(rows @ 1..), Ok(columns @ 1..))) => Ok(Map { rows, columns }),
            _ => Err(self.refuse("two whole numbers from 1 with an x between them, such as 3x2")),
        }
    }

    pub(super) fn off_cache(&self, system: &dyn System) -> Result<OffCache, OptionError> {
        if self.text == "-1" {
            return system.cache().ok_or(OptionError::NoCache);
        }
        let (size, line) = match self.text.split_once(',') {
            Some((size, line)) => (size, line.parse().ok()),
            None => (self.text, Some(LINE)),
        };
        let size = size
            .parse::<f64>()
            .ok()
            .map(|size| size * f64::from(1 << 20));
        match (size, line) {
            (Some(size), Some(line))
                if (1.0..=CACHE_MAX).contains(&size) && (1..=1 << 20).contains(&line) =>
            {
                Ok(OffCache {
                    cache: size as usize,
                    line,
                })
            }
            _ => Err(self.refuse("-1, or 2^20 bytes such as 2.5, and bytes of a line such as 128")),
        }
    }

    /// The values of an option of later releases that ask for what is done here.
    pub(super) fn later(&self) -> Result<(), OptionError> {
        let done: &'static [&'static str] = match self.option {
            "-root_shift" | "-zero_size" => &["on", "1", "enable", "yes"],
            "-imb_barrier" => &["off", "0", "disable", "no"],
            "-red_data_type" => &["float"],
            "-contig_type" => &["base"],
            _ => &[],
        };
        if done.contains(&self.text) {
            return Ok(());
        }
        Err(OptionError::Later {
            option: self.option,
            value: self.text.to_string(),
            done,
        })
    }
}
