//! The setting `coll_plain`: collectives that use their textbook algorithms.

use oxmpi_text::{Error, Expected, Span, nearest};

use crate::call::{Algorithm, Collective};

/// The prefix of a collective's name in Cray MPICH.
const PREFIX: &str = "mpi_";

/// Parses a list of collectives separated by commas, such as `bcast`, or `MPI_Bcast` as in Cray MPICH,
/// and passes each to `chosen`. `none` or `0` is none, `all` or `1` is all.
///
/// # Errors
///
/// If a word names no collective; the error suggests one.
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

/// The textbook algorithm of a collective: one that supports every call, where there is one.
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
