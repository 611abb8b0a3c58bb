//! Examples, and laws against a slow oracle.

use super::{NoRoom, Planned, RangeCache, RegistrationCaps};
use crate::objects::Access;
use proptest::prelude::*;
use std::ops::Range;
use std::sync::{Arc, Weak};

const READ: Access = Access::REMOTE_READ;
const WRITE: Access = Access::REMOTE_WRITE;

const NO_CAPS: RegistrationCaps = RegistrationCaps {
    ranges: usize::MAX,
    bytes: 0,
};

/// Registers `range`, whose value is its number.
fn enter(cache: &mut RangeCache<u32>, range: Range<u64>, access: Access) -> Arc<u32> {
    let plan = cache.plan(&range, access).expect("room");
    cache.insert(plan, 0)
}

#[test]
fn a_buffer_that_is_sent_again_is_found() {
    let mut cache = RangeCache::new(NO_CAPS);
    let first = enter(&mut cache, 100..200, READ);
    let (start, again) = cache.find(&(120..180), READ).expect("it is registered");
    assert_eq!(start, 100);
    assert!(Arc::ptr_eq(&first, &again));
    assert!(cache.find(&(120..201), READ).is_none(), "it is longer");
    assert!(cache.find(&(99..180), READ).is_none(), "it begins before");
    assert!(cache.find(&(120..180), WRITE).is_none(), "for other access");
}

#[test]
fn a_new_range_covers_those_that_it_overlaps() {
    let mut cache = RangeCache::new(NO_CAPS);
    drop(enter(&mut cache, 0..100, READ));
    drop(enter(&mut cache, 200..300, WRITE));
    let plan = cache.plan(&(50..250), READ).unwrap();
    let expected = Planned {
        range: 0..300,
        access: READ | WRITE,
    };
    assert_eq!(plan, expected);
    drop(cache.insert(plan, 1));
    assert_eq!((cache.held(), cache.bytes()), (1, 300));
    assert!(cache.find(&(0..300), READ | WRITE).is_some());
}

#[test]
fn what_is_void_and_used_no_more_goes_first() {
    let mut cache = RangeCache::new(NO_CAPS);
    let void = enter(&mut cache, 0..10, READ);
    drop(enter(&mut cache, 20..50, READ));
    cache.invalidate(&(0..10));
    drop(void);
    assert!(cache.evict());
    assert_eq!((cache.held(), cache.bytes()), (1, 30));
    assert!(cache.find(&(20..50), READ).is_some());
    assert!(cache.evict());
    assert_eq!((cache.held(), cache.bytes()), (0, 0));
    assert!(!cache.evict());
}

#[test]
fn the_least_recently_used_goes_and_what_is_used_stays() {
    let caps = RegistrationCaps {
        ranges: 3,
        bytes: 0,
    };
    let mut cache = RangeCache::new(caps);
    let used = enter(&mut cache, 0..10, READ);
    drop(enter(&mut cache, 10..20, READ));
    drop(enter(&mut cache, 20..30, READ));
    drop(cache.find(&(10..20), READ));
    drop(enter(&mut cache, 30..40, READ));
    let is_there = [0, 10, 20, 30].map(|at| cache.find(&(at..at + 10), READ).is_some());
    assert_eq!(is_there, [true, true, false, true]);
    drop(used);
}

#[test]
fn a_full_cache_says_to_ask_again() {
    let caps = RegistrationCaps {
        ranges: 9,
        bytes: 100,
    };
    let mut cache = RangeCache::new(caps);
    assert_eq!(cache.plan(&(0..101), READ), Err(NoRoom::TooLong));
    let used = enter(&mut cache, 0..60, READ);
    assert_eq!(cache.plan(&(60..120), READ), Err(NoRoom::InUse));
    // What is invalid is still registered while it is used.
    cache.invalidate(&(0..1));
    assert!(cache.find(&(0..60), READ).is_none());
    assert_eq!(cache.plan(&(60..120), READ), Err(NoRoom::InUse));
    drop(used);
    drop(enter(&mut cache, 60..120, READ));
    assert_eq!(cache.bytes(), 60);
}

#[derive(Debug, Clone)]
enum Step {
    /// Looks a range up, registers it if it is not found, and uses it.
    Use(Range<u64>, Access),
    /// Ends the use of this index.
    Release(usize),
    Invalidate(Range<u64>),
    Evict,
}

fn range() -> impl Strategy<Value = Range<u64>> {
    (0..60_u64, 1..20_u64).prop_map(|(start, len)| start..start + len)
}

fn step() -> impl Strategy<Value = Step> {
    let access = prop_oneof![Just(READ), Just(WRITE), Just(READ | WRITE)];
    prop_oneof![
        6 => (range(), access).prop_map(|(range, access)| Step::Use(range, access)),
        4 => (0..8_usize).prop_map(Step::Release),
        1 => range().prop_map(Step::Invalidate),
        1 => Just(Step::Evict),
    ]
}

/// A registration of the oracle.
#[derive(Debug)]
struct Row {
    range: Range<u64>,
    access: Access,
    is_valid: bool,
    last_use: usize,
    value: Weak<u32>,
    users: usize,
}

/// All registrations, in a list that is searched from one end to the other.
#[derive(Debug, Default)]
struct Oracle(Vec<Row>);

fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

impl Oracle {
    /// Forgets what is neither valid nor in use.
    fn sweep(&mut self) {
        self.0.retain(|row| row.is_valid || row.users > 0);
    }

    fn find(&mut self, range: &Range<u64>, access: Access) -> Option<&mut Row> {
        self.0.iter_mut().find(|row| {
            let inside = row.range.start <= range.start && range.end <= row.range.end;
            row.is_valid && inside && row.access.contains(access)
        })
    }

    fn invalidate(&mut self, range: &Range<u64>) {
        for row in &mut self.0 {
            row.is_valid &= !overlap(&row.range, range);
        }
        self.sweep();
    }

    fn evict(&mut self) -> bool {
        let idle = self.0.iter_mut().filter(|row| row.users == 0);
        let oldest = idle.min_by_key(|row| row.last_use);
        let found = oldest.map(|row| row.is_valid = false).is_some();
        self.sweep();
        found
    }

    fn bytes(&self) -> u64 {
        self.0
            .iter()
            .map(|row| row.range.end - row.range.start)
            .sum()
    }

    fn fits(&self, caps: RegistrationCaps, more: u64) -> bool {
        self.0.len() < caps.ranges && (caps.bytes == 0 || self.bytes() + more <= caps.bytes)
    }

    /// What a plan for `range` is.
    fn plan(
        &mut self,
        caps: RegistrationCaps,
        range: &Range<u64>,
        access: Access,
    ) -> Result<Planned, NoRoom> {
        let exact = Planned {
            range: range.clone(),
            access,
        };
        let mut wide = exact.clone();
        for row in self
            .0
            .iter()
            .filter(|row| row.is_valid && overlap(&row.range, range))
        {
            wide.range.start = wide.range.start.min(row.range.start);
            wide.range.end = wide.range.end.max(row.range.end);
            wide.access |= row.access;
        }
        let len = |plan: &Planned| plan.range.end - plan.range.start;
        if caps.bytes > 0 && len(&exact) > caps.bytes {
            return Err(NoRoom::TooLong);
        }
        let used = Oracle(
            (self.0.iter().filter(|row| row.users > 0))
                .map(|row| Row {
                    range: row.range.clone(),
                    value: row.value.clone(),
                    ..*row
                })
                .collect(),
        );
        let plan = [wide, exact]
            .into_iter()
            .find(|plan| used.fits(caps, len(plan)));
        let plan = plan.ok_or(NoRoom::InUse)?;
        self.invalidate(range);
        while !self.fits(caps, len(&plan)) {
            assert!(self.evict(), "the plan fits");
        }
        Ok(plan)
    }
}

proptest! {
    /// Every step gives what the oracle gives, no registration is kept or dropped against it, and the caps hold.
    #[test]
    fn it_does_as_the_oracle(
        steps in prop::collection::vec(step(), 1..200),
        ranges in 1..6_usize,
        bytes in prop_oneof![Just(0), 10..100_u64],
    ) {
        let caps = RegistrationCaps { ranges, bytes };
        let (mut cache, mut oracle) = (RangeCache::new(caps), Oracle::default());
        let mut uses: Vec<Arc<u32>> = Vec::new();
        for (now, step) in steps.into_iter().enumerate() {
            match step {
                Step::Use(range, access) => {
                    let found = cache.find(&range, access);
                    let row = oracle.find(&range, access);
                    prop_assert_eq!(found.is_some(), row.is_some());
                    if let (Some((start, value)), Some(row)) = (found, row) {
                        prop_assert_eq!(start, row.range.start);
                        prop_assert_eq!(Arc::as_ptr(&value), row.value.as_ptr());
                        (row.users, row.last_use) = (row.users + 1, now);
                        uses.push(value);
                        continue;
                    }
                    let planned = cache.plan(&range, access);
                    let expected = oracle.plan(caps, &range, access);
                    prop_assert_eq!(&planned, &expected);
                    if let Ok(plan) = planned {
                        let value = cache.insert(plan.clone(), now as u32);
                        oracle.0.push(Row {
                            range: plan.range,
                            access: plan.access,
                            is_valid: true,
                            last_use: now,
                            value: Arc::downgrade(&value),
                            users: 1,
                        });
                        uses.push(value);
                    }
                }
                Step::Release(at) if at < uses.len() => {
                    let value = uses.swap_remove(at);
                    let row = oracle.0.iter_mut().find(|row| row.value.as_ptr() == Arc::as_ptr(&value));
                    row.expect("it is in use").users -= 1;
                    oracle.sweep();
                }
                Step::Release(_) => {}
                Step::Invalidate(range) => {
                    cache.invalidate(&range);
                    oracle.invalidate(&range);
                }
                Step::Evict => prop_assert_eq!(cache.evict(), oracle.evict()),
            }
            cache.drop_retired();
            prop_assert_eq!((cache.held(), cache.bytes()), (oracle.0.len(), oracle.bytes()));
            prop_assert!(caps.allow(cache.held(), cache.bytes()));
            prop_assert!(oracle.0.iter().all(|row| row.value.strong_count() > 0));
        }
        drop(uses);
        cache.invalidate(&(0..u64::MAX));
        cache.drop_retired();
        prop_assert_eq!((cache.held(), cache.bytes()), (0, 0));
    }
}
