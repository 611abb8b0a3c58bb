//! The bodies of the fuzz targets: what each does with its bytes.
//!
//! Each target has a module with a function of the same name, which panics on a finding. The targets in
//! `fuzz/fuzz_targets` call it with bytes from cargo-fuzz; the test `corpora` calls it with the corpora under
//! version control, so that every old finding is a test.
//!
//! Bodies that need a transport are beside the tests of its crate: `crates/shm/tests/hostile`,
//! `crates/tcp/tests/hostile`, `crates/verbs/tests/hostile`.
//!
//! A new target NAME needs: a module here with its line in [`TARGETS`], `fuzz/fuzz_targets/NAME.rs`
//! with its `[[bin]]` in `fuzz/Cargo.toml`, and first inputs in `fuzz/corpus/NAME/`.

mod benchmarks;
mod cpuid;
mod cpuinfo;
mod exchange;
mod frames;
mod layout;
mod listing;
mod openmp;
mod pmi;
mod rules;
mod settings;
mod synthetic;
mod sysfs;
mod window_messages;
mod xml;

pub use benchmarks::benchmarks;
pub use cpuid::cpuid;
pub use cpuinfo::cpuinfo;
pub use exchange::exchange;
pub use frames::frames;
pub use layout::layout;
pub use listing::listing;
pub use openmp::openmp;
pub use pmi::pmi;
pub use rules::rules;
pub use settings::settings;
pub use synthetic::synthetic;
pub use sysfs::sysfs;
pub use window_messages::window_messages;
pub use xml::xml;

/// The body of a target; it panics on a finding.
pub type Body = fn(&[u8]);

/// Every target by name.
pub const TARGETS: &[(&str, Body)] = &[
    ("benchmarks", benchmarks),
    ("cpuid", cpuid),
    ("cpuinfo", cpuinfo),
    ("exchange", exchange),
    ("frames", frames),
    ("layout", layout),
    ("listing", listing),
    ("openmp", openmp),
    ("pmi", pmi),
    ("rules", rules),
    ("settings", settings),
    ("synthetic", synthetic),
    ("sysfs", sysfs),
    ("window_messages", window_messages),
    ("xml", xml),
];
