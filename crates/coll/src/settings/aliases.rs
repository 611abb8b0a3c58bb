//! The names of the `_algorithm` settings in other MPI libraries, and which of their algorithms are ours.
//!
//! Only the same algorithm is translated; other values are refused by name. Numbers are those of Intel
//! MPI's reference (`I_MPI_ADJUST` family, 2021) and of Open MPI's `tuned` component; words are those of
//! MPICH's control variables and of Open MPI.

use oxmpi_text::{Alias, Product};

use crate::call::Collective;

type Values = &'static [(&'static str, &'static str)];

const fn alias(product: Product, name: &'static str, values: Values) -> Alias {
    Alias {
        product,
        name,
        values,
    }
}

/// Makes the aliases of one collective: its name in Intel MPI, MPICH and Open MPI, each with pairs of
/// values (theirs: ours).
macro_rules! products {
    ($intel:literal $of_intel:tt $mpich:literal $of_mpich:tt $open:literal $of_open:tt) => {
        const {
            &[
            alias(
                Product::IntelMpi,
                concat!("I_MPI_ADJUST_", $intel),
                &products!(@ $of_intel),
            ),
            alias(
                Product::CrayMpich,
                concat!("MPIR_CVAR_", $mpich, "_INTRA_ALGORITHM"),
                &products!(@ $of_mpich),
            ),
            alias(
                Product::OpenMpi,
                concat!("coll_tuned_", $open, "_algorithm"),
                &products!(@ $of_open),
            ),
            ]
        }
    };
    (@ { $($theirs:literal: $ours:literal),* }) => {
        [$(($theirs, $ours)),*]
    };
}

