//! One row of the catalog: an algorithm's name, requirements, default parameters, rounds and cost.

use crate::call::{Call, Collective, Needs, Parameters, Stage, setters};
use crate::cost::Model;
use crate::tree::levels;

/// What the catalog says about one algorithm.
#[derive(Clone, Copy, Debug)]
pub struct CatalogRow {
    /// The collective that it implements.
    pub collective: Collective,
    /// The name in settings; unique within the collective.
    pub name: &'static str,
    /// Its advantage, in one line.
    pub about: &'static str,
    /// What it requires of a call.
    pub needs: Needs,
    /// Whether it has phases inside nodes and between them, so that it needs the nodes which its parameters name.
    pub on_nodes: bool,
    /// Its parameters, with their defaults.
    pub parameters: Parameters,
    /// The promised number of rounds; in one round a rank sends one message and receives one. The checker
    /// counts exactly this many where the vector has an element for every piece, and at most this many where
    /// it has not. It may count fewer where a rank has several messages under way or asks for them, and more
    /// where blocks have lengths of their own and some are empty.
    pub rounds: fn(&Call, &Parameters) -> u64,
    /// The predicted time until the last rank is done, in picoseconds, for at least two ranks: a closed form,
    /// except for k-nomial gathers of few ranks on several nodes. It grows with the bytes of the call, except
    /// at a cutoff and, where nodes are not full, by up to a tenth where messages become too long for the
    /// eager protocol. It depends on nothing in which the calls of the ranks differ. See
    /// [`cost`](crate::cost).
    pub cost: fn(&Call, &Parameters, &Model) -> u64,
}

setters! {
    CatalogRow:
    about(about: &'static str)
    needs(needs: Needs)
    on_nodes(on_nodes: bool)
    parameters(parameters: Parameters)
    rounds(rounds: fn(&Call, &Parameters) -> u64)
}

impl Collective {
    /// The row of an algorithm that takes every call and no parameters and ends within `ceil(log2 p)` rounds,
    /// as far as the row's setters do not say otherwise.
    pub(crate) const fn row(
        self,
        name: &'static str,
        cost: fn(&Call, &Parameters, &Model) -> u64,
    ) -> CatalogRow {
        CatalogRow {
            collective: self,
            name,
            about: "",
            needs: Needs::NOTHING,
            on_nodes: false,
            parameters: Parameters::NONE,
            rounds: |call, _| levels(call.size).into(),
            cost,
        }
    }
}

impl Stage {
    /// The parameters of the stage's algorithm within a collective that has the parameters `whole`: both have
    /// the same placement of ranks.
    #[must_use]
    pub const fn within(self, whole: &Parameters) -> Parameters {
        let own = Parameters {
            radix: self.radix,
            gather_radix: self.gather_radix,
            blocks: self.blocks,
            window: self.window,
            per_node: whole.per_node,
            order: whole.order,
            ..Parameters::NONE
        };
        own.over(self.algorithm.row())
    }
}

impl Parameters {
    /// These parameters where the row has them, each at least 1 and the radix at most
    /// [`Needs::max_radix`]; the row's default where they are 0.
    #[must_use]
    pub const fn over(self, row: &CatalogRow) -> Parameters {
        let (most, row) = (row.needs.max_radix, row.parameters);
        const fn choose(own: u64, row: u64) -> u64 {
            if own == 0 || row == 0 { row } else { own }
        }
        const fn radix(own: u32, row: u32, most: u32) -> u32 {
            match choose(own as u64, row as u64) as u32 {
                0 => 0,
                1 => 2,
                radix if radix > most => most,
                radix => radix,
            }
        }
        Parameters {
            radix: radix(self.radix, row.radix, most),
            gather_radix: radix(self.gather_radix, row.gather_radix, most),
            blocks: choose(self.blocks as u64, row.blocks as u64) as u32,
            window: choose(self.window as u64, row.window as u64) as u32,
            segment: choose(self.segment, row.segment),
            cutoff: choose(self.cutoff, row.cutoff),
            per_node: choose(self.per_node as u64, row.per_node as u64) as u32,
            order: self.order,
            stages: match (self.stages, row.stages) {
                ([None, None], own) | (_, own @ [None, None]) => own,
                (given, _) => given,
            },
        }
    }
}
