//! Which epochs of a window this rank is in, and what it may do in them (MPI 5.0, section 12.5): pure, without the window.

use std::collections::BTreeMap;

use oxmpi_shm::window::LockKind;

/// The epochs of one rank at one window. Targets are ranks of the window.
#[derive(Debug, Default)]
pub(crate) struct Epochs {
    access: AccessEpoch,
    /// The origins to which this rank exposes its memory now.
    exposed: Option<Box<[u32]>>,
}

/// In which this rank accesses memory of others.
#[derive(Debug, Default)]
enum AccessEpoch {
    #[default]
    None,
    /// Between two fences.
    Fence {
        /// Whether memory was accessed since the last one.
        used: bool,
    },
    /// Of these targets, until it says that it has ended.
    Started(Box<[u32]>),
    /// Of the targets that are locked.
    Locked(BTreeMap<u32, LockKind>),
    /// Of all targets; a lock is taken at the first access, and of those here has been, or is just now.
    LockedAll(BTreeMap<u32, LockTaken>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LockTaken {
    /// A thread takes it.
    Soon,
    Yes,
}

/// Why a call does not suit the epochs; a sentence without its subject.
pub(crate) type WrongEpoch = &'static str;

/// What an access needs before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// The shared lock of the target, which the caller takes, and [says so](Epochs::took_lock).
    Lock,
    /// That lock, which another thread is taking.
    LockSoon,
}

impl Epochs {
    /// Whether memory of `target` may be accessed now, and what that needs.
    #[inline]
    pub(crate) fn access(&mut self, target: u32) -> Result<Needs, WrongEpoch> {
        match &mut self.access {
            AccessEpoch::Fence { used } => {
                *used = true;
                Ok(Needs::Nothing)
            }
            AccessEpoch::LockedAll(locks) => Ok(match locks.get(&target) {
                Some(LockTaken::Yes) => Needs::Nothing,
                Some(LockTaken::Soon) => Needs::LockSoon,
                None => {
                    locks.insert(target, LockTaken::Soon);
                    Needs::Lock
                }
            }),
            AccessEpoch::Locked(locked) if locked.contains_key(&target) => Ok(Needs::Nothing),
            AccessEpoch::Started(targets) if targets.contains(&target) => Ok(Needs::Nothing),
            AccessEpoch::Locked(_) => Err("the target is not locked; lock it first"),
            AccessEpoch::Started(_) => Err("the target is not in the group that start was given"),
            AccessEpoch::None => {
                Err("there is no epoch; call fence, start, lock or lock_all first")
            }
        }
    }

    /// The lock of `target` is `taken` in an epoch of all targets, or could not be.
    pub(crate) fn took_lock(&mut self, target: u32, taken: bool) {
        if let AccessEpoch::LockedAll(locks) = &mut self.access {
            match taken {
                true => locks.insert(target, LockTaken::Yes),
                false => locks.remove(&target),
            };
        }
    }

    /// Whether a thread is taking the lock of `target`.
    pub(crate) fn takes_lock(&self, target: u32) -> bool {
        match &self.access {
            AccessEpoch::LockedAll(locks) => locks.get(&target) == Some(&LockTaken::Soon),
            _ => false,
        }
    }

    /// A fence ends an epoch, and `opens` the next one.
    pub(crate) fn fence(&mut self, opens: bool) -> Result<(), WrongEpoch> {
        if self.exposed.is_some() {
            return Err("the memory is exposed by post; call wait before a fence");
        }
        match self.access {
            AccessEpoch::None | AccessEpoch::Fence { .. } => {
                self.access = match opens {
                    true => AccessEpoch::Fence { used: false },
                    false => AccessEpoch::None,
                };
                Ok(())
            }
            AccessEpoch::Started(_) => {
                Err("an epoch of start is open; call complete before a fence")
            }
            AccessEpoch::Locked(_) | AccessEpoch::LockedAll(_) => {
                Err("targets are locked; unlock them before a fence")
            }
        }
    }

    /// That no epoch of accesses is open but one of fences that nobody has used.
    fn is_free(&self) -> Result<(), WrongEpoch> {
        match &self.access {
            AccessEpoch::None | AccessEpoch::Fence { used: false } => Ok(()),
            AccessEpoch::Fence { used: true } => {
                Err("accesses were made since the last fence; call fence first")
            }
            AccessEpoch::Started(_) => Err("an epoch of start is open; call complete first"),
            AccessEpoch::Locked(_) => Err("a target is locked; unlock it first"),
            AccessEpoch::LockedAll(_) => Err("all targets are locked; call unlock_all first"),
        }
    }

    pub(crate) fn lock(&mut self, target: u32, kind: LockKind) -> Result<(), WrongEpoch> {
        if let AccessEpoch::Locked(locked) = &mut self.access {
            return match locked.insert(target, kind) {
                None => Ok(()),
                Some(before) => {
                    locked.insert(target, before);
                    Err("the target is locked by this rank already")
                }
            };
        }
        self.is_free()?;
        self.access = AccessEpoch::Locked(BTreeMap::from([(target, kind)]));
        Ok(())
    }

    /// The lock of `target` is given back, which this rank had so.
    pub(crate) fn unlock(&mut self, target: u32) -> Result<LockKind, WrongEpoch> {
        const NOT_LOCKED: WrongEpoch = "the target is not locked by this rank";
        let AccessEpoch::Locked(locked) = &mut self.access else {
            return Err(NOT_LOCKED);
        };
        let kind = locked.remove(&target).ok_or(NOT_LOCKED)?;
        if locked.is_empty() {
            self.access = AccessEpoch::None;
        }
        Ok(kind)
    }