/// The aliases of the collective's setting.
pub(super) const fn aliases(collective: Collective) -> &'static [Alias] {
    match collective {
        Collective::Barrier => products! {
            "BARRIER" { "1": "dissemination", "4": "node-aware" }
            "BARRIER" { "k_dissemination": "dissemination", "smp": "node-aware" }
            "barrier" { "0": "auto", "ignore": "auto", "4": "dissemination", "bruck": "dissemination", "6": "knomial", "tree": "knomial" }
        },
        Collective::Bcast => products! {
            "BCAST" { "1": "binomial", "8": "knomial" }
            "BCAST" { "tree": "knomial", "scatter_recursive_doubling_allgather": "scatter-allgather", "circ_graph": "circulant" }
            "bcast" { "0": "auto", "ignore": "auto", "3": "chain", "pipeline": "chain", "6": "binomial", "7": "knomial", "8": "scatter-allgather", "scatter_allgather": "scatter-allgather" }
        },
        Collective::Gather => products! {
            "GATHER" { "1": "binomial" }
            "GATHER" {}
            "gather" { "0": "auto", "ignore": "auto", "1": "linear", "basic_linear": "linear", "2": "binomial", "3": "linear", "linear_sync": "linear" }
        },
        Collective::Gatherv => products! {
            "GATHERV" { "1": "linear", "3": "knomial" }
            "GATHERV" {}
            "gatherv" { "0": "auto", "ignore": "auto", "1": "linear" }
        },
        Collective::Scatter => products! {
            "SCATTER" { "1": "binomial" }
            "SCATTER" {}
            "scatter" { "0": "auto", "ignore": "auto", "1": "linear", "basic_linear": "linear", "2": "binomial", "3": "linear", "linear_nb": "linear" }
        },
        Collective::Scatterv => products! {
            "SCATTERV" { "1": "linear" }
            "SCATTERV" {}
            "scatterv" { "0": "auto", "ignore": "auto", "1": "linear" }
        },
        Collective::Allgather => products! {
            "ALLGATHER" { "1": "recursive-doubling", "2": "bruck", "3": "ring" }
            "ALLGATHER" { "brucks": "bruck", "k_brucks": "bruck", "recursive_doubling": "recursive-doubling", "circ_graph": "circulant" }
            "allgather" { "0": "auto", "ignore": "auto", "1": "linear", "2": "bruck", "3": "recursive-doubling", "recursive_doubling": "recursive-doubling", "4": "ring", "5": "neighbor-exchange", "neighbor": "neighbor-exchange", "8": "linear", "direct": "linear" }
        },
        Collective::Allgatherv => products! {
            "ALLGATHERV" { "2": "bruck", "3": "ring" }
            "ALLGATHERV" { "brucks": "bruck", "circ_graph": "circulant" }
            "allgatherv" { "0": "auto", "ignore": "auto", "2": "bruck", "3": "ring" }
        },
        Collective::Alltoall => products! {
            "ALLTOALL" { "1": "bruck", "2": "linear", "3": "pairwise" }
            "ALLTOALL" { "brucks": "bruck", "k_brucks": "bruck", "scattered": "linear" }
            "alltoall" { "0": "auto", "ignore": "auto", "1": "linear", "2": "pairwise", "3": "bruck", "modified_bruck": "bruck", "4": "linear", "linear_sync": "linear" }
        },
        Collective::Alltoallv => products! {
            "ALLTOALLV" { "1": "linear" }
            "ALLTOALLV" { "scattered": "linear" }
            "alltoallv" { "0": "auto", "ignore": "auto", "1": "linear", "basic_linear": "linear", "2": "pairwise" }
        },
        Collective::Reduce => products! {
            "REDUCE" { "2": "binomial" }
            "REDUCE" { "reduce_scatter_gather": "rabenseifner" }
            "reduce" { "0": "auto", "ignore": "auto", "3": "chain", "pipeline": "chain", "5": "binomial", "7": "rabenseifner", "rabenseifner": "rabenseifner" }
        },
        Collective::Allreduce => products! {
            "ALLREDUCE" { "1": "recursive-doubling", "2": "rabenseifner", "8": "ring" }
            "ALLREDUCE" { "recursive_doubling": "recursive-doubling", "recursive_multiplying": "recursive-multiplying", "reduce_scatter_allgather": "rabenseifner", "circ_graph": "circulant" }
            "allreduce" { "0": "auto", "ignore": "auto", "3": "recursive-doubling", "recursive_doubling": "recursive-doubling", "4": "ring", "5": "ring", "segmented_ring": "ring", "6": "rabenseifner", "7": "gather-reduce", "allgather_reduce": "gather-reduce" }
        },
        Collective::ReduceScatter => products! {
            "REDUCE_SCATTER" { "1": "halving", "2": "pairwise" }
            "REDUCE_SCATTER" { "recursive_halving": "halving" }
            "reduce_scatter" { "0": "auto", "ignore": "auto", "2": "halving", "recursive_halving": "halving" }
        },
        Collective::ReduceScatterBlock => products! {
            "REDUCE_SCATTER_BLOCK" { "1": "halving", "2": "pairwise" }
            "REDUCE_SCATTER_BLOCK" { "recursive_halving": "halving" }
            "reduce_scatter_block" { "0": "auto", "ignore": "auto", "3": "halving", "recursive_halving": "halving" }
        },
        Collective::Scan => products! {
            "SCAN" {}
            "SCAN" { "recursive_doubling": "doubling" }
            "scan" { "0": "auto", "ignore": "auto", "2": "doubling", "recursive_doubling": "doubling" }
        },
        Collective::Exscan => products! {
            "EXSCAN" {}
            "EXSCAN" { "recursive_doubling": "123-doubling" }
            "exscan" { "0": "auto", "ignore": "auto", "2": "123-doubling", "recursive_doubling": "123-doubling" }
        },
        Collective::NeighborAllgather
        | Collective::NeighborAllgatherv
        | Collective::NeighborAlltoall
        | Collective::NeighborAlltoallv => &[],
    }
}

/// Prefixes of Open MPI's parameters for hardware that performs collectives.
const HARDWARE: [&str; 4] = ["coll_fca_", "coll_hcoll_", "coll_sharp_", "coll_portals4_"];

/// The reason why a parameter of Open MPI has no effect: it is about hardware that this library does not
/// use. `None` for other names.
pub fn unsupported_hardware(name: &str) -> Option<&'static str> {
    let is_one = HARDWARE.iter().any(|prefix| name.starts_with(prefix));
    is_one.then_some("no such hardware: collectives are done by the ranks' processors")
}
