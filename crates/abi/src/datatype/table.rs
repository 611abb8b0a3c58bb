//! The datatypes of handles.

use std::sync::Arc;

use super::description::{Contents, Description, Origin, is_by_precision};
use super::object::Type;
use super::predefined;
use crate::constants::MPI_ERR_TYPE;
use crate::error_handling::{Error, Result};
use crate::handles::{Handle, Table, slab_handle};
use crate::shared::Shared;
use crate::types::{Datatype, c_int};

/// The datatypes that the program has made.
static MADE: Table<Datatype, Made> = Table::new();

/// What a handle of a datatype names.
struct Made {
    datatype: Arc<Type>,
    /// Operations in progress that give the handle to functions of the program.
    holders: u32,
    /// Whether the program has freed it, and it waits for these operations.
    is_freed: bool,
}

/// The datatypes that the program has not freed, and could free.
pub(crate) fn left() -> Vec<Datatype> {
    let mut left = MADE.handles();
    let by_precision = BY_PRECISION.with(|made| made.clone());
    left.retain(|&datatype| {
        let is_freed = MADE.with(|slab| {
            let index = slab.find(slab_handle(datatype))?;
            Some(slab[index].is_freed)
        });
        is_freed == Some(false) && by_precision.iter().all(|made| made.2 != datatype)
    });
    left
}

/// The name of a datatype, if it has one.
pub(crate) fn name_of(datatype: Datatype) -> Option<String> {
    let name = find(datatype).ok()?.name();
    (!name.is_empty()).then_some(name)
}

/// Keeps the handle of a datatype valid (MPI 5.0, section 5.1.9: a datatype that is freed lives until its communication has
/// completed).
pub(crate) struct HeldHandle(usize);

impl HeldHandle {
    pub(crate) fn new(datatype: Datatype) -> Self {
        MADE.with(|slab| {
            if let Some(index) = slab.find(slab_handle(datatype)) {
                slab[index].holders += 1;
            }
        });
        Self(datatype.address())
    }

    pub(crate) fn get(&self) -> Datatype {
        Datatype::from_address(self.0)
    }
}

impl Drop for HeldHandle {
    fn drop(&mut self) {
        let gone = MADE.with(|slab| {
            let index = slab.find(slab_handle(self.get()))?;
            let made = &mut slab[index];
            made.holders -= 1;
            (made.holders == 0 && made.is_freed).then(|| slab.remove(index))
        });
        drop(gone);
    }
}

/// The datatypes that were made by precision, by the arguments of their calls. They are never freed.
static BY_PRECISION: Shared<Vec<(c_int, [c_int; 2], Datatype)>> = Shared::new(Vec::new());

/// The datatype that such a call has made.
pub(super) fn made_by(contents: &Contents) -> Option<Datatype> {
    let arguments = match contents.integers[..] {
        [precision, range] => [precision, range],
        [range] => [range; 2],
        _ => return None,
    };
    BY_PRECISION.with(|made| {
        let same = |row: &&(c_int, [c_int; 2], _)| (row.0, row.1) == (contents.combiner, arguments);
        made.iter().find(same).map(|row| row.2)
    })
}

/// Keeps a datatype that was made by precision.
pub(super) fn keep_made_by(combiner: c_int, arguments: [c_int; 2], datatype: Datatype) {
    BY_PRECISION.with(|made| made.push((combiner, arguments, datatype)));
}

/// The datatype of a handle.
///
/// # Errors
/// `MPI_ERR_TYPE` if there is none.
pub(crate) fn find(datatype: Datatype) -> Result<Arc<Type>> {
    let found = match datatype.is_predefined() {
        true => predefined::find(datatype.address()).cloned(),
        false => MADE.with(|slab| {
            let index = slab.find(slab_handle(datatype))?;
            Some(Arc::clone(&slab[index].datatype))
        }),
    };
    found.ok_or_else(|| Error::handle(MPI_ERR_TYPE, "datatype", datatype))
}

/// What the datatype of a handle describes.
///
/// # Errors
/// As [`find`].
pub(crate) fn description(datatype: Datatype) -> Result<Arc<Description>> {
    Ok(Arc::clone(&find(datatype)?.description))
}

/// A handle of a new datatype.
pub(super) fn insert(description: Arc<Description>) -> Datatype {
    insert_type(Type::new(description))
}

pub(super) fn insert_type(made: Type) -> Datatype {
    MADE.insert(Made {
        datatype: Arc::new(made),
        holders: 0,
        is_freed: false,
    })
}

/// Frees a datatype; what it describes lives as long as it is used.
pub(super) fn free(datatype: Datatype) {
    let gone = MADE.with(|slab| {
        let index = slab.find(slab_handle(datatype))?;
        slab[index].is_freed = true;
        (slab[index].holders == 0).then(|| slab.remove(index))
    });
    drop(gone);
}

/// The handle of an integer (`MPI_Type_fromint`).
pub(crate) fn from_int(int: c_int) -> Datatype {
    MADE.handle_of(int)
}

/// The handle of a permanent datatype, or that of a new one.
pub(super) fn handle_of(description: Arc<Description>) -> Datatype {
    let standing = match &description.origin {
        Origin::Named(handle, _) => Some(Datatype::from_address(*handle)),
        Origin::Made(contents) if is_by_precision(contents.combiner) => made_by(contents),
        Origin::Made(_) => None,
    };
    standing.unwrap_or_else(|| insert(description))
}
