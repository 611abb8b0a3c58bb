//! Prototypes of functions and callbacks.

use super::c_type::CType;
use super::procedure::Procedure;
use super::standard::Standard;
use crate::Result;

/// A function or the type of a callback: one of a procedure and its twin of large counts.
pub(super) struct Prototype {
    pub(super) name: String,
    pub(super) returns: CType,
    pub(super) parameters: Vec<(String, CType)>,
}

impl Prototype {
    fn of(standard: &Standard, procedure: &Procedure, large: bool) -> Result<Self> {
        let parameters = procedure
            .parameters
            .iter()
            .filter(|one| large || !one.large_only);
        let parameters =
            parameters.map(|one| Ok((one.name.clone(), standard.kinds.parameter(one, large)?)));
        let suffix = if large { "_c" } else { "" };
        Ok(Self {
            name: format!("{}{suffix}", procedure.name),
            returns: standard.kinds.returned(&procedure.returns)?,
            parameters: parameters.collect::<Result<_>>()?,
        })
    }

    /// Those of all callbacks, or of all functions, each before its twin.
    pub(super) fn all(standard: &Standard, callbacks: bool) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for procedure in standard
            .procedures
            .iter()
            .filter(|one| one.callback == callbacks)
        {
            all.push(Self::of(standard, procedure, false)?);
            if procedure.has_twin() {
                all.push(Self::of(standard, procedure, true)?);
            }
        }
        Ok(all)
    }

    /// The parameters in C.
    pub(super) fn list(&self) -> String {
        if self.parameters.is_empty() {
            return "void".to_owned();
        }
        let all = self
            .parameters
            .iter()
            .map(|(name, c_type)| c_type.declare(name));
        all.collect::<Vec<_>>().join(", ")
    }
}
