//! Every option: its spelling, what it takes, and what it sets.

use super::draft::Draft;
use super::values::Value;
use super::{OptionError, System, files};
use crate::suite::Benchmark;

/// How the names after an option are written.
pub(super) const NAMES: &str = "NAME...";

/// An option.
pub(super) struct OptionRow {
    pub(super) name: &'static str,
    /// Other spellings.
    pub(super) also: &'static [&'static str],
    pub(super) takes: Takes,
    /// One line of help.
    pub(super) about: &'static str,
}

type Set = fn(&mut Draft, &Value<'_>, &dyn System) -> Result<(), OptionError>;

/// What an option takes, and what is done with it.
pub(super) enum Takes {
    /// Nothing; the help is printed.
    Help,
    /// Nothing; the list of benchmarks is printed.
    List,
    /// Nothing.
    Nothing(fn(&mut Draft)),
    /// One value of this form.
    Value(&'static str, Set),
    /// Names, up to the next option.
    Names(fn(&mut Draft, Benchmark)),
}

impl OptionRow {
    /// The option of that spelling.
    pub(super) fn named(word: &str) -> Option<&'static OptionRow> {
        ROWS.iter()
            .find(|row| row.name == word || row.also.contains(&word))
    }

    /// What it takes, as the help shows it.
    pub(super) fn form(&self) -> &'static str {
        match self.takes {
            Takes::Help | Takes::List | Takes::Nothing(_) => "",
            Takes::Value(form, _) => form,
            Takes::Names(_) => NAMES,
        }
    }
}

const fn value(name: &'static str, form: &'static str, about: &'static str, set: Set) -> OptionRow {
    OptionRow {
        name,
        also: &[],
        takes: Takes::Value(form, set),
        about,
    }
}

/// Sets a field to what was read.
fn set<T>(field: &mut T, read: Result<T, OptionError>) -> Result<(), OptionError> {
    *field = read?;
    Ok(())
}

/// Sets a field that was empty to what was read.
fn set_some<T>(field: &mut Option<T>, read: Result<T, OptionError>) -> Result<(), OptionError> {
    set(field, read.map(Some))
}

/// An option of later releases that is answered where it asks for what is done anyhow.
const fn later(name: &'static str, about: &'static str) -> OptionRow {
    value(name, "VALUE", about, |_, value, _| value.later())
}

