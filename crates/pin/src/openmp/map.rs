//! The topology map: the hardware threads that a team may use, by package, die, core and thread, as OpenMP
//! runtimes see them.

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

/// The most levels of a map.
const MOST: usize = 4;

/// One hardware thread. The arrays are by level, outermost first, and end in zeros where there are fewer
/// levels.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The operating system's number of the processor.
    pub(crate) cpu: usize,
    /// The hardware's numbers of the objects that contain it, on all levels of the machine.
    pub(crate) ids: [u32; MOST],
    /// On each level of the machine, the index of the object that contains it among its siblings.
    pub(crate) everywhere: [usize; MOST],
    /// The same indices on the levels of the map only.
    pub(crate) ordinals: [usize; MOST],
}

/// The hardware threads of a machine, sorted by the hardware's numbers, outermost level first.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    /// The levels of the machine.
    pub(crate) all: Vec<Level>,
    /// The levels of the machine that are in the map.
    pub(crate) levels: Vec<Level>,
    /// On each level of the map, the most children of one parent; on the first, the number of objects.
    pub(crate) ratios: Vec<usize>,
    /// One row for each hardware thread, never empty.
    pub(crate) rows: Vec<Row>,
    /// Pairs of a processor's number and the index of its row, sorted.
    by_cpu: Vec<(usize, usize)>,
}

/// A partition of a map into parts in which a thread may migrate.
pub(crate) struct Parts {
    /// Each part once, in the order of the map.
    pub(crate) sets: Vec<CpuSet>,
    /// The index of each row's part.
    pub(crate) of_row: Vec<usize>,
}

/// The identity of an object on one level: the hardware's number, and the logical number where that is not
/// unique.
type Id = (u32, u32);

/// A processor, and the identities of the objects that contain it, on each level of the machine.
struct Member {
    ids: [Id; MOST],
    cpu: usize,
}

