//! The settings of collectives under the names of other products.

use super::super::*;
use super::given;

#[test]
fn other_products_names_force_the_same_algorithms() {
    use oxmpi_coll::catalog::{Algorithm, Collective};
    for (variable, value, algorithm) in [
        ("I_MPI_ADJUST_ALLREDUCE", "8", Algorithm::AllreduceRing),
        (
            "MPIR_CVAR_BCAST_INTRA_ALGORITHM",
            "binomial",
            Algorithm::BcastBinomial,
        ),
        (
            "MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM",
            "scattered",
            Algorithm::AlltoallLinear,
        ),
        (
            "OMPI_MCA_coll_tuned_allgather_algorithm",
            "3",
            Algorithm::AllgatherRecursiveDoubling,
        ),
        (
            "OMPI_MCA_coll_tuned_reduce_algorithm",
            "rabenseifner",
            Algorithm::ReduceRabenseifner,
        ),
    ] {
        let values = given(&[(variable, value)]);
        assert_eq!(values.warnings, [""; 0]);
        let forced = values.tuning().forced.get(algorithm.collective());
        assert_eq!(forced, Some(algorithm), "{variable}");
    }
    let none = given(&[("I_MPI_ADJUST_ALLREDUCE", "13")]);
    assert_eq!(none.tuning().forced.get(Collective::Allreduce), None);
    let warning = &none.warnings[0];
    assert!(warning.contains("I_MPI_ADJUST_ALLREDUCE"), "{warning}");
}

#[test]
fn hardware_that_is_not_there_is_said_so() {
    let values = given(&[
        ("OMPI_MCA_coll_fca_enable", "1"),
        ("OMPI_MCA_coll_fca_np", "4"),
    ]);
    let warnings = &values.warnings;
    assert_eq!(warnings.len(), 2);
    let mut both = warnings.iter();
    assert!(both.all(|said| said.contains("no such hardware")));
}

#[test]
fn the_optimised_collectives_of_cray_are_on_but_those_by_flags() {
    use oxmpi_coll::catalog::{Algorithm, Collective};
    let value = |values: &Values, name: &str| values.get(name).text.clone();
    let usual = given(&[]);
    for (name, default) in [
        ("coll_plain", "none"),
        ("coll_flags", "off"),
        ("gatherv_short", "16KiB"),
        ("scatterv_short", "16KiB"),
    ] {
        assert_eq!(value(&usual, name), default);
    }
    let forced = usual.tuning().forced;
    assert!(Collective::ALL.iter().all(|&one| forced.get(one).is_none()));
    let given = given(&[
        ("MPICH_COLL_OPT_OFF", "MPI_Bcast,gatherv"),
        ("MPICH_USE_DMAPP_COLL", "1"),
        ("MPICH_GATHERV_SHORT_MSG", "8192"),
        ("OXMPI_COLL_NODE_LATENCY", "1us"),
        ("OXMPI_COLL_NODE_BANDWIDTH", "1G"),
    ]);
    let tuning = given.tuning();
    for (collective, forced) in [
        (Collective::Bcast, Some(Algorithm::BcastBinomial)),
        (Collective::Gatherv, Some(Algorithm::GathervLinear)),
        (Collective::Scatterv, None),
    ] {
        assert_eq!(tuning.forced.get(collective), forced);
    }
    assert!(tuning.flags);
    assert_eq!(tuning.gatherv_short_bytes, 8192);
    let node = tuning.machine.node;
    assert_eq!((node.latency, node.byte), (1_000_000, 931));
}

#[test]
fn a_file_of_rules_that_is_wrong_is_refused_by_its_name() {
    let values = given(&[("OXMPI_COLL_RULES", "/there/is/no/such.json")]);
    let why = values.rules().unwrap_err().to_string();
    let expected = "OXMPI_COLL_RULES: /there/is/no/such.json: ";
    assert!(why.contains(expected), "{why}");
}
