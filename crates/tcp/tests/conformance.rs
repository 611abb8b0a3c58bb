//! The conformance suite of all transports.

use crate::common::Job;
use oxmpi_os::RawBytes;
use oxmpi_tcp::{TcpOptions, TcpRx, TcpTx};
use oxmpi_testkit::conformance::{KillableTransport, TestMemory, TestedTransport, TransportEnd};
use oxmpi_testkit::memory::Buffer;
use oxmpi_wire::Network;

/// Memory of the process, by its owner.
struct HeapMemory(Box<[u8]>);

impl TestMemory for HeapMemory {
    type Bytes = RawBytes;

    fn new(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }

    fn bytes(&self) -> RawBytes {
        // SAFETY: the suite keeps the memory until the transport has given it back, and reads it
        // only then. The box owns it alone.
        unsafe { RawBytes::new(self.0.as_ptr().cast_mut(), self.0.len()) }
    }

    fn to_vec(&self) -> Vec<u8> {
        self.0.to_vec()
    }
}

/// Two ranks on the loopback device; if `TIGHT`, with the least sizes, so that everything runs out of room often.
struct Loopback<const TIGHT: bool>;

impl<const TIGHT: bool> TestedTransport for Loopback<TIGHT> {
    type Tx = TcpTx;
    type Rx = TcpRx;
    type Memory = HeapMemory;

    fn ends(count: u32) -> Vec<(TcpTx, TcpRx)> {
        let usual = TcpOptions::default();
        let tight = TcpOptions {
            frame: 128,
            chunk: 100,
            ..usual
        };
        Job::connected(count, if TIGHT { tight } else { usual }).ranks
    }
}

impl<const TIGHT: bool> KillableTransport for Loopback<TIGHT> {
    /// Closes the connection as the kernel does for a killed process.
    fn kill(end: TransportEnd<Self>) {
        end.tx.abort();
    }
}

/// Memory without an address, as of a layout with gaps: bulk is copied.
struct Copied;

impl TestedTransport for Copied {
    type Tx = TcpTx<Buffer>;
    type Rx = TcpRx<Buffer>;
    type Memory = Buffer;

    fn ends(count: u32) -> Vec<(Self::Tx, Self::Rx)> {
        Job::connected(count, TcpOptions::default()).ranks
    }
}

oxmpi_testkit::conformance!(usual, Loopback<false>, killable);
oxmpi_testkit::conformance!(tight, Loopback<true>, killable);
oxmpi_testkit::conformance!(copied, Copied);
