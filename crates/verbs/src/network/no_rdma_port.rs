//! [`NoRdmaPort`]: why none of a rank's ports can be used.

use crate::error::{Unavailable, VerbsError};
use crate::registration::{PinnedFromFile, explain_failure};
use crate::transport::VerbsTransportError;
use oxmpi_os::limit::LockedMemoryLimit;
use std::fmt;

/// Why none of a rank's ports can be used. Displays a clause for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoRdmaPort {
    /// For each port.
    why: Vec<String>,
    /// What to do about calls that failed.
    advice: Vec<String>,
}

impl NoRdmaPort {
    pub(super) fn new(why: impl fmt::Display) -> Self {
        Self {
            why: vec![why.to_string()],
            advice: Vec::new(),
        }
    }

    /// Adds why the port `name` cannot be used.
    pub(super) fn add(&mut self, name: &str, other: Self) {
        let named = other.why.iter().map(|why| format!("{name}: {why}"));
        self.why.extend(named);
        self.advice.extend(other.advice);
    }

    /// What to do, in lines: for each call that failed the host, the call, the limit of locked memory and a remedy. Empty
    /// if no call failed.
    #[must_use]
    pub fn advice(&self) -> String {
        self.advice.join("\n")
    }
}

impl fmt::Display for NoRdmaPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why.join("; "))
    }
}

impl std::error::Error for NoRdmaPort {}

impl From<VerbsError> for NoRdmaPort {
    fn from(failure: VerbsError) -> Self {
        let host = oxmpi_os::host::name();
        let advice = explain_failure(&failure, &host, LockedMemoryLimit::raise());
        Self {
            advice: vec![advice],
            ..Self::new(failure)
        }
    }
}

impl From<VerbsTransportError> for NoRdmaPort {
    fn from(failure: VerbsTransportError) -> Self {
        match failure {
            VerbsTransportError::Verbs(failure) => failure.into(),
            other => Self::new(other),
        }
    }
}

impl From<PinnedFromFile> for NoRdmaPort {
    fn from(why: PinnedFromFile) -> Self {
        Self::new(why)
    }
}

impl From<Unavailable> for NoRdmaPort {
    fn from(why: Unavailable) -> Self {
        Self::new(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn a_call_that_fails_comes_with_a_remedy() {
        let failure = VerbsError::io(
            "ibv_create_cq",
            "mthca0",
            "",
            &io::Error::from_raw_os_error(22),
        );
        let mut none = NoRdmaPort::default();
        none.add("rxe0:1", NoRdmaPort::new("the port is not active but Down"));
        none.add("mthca0:1", failure.into());
        let text = none.to_string();
        assert!(
            text.starts_with("rxe0:1: the port is not active but Down; mthca0:1: ibv_create_cq"),
            "{text}"
        );
        let advice = none.advice();
        for part in [
            &*oxmpi_os::host::name(),
            "locked memory: ",
            "The device refuses a size",
        ] {
            assert!(advice.contains(part), "{advice}");
        }
    }
}
