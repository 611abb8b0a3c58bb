//! Machines from cpuid: recorded ones as hwloc 2.9 reads them (`recorded`), made-up ones as they were
//! made up (`laws`), dumps that are read, written and damaged (`dumps`), and answers that no processor
//! gives (`hostile`).

mod dumps;
mod hostile;
#[path = "../hwlocs/mod.rs"]
mod hwlocs;
mod laws;
mod recorded;
