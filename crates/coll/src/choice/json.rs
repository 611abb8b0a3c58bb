//! Reads rules of choice from a JSON file. Its format is in `docs/formats.md`.
//!
//! ```
//! use oxmpi_coll::choice::{Tuning, choose, read_rules};
//! use oxmpi_coll::catalog::{Algorithm, Call};
//!
//! let rules = read_rules(
//!     r#"{"version": 1, "rules": [
//!         {"collective": "allreduce", "bytes": "64KiB..", "ranks": "2..16", "algorithm": "ring", "segment": "256KiB"}
//!     ]}"#,
//! )?;
//! let tuning = Tuning { rules, ..Tuning::default() };
//! let choice = choose(&Call::allreduce(0, 8, 1 << 20, 8), &tuning).expect("the algorithm supports the call");
//! assert_eq!(choice.algorithm, Algorithm::AllreduceRing);
//! assert_eq!(choice.parameters.segment, 256 << 10);
//!
//! let wrong = read_rules(r#"{"version": 1, "rules": [{"collective": "allreduce", "algorithm": "rinng"}]}"#);
//! let why = wrong.unwrap_err().to_string();
//! assert!(why.starts_with("algorithm: allreduce has no `rinng`; did you mean `ring`?"), "{why}");
//! # Ok::<(), oxmpi_coll::choice::RulesError>(())
//! ```

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use oxmpi_text::{nearest, size, whole};
use serde::Deserialize;
use thiserror::Error;

use super::rules::{RULES, Rule, Rules};
use crate::call::{Algorithm, Collective, Parameters, Stage};

/// The version of the file format.
const VERSION: u32 = 1;

/// An error in a file of rules: the field, what was expected, and the line and column at which reading
/// stopped.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct RulesError(String);

/// Parses a file of rules.
///
/// # Errors
///
/// If the text is no JSON, a field is missing or unknown, a value is out of range, the collective has no
/// such algorithm, the algorithm has no such parameter, or one collective has more than [`RULES`] rules.
pub fn read_rules(text: &str) -> Result<Rules, RulesError> {
    let file: RulesFile = serde_json::from_str(text).map_err(|why| RulesError(why.to_string()))?;
    if file.version != VERSION {
        let found = file.version;
        return Err(RulesError(format!(
            "version is {found}: this program reads version {VERSION}"
        )));
    }
    let of = |collective| {
        let is_one = |rule: &&Rule| rule.algorithm.collective() == collective;
        file.rules.iter().map(|one| &one.0).filter(is_one).count()
    };
    if let Some(collective) = Collective::ALL.into_iter().find(|&one| of(one) > RULES) {
        return Err(RulesError(format!(
            "rules: {collective} has {} of them, and at most {RULES} are allowed",
            of(collective)
        )));
    }
    let rules: Vec<Rule> = file.rules.into_iter().map(|one| one.0).collect();
    Ok(rules.into())
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    version: u32,
    rules: Vec<ValidRule>,
}

/// A validated rule.
#[derive(Deserialize)]
#[serde(try_from = "RuleJson")]
struct ValidRule(Rule);

/// A rule as it is written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleJson {
    collective: String,
    algorithm: String,
    bytes: Option<String>,
    ranks: Option<String>,
    radix: Option<u32>,
    gather_radix: Option<u32>,
    blocks: Option<u32>,
    window: Option<u32>,
    segment: Option<String>,
    cutoff: Option<String>,
    reduce: Option<StageJson>,
    bcast: Option<StageJson>,
    scatter: Option<StageJson>,
}

/// A stage of an algorithm as it is written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StageJson {
    algorithm: String,
    radix: Option<u32>,
    gather_radix: Option<u32>,
    blocks: Option<u32>,
    window: Option<u32>,
}

