//! The table of paths to one kind of peer: the lower envelope of their costs.

use super::{Limits, Path, PathOverrides, RendezvousScheme};

/// Why a path ends at a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// It reaches no further.
    Reach,
    /// Beyond, a later path costs less.
    Cost,
    /// Somebody has set it.
    Setting,
}

/// The sizes that are compared with on the path of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchPoints {
    /// Longest message on E0.
    pub short: u32,
    /// Longest message on E0 or E1.
    pub eager: u32,
    /// Longest message on R0; 0 where R1 takes every rendezvous.
    pub get: u64,
    /// Bytes of one put on R1, at least 1.
    pub chunk: u64,
}

/// One path and the sizes that take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRow {
    /// The path.
    pub path: Path,
    /// Shortest message.
    pub first: u64,
    /// Longest message; none: without end.
    pub last: Option<u64>,
    /// Why it ends there; none where it does not end.
    pub until: Option<PathEnd>,
}

/// Which path each size takes to one kind of peer, and why.
///
/// Paths follow one another in the order of [`Path::ALL`]. Each is left at the first size at which
/// it reaches no further or a later one costs less, unless somebody has set the size; one that was
/// left is not taken up again. So the choice is one compare for each path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathTable {
    points: SwitchPoints,
    /// Why E0, E1 and R0 end.
    until: [PathEnd; 3],
}

impl PathTable {
    /// The table for a peer with these limits.
    ///
    /// # Cost
    /// Some hundred instructions for each pair of paths, at set-up only.
    #[must_use]
    pub fn new(limits: &Limits, switches: &PathOverrides) -> Self {
        let switches = switches.or(&limits.overrides);
        let later = |path: Path| {
            let paths = Path::ALL.into_iter().filter(move |later| *later > path);
            paths.filter(|later| switches.rendezvous.allows(*later))
        };
        // Where `path` ends that starts at `first` and reaches up to `reach`.
        let end = |path: Path, first: u64, reach: u64, set: Option<u64>| {
            if let Some(set) = set {
                return if set <= reach {
                    (set, PathEnd::Setting)
                } else {
                    (reach, PathEnd::Reach)
                };
            }
            let cost = limits.costs.of(path);
            let beaten = later(path).filter_map(|other| {
                let other = limits.costs.of(other);
                cost.beaten(other, first, reach)
            });
            match beaten.min() {
                Some(at) => (at.saturating_sub(1), PathEnd::Cost),
                None => (reach, PathEnd::Reach),
            }
        };
        let frame = u64::from(limits.frame);
        let set = switches.eager.map(u64::from);
        let reach = u64::from(limits.short).min(frame);
        // An empty message always fits the first path, so what others cost for it leaves nothing.
        let (mut short, mut short_until) = end(Path::E0, 1, reach, switches.short.map(u64::from));
        if let Some(eager) = set.filter(|eager| *eager < short) {
            (short, short_until) = (eager, PathEnd::Setting);
        }
        let (eager, eager_until) = end(Path::E1, short + 1, frame, set);
        let eager = eager.max(short);
        let (get, get_until) = match switches.rendezvous {
            RendezvousScheme::Put => (0, PathEnd::Setting),
            RendezvousScheme::Get => (u64::MAX, PathEnd::Setting),
            RendezvousScheme::Auto => match end(Path::R0, eager + 1, limits.get, switches.get) {
                // R1 from the first rendezvous on, also of what is sent so to spare the receiver.
                (get, until) if get <= eager => (0, until),
                found => found,
            },
        };
        let chunk = switches.chunk.unwrap_or(limits.chunk).max(1);
        Self {
            points: SwitchPoints {
                short: short as u32,
                eager: eager as u32,
                get,
                chunk,
            },
            until: [short_until, eager_until, get_until],
        }
    }

    /// What is compared with on the path of a message.
    #[must_use]
    pub const fn points(&self) -> SwitchPoints {
        self.points
    }

    /// The path of a message of `len` bytes in standard mode.
    #[must_use]
    pub fn path(&self, len: u64) -> Path {
        let SwitchPoints {
            short, eager, get, ..
        } = self.points;
        if len <= u64::from(short) {
            Path::E0
        } else if len <= u64::from(eager) {
            Path::E1
        } else if len <= get {
            Path::R0
        } else {
            Path::R1
        }
    }

    /// The rows of paths that some size takes, in the order of sizes.
    pub fn rows(&self) -> impl Iterator<Item = PathRow> + use<> {
        let SwitchPoints {
            short, eager, get, ..
        } = self.points;
        let ends = [u64::from(short), u64::from(eager), get, u64::MAX];
        let until = self.until;
        let mut next = Some(0);
        Path::ALL
            .into_iter()
            .zip(ends)
            .filter_map(move |(path, end)| {
                let first = next.filter(|first| *first <= end)?;
                next = end.checked_add(1);
                let ends = next.is_some();
                Some(PathRow {
                    path,
                    first,
                    last: ends.then_some(end),
                    until: until.get(path as usize).copied().filter(|_| ends),
                })
            })
    }
}
