//! The network interfaces of this host and their addresses.
//!
//! Source: getifaddrs(3).

use std::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr;

/// A network interface with one of its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name, such as `eth0`.
    pub name: String,
    /// The address.
    pub address: IpAddr,
    /// Length of the address's subnet prefix in bits.
    pub prefix: u8,
    /// Whether it is up and running.
    pub up: bool,
    /// Whether it is the loopback device.
    pub loopback: bool,
}

/// The speed of the interface called `name`, in megabits per second; `None` if the kernel reports none, as
/// for bridges and the loopback device.
#[must_use]
pub fn speed(name: &str) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/sys/class/net/{name}/speed")).ok()?;
    // The kernel reports -1 for an interface that is down.
    text.trim().parse().ok().filter(|speed| *speed > 0)
}

/// Lists the interfaces, one entry for each address, in the kernel's order.
///
/// # Errors
/// The error of getifaddrs(3).
pub fn list() -> io::Result<Vec<Interface>> {
    let mut first = ptr::null_mut();
    // SAFETY: getifaddrs writes the head of a list that it allocates.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = Vec::new();
    let mut at: *const libc::ifaddrs = first;
    // SAFETY: each item is valid until `freeifaddrs`, and so are the addresses that it points to.
    while let Some(item) = unsafe { at.as_ref() } {
        // SAFETY: as above; the name is a C string.
        let name = unsafe { CStr::from_ptr(item.ifa_name) };
        // SAFETY: as above: it points to an address of the kind that it says, or to nothing.
        let address = unsafe { address_at(item.ifa_addr) };
        // SAFETY: as for the address.
        let mask = unsafe { address_at(item.ifa_netmask) };
        if let Some(address) = address {
            let has = |flag: libc::c_int| item.ifa_flags & flag as libc::c_uint != 0;
            found.push(Interface {
                name: name.to_string_lossy().into_owned(),
                address,
                prefix: mask.map_or(0, ones),
                up: has(libc::IFF_UP) && has(libc::IFF_RUNNING),
                loopback: has(libc::IFF_LOOPBACK),
            });
        }
        at = item.ifa_next;
    }
    // SAFETY: the list is the one that getifaddrs gave, and nothing of it is used any more.
    unsafe { libc::freeifaddrs(first) };
    Ok(found)
}

/// The address that `at` points to, if it is an IP address.
///
/// # Safety
/// `at` is null or points to a socket address of the size that its family has.
unsafe fn address_at(at: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: the caller's promise.
    let family = unsafe { at.as_ref() }?.sa_family;
    match libc::c_int::from(family) {
        libc::AF_INET => {
            // SAFETY: an address of this family has this size: the caller's promise.
            let address = unsafe { at.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(address.sin_addr.s_addr.to_ne_bytes()).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let address = unsafe { at.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
        }
        _ => None,
    }
}

/// The prefix length of a mask.
fn ones(mask: IpAddr) -> u8 {
    let ones = match mask {
        IpAddr::V4(mask) => mask.to_bits().leading_ones(),
        IpAddr::V6(mask) => mask.to_bits().leading_ones(),
    };
    ones as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_reaches_itself() {
        let all = list().unwrap();
        let own = all.iter().find(|i| i.address == Ipv4Addr::LOCALHOST);
        let own = own.expect("127.0.0.1");
        assert!(own.loopback && own.up && own.prefix == 8, "{own:?}");
        assert!(!own.name.is_empty());
        assert_eq!(speed(&own.name), None, "it has no wire");
    }

    #[test]
    fn masks_are_lengths() {
        assert_eq!(ones(Ipv4Addr::new(255, 255, 240, 0).into()), 20);
        assert_eq!(ones("ffff:ffff::".parse().unwrap()), 32);
        assert_eq!(ones(Ipv6Addr::UNSPECIFIED.into()), 0);
    }
}
