//! Socket addresses as C has them.

use std::ffi::c_void;
use std::net::SocketAddr;

/// `struct sockaddr_in` or `struct sockaddr_in6` of Linux.
#[repr(align(8))]
pub(super) struct RawSocketAddress([u8; 28]);

impl RawSocketAddress {
    pub(super) fn new(address: SocketAddr) -> Self {
        const AF_INET: u16 = 2;
        const AF_INET6: u16 = 10;
        let mut bytes = [0; 28];
        let family = if address.is_ipv4() { AF_INET } else { AF_INET6 };
        bytes[..2].copy_from_slice(&family.to_ne_bytes());
        bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
        match address {
            SocketAddr::V4(address) => bytes[4..8].copy_from_slice(&address.ip().octets()),
            SocketAddr::V6(address) => {
                bytes[8..24].copy_from_slice(&address.ip().octets());
                bytes[24..].copy_from_slice(&address.scope_id().to_ne_bytes());
            }
        }
        Self(bytes)
    }

    pub(super) fn as_ptr(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}
