//! Machines from cpuid: recorded ones as hwloc 2.9 reads them.

mod recorded;
