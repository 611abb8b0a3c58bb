//! `oxmpi pin --compare`: two sets of settings side by side.

use oxmpi_topo::{CpuSet, Machine};

use super::query::{PinAnswer, PinQuery, Variables};
use super::{location, text};
use crate::columns::aligned;

/// The answers for the query with each of the two sets of settings, side by side.
///
/// # Errors
/// The first wrong setting, with the name of its set.
pub(super) fn text(
    machine: &Machine,
    query: &PinQuery,
    sets: &[Variables; 2],
) -> Result<String, String> {
    let answer = |name: &str, set: &Variables| {
        let mut query = query.clone();
        query.variables.extend(set.clone());
        let answer = query.answer(machine);
        answer.map_err(|why| format!("--compare, {name}: {why}"))
    };
    let [a, b] = [answer("A", &sets[0])?, answer("B", &sets[1])?];
    let mut parts = vec![head(sets), ranks(&a, &b)];
    for (name, answer) in [("A", &a), ("B", &b)] {
        let warnings = text::warnings(machine, answer);
        parts.extend(warnings.map(|warnings| format!("{name}:\n{warnings}")));
    }
    parts.push(metrics(machine, &a, &b));
    Ok(parts.join("\n"))
}

fn head(sets: &[Variables; 2]) -> String {
    let line = |(name, set): (&str, &Variables)| {
        let settings = set.iter().map(|(name, value)| format!(" {name}={value}"));
        format!("{name}:{}\n", settings.collect::<String>())
    };
    ["A", "B"].into_iter().zip(sets).map(line).collect()
}

fn ranks(a: &PinAnswer, b: &PinAnswer) -> String {
    let with_threads = a.teams.is_some();
    let mut head = vec!["rank", "A", "B"];
    if with_threads {
        head.extend(["threads of A", "threads of B"]);
    }
    head.push("");
    let mut rows = vec![head.into_iter().map(String::from).collect()];
    for (number, (one, other)) in a.placement.ranks.iter().zip(&b.placement.ranks).enumerate() {
        let threads = [a, b].map(|answer| team(answer, number));
        let mut row = vec![
            one.rank.to_string(),
            one.cpus.to_string(),
            other.cpus.to_string(),
        ];
        if with_threads {
            row.extend(threads.map(location::threads));
        }
        let differs = one.cpus != other.cpus || threads[0] != threads[1];
        row.push(if differs { "differs" } else { "" }.into());
        rows.push(row);
    }
    aligned(&rows)
}

fn team(answer: &PinAnswer, rank: usize) -> &[CpuSet] {
    let team = answer.teams.as_ref().map(|teams| &teams[rank]);
    team.map_or(&[], |team| team.threads.as_slice())
}

fn metrics(machine: &Machine, a: &PinAnswer, b: &PinAnswer) -> String {
    let mut rows = vec![["", "A", "B"].map(String::from).to_vec()];
    let both = text::metrics(machine, a).into_iter();
    rows.extend(
        both.zip(text::metrics(machine, b))
            .map(|((name, a), (_, b))| vec![name, a, b]),
    );
    aligned(&rows)
}
