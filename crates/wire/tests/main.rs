//! Tests from outside the crate: engines joined by a model network, against oracles and laws.

mod cancel;
mod fast_path;
mod flow;
mod flushes;
mod generalized;
mod header;
mod hostile;
mod layout;
mod loss;
mod matching;
mod network;
mod oracle;
mod path_table;
mod paths;
mod pmi;
mod regions;
mod tokens;
