//! The table of paths to a peer ([`PathTable`]): the lower envelope of their costs.

use super::{Limits, Path, PathOverrides, RendezvousScheme};

/// Why a path ends at a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// The path reaches no further.
    Reach,
    /// A later path costs less beyond.
    Cost,
    /// A setting says so.
    Setting,
}

/// The sizes with which every message is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchPoints {
    /// Longest message on E0, in bytes.
    pub short: u32,
    /// Longest message on E0 or E1, in bytes.
    pub eager: u32,
    /// Longest message on R0, in bytes; 0 if every rendezvous takes R1.
    pub get: u64,
    /// Bytes of one put on R1, at least 1.
    pub chunk: u64,
}

/// A row of the table: a path and the sizes that take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRow {
    /// The path.
    pub path: Path,
    /// Shortest message, in bytes.
    pub first: u64,
    /// Longest message, in bytes; `None`: no limit.
    pub last: Option<u64>,
    /// Why the path ends there; `None` if it has no limit.
    pub until: Option<PathEnd>,
}

/// The path for each size of message to a peer, with the reasons.
///
/// The paths follow one another in the order of [`Path::ALL`]. Each ends at the first size at which it
/// reaches no further or a later one costs less, unless a setting overrides the size, and no path is used
/// again after its end. So a selection takes one compare for each path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathTable {
    points: SwitchPoints,
    /// Why E0, E1 and R0 end.
    until: [PathEnd; 3],
}

impl PathTable {
    /// Makes the table for a peer with these limits.
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
        // Starts at 1 byte: an empty message always takes E0.
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
                // R1 for every rendezvous, also of short messages that flow control makes a rendezvous.
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

    /// The sizes with which every message is compared.
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

    /// Iterates over the paths that are used by some size, in the order of sizes.
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
