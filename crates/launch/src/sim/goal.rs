//! The schedule of one algorithm in GOAL, the input language of LogGOPSim.

use oxmpi_coll::sim::{Workload, write_goal};

use super::experiment::{Candidate, Implementation, candidates};
use super::options::Options;

/// The schedule of the algorithm on the command line.
///
/// # Errors
/// If there are several algorithms, or the algorithm does not suit the call.
pub(super) fn schedule(options: &Options) -> Result<String, String> {
    let (ranks, bytes) = options
        .points()
        .next()
        .ok_or("the number of ranks is missing")?;
    let work = Workload::new(options.collective, ranks, bytes);
    let found = candidates(options, &work)?;
    let [
        Candidate {
            implementation: Implementation::Catalog(algorithm, chosen),
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
