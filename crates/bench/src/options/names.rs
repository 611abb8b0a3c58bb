//! Benchmarks by their names.

use super::{OptionError, unknown};
use crate::Part;
use crate::kernels::AnyKernel;
use crate::suite::{Benchmark, Multiple};

/// What stands before a name whose benchmark runs on several groups at once.
const MULTIPLE: &str = "Multi-";

/// The benchmark of that name, in any case, of `part`.
pub(super) fn one(part: Part, name: &str) -> Option<Benchmark> {
    let is_multiple = name
        .get(..MULTIPLE.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(MULTIPLE));
    if is_multiple {
        let kernel = AnyKernel::named(part, &name[MULTIPLE.len()..])?;
        let multiple = Some(Multiple::Worst);
        return Some(Benchmark { kernel, multiple });
    }
    AnyKernel::named(part, name).map(Benchmark::from)
}

/// Hands over each benchmark of a word: one name, or several with commas between them.
pub(super) fn all(
    part: Part,
    word: &str,
    take: &mut dyn FnMut(Benchmark),
) -> Result<(), OptionError> {
    for name in word.split(',') {
        take(one(part, name).ok_or_else(|| unknown(part, name))?);
    }
    Ok(())
}
