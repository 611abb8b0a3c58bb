//! [`Type`]: a datatype, and what a program attaches to it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::description::{Description, Origin};
use crate::attribute::Attributes;

/// A datatype: a description, and what a program attaches to it.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) description: Arc<Description>,
    committed: AtomicBool,
    name: Mutex<Option<String>>,
    pub(super) attributes: Attributes,
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
