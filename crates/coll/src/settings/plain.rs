//! Collectives that are to be served by the textbook's algorithms, whatever others would cost.

use oxmpi_text::{Error, Expected, Span, nearest};

use crate::call::{Algorithm, Collective};

/// What stands before a collective's name in Cray MPICH.
const PREFIX: &str = "mpi_";

/// Reads a list of collectives with commas: `bcast`, or `MPI_Bcast` as in Cray MPICH. `none` or `0`
/// is none, `all` or `1` is all. Gives each of them to `chosen`.
///
/// # Errors
///
/// What is no collective; the error suggests one.
pub fn plain(text: &str, mut chosen: impl FnMut(Collective)) -> Result<(), Error> {
    match text {
        "none" | "0" => return Ok(()),
        "all" | "1" => {
            Collective::ALL.into_iter().for_each(chosen);
            return Ok(());
        }
        _ => {}
    }
    let mut start = 0;
    for word in text.split(',') {
        let span = Span {
            start,
            end: start + word.len(),
        };
        chosen(collective(word, span)?);
        start = span.end + 1;
    }
    Ok(())
}

fn collective(word: &str, span: Span) -> Result<Collective, Error> {
    let word = word.trim();
    let prefixed = word
        .get(..PREFIX.len())
        .filter(|start| start.eq_ignore_ascii_case(PREFIX));
    let name = prefixed.map_or(word, |_| &word[PREFIX.len()..]);
    let named = |one: &Collective| one.name().eq_ignore_ascii_case(name);
    let found = Collective::ALL.into_iter().find(named);
    found.ok_or(Error {
        span,
        expected: Expected::Text(
            "collectives with commas, such as bcast,allgather; or all, or none",
        ),
        suggestion: nearest(name, Collective::ALL.map(Collective::name)),
    })
}

/// The textbook's algorithm: one that every call of the collective suits, where there is one.
pub const fn textbook(collective: Collective) -> Algorithm {
    match collective {
        Collective::Barrier => Algorithm::BarrierDissemination,
        Collective::Bcast => Algorithm::BcastBinomial,
        Collective::Gather => Algorithm::GatherBinomial,
        Collective::Gatherv => Algorithm::GathervLinear,
        Collective::Scatter => Algorithm::ScatterBinomial,
        Collective::Scatterv => Algorithm::ScattervLinear,
        Collective::Allgather => Algorithm::AllgatherRing,
        Collective::Allgatherv => Algorithm::AllgathervRing,
        Collective::Alltoall => Algorithm::AlltoallPairwise,
        Collective::Alltoallv => Algorithm::AlltoallvPairwise,
        Collective::Reduce => Algorithm::ReduceBinomial,
        Collective::Allreduce => Algorithm::AllreduceRecursiveDoubling,
        Collective::ReduceScatter => Algorithm::ReduceScatterPairwise,
        Collective::ReduceScatterBlock => Algorithm::ReduceScatterBlockPairwise,
        Collective::Scan => Algorithm::ScanDoubling,
        Collective::Exscan => Algorithm::ExscanShift,
        Collective::NeighborAllgather => Algorithm::NeighborAllgatherLinear,
        Collective::NeighborAllgatherv => Algorithm::NeighborAllgathervLinear,
        Collective::NeighborAlltoall => Algorithm::NeighborAlltoallLinear,
        Collective::NeighborAlltoallv => Algorithm::NeighborAlltoallvLinear,
    }
}
