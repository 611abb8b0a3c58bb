//! Removes redundant levels from a view.

use crate::facts::ObjectId;
use crate::kind::Kind;
use crate::object::Object;
use crate::source::Source;
use crate::tree::{Marks, Tree};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

impl Tree {
    /// Removes levels with the structure of a neighbour, from the innermost outwards: hwloc's filter "keep
    /// structure" for the kinds that `may_go`.
    pub(super) fn merge_levels(&mut self, source: Source, may_go: impl Fn(Kind) -> bool) {
        let (mut machine, mut marks) = self.clone().flatten_marked(source);
        for depth in (1..machine.levels().len()).rev() {
            let levels = machine.levels();
            let (outer, inner) = (&levels[depth - 1], &levels[depth]);
            let Some(side) = redundant(outer, inner, &may_go) else {
                continue;
            };
            let gone = if side == Side::Outer { outer } else { inner };
            let gone: BTreeSet<ObjectId> = gone.iter().map(|object| object.id()).collect();
            marks.objects.retain(|_, id| gone.contains(id));
            self.drop_marked(&marks, side);
            (machine, marks) = self.clone().flatten_marked(source);
        }
    }

    /// Removes the objects with these marks. Their NUMA nodes and devices move to the only child if the outer
    /// side goes, else to the parent.
    fn drop_marked(&mut self, gone: &Marks, side: Side) {
        let mut kept = Vec::new();
        for mut child in core::mem::take(&mut self.children) {
            child.drop_marked(gone, side);
            if child
                .mark
                .is_none_or(|mark| !gone.objects.contains_key(&mark))
            {
                kept.push(child);
                continue;
            }
            let heir = match (side, child.children.as_mut_slice()) {
                (Side::Outer, [inner]) => inner,
                _ => &mut *self,
            };
            heir.memory.splice(0..0, child.memory);
            heir.devices.splice(0..0, child.devices);
            kept.append(&mut child.children);
        }
        self.children = kept;
    }
}

/// One of two consecutive levels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Outer,
    Inner,
}

/// The side that goes because the other has the same structure.
fn redundant(
    outer: &[Object<'_>],
    inner: &[Object<'_>],
    may_go: impl Fn(Kind) -> bool,
) -> Option<Side> {
    let weigh = |level: &[Object<'_>]| {
        let kind = level.first()?.kind();
        Some(if may_go(kind) { weight(kind) } else { KEPT })
    };
    let (a, b) = (weigh(outer)?, weigh(inner)?);
    let lighter = if a < b { Side::Outer } else { Side::Inner };
    (a.min(b) < KEPT && have_one_structure(outer, inner)).then_some(lighter)
}

/// Whether each object of the inner level is alone in one of the outer. PUs do not take over the NUMA nodes
/// of their parent.
fn have_one_structure(outer: &[Object<'_>], inner: &[Object<'_>]) -> bool {
    let is_alone = |(outer, inner): (&Object<'_>, &Object<'_>)| {
        inner.parent() == Some(*outer)
            && outer.children().len() == 1
            && (inner.kind() != Kind::Pu || outer.memory().len() == 0)
    };
    outer.len() == inner.len() && outer.iter().zip(inner).all(is_alone)
}

/// The weight of kinds that always stay.
const KEPT: u32 = 90;

/// The kind with the larger weight has more information, and stays.
fn weight(kind: Kind) -> u32 {
    match kind {
        Kind::Group => 0,
        kind if kind.holds_instructions_only() => 10,
        kind if kind.is_cache() => 20,
        Kind::Die => 30,
        Kind::Package => 40,
        Kind::Core => 60,
        _ => KEPT,
    }
}