/// The stages of an algorithm, replaced by those that the file gives.
fn stages(
    of: Algorithm,
    json: [(Collective, Option<StageJson>); 3],
) -> Result<[Option<Stage>; 2], String> {
    let mut stages = of.row().parameters.stages;
    let json = json
        .into_iter()
        .filter_map(|(one, json)| Some((one, json?)));
    for (collective, json) in json {
        let mut all = stages.iter_mut().flatten();
        let own = all.find(|own| own.algorithm.collective() == collective);
        require_taken(of, collective.name(), own.is_some())?;
        let by = algorithm(collective, &json.algorithm)?;
        if !by.is_by_messages() {
            return Err(format!(
                "{by} cannot be a stage of {of}: a stage goes by messages"
            ));
        }
        let numbers = [json.radix, json.gather_radix, json.blocks, json.window];
        let stage = Stage::with(by, &self::numbers(by, numbers)?);
        if let Some(own) = own {
            *own = stage;
        }
    }
    Ok(stages)
}

/// The numeric parameters that the file gives, if the algorithm takes them.
fn numbers(
    algorithm: Algorithm,
    [radix, gather_radix, blocks, window]: [Option<u32>; 4],
) -> Result<Parameters, String> {
    let (own, needs) = (algorithm.row().parameters, algorithm.row().needs);
    let radixes = (2, needs.max_radix);
    let number = |name: &str, json: Option<u32>, own: u32, range: (u32, u32)| {
        let Some(value) = json else { return Ok(0) };
        require_taken(algorithm, name, own > 0)?;
        let (least, most) = range;
        if (least..=most).contains(&value) {
            Ok(value)
        } else {
            Err(format!(
                "{name}: {algorithm} takes {least} to {most}, not {value}"
            ))
        }
    };
    Ok(Parameters {
        radix: number("radix", radix, own.radix, radixes)?,
        gather_radix: number("gather_radix", gather_radix, own.gather_radix, radixes)?,
        blocks: number("blocks", blocks, own.blocks, (1, 1 << 24))?,
        window: number("window", window, own.window, (1, 64))?,
        ..Parameters::NONE
    })
}

impl TryFrom<RuleJson> for ValidRule {
    type Error = String;

    fn try_from(json: RuleJson) -> Result<Self, String> {
        let collective = collective(&json.collective)?;
        let algorithm = algorithm(collective, &json.algorithm)?;
        let own = algorithm.row().parameters;
        let length = |name: &str, json: Option<&String>, own: u64| {
            let Some(text) = json else { return Ok(0) };
            require_taken(algorithm, name, own > 0)?;
            match bytes(text).map_err(|why| format!("{name}: {why}"))? {
                0 => Err(format!("{name}: 0 bytes are too few, the least is 1")),
                bytes => Ok(bytes),
            }
        };
        let stages = [
            (Collective::Reduce, json.reduce),
            (Collective::Bcast, json.bcast),
            (Collective::Scatter, json.scatter),
        ];
        let numbers = [json.radix, json.gather_radix, json.blocks, json.window];
        let parameters = Parameters {
            segment: length("segment", json.segment.as_ref(), own.segment)?,
            cutoff: length("cutoff", json.cutoff.as_ref(), own.cutoff)?,
            stages: self::stages(algorithm, stages)?,
            ..self::numbers(algorithm, numbers)?
        };
        let all = |text: &Option<String>| text.clone().unwrap_or_else(|| "..".into());
        let ranks = range(&all(&json.ranks), 1, u32::MAX.into(), ranks);
        let (fewest, most) = ranks.map_err(|why| format!("ranks: {why}"))?;
        if json.bytes.is_some() && !collective.has_known_length() {
            return Err(format!(
                "bytes: {collective} has lengths that not all ranks know, so its rules apply to all lengths"
            ));
        }
        let bytes = range(&all(&json.bytes), 0, u64::MAX, bytes);
        Ok(ValidRule(Rule {
            algorithm,
            parameters,
            bytes: bytes.map_err(|why| format!("bytes: {why}"))?,
            ranks: (fewest as u32, most as u32),
        }))
    }
}

