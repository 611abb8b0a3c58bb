//! PMI-1: the text protocol by which a process manager starts the ranks of a job.
//!
//! Every rank holds one descriptor to the manager (`PMI_FD`), or connects to it (`PMI_PORT`). A
//! request is one line, its reply is one line, and a rank never has two requests under way:
//!
//! ```text
//! rank: cmd=init pmi_version=1 pmi_subversion=1
//! manager: cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0
//! ```
//!
//! | file | holds |
//! |---|---|
//! | [`line`](mod@line) | one line: its fields, its bounds, its escapes |
//! | [`command`] | the requests, their words and those of their replies |
//! | [`start`] | what the environment says: which manager, where it is; or a singleton |
//! | [`port`] | the opening where the manager gave an address instead of a descriptor |
//! | [`mapping`] | which ranks are on which node, as managers write it |
//! | [`client`] | a rank's side: requests in, lines out, bytes in, replies out |
//! | [`server`] | a manager's side for a whole job (needs `alloc`) |
//!
//! Nothing here reads a descriptor, an environment or a clock. The caller moves the bytes.
//!
//! ```
//! use oxmpi_wire::pmi::{Client, Reply, PmiRequest};
//!
//! let mut client = Client::new();
//! let line = client.request(PmiRequest::Init)?;
//! assert_eq!(line, "cmd=init pmi_version=1 pmi_subversion=1\n");
//!
//! // The answer may come in pieces, as a stream does.
//! assert_eq!(client.feed(b"cmd=response_to_init pmi_ver")?, None);
//! let reply = client.feed(b"sion=1 pmi_subversion=1 rc=0\n")?;
//! assert_eq!(reply, Some(Reply::Init { version: 1, subversion: 1 }));
//! # Ok::<(), oxmpi_wire::pmi::ClientError>(())
//! ```
//!
//! Source: the lines that MPICH's Hydra, Intel's Hydra and Slurm's pmi2 plugin exchange with
//! their clients. Not covered: PMI-2's own framing; starting
//! further ranks is refused.

pub mod client;
pub mod command;
pub mod line;
pub mod mapping;
pub mod port;
pub mod start;

#[cfg(feature = "alloc")]
pub mod server;

#[cfg(all(test, feature = "std"))]
mod tests;

pub use client::{Client, ClientError, Reply, TextLimits};
pub use command::{Command, PmiRequest};
pub use line::{BadText, Excerpt, Line, LineError, LineReader};
pub use mapping::{Mapping, MappingError};
pub use port::{JobRank, PortHandshake};
#[cfg(feature = "alloc")]
pub use server::{Event, RankState, Server, ServerError};
pub use start::{PmiVariables, StartError, StartMethod};

/// Longest line either side accepts, in bytes, newline included: room for the longest value of
/// any server known (Intel's, 4,096 bytes) and its fields.
pub const LINE_MAX: usize = 4_608;
/// Longest name of a key-value space that our server announces, in bytes with a final zero.
pub const KVS_NAME_MAX: usize = 256;
/// Longest key that our server announces, in bytes with a final zero.
pub const KEY_MAX: usize = 64;
/// Longest value that our server announces, in bytes with a final zero.
pub const VALUE_MAX: usize = 1_024;
