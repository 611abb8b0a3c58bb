//! [`RangeCache`]: which ranges of memory are registered, and which of them go when there is room for no more.
//!
//! Ranges that can be found never overlap: a new one takes the place of those that it overlaps, and covers them. A range
//! that must not be found any more is dropped at once if nobody uses it, else when its last user drops it.

use crate::objects::Access;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The most that stays registered, ranges in use included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegistrationCaps {
    /// Ranges.
    pub ranges: usize,
    /// Bytes, as openib's `mpool_rdma_rcache_size_limit` counts them, and of several devices of each; 0 for any number.
    pub bytes: u64,
}

impl Default for RegistrationCaps {
    /// 4096 ranges of any size: each is a row in tables of the device.
    fn default() -> Self {
        Self {
            ranges: 4096,
            bytes: 0,
        }
    }
}

impl RegistrationCaps {
    /// The share of each of `devices` devices that register the same ranges: rows are each device's own, the bytes are pinned
    /// by all.
    pub(crate) const fn of_each(self, devices: usize) -> Self {
        let bytes = match self.bytes {
            0 => 0,
            // 0 would be any number.
            bytes if bytes < devices as u64 => 1,
            bytes => bytes / devices as u64,
        };
        Self { bytes, ..self }
    }

    fn allow(&self, ranges: usize, bytes: u64) -> bool {
        ranges <= self.ranges && (self.bytes == 0 || bytes <= self.bytes)
    }
}

/// A range to register, for which there is room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) range: Range<u64>,
    pub(crate) access: Access,
}

/// Why there is no room for a range now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// Too much is in use: ask again when some of it is released.
    InUse,
    /// The range alone exceeds the caps.
    TooLong,
}

/// Registered ranges, by address. A value `T` is the registration; whoever holds a clone of its [`Arc`] uses it.
#[derive(Debug)]
pub(crate) struct RangeCache<T> {
    caps: RegistrationCaps,
    /// By the first address; they do not overlap.
    ranges: BTreeMap<u64, Cached<T>>,
    /// The first address of each, by the time of the last use.
    by_use: BTreeMap<u64, u64>,
    /// Those that cannot be found, but were in use when last looked at.
    retired: Vec<(u64, Arc<T>)>,
    /// Bytes of all.
    bytes: u64,
    /// Counts uses.
    clock: u64,
}

#[derive(Debug)]
struct Cached<T> {
    end: u64,
    access: Access,
    value: Arc<T>,
    last_use: u64,
}

fn is_idle<T>(value: &Arc<T>) -> bool {
    Arc::strong_count(value) == 1
}

impl<T> RangeCache<T> {
    pub(crate) const fn new(caps: RegistrationCaps) -> Self {
        Self {
            caps,
            ranges: BTreeMap::new(),
            by_use: BTreeMap::new(),
            retired: Vec::new(),
            bytes: 0,
            clock: 0,
        }
    }

    /// The registration that covers `range` for all of `access`, with the address at which it begins.
    pub(crate) fn find(&mut self, range: &Range<u64>, access: Access) -> Option<(u64, Arc<T>)> {
        let (&start, cached) = self.ranges.range_mut(..=range.start).next_back()?;
        if cached.end < range.end || !cached.access.contains(access) {
            return None;
        }
        self.clock += 1;
        self.by_use.remove(&cached.last_use);
        cached.last_use = self.clock;
        self.by_use.insert(self.clock, start);
        Some((start, cached.value.clone()))
    }

