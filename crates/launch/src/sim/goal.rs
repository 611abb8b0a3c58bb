//! One algorithm's schedule in GOAL.

use oxmpi_coll::sim::{Workload, write_goal};

use super::experiment::{Candidate, Implementation, candidates};
use super::options::Options;

/// The schedule of the one algorithm that is asked for.
///
/// # Errors
/// A sentence when there are several, or when it does not suit the call.
pub(super) fn schedule(options: &Options) -> Result<String, String> {
    let (ranks, bytes) = options.points().next().ok_or("there is nothing to write")?;
    let work = Workload::new(options.collective, ranks, bytes);
    let found = candidates(options, &work)?;
    let [
        Candidate {
            what: Implementation::Catalog(algorithm, chosen),
            own,
        },
    ] = found[..]
    else {
        return Err("--goal writes the plans of one algorithm: name it with --algorithm".into());
    };
    let mut text = String::new();
    write_goal(
        &mut text,
        &options.machine,
        &work,
        algorithm,
        &options.over(own, chosen),
    )
    .map_err(|why| format!("{} {}: {why}", options.collective, algorithm.name()))?;
    Ok(text)
}
