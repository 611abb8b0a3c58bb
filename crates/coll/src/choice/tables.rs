//! A cache of the choice tables of one group, filled on first use.

use alloc::boxed::Box;

use super::{Choice, ChoiceTable, Tuning};
use crate::call::{Call, Collective, SharedMemory};
use crate::catalog::Unsuited;

/// The kinds of calls of one collective: properties of the operation or in place, times which ranks share
/// memory.
const KINDS: usize = 3 * SHARINGS;

const SHARINGS: usize = SharedMemory::All as usize + 1;

/// The choice tables of all collectives for one group.
#[derive(Clone, Debug)]
pub struct ChoiceTables {
    tuning: Tuning,
    by_kind: [Option<Box<ChoiceTable>>; Collective::ALL.len() * KINDS],
}

impl ChoiceTables {
    /// An empty cache.
    pub fn new(tuning: Tuning) -> Self {
        ChoiceTables {
            tuning,
            by_kind: [const { None }; Collective::ALL.len() * KINDS],
        }
    }

    /// The choice for a call. All calls must be of groups of one size.
    ///
    /// # Errors
    ///
    /// As [`ChoiceTable::new`].
    ///
    /// # Cost
    ///
    /// A few comparisons; for the first call of its kind that of [`ChoiceTable::new`] and an allocation.
    #[inline]
    pub fn choose(&mut self, call: &Call) -> Result<&Choice, Unsuited> {
        let slot = &mut self.by_kind[table_index(call)];
        let table = match slot {
            Some(table) => table,
            None => make(slot, call, &self.tuning)?,
        };
        Ok(table.choice(call.bytes()))
    }
}

#[cold]
fn make<'a>(
    slot: &'a mut Option<Box<ChoiceTable>>,
    call: &Call,
    tuning: &Tuning,
) -> Result<&'a mut Box<ChoiceTable>, Unsuited> {
    ChoiceTable::new(call, tuning).map(|table| slot.insert(Box::new(table)))
}

/// The index of a call's table; calls with the same index have equal tables.
#[inline]
const fn table_index(call: &Call) -> usize {
    let kind = if call.collective.is_in_place_everywhere() {
        call.in_place as usize
    } else {
        call.commutative as usize * (1 + call.exact as usize)
    };
    (call.collective as usize * SHARINGS + call.shared_memory as usize) * (KINDS / SHARINGS) + kind
}
