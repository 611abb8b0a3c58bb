//! [`TcpOptions`]: the options of the transport.

use std::time::Duration;

use oxmpi_wire::Limits;
use oxmpi_wire::paths::{Cost, PathCosts};

use crate::frame::frame_len;

/// The options of the transport. The defaults are those of the [settings](crate::settings).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpOptions {
    /// Longest body of a frame, in bytes; at least 128. Longer messages go by get and put.
    pub frame: u32,
    /// Bytes of a get or put that are written in one piece; other frames pass between two pieces.
    pub chunk: u32,
    /// Most bytes that a speculative push sends before the peer asks for them; 0: none.
    pub speculative_push: u64,
    /// Longest get or put whose pages go to the kernel by vmsplice instead of a copy; 0: none, and none
    /// with a `stall_timeout`. The kernel reads the pages until the peer has all bytes: a lost peer that
    /// is still alive may read what the owner has written there since.
    pub zero_copy: u64,
    /// Most connections that may be in the handshake at once.
    pub pending_connections: u32,
    /// How long the handshake of one connection may take.
    pub handshake_timeout: Duration,
    /// How long this rank tries to connect to a peer before the peer counts as lost.
    pub connect_timeout: Duration,
    /// How long a peer's kernel may acknowledge nothing before the peer counts as lost.
    pub host_timeout: Duration,
    /// How long a connection may bring nothing, not even an answer to a ping, before the peer counts as lost;
    /// `None`: this rank pings no peer.
    pub stall_timeout: Option<Duration>,
    /// Whether refused connections and protocol violations leave a line on stderr in a program without a
    /// `tracing` subscriber.
    pub log: bool,
}

impl Default for TcpOptions {
    fn default() -> Self {
        Self {
            frame: 64 << 10,
            chunk: 1 << 20,
            speculative_push: 1 << 20,
            zero_copy: 1 << 20,
            pending_connections: 128,
            handshake_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(30),
            host_timeout: Duration::from_secs(20),
            stall_timeout: None,
            log: true,
        }
    }
}

impl TcpOptions {
    /// Costs over the loopback device (Zen 4, medians of `examples/tcp_pingpong.rs`, 8 B to 1 MiB). Switch
    /// points depend on their ratio, which a slower network changes little.
    const COSTS: PathCosts = PathCosts {
        short: Cost::line(8_000, 850),
        frame: Cost::line(8_000, 850),
        // One more message in each direction; then only the kernel copies the bytes.
        get: Cost::line(33_000, 500),
        put: Cost::line(34_000, 500),
    };

    /// The longest frame, and what each path of the engine costs.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits {
            costs: Self::COSTS,
            ..Limits::new(self.frame.min(4096), self.frame)
        }
    }

    /// [`TcpOptions::zero_copy`]; 0 if there is a stall timeout.
    pub(super) const fn max_zero_copy(&self) -> u64 {
        if self.stall_timeout.is_some() {
            0
        } else {
            self.zero_copy
        }
    }

    /// Bytes of a peer's send buffer: the longest frame twice, one being filled and one being written.
    pub(super) const fn send_buffer_len(&self) -> usize {
        2 * frame_len(self.frame as usize)
    }
}
