//! Machines from cpuid: recorded ones against hwloc 2.9 (`recorded`), random ones (`laws`), reading and
//! writing of dumps (`dumps`), and impossible answers (`hostile`).

mod dumps;
mod hostile;
mod laws;
mod recorded;