fn collective(name: &str) -> Result<Collective, String> {
    let found = Collective::ALL.into_iter().find(|one| one.name() == name);
    found.ok_or_else(|| {
        let names = Collective::ALL.map(Collective::name);
        format!(
            "collective: `{name}` does not exist{} The collectives are {}",
            suggestion(name, &names),
            names.join(", ")
        )
    })
}

fn algorithm(collective: Collective, name: &str) -> Result<Algorithm, String> {
    collective.algorithm(name).ok_or_else(|| {
        let names: Vec<_> = collective.algorithms().map(Algorithm::name).collect();
        format!(
            "algorithm: {collective} has no `{name}`{} It has {}",
            suggestion(name, &names),
            names.join(", ")
        )
    })
}

fn suggestion(name: &str, inputs: &[&'static str]) -> String {
    let near = nearest(name, inputs.iter().copied());
    near.map_or_else(|| ".".into(), |near| format!("; did you mean `{near}`?"))
}

/// An error if the algorithm does not take the parameter.
fn require_taken(algorithm: Algorithm, name: &str, is_taken: bool) -> Result<(), String> {
    if is_taken {
        return Ok(());
    }
    let own = algorithm.row().parameters;
    let all = [
        ("radix", own.radix > 0),
        ("gather_radix", own.gather_radix > 0),
        ("blocks", own.blocks > 0),
        ("window", own.window > 0),
        ("segment", own.segment > 0),
        ("cutoff", own.cutoff > 0),
    ];
    let numbers = all.into_iter().filter(|one| one.1).map(|one| one.0);
    let stages = own.stages.into_iter().flatten();
    let stages = stages.map(|stage| stage.algorithm.collective().name());
    let taken: Vec<_> = numbers.chain(stages).collect();
    let taken = match taken[..] {
        [] => "nothing".into(),
        _ => taken.join(", "),
    };
    Err(format!("{name}: {algorithm} takes none; it takes {taken}"))
}

fn bytes(text: &str) -> Result<u64, String> {
    size(text).map_err(|why| why.show(text).to_string())
}

fn ranks(text: &str) -> Result<u64, String> {
    let expected = "a number of ranks, from 1 to 4294967295";
    let read = whole(text, 1..=u64::from(u32::MAX), expected);
    read.map_err(|why| why.show(text).to_string())
}

/// Parses `A..B`, `A..`, `..B`, `..` or `A`, both ends included.
fn range(
    text: &str,
    least: u64,
    most: u64,
    read: impl Fn(&str) -> Result<u64, String>,
) -> Result<(u64, u64), String> {
    let Some((from, to)) = text.split_once("..") else {
        return read(text).map(|one| (one, one));
    };
    let end = |text: &str, open: u64| match text.trim() {
        "" => Ok(open),
        text => read(text),
    };
    let (from, to) = (end(from, least)?, end(to, most)?);
    if from > to {
        return Err(format!(
            "`{text}` is descending: write the smaller end first"
        ));
    }
    Ok((from, to))
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::read_rules;
    use crate::call::Algorithm;

    #[test]
    fn omitted_ranges_are_unbounded() {
        let rules = read_rules(
            r#"{"version": 1, "rules": [
                {"collective": "bcast", "algorithm": "chain", "blocks": 7, "bytes": "..8KiB"},
                {"collective": "barrier", "algorithm": "knomial", "ranks": "5", "radix": 3}
            ]}"#,
        )
        .expect("the rules are right");
        let [bcast, barrier] = rules[..] else {
            panic!("two rules");
        };
        assert_eq!(bcast.algorithm, Algorithm::BcastChain);
        assert_eq!((bcast.bytes, bcast.ranks), ((0, 8192), (1, u32::MAX)));
        assert_eq!(bcast.parameters.blocks, 7);
        assert_eq!((barrier.bytes, barrier.ranks), ((0, u64::MAX), (5, 5)));
    }

    #[test]
    fn stages_are_named_by_their_collectives() {
        let rules = read_rules(
            r#"{"version": 1, "rules": [
                {"collective": "allreduce", "algorithm": "reduce-bcast",
                 "reduce": {"algorithm": "chain", "blocks": 64}},
                {"collective": "allreduce", "algorithm": "reduce-bcast",
                 "bcast": {"algorithm": "linear-bruck", "radix": 8}},
                {"collective": "reduce_scatter_block", "algorithm": "reduce-scatter",
                 "scatter": {"algorithm": "linear"}}
            ]}"#,
        )
        .expect("the rules are right");
        let stages = |at: usize| {
            let stages = rules[at].parameters.stages;
            stages.map(|stage| stage.map(|one| (one.algorithm, one.radix, one.blocks)))
        };
        let trees = (
            Some((Algorithm::ReduceKnomial, 4, 0)),
            Some((Algorithm::BcastKnomial, 4, 0)),
        );
        assert_eq!(stages(0), [Some((Algorithm::ReduceChain, 0, 64)), trees.1]);
        assert_eq!(
            stages(1),
            [trees.0, Some((Algorithm::BcastLinearBruck, 8, 0))]
        );
        assert_eq!(stages(2), [trees.0, Some((Algorithm::ScatterLinear, 0, 0))]);
    }

    /// Fields of a rule, and what the error about them says.
    const WRONG_RULES: &str = r#"
