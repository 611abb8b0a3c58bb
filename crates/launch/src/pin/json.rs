//! An answer as JSON: the format `oxmpi-pin` of docs/formats.md.

use oxmpi_topo::CpuSet;
use serde::Serialize;

use super::case::Answer;

#[derive(Serialize)]
struct Document<'a> {
    ranks: Vec<Rank>,
    warnings: Vec<Told<'a>>,
    error: Option<&'a str>,
    format: &'static str,
    version: u32,
}

#[derive(Serialize)]
struct Rank {
    rank: u32,
    cpus: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<Vec<String>>,
}

#[derive(Serialize)]
struct Told<'a> {
    code: String,
    args: &'a [String],
    text: &'a str,
}

/// One line, whatever the answer is.
pub(super) fn line(answer: &Result<Answer, String>) -> String {
    let document = Document {
        ranks: answer.as_ref().map(ranks).unwrap_or_default(),
        warnings: answer.as_ref().map(warnings).unwrap_or_default(),
        error: answer.as_ref().err().map(String::as_str),
        format: "oxmpi-pin",
        version: 1,
    };
    serde_json::to_string(&document).expect("texts, numbers and lists are JSON") + "\n"
}

fn ranks(answer: &Answer) -> Vec<Rank> {
    let rank = |(number, rank): (usize, &oxmpi_pin::RankPlace)| Rank {
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

fn warnings(answer: &Answer) -> Vec<Told<'_>> {
    let told = answer.warnings.iter().map(|warning| Told {
        code: warning.code.to_string(),
        args: &warning.args,
        text: &warning.text,
    });
    told.collect()
}
