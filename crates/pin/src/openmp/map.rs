//! The topology map: the hardware threads that a team may use, as OpenMP runtimes see them.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use oxmpi_topo::{CpuSet, Kind, Machine, Object};

use crate::openmp::Levels;

/// A level of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Package,
    Die,
    Core,
    Thread,
}

/// One hardware thread. All lists are by level, outermost first.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The operating system's number.
    pub(crate) cpu: usize,
    /// The numbers that the hardware gives to what it is in, on all levels of the machine.
    pub(crate) ids: Vec<u32>,
    /// Its place among the children of what is around it, on all levels of the machine.
    pub(crate) everywhere: Vec<usize>,
    /// The same on the levels of the map.
    pub(crate) ordinals: Vec<usize>,
}

/// The hardware threads of a machine, in the order of their numbers.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    /// The levels of the machine.
    pub(crate) all: Vec<Level>,
    /// Those of them that are in the map.
    pub(crate) levels: Vec<Level>,
    /// On each level of the map, the most children of one parent; of the first, how many there are.
    pub(crate) ratios: Vec<usize>,
    /// Never empty.
    pub(crate) rows: Vec<Row>,
}

/// What a hardware thread is in on one level: the hardware's number, and one that tells equals apart.
type Id = (u32, u32);

impl Map {
    /// The map of those processors of `machine` that are in `processors`; all if it has none of them.
    pub(crate) fn new(machine: &Machine, processors: &CpuSet, levels: Levels) -> Self {
        let with_dies = levels == Levels::Current && machine.objects(Kind::Die).len() > 0;
        let all: Vec<Level> = [Level::Package, Level::Die, Level::Core, Level::Thread]
            .into_iter()
            .filter(|level| *level != Level::Die || with_dies)
            .collect();
        let row = |pu: Object<'_>| {
            let ids: Vec<Id> = all.iter().map(|level| id(pu, *level)).collect();
            (ids, pu.cpus().first().unwrap_or(0))
        };
        let mut rows: Vec<(Vec<Id>, usize)> = machine.objects(Kind::Pu).map(row).collect();
        if rows.iter().any(|(_, cpu)| processors.contains(*cpu)) {
            rows.retain(|(_, cpu)| processors.contains(*cpu));
        }
        rows.sort();
        Self::of_rows(all, &rows, levels)
    }

    fn of_rows(all: Vec<Level>, sorted: &[(Vec<Id>, usize)], levels: Levels) -> Self {
        let mut ordinals: Vec<Vec<usize>> = Vec::new();
        for (at, (ids, _)) in sorted.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| (&sorted[at].0, &ordinals[at]));
            ordinals.push(follow(before, ids));
        }
        let ratio = |level: usize| ordinals.iter().map(|row| row[level] + 1).max().unwrap_or(1);
        let is_in = |level: &usize| match all[*level] {
            Level::Package => true,
            Level::Die => ratio(*level) > 1,
            Level::Core | Level::Thread => levels == Levels::Current || ratio(*level) > 1,
        };
        let kept: Vec<usize> = (0..all.len()).filter(is_in).collect();
        let rows = sorted.iter().zip(&ordinals);
        Self {
            levels: kept.iter().map(|level| all[*level]).collect(),
            ratios: kept.iter().map(|level| ratio(*level)).collect(),
            rows: rows
                .map(|((ids, cpu), ordinals)| Row {
                    cpu: *cpu,
                    ids: ids.iter().map(|id| id.0).collect(),
                    ordinals: kept.iter().map(|level| ordinals[*level]).collect(),
                    everywhere: ordinals.clone(),
                })
                .collect(),
            all,
        }
    }

    /// How many levels the map has.
    pub(crate) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// The most children of one parent on a level; 1 if it is not in the map.
    pub(crate) fn ratio(&self, level: Level) -> usize {
        let place = self.levels.iter().position(|other| *other == level);
        place.map_or(1, |place| self.ratios[place])
    }

    /// Whether no leaf is missing.
    pub(crate) fn is_uniform(&self) -> bool {
        self.ratios.iter().product::<usize>() == self.rows.len()
    }

    /// How many parts the first `depth` levels make.
    pub(crate) fn count(&self, depth: usize) -> usize {
        let parts = self
            .rows
            .iter()
            .map(|row| &row.ordinals[..depth.min(self.depth())]);
        parts.collect::<BTreeSet<_>>().len()
    }

    /// How many cores it has.
    pub(crate) fn cores(&self) -> usize {
        let threads = usize::from(self.levels.last() == Some(&Level::Thread));
        self.count(self.depth() - threads)
    }

    /// All processors.
    pub(crate) fn cpus(&self) -> CpuSet {
        self.rows.iter().map(|row| row.cpu).collect()
    }

    /// The row of a processor.
    pub(crate) fn row_of(&self, cpu: u64) -> Option<&Row> {
        self.rows.iter().find(|row| row.cpu as u64 == cpu)
    }

    /// The processors that one thread may wander over that is bound to `row`, when the `folded` innermost levels are one.
    ///
    /// # Cost
    /// A search, and the processors of the place: rows of one place stand together.
    pub(crate) fn place(&self, row: &Row, folded: usize) -> CpuSet {
        let part = &row.ordinals[..self.depth().saturating_sub(folded)];
        let begin = |other: &Row| &other.ordinals[..part.len()] < part;
        let first = self.rows.partition_point(begin);
        let inside = self.rows[first..]
            .iter()
            .take_while(|other| other.ordinals[..part.len()] == *part);
        inside.map(|row| row.cpu).collect()
    }
}

/// The number of what `pu` is in on a level.
fn id(pu: Object<'_>, level: Level) -> Id {
    let around = |kind| {
        let object = pu.ancestor(kind);
        object.map_or((0, 0), |object| {
            let logical = object.logical();
            (object.os().unwrap_or(logical), logical)
        })
    };
    match level {
        Level::Package => around(Kind::Package),
        Level::Die => around(Kind::Die),
        Level::Core => match pu.ancestor(Kind::Core) {
            Some(_) => around(Kind::Core),
            None => (pu.logical(), pu.logical()),
        },
        Level::Thread => (pu.thread().unwrap_or(0), pu.logical()),
    }
}

/// The ordinals of the row that follows `before`.
fn follow(before: Option<(&Vec<Id>, &Vec<usize>)>, ids: &[Id]) -> Vec<usize> {
    let Some((last, ordinals)) = before else {
        return ids.iter().map(|_| 0).collect();
    };
    let changed = last
        .iter()
        .zip(ids)
        .position(|(last, id)| last != id)
        .unwrap_or(ids.len());
    let next = |(level, ordinal): (usize, &usize)| match level {
        _ if level < changed => *ordinal,
        _ if level == changed => ordinal + 1,
        _ => 0,
    };
    ordinals.iter().enumerate().map(next).collect()
}
