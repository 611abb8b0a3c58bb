//! The names of the environment variables that place threads.

pub(crate) const KMP_AFFINITY: &str = "KMP_AFFINITY";
pub(crate) const GOMP_CPU_AFFINITY: &str = "GOMP_CPU_AFFINITY";
pub(crate) const OMP_PLACES: &str = "OMP_PLACES";
pub(crate) const OMP_PROC_BIND: &str = "OMP_PROC_BIND";
pub(crate) const OMP_NUM_THREADS: &str = "OMP_NUM_THREADS";
pub(crate) const KMP_HW_SUBSET: &str = "KMP_HW_SUBSET";
pub(crate) const KMP_PLACE_THREADS: &str = "KMP_PLACE_THREADS";
