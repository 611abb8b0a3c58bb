//! Chooses the setting that binds threads: `KMP_AFFINITY` with a type, then `GOMP_CPU_AFFINITY`, then
//! `OMP_PLACES` and `OMP_PROC_BIND`.

use alloc::vec::Vec;

use crate::openmp::affinity::{Affinity, Granularity, Type};
use crate::openmp::diagnostics::Diagnostics;
use crate::openmp::message::Message;
use crate::openmp::places::{Part, Places, PlacesError};
use crate::openmp::policy::Policy;
use crate::openmp::proclist::{self, Item};
use crate::openmp::team::Request;
use crate::openmp::variables::{GOMP_CPU_AFFINITY, KMP_AFFINITY, OMP_PLACES, OMP_PROC_BIND};

/// How the threads of a team are bound.
pub(crate) enum Method {
    /// Threads may use all processors of the map.
    Nothing,
    /// The runtime leaves the mask of the process as it is.
    Untouched,
    /// By `KMP_AFFINITY` or `GOMP_CPU_AFFINITY`: the setting's name, and its value.
    Affinity(&'static str, Affinity),
    Places(Places, Policy),
}

impl Method {
    /// Chooses the method. Warns of settings that it ignores and of syntax errors.
    pub(crate) fn choose(
        request: &Request<'_>,
        affinity: &Affinity,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let standard = [
            (OMP_PLACES, request.omp_places),
            (OMP_PROC_BIND, request.omp_proc_bind),
        ];
        let gomp = (GOMP_CPU_AFFINITY, request.gomp_cpu_affinity);
        match (affinity.kind, request.gomp_cpu_affinity) {
            (Type::Default, Some(text)) => {
                let method = Self::of_list(text, affinity, diagnostics);
                diagnostics.overridden(&standard, GOMP_CPU_AFFINITY);
                method
            }
            (Type::Default, None) => Self::of_places(request, diagnostics),
            (kind, _) => {
                diagnostics.overridden(&[gomp, standard[0], standard[1]], KMP_AFFINITY);
                match kind {
                    Type::None => Self::Nothing,
                    Type::Disabled => Self::Untouched,
                    _ => Self::Affinity(KMP_AFFINITY, affinity.clone()),
                }
            }
        }
    }

    /// Reads a list of `GOMP_CPU_AFFINITY`, with the modifiers of `KMP_AFFINITY`.
    fn of_list(text: &str, affinity: &Affinity, diagnostics: &mut Diagnostics) -> Self {
        match whole_list(text) {
            Ok(proclist) => Self::Affinity(
                GOMP_CPU_AFFINITY,
                Affinity {
                    kind: Type::Explicit,
                    granularity: affinity.granularity.or(Some(Granularity::Thread)),
                    proclist,
                    ..affinity.clone()
                },
            ),
            Err((message, error)) => {
                diagnostics.wrong(GOMP_CPU_AFFINITY, text, &message, error);
                Self::Nothing
            }
        }
    }

    fn of_places(request: &Request<'_>, diagnostics: &mut Diagnostics) -> Self {
        let places = request.omp_places.map(|text| {
            let read = Places::parse(text);
            read.unwrap_or_else(|PlacesError(message, error)| {
                diagnostics.wrong(OMP_PLACES, text, &message, error);
                Places::Parts(Part::Cores, usize::MAX)
            })
        });
        let policy = request.omp_proc_bind.and_then(|text| {
            let read = Policy::parse(text);
            let bad = |error| {
                diagnostics.wrong(OMP_PROC_BIND, text, &Message::BadValue(text.into()), error);
            };
            read.map_err(bad).ok()
        });
        match (places, policy) {
            (_, Some(Policy::False)) | (None, None) => Self::Nothing,
            (Some(places), policy) => Self::Places(places, policy.unwrap_or(Policy::Spread)),
            (None, Some(policy)) => Self::Places(Places::Parts(Part::Cores, usize::MAX), policy),
        }
    }
}

/// Reads a list that is the whole text; an empty text is an empty list.
fn whole_list(text: &str) -> Result<Vec<Item>, (Message, oxmpi_text::Error)> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let (list, length) = proclist::parse(text)?;
    let end = oxmpi_text::Span {
        start: length,
        end: text.len(),
    };
    match text[length..].trim().is_empty() {
        true => Ok(list),
        false => {
            let error = oxmpi_text::Error::new(end, "nothing behind the list");
            Err((Message::ListSyntax, error))
        }
    }
}
