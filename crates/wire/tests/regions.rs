//! Tests of the table of regions, compared with a list of all registrations.

use std::cell::RefCell;
use std::rc::Rc;

use oxmpi_wire::regions::{Region, RegionId, Regions};
use oxmpi_wire::{Access, Bytes, Fault, Key, Token};
use proptest::prelude::*;
use proptest::sample::Index;

#[derive(Clone, Debug)]
enum Step {
    Add { len: usize, access: Access },
    Enter(Index),
    Leave(Index),
    Release(Index),
    Check { which: Index, at: u64, len: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let which = any::<Index>();
    let at = prop_oneof![0..10u64, Just(u64::MAX)];
    prop_oneof![
        (0..8usize, 1..4u8).prop_map(|(len, bits)| Step::Add {
            len,
            access: Access::from_bits_truncate(bits)
        }),
        which.clone().prop_map(Step::Enter),
        which.clone().prop_map(Step::Leave),
        which.clone().prop_map(Step::Release),
        (which, at, 0..10u64).prop_map(|(which, at, len)| Step::Check { which, at, len }),
    ]
}

/// The expected state of one region.
struct Known {
    name: RegionId,
    len: u64,
    access: Access,
    /// `None` once it is released.
    region: Option<Region>,
    users: u32,
}

impl Known {
    fn lives(&self) -> bool {
        self.region.is_some() || self.users > 0
    }
}

proptest! {
    #[test]
    fn an_id_reaches_its_own_bytes_until_the_release(steps in prop::collection::vec(step(), 0..60)) {
        let mut regions: Regions<_, usize> = Regions::new();
        let mut all: Vec<Known> = Vec::new();
        for step in steps {
            if let Step::Add { len, access } = step {
                let region = regions.add(Rc::new(RefCell::new(vec![0; len])), access);
                let name = region.id();
                *regions.note_mut(name).expect("new") = all.len();
                all.push(Known { name, len: len as u64, access, region: Some(region), users: 0 });
            }
            let count = all.len();
            if count == 0 {
                continue;
            }
            let at = |which: Index| (which.index(count), Token(which.index(count) as u64));
            match step {
                Step::Add { .. } => {}
                Step::Enter(which) => {
                    let one = &mut all[at(which).0];
                    regions.enter(one.name);
                    one.users += u32::from(one.lives());
                }
                Step::Leave(which) => {
                    let (which, token) = at(which);
                    let one = &mut all[which];
                    if one.users > 0 {
                        one.users -= 1;
                        prop_assert_eq!(regions.leave(one.name), (!one.lives()).then_some(token));
                    }
                }
                Step::Release(which) => {
                    let (which, token) = at(which);
                    let one = &mut all[which];
                    if let Some(region) = one.region.take() {
                        prop_assert_eq!(regions.release(region, token), (!one.lives()).then_some(token));
                    }
                }
                Step::Check { which, at: first, len } => {
                    let one = &all[at(which).0];
                    let fits = first.checked_add(len).is_some_and(|end| end <= one.len);
                    let allowed = one.region.is_some() && fits;
                    for access in [Access::READ, Access::WRITE, Access::READ | Access::WRITE] {
                        let wrong = !(allowed && one.access.contains(access));
                        let checked = regions.check(one.name, access, first, len);
                        prop_assert_eq!(checked.err(), wrong.then_some(Fault::NOT_REGISTERED));
                    }
                    prop_assert_eq!(regions.check_own(one.name, first, len).is_ok(), allowed);
                    let ahead = one.region.is_some() && one.access == Access::READ;
                    prop_assert_eq!(regions.ahead(one.name).is_some(), ahead);
                }
            }
            for (at, one) in all.iter().enumerate() {
                prop_assert_eq!(regions.bytes(one.name).map(Bytes::len), one.lives().then_some(one.len));
                prop_assert_eq!(regions.note(one.name), one.lives().then_some(&at));
            }
        }
    }

    #[test]
    fn any_key_has_an_id(bytes: [u8; Key::LEN]) {
        let (name, besides) = RegionId::from_key(&Key(bytes));
        prop_assert_eq!(name.key(besides), Key(bytes));
        prop_assert_eq!(RegionId::from_word(name.word()), name);
        let mut regions: Regions<_, ()> = Regions::new();
        let region = regions.add(Rc::new(RefCell::new(vec![0; 4])), Access::READ);
        if name != region.id() {
            let checked = regions.check(name, Access::READ, 0, 0);
            prop_assert_eq!(checked.err(), Some(Fault::NOT_REGISTERED));
        }
    }
}

/// Ids that differ from a valid one by a small number, in one bit, or in the index.
#[test]
fn an_id_that_is_nearly_right_reaches_nothing() {
    let mut regions: Regions<_, ()> = Regions::new();
    let names: Vec<u64> = (0..40)
        .map(|_| regions.add(Rc::new(RefCell::new(vec![0])), Access::WRITE))
        .map(|region| region.id().word())
        .collect();
    let near = |name: u64| {
        let small = (1..256).flat_map(move |n| {
            let add = [n, n << 32].map(|n| name.wrapping_add(n));
            let sub = [n, n << 32].map(|n| name.wrapping_sub(n));
            [add, sub].into_iter().flatten()
        });
        small.chain((0..64).map(move |bit| name ^ 1 << bit))
    };
    for other in names.iter().copied().flat_map(near) {
        let checked = regions.check(RegionId::from_word(other), Access::WRITE, 0, 1);
        assert!(checked.is_err(), "{other:x}");
    }
}
