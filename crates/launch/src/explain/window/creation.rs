//! What making a window takes: its collectives, and the memory of a rank.

use oxmpi::window::WindowFootprint;
use oxmpi_coll::catalog::Call;
use oxmpi_coll::choice::{ChoiceTable, Tuning};
use serde_json::{Value, json};

use crate::columns::aligned;

/// A collective in which the ranks make a window.
struct Step {
    call: Call,
    algorithm: &'static str,
    rounds: u64,
    /// Expected picoseconds.
    time: u64,
    why: &'static str,
}

/// What each collective is for, in their order.
const WHY: [&str; 3] = [
    "the ranks agree on the context of its messages",
    "each rank says where its memory and its locks are, and how long it is",
    "no rank accesses it before all have it",
];

/// The making of a window, and what is kept of it.
pub(super) struct Creation {
    footprint: WindowFootprint,
    steps: Vec<Step>,
}

impl Creation {
    /// That of a window of such a size, by the costs of this machine.
    ///
    /// # Errors
    /// When a setting requires an algorithm that does not suit.
    pub(super) fn foretell(footprint: WindowFootprint, tuning: &Tuning) -> Result<Self, String> {
        let step = |(call, why): (Call, &'static str)| {
            let table = ChoiceTable::new(&call, tuning).map_err(|why| why.to_string())?;
            let choice = table.choice(call.bytes());
            let model = tuning.model(call.size);
            Ok(Step {
                call,
                algorithm: choice.algorithm.name(),
                rounds: choice.algorithm.rounds(&call, &choice.parameters),
                time: choice.algorithm.cost(&call, &choice.parameters, &model),
                why,
            })
        };
        let steps = footprint.calls().into_iter().zip(WHY).map(step);
        let steps = steps.collect::<Result<_, String>>()?;
        Ok(Self { footprint, steps })
    }

    pub(super) fn text(&self) -> String {
        let head = [
            "collective",
            "bytes",
            "algorithm",
            "rounds",
            "expected",
            "because",
        ];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(self.steps.iter().map(|step| {
            vec![
                step.call.collective.name().to_owned(),
                step.call.bytes().to_string(),
                step.algorithm.to_owned(),
                step.rounds.to_string(),
                format!("{:.3} us", step.time as f64 / 1e6),
                step.why.to_owned(),
            ]
        }));
        let WindowFootprint { ranks, on_node } = self.footprint;
        format!(
            "making a window of {ranks} ranks, {on_node} on a node (`oxmpi sim` simulates its collectives on other machines):\n{}\n\
             memory of a rank: {} B meanwhile; kept are 0 B where all sizes and units are equal, else {} B, and {} B for the ranks of \
             its node\n",
            aligned(&rows),
            self.footprint.bytes_meanwhile(),
            self.footprint.bytes_kept(false),
            self.footprint.bytes_kept_for_node(),
        )
    }

    pub(super) fn json(&self) -> Value {
        let step = |step: &Step| {
            json!({
                "collective": step.call.collective.name(), "bytes": step.call.bytes(), "algorithm": step.algorithm,
                "rounds": step.rounds, "expected_us": step.time as f64 / 1e6, "why": step.why,
            })
        };
        json!({
            "ranks": self.footprint.ranks,
            "collectives": self.steps.iter().map(step).collect::<Vec<_>>(),
            "bytes_meanwhile": self.footprint.bytes_meanwhile(),
            "bytes_kept_equal": self.footprint.bytes_kept(true),
            "bytes_kept_different": self.footprint.bytes_kept(false),
            "bytes_kept_for_node": self.footprint.bytes_kept_for_node(),
        })
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_coll::machine::Machine;

    use super::*;

    #[test]
    fn making_a_window_of_many_ranks_takes_few_rounds() {
        let footprint = WindowFootprint {
            ranks: 100_000,
            on_node: 16,
        };
        let tuning = Tuning {
            per_node: 16,
            machine: Machine::GEMINI,
            ..Tuning::default()
        };
        let creation = Creation::foretell(footprint, &tuning).expect("all suit");
        let json = creation.json();
        let names = (0..3).map(|at| json["collectives"][at]["collective"].as_str());
        assert!(names.eq(["allreduce", "allgather", "barrier"].map(Some)));
        let places = &json["collectives"][1];
        assert_eq!(places["bytes"], 40);
        assert!(
            places["rounds"].as_u64().is_some_and(|rounds| rounds < 40),
            "{places}"
        );
        assert_eq!(json["bytes_meanwhile"], 4_000_000);
        assert_eq!(json["bytes_kept_equal"], 0);
        assert_eq!(json["bytes_kept_different"], 1_600_000);
        let text = creation.text();
        assert!(
            text.contains("making a window of 100000 ranks, 16 on a node"),
            "{text}"
        );
        assert!(text.contains("else 1600000 B"), "{text}");
    }
}
