//! Tests from outside the crate: pin maps, laws, and the rows that other products print.

mod common;
mod conflicts;
mod document;
mod grammar;
mod intel2021;
mod laws;
mod made_up;
mod malformed;
mod metrics;
mod numa;
mod openmp;
mod openmp_laws;
mod openmp_variables;
mod openmp_wrong;
mod openmpi;
mod recorded;
mod report;
mod seed001;