impl Map {
    /// The map of the processors of `machine` that are in `processors`; of all if there are none.
    ///
    /// # Cost
    /// A sort of the processors.
    pub(crate) fn new(machine: &Machine, processors: &CpuSet, levels: Levels) -> Self {
        let with_dies = levels == Levels::Current && machine.objects(Kind::Die).len() > 0;
        let all: Vec<Level> = [Level::Package, Level::Die, Level::Core, Level::Thread]
            .into_iter()
            .filter(|level| *level != Level::Die || with_dies)
            .collect();
        let cpu = |pu: Object<'_>| pu.cpus().first().unwrap_or(0);
        let has_some = machine
            .objects(Kind::Pu)
            .any(|pu| processors.contains(cpu(pu)));
        let pus = machine
            .objects(Kind::Pu)
            .filter(|pu| !has_some || processors.contains(cpu(*pu)));
        let member = |pu: Object<'_>| {
            let mut ids = [(0, 0); MOST];
            for (at, level) in all.iter().enumerate() {
                ids[at] = id(pu, *level);
            }
            Member { ids, cpu: cpu(pu) }
        };
        let mut members: Vec<Member> = pus.map(member).collect();
        members.sort_unstable_by_key(|one| (one.ids, one.cpu));
        Self::of_members(all, &members, levels)
    }

    fn of_members(all: Vec<Level>, sorted: &[Member], levels: Levels) -> Self {
        let mut ordinals: Vec<[usize; MOST]> = Vec::with_capacity(sorted.len());
        for (at, member) in sorted.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| (&sorted[at].ids, ordinals[at]));
            ordinals.push(follow(before, &member.ids));
        }
        let ratio = |level: usize| ordinals.iter().map(|row| row[level] + 1).max().unwrap_or(1);
        let is_in = |level: &usize| match all[*level] {
            Level::Package => true,
            Level::Die => ratio(*level) > 1,
            Level::Core | Level::Thread => levels == Levels::Current || ratio(*level) > 1,
        };
        let kept: Vec<usize> = (0..all.len()).filter(is_in).collect();
        let row = |(member, everywhere): (&Member, &[usize; MOST])| {
            let mut ordinals = [0; MOST];
            for (at, level) in kept.iter().enumerate() {
                ordinals[at] = everywhere[*level];
            }
            Row {
                cpu: member.cpu,
                ids: member.ids.map(|id| id.0),
                everywhere: *everywhere,
                ordinals,
            }
        };
        let rows: Vec<Row> = sorted.iter().zip(&ordinals).map(row).collect();
        let mut by_cpu: Vec<(usize, usize)> = rows.iter().map(|row| row.cpu).zip(0..).collect();
        by_cpu.sort_unstable();
        Self {
            levels: kept.iter().map(|level| all[*level]).collect(),
            ratios: kept.iter().map(|level| ratio(*level)).collect(),
            rows,
            by_cpu,
            all,
        }
    }

    /// How many levels the map has: from 1 to 4.
    pub(crate) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// The most children of one parent on a level; 1 if the level is not in the map.
    pub(crate) fn ratio(&self, level: Level) -> usize {
        let place = self.levels.iter().position(|other| *other == level);
        place.map_or(1, |place| self.ratios[place])
    }

    /// Whether all parents on a level have the same number of children.
    pub(crate) fn is_uniform(&self) -> bool {
        self.ratios.iter().product::<usize>() == self.rows.len()
    }

    /// How many levels of the map are below `level`; `None` if it is not in the map.
    pub(crate) fn below(&self, level: Level) -> Option<usize> {
        let place = self.levels.iter().position(|other| *other == level);
        place.map(|place| self.depth() - 1 - place)
    }

    /// How many of the innermost levels are inside a core: 1, or 0 if the map has no level of threads.
    pub(crate) fn inside_cores(&self) -> usize {
        usize::from(self.levels.last() == Some(&Level::Thread))
    }

    /// The number of cores.
    pub(crate) fn cores(&self) -> usize {
        self.starts(self.inside_cores()).filter(|new| *new).count()
    }

    /// All processors.
    pub(crate) fn cpus(&self) -> CpuSet {
        self.rows.iter().map(|row| row.cpu).collect()
    }

    /// The index of a processor's row.
    pub(crate) fn row_of(&self, cpu: usize) -> Option<usize> {
        let found = self.by_cpu.binary_search_by_key(&cpu, |(cpu, _)| *cpu);
        found.ok().map(|at| self.by_cpu[at].1)
    }

    /// For each row, whether it begins a new part when the `folded` innermost levels form one part.
    pub(crate) fn starts(&self, folded: usize) -> impl Iterator<Item = bool> {
        let kept = self.depth().saturating_sub(folded);
        let part = move |row: &Row| {
            let mut part = row.ordinals;
            part[kept..].fill(0);
            part
        };
        let mut before = None;
        self.rows.iter().map(move |row| {
            let part = Some(part(row));
            core::mem::replace(&mut before, part) != part
        })
    }

    /// The parts of the map when the `folded` innermost levels form one part.
    pub(crate) fn parts(&self, folded: usize) -> Parts {
        let mut sets: Vec<CpuSet> = Vec::new();
        let mut of_row = Vec::with_capacity(self.rows.len());
        for (row, starts) in self.rows.iter().zip(self.starts(folded)) {
            match sets.last_mut() {
                Some(part) if !starts => part.insert(row.cpu),
                _ => sets.push(CpuSet::one(row.cpu)),
            }
            of_row.push(sets.len() - 1);
        }
        Parts { sets, of_row }
    }
}

/// The identity of the object on `level` that contains `pu`.
fn id(pu: Object<'_>, level: Level) -> Id {
    let around = |kind| {
        let object = pu.ancestor(kind)?;
        let logical = object.logical();
        Some((object.os().unwrap_or(logical), logical))
    };
    let of_its_own = (pu.logical(), pu.logical());
    match level {
        Level::Package => around(Kind::Package).unwrap_or_default(),
        Level::Die => around(Kind::Die).unwrap_or_default(),
        Level::Core => around(Kind::Core).unwrap_or(of_its_own),
        Level::Thread => (pu.thread().unwrap_or(0), pu.logical()),
    }
}

/// The indices of the row with `ids`, which follows the row `before`.
fn follow(before: Option<(&[Id; MOST], [usize; MOST])>, ids: &[Id; MOST]) -> [usize; MOST] {
    let Some((last, mut ordinals)) = before else {
        return [0; MOST];
    };
    let changed = last.iter().zip(ids).position(|(last, id)| last != id);
    if let Some(changed) = changed {
        ordinals[changed] += 1;
        ordinals[changed + 1..].fill(0);
    }
    ordinals
}