    pub(crate) fn lock_all(&mut self) -> Result<(), WrongEpoch> {
        self.is_free()?;
        self.access = AccessEpoch::LockedAll(BTreeMap::new());
        Ok(())
    }

    /// Ends an epoch of all targets; those whose locks were taken.
    pub(crate) fn unlock_all(&mut self) -> Result<Vec<u32>, WrongEpoch> {
        match std::mem::take(&mut self.access) {
            AccessEpoch::LockedAll(locks) => {
                let taken = (locks.into_iter()).filter(|(_, taken)| *taken == LockTaken::Yes);
                Ok(taken.map(|(target, _)| target).collect())
            }
            other => {
                self.access = other;
                Err("lock_all was not called")
            }
        }
    }

    /// That an epoch of locks is open, for `target` if one is named: only then there is something to flush.
    pub(crate) fn flush(&self, target: Option<u32>) -> Result<(), WrongEpoch> {
        let locked = match (&self.access, target) {
            (AccessEpoch::LockedAll(_), _) | (AccessEpoch::Locked(_), None) => true,
            (AccessEpoch::Locked(locked), Some(target)) => locked.contains_key(&target),
            _ => false,
        };
        match locked {
            true => Ok(()),
            false => Err("the target is not locked; a flush is for epochs of lock and lock_all"),
        }
    }

    pub(crate) fn start(&mut self, targets: Box<[u32]>) -> Result<(), WrongEpoch> {
        self.is_free()?;
        self.access = AccessEpoch::Started(targets);
        Ok(())
    }

    /// Ends an epoch of start; its targets.
    pub(crate) fn complete(&mut self) -> Result<Box<[u32]>, WrongEpoch> {
        match std::mem::take(&mut self.access) {
            AccessEpoch::Started(targets) => Ok(targets),
            other => {
                self.access = other;
                Err("start was not called")
            }
        }
    }

    pub(crate) fn post(&mut self, origins: Box<[u32]>) -> Result<(), WrongEpoch> {
        match &self.exposed {
            Some(_) => Err("the memory is exposed by post already; call wait first"),
            None => {
                self.exposed = Some(origins);
                Ok(())
            }
        }
    }

    /// The origins to which memory is exposed.
    pub(crate) fn exposed(&self) -> Result<&[u32], WrongEpoch> {
        self.exposed.as_deref().ok_or("post was not called")
    }

    /// Ends an exposure.
    pub(crate) fn end_exposure(&mut self) {
        self.exposed = None;
    }

    /// That the window may be freed.
    pub(crate) fn free(&self) -> Result<(), WrongEpoch> {
        match (&self.access, &self.exposed) {
            (AccessEpoch::None | AccessEpoch::Fence { used: false }, None) => Ok(()),
            (_, Some(_)) => Err("the memory is exposed by post; call wait first"),
            _ => self.is_free(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_epoch_allows_its_targets() {
        let mut epochs = Epochs::default();
        assert!(epochs.access(0).is_err());
        epochs.fence(true).unwrap();
        assert_eq!(epochs.access(7), Ok(Needs::Nothing));
        assert!(epochs.lock(1, LockKind::Shared).is_err(), "used");
        epochs.fence(true).unwrap();
        epochs.lock(1, LockKind::Shared).unwrap();
        epochs.lock(2, LockKind::Exclusive).unwrap();
        assert!(epochs.lock(2, LockKind::Shared).is_err() && epochs.access(3).is_err());
        assert_eq!(epochs.access(2), Ok(Needs::Nothing));
        assert_eq!(epochs.unlock(2), Ok(LockKind::Exclusive));
        assert!(epochs.fence(true).is_err() && epochs.lock_all().is_err());
        assert!(epochs.flush(Some(1)).is_ok() && epochs.flush(Some(2)).is_err());
        assert_eq!(epochs.unlock(1), Ok(LockKind::Shared));
        epochs.start([4, 5].into()).unwrap();
        assert!(epochs.access(4).is_ok() && epochs.access(6).is_err());
        assert!(epochs.free().is_err() && epochs.unlock_all().is_err());
        assert_eq!(&*epochs.complete().unwrap(), &[4, 5]);
    }

    #[test]
    fn locks_of_all_are_taken_at_the_first_access() {
        let mut epochs = Epochs::default();
        epochs.lock_all().unwrap();
        assert_eq!(epochs.access(3), Ok(Needs::Lock));
        assert_eq!(epochs.access(3), Ok(Needs::LockSoon), "once");
        assert!(epochs.takes_lock(3) && !epochs.takes_lock(4));
        epochs.took_lock(3, true);
        assert_eq!(epochs.access(3), Ok(Needs::Nothing));
        assert_eq!(epochs.access(4), Ok(Needs::Lock));
        epochs.took_lock(4, false);
        assert!(!epochs.takes_lock(3) && !epochs.takes_lock(4));
        assert_eq!(epochs.unlock_all().unwrap(), [3]);
        assert!(epochs.free().is_ok() && epochs.flush(None).is_err());
    }

    #[test]
    fn an_exposure_goes_beside_an_access() {
        let mut epochs = Epochs::default();
        epochs.post([1].into()).unwrap();
        assert!(epochs.post([2].into()).is_err() && epochs.fence(true).is_err());
        epochs.start([2].into()).unwrap();
        assert_eq!(epochs.exposed(), Ok(&[1][..]));
        epochs.complete().unwrap();
        assert!(epochs.free().is_err());
        epochs.end_exposure();
        assert!(epochs.exposed().is_err() && epochs.free().is_ok());
    }
}
