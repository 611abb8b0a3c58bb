//! The answer of a pinning query as text.

use oxmpi_pin::openmp::Team;
use oxmpi_pin::{Metrics, conflicts, numa_domains};
use oxmpi_topo::{Kind, Machine};

use super::location;
use super::query::PinAnswer;
use crate::columns::aligned;

/// The table of ranks, the warnings, the reasons with `--explain`, and the metrics of the placement.
pub(super) fn page(machine: &Machine, answer: &PinAnswer, explain: bool) -> String {
    let mut parts = vec![table(machine, answer)];
    parts.extend(warnings(machine, answer));
    if explain {
        parts.push(format!("{}\n", answer.placement.explanation));
        parts.extend(report(answer));
    }
    let rows = metrics(machine, answer).into_iter();
    let rows: Vec<_> = rows.map(|(name, value)| vec![name, value]).collect();
    parts.push(aligned(&rows));
    parts.join("\n")
}

fn table(machine: &Machine, answer: &PinAnswer) -> String {
    let mut head = vec!["rank", "processors", "where", "NUMA node"];
    if answer.teams.is_some() {
        head.push("threads");
    }
    let domains = numa_domains(machine);
    let mut rows = vec![head.into_iter().map(String::from).collect()];
    for (number, rank) in answer.placement.ranks.iter().enumerate() {
        let mut row = vec![
            rank.rank.to_string(),
            rank.cpus.to_string(),
            location::describe(machine, &rank.cpus),
            location::numa_nodes(&domains, &rank.cpus),
        ];
        row.extend(
            answer
                .teams
                .as_ref()
                .map(|teams| location::threads(&teams[number].threads)),
        );
        rows.push(row);
    }
    aligned(&rows)
}

/// The warnings and conflicts, then hints about wrong thread settings; `None` if there are none.
pub(super) fn warnings(machine: &Machine, answer: &PinAnswer) -> Option<String> {
    let conflicts = conflicts(machine, &answer.placement, |_| answer.omp_threads);
    let warnings = answer.warnings.iter().chain(&conflicts);
    let warnings = warnings.map(|warning| format!("warning: {}\n", warning.text));
    let first = answer.teams.iter().flatten().next();
    let hints = first.iter().flat_map(|team| &team.hints);
    let lines: String = warnings
        .chain(hints.map(|hint| format!("{hint}\n")))
        .collect();
    (!lines.is_empty()).then_some(lines)
}

/// The report of the OpenMP runtime of the first rank, with `verbose`.
fn report(answer: &PinAnswer) -> Option<String> {
    let first = answer.teams.iter().flatten().next()?;
    let lines = first.report.iter().map(|line| format!("{line}\n"));
    (!first.report.is_empty())
        .then(|| format!("The threads of rank 0:\n{}", lines.collect::<String>()))
}

/// Metrics of the placement: names and values.
pub(super) fn metrics(machine: &Machine, answer: &PinAnswer) -> Vec<(String, String)> {
    let metrics = Metrics::new(machine, &answer.placement);
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut say = |name: &str, value: String| rows.push((name.into(), value));
    let of_pairs = |count: usize| format!("{count} of {}", metrics.pairs);
    for (kind, count) in &metrics.shared {
        say(
            &format!("neighbouring ranks that share {}", object(*kind)),
            of_pairs(*count),
        );
    }
    say(
        "neighbouring ranks on different NUMA nodes",
        of_pairs(metrics.numa_crossings),
    );
    say("ranks across NUMA nodes", numbers(&metrics.across_numa));
    let idle = match metrics.idle.is_empty() {
        true => "none".into(),
        false => format!("{} ({})", metrics.idle.len(), metrics.idle),
    };
    say("idle processors", idle);
    say(
        "ranks that share a processor while another is idle",
        numbers(&metrics.oversubscribed),
    );
    if let Some(teams) = &answer.teams {
        say(
            "ranks with more threads than processors",
            numbers(&overfull(answer, teams)),
        );
    }
    rows
}

fn object(kind: Kind) -> &'static str {
    match kind {
        Kind::Core => "a core",
        Kind::L2 => "an L2 cache",
        Kind::L3 => "an L3 cache",
        _ => "a NUMA node",
    }
}

/// Ranks with more threads than processors.
fn overfull(answer: &PinAnswer, teams: &[Team]) -> Vec<u32> {
    let ranks = answer.placement.ranks.iter().zip(teams);
    let overfull = ranks.filter(|(rank, team)| team.threads.len() > rank.cpus.len());
    overfull.map(|(rank, _)| rank.rank).collect()
}

/// The number of ranks, and their numbers.
fn numbers(ranks: &[u32]) -> String {
    let set: oxmpi_topo::CpuSet = ranks.iter().map(|rank| *rank as usize).collect();
    match ranks.len() {
        0 => "none".into(),
        count => format!("{count} ({set})"),
    }
}
