//! The answer of a pinning query as JSON: the format `oxmpi-pin` of docs/formats.md.

use oxmpi_topo::CpuSet;
use serde::Serialize;

use super::query::PinAnswer;

#[derive(Serialize)]
struct PinDocument<'a> {
    ranks: Vec<RankJson>,
    warnings: Vec<WarningJson<'a>>,
    error: Option<&'a str>,
    format: &'static str,
    version: u32,
}

#[derive(Serialize)]
struct RankJson {
    rank: u32,
    cpus: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<Vec<String>>,
}

#[derive(Serialize)]
struct WarningJson<'a> {
    code: String,
    args: &'a [String],
    text: &'a str,
}

/// The answer, or the error, as one line.
pub(super) fn line(answer: &Result<PinAnswer, String>) -> String {
    let document = PinDocument {
        ranks: answer.as_ref().map(ranks).unwrap_or_default(),
        warnings: answer.as_ref().map(warnings).unwrap_or_default(),
        error: answer.as_ref().err().map(String::as_str),
        format: "oxmpi-pin",
        version: 1,
    };
    serde_json::to_string(&document).expect("texts, numbers and lists are JSON") + "\n"
}

fn ranks(answer: &PinAnswer) -> Vec<RankJson> {
    let rank = |(number, rank): (usize, &oxmpi_pin::RankPlace)| RankJson {
        rank: rank.rank,
        cpus: rank.cpus.to_string(),
        threads: answer.teams.as_ref().map(|teams| {
            let threads = teams[number].threads.iter();
            threads.map(CpuSet::to_string).collect()
        }),
    };
    answer
        .placement
        .ranks
        .iter()
        .enumerate()
        .map(rank)
        .collect()
}

fn warnings(answer: &PinAnswer) -> Vec<WarningJson<'_>> {
    let all = answer.warnings.iter().map(|warning| WarningJson {
        code: warning.code.to_string(),
        args: &warning.args,
        text: &warning.text,
    });
    all.collect()
}
