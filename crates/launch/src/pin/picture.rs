//! The answer of a pinning query as a picture of the machine.

use oxmpi_topo::Machine;
use oxmpi_topo::render::svg::{Overlay, Style, SvgOptions};

use super::query::PinAnswer;

/// The machine with a colour for each rank, and a mark for each thread on each of its processors.
pub(super) fn svg(machine: &Machine, answer: &PinAnswer, title: &str) -> String {
    let mut drawn = SvgOptions::default();
    drawn.title.push(title.into());
    drawn.devices = false;
    let ranks = &answer.placement.ranks;
    for rank in ranks {
        let class = rank.rank as usize;
        let label = format!("rank {}", rank.rank);
        drawn
            .overlays
            .push(Overlay::new(label, rank.cpus.clone(), class));
    }
    let teams = answer.teams.iter().flatten();
    for (rank, team) in ranks.iter().zip(teams) {
        for (thread, cpus) in team.threads.iter().enumerate() {
            let label = format!("rank {} thread {thread}", rank.rank);
            // The mark needs another colour than the rank's.
            let class = rank.rank as usize + 1 + thread;
            let mark = Overlay::new(label, cpus.clone(), class).with_style(Style::Mark);
            drawn.overlays.push(mark);
        }
    }
    machine.to_svg(&drawn)
}
