//! Tests of the command `oxmpi`, which run it.

mod bench;
mod common;
mod endings;
mod figures;
mod input;
mod options;
mod output;
mod pin;
mod pinning;
mod report;
mod run;
mod settings;
mod signals;
mod simulations;
mod topo;
