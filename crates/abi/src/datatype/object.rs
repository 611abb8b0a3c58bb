//! Datatypes as objects: what they describe, and what a program attaches to them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use oxmpi_core::ElementKind;
use oxmpi_wire::layout;

use super::contents::Contents;
use super::{predefined, sized};
use crate::attribute::Attributes;
use crate::constants::*;
use crate::errors::{Error, Result};
use crate::handles::{Handle, Table, slab_handle};
use crate::types::{Datatype, c_int};

/// The datatypes that the program has made.
static MADE: Table<Datatype, Arc<Type>> = Table::new();

/// What a datatype describes. Datatypes made of it and messages share it.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) layout: layout::Datatype,
    /// Its elements in predefined operations.
    pub(crate) kind: Option<ElementKind>,
    pub(super) origin: Origin,
}

/// Where a datatype comes from.
#[derive(Debug)]
pub(super) enum Origin {
    /// The standard names it: its handle and name.
    Named(usize, &'static str),
    /// The program has made it: by this call.
    Made(Contents),
}

/// A datatype: a description, and what a program attaches to it.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) description: Arc<Description>,
    committed: AtomicBool,
    name: Mutex<Option<String>>,
    pub(super) attributes: Attributes,
}

impl Description {
    pub(super) const fn named(
        handle: usize,
        name: &'static str,
        layout: layout::Datatype,
        kind: Option<ElementKind>,
    ) -> Self {
        Self {
            layout,
            kind,
            origin: Origin::Named(handle, name),
        }
    }

    pub(super) const fn made(layout: layout::Datatype, contents: Contents) -> Self {
        Self {
            layout,
            kind: None,
            origin: Origin::Made(contents),
        }
    }

    /// Whether the datatype is never freed: it is predefined, or was made by the precision of numbers.
    pub(super) const fn is_permanent(&self) -> bool {
        match &self.origin {
            Origin::Named(..) => true,
            Origin::Made(contents) => is_by_precision(contents.combiner),
        }
    }
}

const fn is_by_precision(combiner: c_int) -> bool {
    matches!(
        combiner,
        MPI_COMBINER_F90_REAL | MPI_COMBINER_F90_COMPLEX | MPI_COMBINER_F90_INTEGER
    )
}

impl Type {
    /// A datatype that is committed if the standard names it.
    pub(super) fn new(description: Arc<Description>) -> Self {
        let is_named = matches!(description.origin, Origin::Named(..));
        Self {
            description,
            committed: AtomicBool::new(is_named),
            name: Mutex::new(None),
            attributes: Attributes::new(),
        }
    }

    pub(super) fn is_committed(&self) -> bool {
        self.committed.load(Ordering::Relaxed)
    }

    pub(super) fn commit(&self) {
        self.committed.store(true, Ordering::Relaxed);
    }

    /// The name that the program or the standard gave; empty if neither did.
    pub(super) fn name(&self) -> String {
        let given = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*given, &self.description.origin) {
            (Some(name), _) => name.clone(),
            (None, Origin::Named(_, name)) => (*name).to_owned(),
            (None, Origin::Made(_)) => String::new(),
        }
    }

    pub(super) fn set_name(&self, name: String) {
        let mut given = self.name.lock().unwrap_or_else(PoisonError::into_inner);
        *given = Some(name);
    }
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
            Some(Arc::clone(&slab[index]))
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
    MADE.insert(Arc::new(made))
}

/// Takes a datatype out; what it describes lives as long as it is used.
pub(super) fn remove(datatype: Datatype) -> Option<Arc<Type>> {
    MADE.remove(datatype)
}

/// The handle of an integer (`MPI_Type_fromint`).
pub(crate) fn from_int(int: c_int) -> Datatype {
    MADE.handle_of(int)
}

/// The handle of a permanent datatype, or that of a new one.
pub(super) fn handle_of(description: Arc<Description>) -> Datatype {
    let standing = match &description.origin {
        Origin::Named(handle, _) => Some(Datatype::from_address(*handle)),
        Origin::Made(contents) if is_by_precision(contents.combiner) => sized::made_by(contents),
        Origin::Made(_) => None,
    };
    standing.unwrap_or_else(|| insert(description))
}
