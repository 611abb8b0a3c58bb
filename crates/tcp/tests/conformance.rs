//! The conformance suite of all transports.

mod common;

use common::pair;
use oxmpi_os::RawBytes;
use oxmpi_tcp::{TcpOptions, TcpRx, TcpTx};
use oxmpi_testkit::conformance::{KillableTransport, TestedTransport, TransportEnd};
use oxmpi_testkit::memory::Buffer;

/// The settings of a pair.
trait Sizes {
    fn options() -> TcpOptions;
}

struct Usual;

impl Sizes for Usual {
    fn options() -> TcpOptions {
        TcpOptions::default()
    }
}

/// Least sizes, so that everything runs out of room often.
struct Tight;

impl Sizes for Tight {
    fn options() -> TcpOptions {
        TcpOptions {
            frame: 128,
            chunk: 100,
            ..TcpOptions::default()
        }
    }
}

/// Two ranks on the loopback device.
struct Loopback<S>(S);

impl<S: Sizes> TestedTransport for Loopback<S> {
    type Tx = TcpTx;
    type Rx = TcpRx;
    type Memory = Box<[u8]>;

    fn join() -> [TransportEnd<Self>; 2] {
        TransportEnd::two(pair(S::options()))
    }

    fn memory(bytes: Vec<u8>) -> Box<[u8]> {
        bytes.into()
    }

    fn bytes(memory: &Box<[u8]>) -> RawBytes {
        // SAFETY: the suite keeps the memory until the transport has given it back, and reads it
        // only then. The box owns it alone.
        unsafe { RawBytes::new(memory.as_ptr().cast_mut(), memory.len()) }
    }

    fn read(memory: &Box<[u8]>) -> Vec<u8> {
        memory.to_vec()
    }
}

impl<S: Sizes> KillableTransport for Loopback<S> {
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

    fn join() -> [TransportEnd<Self>; 2] {
        TransportEnd::two(pair(TcpOptions::default()))
    }

    fn memory(bytes: Vec<u8>) -> Buffer {
        Buffer::new(bytes)
    }

    fn bytes(memory: &Buffer) -> Buffer {
        memory.clone()
    }

    fn read(memory: &Buffer) -> Vec<u8> {
        memory.to_vec()
    }
}

oxmpi_testkit::conformance!(usual, Loopback<Usual>, killable);
oxmpi_testkit::conformance!(tight, Loopback<Tight>, killable);
oxmpi_testkit::conformance!(copied, Copied);
