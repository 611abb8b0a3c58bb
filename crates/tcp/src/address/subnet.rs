//! [`Subnet`]: an address and the length of its subnet's prefix (CIDR).
//!
//! Source: RFC 4632 (IPv4), RFC 4291, section 2.3 (IPv6).

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// An address with its subnet, such as `10.1.0.7/16`, or a range of addresses, such as `10.1.0.0/16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subnet {
    /// The address.
    pub address: IpAddr,
    /// Leading bits that the subnet's addresses share: at most 32 (IPv4) or 128 (IPv6).
    pub prefix: u8,
}

impl Subnet {
    /// `address` with `prefix` leading bits, or with all of its bits if `prefix` is more.
    #[must_use]
    pub fn new(address: IpAddr, prefix: u8) -> Self {
        let address = address.to_canonical();
        let prefix = prefix.min(Self::bits(&address));
        Self { address, prefix }
    }

    const fn bits(address: &IpAddr) -> u8 {
        match address {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        }
    }

    /// Whether `address` is in this subnet. One of the other family is not.
    #[must_use]
    pub fn contains(&self, address: &IpAddr) -> bool {
        let common = match (self.address, address.to_canonical()) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
            (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
            _ => return false,
        };
        common >= self.prefix.into()
    }
}

impl fmt::Display for Subnet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl FromStr for Subnet {
    type Err = ();

    /// Reads `ADDRESS/PREFIX`, or an address alone, whose range is itself.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(drop)?;
        let bits = Self::bits(&address);
        let prefix = match prefix {
            None => bits,
            Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                digits.parse().map_err(drop)?
            }
            Some(_) => return Err(()),
        };
        if prefix > bits {
            return Err(());
        }
        Ok(Self { address, prefix })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subnet(text: &str) -> Subnet {
        text.parse().expect(text)
    }

    #[test]
    fn ranges_of_both_families() {
        for (range, inside, outside) in [
            ("13.0.0.0/8", "13.9.8.7", "14.0.0.1"),
            ("10.1.128.0/17", "10.1.200.1", "10.1.127.255"),
            ("10.0.0.7", "10.0.0.7", "10.0.0.6"),
            ("0.0.0.0/0", "255.1.2.3", "::1"),
            ("fd00:1::/32", "fd00:1:ffff::9", "fd00:2::1"),
            ("::/0", "fe80::1", "1.2.3.4"),
        ] {
            assert!(
                subnet(range).contains(&inside.parse().unwrap()),
                "{inside} in {range}"
            );
            assert!(
                !subnet(range).contains(&outside.parse().unwrap()),
                "{outside} in {range}"
            );
        }
        assert!(subnet("10.0.0.0/8").contains(&"::ffff:10.1.1.1".parse().unwrap()));
    }

    #[test]
    fn texts_there_and_back() {
        for text in ["10.1.2.3/16", "fe80::1/64", "0.0.0.0/0"] {
            assert_eq!(subnet(text).to_string(), text);
        }
        for bad in [
            "",
            "/",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/+8",
            "::/129",
            "10.0.0/8",
            "eth0",
            "1.2.3.4/8/8",
        ] {
            assert!(bad.parse::<Subnet>().is_err(), "{bad}");
        }
        assert_eq!(Subnet::new("1.2.3.4".parse().unwrap(), 99).prefix, 32);
    }
}
