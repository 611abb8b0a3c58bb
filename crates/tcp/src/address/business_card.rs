//! [`BusinessCard`]: where a rank can be reached (the term of PMI).

use std::fmt;
use std::str::FromStr;

use super::Subnet;

/// Where a rank can be reached. Its text, `HOST:PORT,ADDRESS/PREFIX,...`, suits the key-value stores of
/// process managers: it has no blanks, equal signs or semicolons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusinessCard {
    /// The name of the rank's host, for messages.
    pub host: String,
    /// The TCP port that the rank listens at.
    pub port: u16,
    /// The rank's addresses with their subnets.
    pub addresses: Vec<Subnet>,
}

/// A text that is no business card.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' does not say where a rank is; it would look like node7:40001,10.0.0.7/24")]
pub struct BusinessCardError(String);

/// Longest name of a host (POSIX `HOST_NAME_MAX`; RFC 1035, section 2.3.4).
const MAX_HOST: usize = 255;

/// Most addresses of a card.
const MAX_ADDRESSES: usize = 64;

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._".contains(&byte)
}

impl fmt::Display for BusinessCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| {
            if u8::try_from(c).is_ok_and(is_allowed) {
                c
            } else {
                '_'
            }
        };
        let host: String = self.host.chars().take(MAX_HOST).map(plain).collect();
        let host = if host.is_empty() { "_" } else { &host };
        write!(f, "{host}:{}", self.port)?;
        let addresses = self.addresses.iter().take(MAX_ADDRESSES);
        addresses
            .into_iter()
            .try_for_each(|address| write!(f, ",{address}"))
    }
}

impl FromStr for BusinessCard {
    type Err = BusinessCardError;

    fn from_str(text: &str) -> Result<Self, BusinessCardError> {
        let invalid = || BusinessCardError(text.chars().take(80).collect());
        let mut parts = text.split(',');
        let (host, port) = parts
            .next()
            .and_then(|p| p.rsplit_once(':'))
            .ok_or_else(invalid)?;
        let named = !host.is_empty() && host.len() <= MAX_HOST && host.bytes().all(is_allowed);
        let port: u16 = port.parse().map_err(|_| invalid())?;
        let addresses: Result<Vec<Subnet>, ()> = parts.map(str::parse).collect();
        let addresses = addresses.map_err(|()| invalid())?;
        if !named || port == 0 || !(1..=MAX_ADDRESSES).contains(&addresses.len()) {
            return Err(invalid());
        }
        Ok(Self {
            host: host.to_owned(),
            port,
            addresses,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let text = "node-7.site:40001,10.0.0.7/24,fe80::1/64";
        let card: BusinessCard = text.parse().unwrap();
        assert_eq!((card.port, card.addresses.len()), (40001, 2));
        assert_eq!(card.to_string(), text);
        let renamed = BusinessCard {
            host: "a b=c;d,e:é\n".into(),
            ..card
        };
        assert_eq!(
            renamed.to_string().parse::<BusinessCard>().unwrap().host,
            "a_b_c_d_e___"
        );
    }

    #[test]
    fn other_texts_are_refused() {
        for bad in [
            "",
            "node",
            "node:",
            "node:0,1.2.3.4/8",
            "node:70000,1.2.3.4/8",
            "node:4",
            "node:4,",
            ":4,1.2.3.4/8",
            "no de:4,1.2.3.4/8",
            "node:4,eth0",
            "node:4,1.2.3.4/8,x",
        ] {
            let error = bad.parse::<BusinessCard>().unwrap_err();
            assert!(error.to_string().contains("node7:40001"), "{error}");
        }
        let many = format!("node:4{}", ",1.2.3.4/8".repeat(65));
        assert!(many.parse::<BusinessCard>().unwrap_err().to_string().len() < 200);
    }
}
