//! What a rank tells the others: where it can be reached.

use std::fmt;
use std::str::FromStr;

use super::Subnet;

/// Where a rank can be reached. Its text form, `HOST:PORT,ADDRESS/PREFIX,...`, is for key-value stores
/// of process managers: no blanks, equal signs or semicolons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// The name of its host, for messages to people.
    pub host: String,
    /// The port that it listens at.
    pub port: u16,
    /// Its addresses, with their subnets.
    pub addresses: Vec<Subnet>,
}

/// Why a text is no card.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' does not say where a rank is; it would look like node7:40001,10.0.0.7/24")]
pub struct CardError(String);

/// Longest name of a host that a card takes, as long as a host's name may be (POSIX `HOST_NAME_MAX` and
/// RFC 1035, section 2.3.4).
const NAME: usize = 255;

/// Addresses that a card takes.
const ADDRESSES: usize = 64;

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._".contains(&byte)
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| {
            if u8::try_from(c).is_ok_and(is_plain) {
                c
            } else {
                '_'
            }
        };
        let host: String = self.host.chars().take(NAME).map(plain).collect();
        let host = if host.is_empty() { "_" } else { &host };
        write!(f, "{host}:{}", self.port)?;
        let addresses = self.addresses.iter().take(ADDRESSES);
        addresses
            .into_iter()
            .try_for_each(|address| write!(f, ",{address}"))
    }
}

impl FromStr for Card {
    type Err = CardError;

    fn from_str(text: &str) -> Result<Self, CardError> {
        let wrong = || CardError(text.chars().take(80).collect());
        let mut parts = text.split(',');
        let (host, port) = parts
            .next()
            .and_then(|p| p.rsplit_once(':'))
            .ok_or_else(wrong)?;
        let named = !host.is_empty() && host.len() <= NAME && host.bytes().all(is_plain);
        let port: u16 = port.parse().map_err(|_| wrong())?;
        let addresses: Result<Vec<Subnet>, ()> = parts.map(str::parse).collect();
        let addresses = addresses.map_err(|()| wrong())?;
        if !named || port == 0 || !(1..=ADDRESSES).contains(&addresses.len()) {
            return Err(wrong());
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
        let card: Card = text.parse().unwrap();
        assert_eq!((card.port, card.addresses.len()), (40001, 2));
        assert_eq!(card.to_string(), text);
        let odd = Card {
            host: "a b=c;d,e:é\n".into(),
            ..card
        };
        assert_eq!(
            odd.to_string().parse::<Card>().unwrap().host,
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
            let error = bad.parse::<Card>().unwrap_err();
            assert!(error.to_string().contains("node7:40001"), "{error}");
        }
        let many = format!("node:4{}", ",1.2.3.4/8".repeat(65));
        assert!(many.parse::<Card>().unwrap_err().to_string().len() < 200);
    }
}