"collective": "bcst", "algorithm": "chain" => did you mean `bcast`?
"collective": "bcast", "algorithm": "ring" => It has binomial,
"collective": "allreduce", "algorithm": "ring", "radix": 4 => allreduce ring takes none; it takes blocks, segment
"collective": "allreduce", "algorithm": "ring", "reduce": {"algorithm": "chain"} => reduce: allreduce ring takes none
"collective": "allreduce", "algorithm": "reduce-bcast", "scatter": {"algorithm": "linear"} => scatter: allreduce reduce-bcast takes none; it takes reduce, bcast
"collective": "allreduce", "algorithm": "reduce-bcast", "bcast": {"algorithm": "chain", "radix": 4} => radix: bcast chain takes none; it takes blocks
"collective": "gatherv", "algorithm": "knomial", "radix": 8 => radix: gatherv knomial takes 2 to 4, not 8
"collective": "allreduce", "algorithm": "ring", "segment": "0" => segment: 0 bytes
"collective": "allreduce", "algorithm": "ring", "bytes": "64X" => bytes: expected a size
"collective": "allreduce", "algorithm": "ring", "bytes": "2..1" => smaller end first
"collective": "allreduce", "algorithm": "ring", "ranks": "0" => from 1 to 4294967295
"collective": "allreduce", "algorithm": "ring", "rank": "1" => expected one of `collective`
"collective": "gatherv", "algorithm": "linear", "bytes": "1.." => bytes: gatherv has lengths that not all ranks know
"collective": "bcast" => missing field `algorithm`
"#;

    #[test]
    fn an_error_names_the_field_the_line_and_the_allowed_values() {
        for case in WRONG_RULES.trim().lines() {
            let (fields, expected) = case.split_once(" => ").expect("a rule and an error");
            let text = format!("{{\"version\": 1, \"rules\": [\n{{{fields}}}]}}");
            let why = read_rules(&text).unwrap_err().to_string();
            assert!(why.contains(expected) && why.contains("line 2"), "{why}");
        }
        let ring = r#""collective": "allreduce", "algorithm": "ring""#;
        let many = [&*format!("{{{ring}}}"); 9].join(",");
        for (text, expected) in [
            (r#"{"version": 2, "rules": []}"#, "reads version 1"),
            (
                &*format!("{{\"version\": 1, \"rules\": [{many}]}}"),
                "at most 8 are allowed",
            ),
            ("", "EOF"),
        ] {
            let why = read_rules(text).unwrap_err().to_string();
            assert!(why.contains(expected), "{why}");
        }
    }
}
