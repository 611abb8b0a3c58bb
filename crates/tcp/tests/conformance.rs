//! The conformance suite of all transports.

mod common;

use common::pair;
use oxmpi_os::RawBytes;
use oxmpi_tcp::{TcpOptions, TcpRx, TcpTx};
use oxmpi_testkit::conformance::{End, Mortal, Subject};
use oxmpi_testkit::memory::Shared;

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

impl<S: Sizes> Subject for Loopback<S> {
    type Tx = TcpTx;
    type Rx = TcpRx;
    type Memory = Box<[u8]>;

    fn join() -> [End<Self>; 2] {
        End::two(pair(S::options()))
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

impl<S: Sizes> Mortal for Loopback<S> {
    /// Closes the connection as the kernel does for a killed process.
    fn kill(end: End<Self>) {
        end.tx.abort();
    }
}

/// Memory without an address, as of a layout with gaps: bulk is copied.
struct Copied;

impl Subject for Copied {
    type Tx = TcpTx<Shared>;
    type Rx = TcpRx<Shared>;
    type Memory = Shared;

    fn join() -> [End<Self>; 2] {
        End::two(pair(TcpOptions::default()))
    }

    fn memory(bytes: Vec<u8>) -> Shared {
        Shared::new(bytes)
    }

    fn bytes(memory: &Shared) -> Shared {
        memory.clone()
    }

    fn read(memory: &Shared) -> Vec<u8> {
        memory.to_vec()
    }
}

oxmpi_testkit::conformance!(usual, Loopback<Usual>, mortal);
oxmpi_testkit::conformance!(tight, Loopback<Tight>, mortal);
oxmpi_testkit::conformance!(copied, Copied);
