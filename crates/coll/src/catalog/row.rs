//! What the catalog says about one algorithm.

use crate::call::{Call, Collective, Needs, Parameters, Stage};
use crate::cost::Model;

/// What the catalog says about one algorithm.
#[derive(Clone, Copy, Debug)]
pub struct CatalogRow {
    /// The collective that it implements.
    pub collective: Collective,
    /// The name in settings; unique within the collective.
    pub name: &'static str,
    /// What it is good for, in one line.
    pub about: &'static str,
    /// What a call must be like.
    pub needs: Needs,
    /// The parameters that it takes, with their defaults.
    pub parameters: Parameters,
    /// The rounds that it promises: in one round a rank sends one message and receives one. The
    /// checker sees exactly so many where the vector gives every piece an element, and fewer, if at
    /// all, where it does not. Where a rank has several messages under way, or asks for them, it may
    /// see fewer anyway; or more, if blocks have lengths of their own and some are empty.
    pub rounds: fn(&Call, &Parameters) -> u64,
    /// The time until the last rank is done, in picoseconds: a closed form, but for gathers up a k-nomial tree of few
    /// ranks on several nodes. It grows with the bytes of the call, but at a cutoff; where nodes are not full it may fall, by up to
    /// a tenth, when messages become so long that they are announced. It looks at nothing in which ranks' calls differ. The group
    /// has at least two ranks. See [`cost`](crate::cost).
    pub cost: fn(&Call, &Parameters, &Model) -> u64,
}

impl Stage {
    /// What the algorithm runs with as a stage of one that has these parameters: ranks are on the
    /// nodes of the whole.
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
    /// What an algorithm runs with: these numbers where its row has one, each at least 1 and the
    /// radix within its [limit](Needs::max_radix); the row's where these are 0.
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
                (told, _) => told,
            },
        }
    }
}
