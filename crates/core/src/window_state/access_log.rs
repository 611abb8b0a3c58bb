//! The accesses to a rank's memory in an epoch, in which the setting `rma_check` looks for conflicts (MPI 5.0, section 12.7):
//! [`AccessLog`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// Most accesses that are looked at: of more the latest.
const MOST: usize = 1 << 16;

/// What an access does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AccessKind {
    Put,
    Get,
    /// Of elements of the kind with this number.
    Accumulate(u8),
}

/// An access, in the order of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LoggedAccess {
    pub(crate) at: u64,
    pub(crate) len: u64,
    /// The rank in the window.
    pub(crate) origin: u32,
    pub(crate) kind: AccessKind,
}

/// Two accesses of which one may see a part of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// Where both are.
    pub(crate) at: u64,
    /// The rank in the window with the earlier one.
    pub(crate) other: u32,
    /// What the later one and the earlier one do.
    pub(crate) kinds: [AccessKind; 2],
}

/// The accesses so far, each kind of a rank to a place once.
#[derive(Debug, Default)]
pub(crate) struct AccessLog {
    /// By a power of two that is no less than their length: so one that meets a place begins not far before it.
    by_length: BTreeMap<u64, BTreeSet<LoggedAccess>>,
    /// In the order in which they came.
    in_order: VecDeque<LoggedAccess>,
}

/// The least power of two that is no less.
fn power(len: u64) -> u64 {
    len.checked_next_power_of_two().unwrap_or(u64::MAX)
}

impl AccessLog {
    /// Notes an access. Gives one before that it conflicts with, if there is one.
    ///
    /// # Cost
    /// A search for each power of two among the lengths of the epoch's accesses, and a look at those that it meets.
    pub(crate) fn note(&mut self, access: LoggedAccess) -> Option<Conflict> {
        if access.len == 0 {
            return None;
        }
        let conflict = self.overlapping(access.at, access.len).find_map(|other| {
            (!access.kind.goes_with(other.kind)).then_some(Conflict {
                at: access.at.max(other.at),
                other: other.origin,
                kinds: [access.kind, other.kind],
            })
        });
        if self
            .by_length
            .entry(power(access.len))
            .or_default()
            .insert(access)
        {
            self.in_order.push_back(access);
            if self.in_order.len() > MOST {
                self.forget_first();
            }
        }
        conflict
    }

    /// The accesses to some of `len` bytes from `at` on.
    fn overlapping(&self, at: u64, len: u64) -> impl Iterator<Item = &LoggedAccess> {
        let end = at.saturating_add(len);
        self.by_length.iter().flat_map(move |(longest, accesses)| {
            let first = LoggedAccess {
                at: at.saturating_sub(*longest),
                len: 0,
                origin: 0,
                kind: AccessKind::Put,
            };
            let from_there = accesses.range(first..);
            (from_there.take_while(move |other| other.at < end))
                .filter(move |other| at < other.at.saturating_add(other.len))
        })
    }

    fn forget_first(&mut self) {
        if let Some(first) = self.in_order.pop_front()
            && let Some(accesses) = self.by_length.get_mut(&power(first.len))
        {
            accesses.remove(&first);
        }
    }

    /// The accesses of this rank so far have ended, before those of any that learn of it.
    pub(crate) fn end_of(&mut self, origin: u32) {
        self.in_order.retain(|access| access.origin != origin);
        for accesses in self.by_length.values_mut() {
            accesses.retain(|access| access.origin != origin);
        }
    }

    /// The epoch has ended.
    pub(crate) fn clear(&mut self) {
        self.in_order.clear();
        self.by_length.clear();
    }
}

impl AccessKind {
    /// Whether accesses of both kinds to the same memory are no conflict.
    fn goes_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Get, Self::Get) => true,
            (Self::Accumulate(one), Self::Accumulate(other)) => one == other,
            _ => false,
        }
    }

    /// Its number on the wire.
    pub(crate) const fn number(self) -> u64 {
        match self {
            Self::Put => 0,
            Self::Get => 1,
            Self::Accumulate(kind) => 2 + kind as u64,
        }
    }

    /// The reverse of [`AccessKind::number`]; any number is a kind.
    pub(crate) const fn of_number(number: u64) -> Self {
        match number {
            0 => Self::Put,
            1 => Self::Get,
            other => Self::Accumulate((other - 2) as u8),
        }
    }
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Put => "put",
            Self::Get => "get",
            Self::Accumulate(_) => "accumulate",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(origin: u32, kind: AccessKind, at: u64, len: u64) -> LoggedAccess {
        LoggedAccess {
            origin,
            kind,
            at,
            len,
        }
    }

    #[test]
    fn accesses_that_meet_conflict_unless_they_may_meet() {
        use AccessKind::{Accumulate, Get, Put};
        let kinds = [Put, Get, Accumulate(1), Accumulate(2)];
        for (one, other) in kinds
            .into_iter()
            .flat_map(|one| kinds.map(|other| (one, other)))
        {
            let mut log = AccessLog::default();
            assert_eq!(log.note(access(0, one, 8, 8)), None);
            assert_eq!(log.note(access(1, other, 16, 8)), None, "beside it");
            assert_eq!(log.note(access(1, other, 0, 8)), None, "beside it");
            let conflict = log.note(access(2, other, 12, 1));
            let goes = matches!((one, other), (Get, Get)) || one == other && one != Put;
            let expected = Conflict {
                at: 12,
                other: 0,
                kinds: [other, one],
            };
            assert_eq!(conflict, (!goes).then_some(expected), "{one:?} {other:?}");
            assert_eq!(AccessKind::of_number(one.number()), one);
        }
    }

    #[test]
    fn what_has_ended_conflicts_with_nothing() {
        let mut log = AccessLog::default();
        log.note(access(0, AccessKind::Put, 0, 8));
        log.end_of(1);
        assert!(log.note(access(1, AccessKind::Get, 0, 8)).is_some());
        log.end_of(0);
        assert_eq!(log.note(access(2, AccessKind::Get, 0, 8)), None);
        log.clear();
        assert_eq!(log.note(access(2, AccessKind::Put, 0, u64::MAX)), None);
        // A place that is accessed again counts once, and of many accesses the latest are kept.
        log.clear();
        for at in 0..MOST as u64 + 2 {
            for _ in 0..2 {
                assert_eq!(log.note(access(3, AccessKind::Get, 8 * at, 8)), None);
            }
        }
        assert_eq!(log.in_order.len(), MOST);
        let kept = log.by_length.values().map(BTreeSet::len);
        assert_eq!(kept.sum::<usize>(), MOST);
        assert_eq!(
            log.note(access(2, AccessKind::Put, 8, 8)),
            None,
            "forgotten"
        );
        assert!(log.note(access(2, AccessKind::Put, 24, 8)).is_some());
    }
}