/// The options in the order of the guide, then ours, then those of later releases.
pub(super) const ROWS: &[OptionRow] = &[
    OptionRow {
        name: "-h",
        also: &["-help", "--help"],
        takes: Takes::Help,
        about: "this help; also -help",
    },
    value(
        "-npmin",
        "RANKS",
        "ranks of the smallest group; 2 when left out",
        |draft, value, _| set_some(&mut draft.plan.layout.fewest, value.count()),
    ),
    value(
        "-multi",
        "0|1",
        "as many groups as there are ranks for, at once: 0 reports the worst, 1 each",
        |draft, value, _| set_some(&mut draft.multiple, value.multiple()),
    ),
    value(
        "-off_cache",
        "-1|MB[,LINE]",
        "keep messages out of a cache of MB times 2^20 bytes; -1: of this machine's.\n\
         Without it transfers of EXT and RMA hit one place (the guide: disjoint sections)",
        |draft, value, system| set_some(&mut draft.plan.off_cache, value.off_cache(system)),
    ),
    value(
        "-iter",
        "SAMPLES[,MB[,SINGLE]][,POLICY]",
        "most repetitions of a sample (1000), its 2^20 bytes (40), those one by one (100)",
        |draft, value, _| value.iterations(&mut draft.plan.method),
    ),
    value(
        "-iter_policy",
        "POLICY",
        "dynamic, multiple_np, auto or off",
        |draft, value, _| set(&mut draft.plan.method.policy, value.policy()),
    ),
    value(
        "-time",
        "SECONDS",
        "most time a sample may take; 10 when left out",
        |draft, value, _| {
            draft.plan.method.seconds = value.seconds()?;
            draft.is_timed = true;
            Ok(())
        },
    ),
    value(
        "-mem",
        "GB",
        "most memory of a rank for messages, in 2^30 bytes; 1 when left out",
        |draft, value, _| set(&mut draft.plan.memory, value.memory()),
    ),
    value(
        "-input",
        "FILE",
        "benchmarks to run: one name a line, # begins a comment",
        |draft, value, system| files::names(draft.plan.part, value, system, &mut draft.named),
    ),
    value(
        "-msglen",
        "FILE",
        "message lengths in bytes: one a line, # begins a comment",
        |draft, value, system| set_some(&mut draft.lengths, files::lengths(value, system)),
    ),
    value(
        "-map",
        "PxQ",
        "number the ranks along the rows of a grid: 0 P 2P ..., then 1 P+1 ...",
        |draft, value, _| set_some(&mut draft.plan.layout.map, value.map()),
    ),
    OptionRow {
        name: "-include",
        also: &[],
        takes: Takes::Names(|draft, benchmark| draft.included.push(benchmark)),
        about: "run these, too",
    },
    OptionRow {
        name: "-exclude",
        also: &[],
        takes: Takes::Names(|draft, benchmark| draft.excluded.push(benchmark)),
        about: "do not run these",
    },
    value(
        "-msglog",
        "[MIN:]MAX",
        "message lengths 0 and 2^MIN to 2^MAX bytes",
        |draft, value, _| set_some(&mut draft.lengths, value.powers()),
    ),
    value(
        "-thread_level",
        "LEVEL",
        "single, funneled, serialized or multiple",
        |draft, value, _| set_some(&mut draft.thread_level, value.thread_level()),
    ),
    OptionRow {
        name: "-check",
        also: &[],
        takes: Takes::Nothing(|draft| draft.plan.method.check = true),
        about: "prove the data of every repetition; its times mean nothing",
    },
    OptionRow {
        name: "-list",
        also: &["--list"],
        takes: Takes::List,
        about: "the benchmarks; also --list",
    },
    value(
        "--mb",
        "binary|si",
        "what Mbytes/sec counts: 2^20 or 10^6 bytes",
        |draft, value, _| set(&mut draft.megabyte, value.megabyte()),
    ),
    value(
        "--overlap",
        "min|max",
        "in NBC, what overlap[%] is a share of: the shorter one of t_pure and t_CPU\n\
         (min, the guide) or the longer one (max, the program)",
        |draft, value, _| set(&mut draft.plan.overlap_base, value.overlap_base()),
    ),
    value(
        "-aggregate_mode",
        "aggregate|non_aggregate|multi",
        "the only mode of benchmarks that have both, in EXT and RMA; multi: both",
        |draft, value, _| set(&mut draft.plan.aggregation, value.aggregation()),
    ),
    value(
        "-warm_up",
        "on|off",
        "of later releases: repetitions before each sample",
        |draft, value, _| {
            if !value.switch()? {
                draft.plan.method.warm_up = 0;
            }
            Ok(())
        },
    ),
    later("-root_shift", "of later releases: on"),
    value(
        "-sync",
        "on|off",
        "of later releases: an untimed barrier after each repetition; on in NBC only",
        |draft, value, _| {
            set_some(
                &mut draft.sync,
                value.switch().map(|is_on| (value.text.into(), is_on)),
            )
        },
    ),
    later("-imb_barrier", "of later releases: off"),
    later("-zero_size", "of later releases: on"),
    value(
        "-data_type",
        "byte|char|int|float|double",
        "of later releases: messages have whole items of this type; byte when left out",
        |draft, value, _| {
            draft.plan.data_type = value.data_type()?;
            Ok(())
        },
    ),
    later("-red_data_type", "of later releases: float"),
    later("-contig_type", "of later releases: base"),
    later("-msgsize", "of later releases: none"),
    later("-window_size", "of later releases: none"),
];