    /// Makes room for `range`, which was not found. The plan covers the ranges that it overlaps, with their access, as
    /// far as the caps allow: buffers that overlap are then found again in turn.
    ///
    /// # Errors
    /// [`NoRoom`]; then nothing has changed.
    pub(crate) fn plan(&mut self, range: &Range<u64>, access: Access) -> Result<Planned, NoRoom> {
        if !self.caps.allow(1, range.end - range.start) {
            return Err(NoRoom::TooLong);
        }
        self.drop_retired();
        let mut plan = Planned {
            range: range.clone(),
            access,
        };
        for start in self.overlapping(range) {
            let cached = &self.ranges[&start];
            plan.range.start = plan.range.start.min(start);
            plan.range.end = plan.range.end.max(cached.end);
            plan.access |= cached.access;
        }
        if !self.can_hold(&plan.range) {
            plan = Planned {
                range: range.clone(),
                access,
            };
        }
        if !self.can_hold(&plan.range) {
            return Err(NoRoom::InUse);
        }
        self.invalidate(range);
        let len = plan.range.end - plan.range.start;
        while !self.caps.allow(self.held() + 1, self.bytes + len) && self.evict() {}
        Ok(plan)
    }

    /// Enters what was planned. The caller uses it.
    pub(crate) fn insert(&mut self, plan: Planned, value: T) -> Arc<T> {
        let Planned {
            range: Range { start, end },
            access,
        } = plan;
        let value = Arc::new(value);
        self.clock += 1;
        self.bytes += end - start;
        self.by_use.insert(self.clock, start);
        let cached = Cached {
            end,
            access,
            value: value.clone(),
            last_use: self.clock,
        };
        self.ranges.insert(start, cached);
        value
    }

    /// Lets nothing be found that overlaps `range`.
    pub(crate) fn invalidate(&mut self, range: &Range<u64>) {
        for start in self.overlapping(range) {
            self.remove(start);
        }
    }

    /// Drops ranges that cannot be found and are used no more, or else the one that was not used for the longest time. False
    /// if all are in use.
    pub(crate) fn evict(&mut self) -> bool {
        if self.drop_retired() {
            return true;
        }
        let idle = |start: &&u64| is_idle(&self.ranges[*start].value);
        let oldest = self.by_use.values().find(idle).copied();
        oldest.is_some_and(|start| {
            self.remove(start);
            true
        })
    }

    /// Registered bytes, those that can no more be found included.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Registered ranges, likewise.
    pub(crate) fn held(&self) -> usize {
        self.ranges.len() + self.retired.len()
    }

    /// The first addresses of the ranges that overlap `range`.
    fn overlapping(&self, range: &Range<u64>) -> Vec<u64> {
        let before = self.ranges.range(..=range.start).next_back();
        let begins = before.filter(|(_, cached)| cached.end > range.start);
        let first = begins.map_or(range.start, |(&start, _)| start);
        let overlapping = self.ranges.range(first..range.end.max(first));
        overlapping.map(|(&start, _)| start).collect()
    }

    /// Whether there is room for `range`, once all is dropped that nobody uses.
    fn can_hold(&self, range: &Range<u64>) -> bool {
        let used = self
            .ranges
            .iter()
            .filter(|(_, cached)| !is_idle(&cached.value));
        let used: Vec<u64> = used.map(|(start, cached)| cached.end - start).collect();
        let retired: u64 = self.retired.iter().map(|(len, _)| len).sum();
        let bytes = used.iter().sum::<u64>() + retired + (range.end - range.start);
        self.caps.allow(used.len() + self.retired.len() + 1, bytes)
    }

    fn remove(&mut self, start: u64) {
        let Some(cached) = self.ranges.remove(&start) else {
            return;
        };
        self.by_use.remove(&cached.last_use);
        let len = cached.end - start;
        if is_idle(&cached.value) {
            self.bytes -= len;
        } else {
            self.retired.push((len, cached.value));
        }
    }

    /// Drops the ranges that cannot be found and are used no more. Returns whether there were any.
    fn drop_retired(&mut self) -> bool {
        let (bytes, before) = (&mut self.bytes, self.retired.len());
        self.retired.retain(|(len, value)| {
            let is_used = !is_idle(value);
            *bytes -= if is_used { 0 } else { *len };
            is_used
        });
        self.retired.len() < before
    }
}

#[cfg(test)]
mod tests;
