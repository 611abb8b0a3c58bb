//! The settings of collectives under the names of other products.

use super::super::*;

/// Settings of collectives under the names of other products.
fn collectives(environment: &[(&str, &str)]) -> Values {
    let own = |&(name, value): &(&str, &str)| (name.into(), value.into());
    let sources = Sources {
        environment: environment.iter().map(own).collect(),
        ..Sources::default()
    };
    resolve(TABLE, &sources).unwrap()
}

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
        let values = collectives(&[(variable, value)]);
        assert_eq!(values.warnings, [""; 0]);
        let forced = values.tuning().forced;
        assert_eq!(
            forced.get(algorithm.collective()),
            Some(algorithm),
            "{variable}"
        );
    }
    let none = collectives(&[("I_MPI_ADJUST_ALLREDUCE", "13")]);
    assert_eq!(none.tuning().forced.get(Collective::Allreduce), None);
    assert!(
        none.warnings[0].contains("I_MPI_ADJUST_ALLREDUCE"),
        "{:?}",
        none.warnings
    );
}

#[test]
fn hardware_that_is_not_there_is_said_so() {
    let values = collectives(&[
        ("OMPI_MCA_coll_fca_enable", "1"),
        ("OMPI_MCA_coll_fca_np", "4"),
    ]);
    assert_eq!(values.warnings.len(), 2);
    assert!(
        values
            .warnings
            .iter()
            .all(|said| said.contains("no such hardware"))
    );
}

#[test]
fn the_optimised_collectives_of_cray_are_on_but_those_by_flags() {
    use oxmpi_coll::catalog::{Algorithm, Collective};
    let value = |values: &Values, name: &str| values.get(name).text.clone();
    let usual = collectives(&[]);
    for (name, default) in [
        ("coll_plain", "none"),
        ("coll_flags", "off"),
        ("gatherv_short", "16KiB"),
        ("scatterv_short", "16KiB"),
    ] {
        assert_eq!(value(&usual, name), default);
    }
    assert!(
        Collective::ALL
            .into_iter()
            .all(|one| usual.tuning().forced.get(one).is_none())
    );
    let given = collectives(&[
        ("MPICH_COLL_OPT_OFF", "MPI_Bcast,gatherv"),
        ("MPICH_USE_DMAPP_COLL", "1"),
        ("MPICH_GATHERV_SHORT_MSG", "8192"),
        ("OXMPI_COLL_NODE_LATENCY", "1us"),
        ("OXMPI_COLL_NODE_BANDWIDTH", "1G"),
    ]);
    let tuning = given.tuning();
    assert_eq!(
        tuning.forced.get(Collective::Bcast),
        Some(Algorithm::BcastBinomial)
    );
    assert_eq!(
        tuning.forced.get(Collective::Gatherv),
        Some(Algorithm::GathervLinear)
    );
    assert_eq!(tuning.forced.get(Collective::Scatterv), None);
    assert!(tuning.flags);
    assert_eq!(tuning.gatherv_short_bytes, 8192);
    assert_eq!(
        (tuning.machine.node.latency, tuning.machine.node.byte),
        (1_000_000, 931)
    );
}

#[test]
fn a_file_of_rules_that_is_wrong_is_refused_by_its_name() {
    let values = collectives(&[("OXMPI_COLL_RULES", "/there/is/no/such.json")]);
    let why = values.rules().unwrap_err().to_string();
    assert!(
        why.contains("OXMPI_COLL_RULES: /there/is/no/such.json: "),
        "{why}"
    );
}
