//! Which interfaces may be used: lists of names and of ranges of addresses.

use std::fmt;

use oxmpi_os::interface::Interface;
use oxmpi_text::{Error, Expected, Span};

use super::Subnet;

/// An entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Name(String),
    Range(Subnet),
}

impl Entry {
    fn covers(&self, interface: &Interface) -> bool {
        match self {
            Self::Name(name) => *name == interface.name,
            Self::Range(range) => range.contains(&interface.address),
        }
    }
}

/// Which interfaces may be used: those of one list, or all but those of another, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    include: Vec<Entry>,
    exclude: Vec<Entry>,
    /// Of these only, and in this order.
    chosen: Option<Vec<String>>,
}

impl Filter {
    /// Every interface, the loopback device only if there is no other.
    #[must_use]
    pub const fn all() -> Self {
        Self {
            include: Vec::new(),
            exclude: Vec::new(),
            chosen: None,
        }
    }

    /// Only those of `include` (all, if it is empty), without those of `exclude`. Each is a list of names
    /// (`eth0`) and ranges (`10.0.0.0/8`, `fd00::/8`), separated by commas.
    ///
    /// # Errors
    /// What is no such list.
    pub fn new(include: &str, exclude: &str) -> Result<Self, Error> {
        Ok(Self {
            include: entries(include)?,
            exclude: entries(exclude)?,
            chosen: None,
        })
    }

    /// Of what this filter allows only the interfaces of these names, best first, the loopback device
    /// too if it is named.
    #[must_use]
    pub fn among(self, names: Vec<String>) -> Self {
        Self {
            chosen: Some(names),
            ..self
        }
    }

    /// The place of `interface` among those that are chosen; `None`: it is not.
    fn place(&self, interface: &Interface) -> Option<usize> {
        let chosen = self.chosen.as_ref().map_or(Some(0), |names| {
            names.iter().position(|name| *name == interface.name)
        });
        chosen.filter(|_| self.allows(interface))
    }

    /// Whether the lists allow this interface with this address.
    #[must_use]
    pub fn allows(&self, interface: &Interface) -> bool {
        let listed = |list: &[Entry]| list.iter().any(|entry| entry.covers(interface));
        (self.include.is_empty() || listed(&self.include)) && !listed(&self.exclude)
    }
}

/// Reads a list of names and ranges; an empty text is an empty list.
pub(crate) fn check(text: &str) -> Result<(), Error> {
    entries(text).map(drop)
}

fn entries(text: &str) -> Result<Vec<Entry>, Error> {
    let mut list = Vec::new();
    let mut at = 0;
    if text.is_empty() {
        return Ok(list);
    }
    for part in text.split(',') {
        let end = at + part.len();
        let wrong = |expected| Error {
            span: Span { start: at, end },
            expected: Expected::Text(expected),
            suggestion: None,
        };
        let word = part.trim();
        let entry = if word.contains(['/', ':']) || word.parse::<std::net::IpAddr>().is_ok() {
            let range = word.parse();
            Entry::Range(range.map_err(|()| wrong("a range of addresses such as 10.0.0.0/8"))?)
        } else if !word.is_empty() && word.bytes().all(|b| b.is_ascii_graphic() && b != b'^') {
            Entry::Name(word.to_owned())
        } else {
            return Err(wrong(
                "the name of an interface, or a range such as 10.0.0.0/8",
            ));
        };
        list.push(entry);
        at = end + 1;
    }
    Ok(list)
}

impl fmt::Display for Filter {
    /// As people say it: `eth0, 10.0.0.0/8, not docker0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(names) = &self.chosen {
            let names = if names.is_empty() {
                "no interface".into()
            } else {
                names.join(", ")
            };
            write!(f, "{names} alone")?;
            if self.include.is_empty() && self.exclude.is_empty() {
                return Ok(());
            }
            f.write_str(", and of these ")?;
        } else if self.include.is_empty() && self.exclude.is_empty() {
            return f.write_str("no list");
        }
        let included = self.include.iter().map(|entry| ("", entry));
        let excluded = self.exclude.iter().map(|entry| ("not ", entry));
        for (number, (not, entry)) in included.chain(excluded).enumerate() {
            f.write_str(if number > 0 { ", " } else { "" })?;
            f.write_str(not)?;
            match entry {
                Entry::Name(name) => f.write_str(name)?,
                Entry::Range(range) => range.fmt(f)?,
            }
        }
        Ok(())
    }
}

/// The addresses that a rank offers, of those that its host has: of interfaces that are up and that
/// `filter` allows, in its order. The loopback device's only if they are included by name or range, or
/// there are no others. Addresses of IPv6 that are valid on one link only are left out: they mean nothing to a peer
/// that does not know the link.
#[must_use]
pub fn offered(interfaces: &[Interface], filter: &Filter) -> Vec<Subnet> {
    let usable = |interface: &&Interface| {
        let on_one_link = match interface.address.to_canonical() {
            std::net::IpAddr::V6(address) => address.is_unicast_link_local(),
            std::net::IpAddr::V4(_) => false,
        };
        interface.up && !on_one_link && filter.place(interface).is_some()
    };
    let asked_for = !filter.include.is_empty() || filter.chosen.is_some();
    let subnets = |loopback: bool| {
        let usable = interfaces.iter().filter(usable);
        let wanted = usable.filter(|i| loopback || !i.loopback || asked_for);
        let mut wanted: Vec<_> = wanted.collect();
        wanted.sort_by_key(|interface| filter.place(interface));
        let subnets = wanted.iter().map(|i| Subnet::new(i.address, i.prefix));
        subnets.collect::<Vec<_>>()
    };
    let others = subnets(false);
    if others.is_empty() {
        subnets(true)
    } else {
        others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Vec<Interface> {
        let interface = |name: &str, subnet: &str, up| {
            let subnet: Subnet = subnet.parse().unwrap();
            Interface {
                name: name.to_owned(),
                address: subnet.address,
                prefix: subnet.prefix,
                up,
                loopback: name == "lo",
            }
        };
        vec![
            interface("lo", "127.0.0.1/8", true),
            interface("lo", "::1/128", true),
            interface("eth0", "10.1.0.7/16", true),
            interface("eth0", "fd00::7/64", true),
            interface("eth0", "fe80::7/64", true),
            interface("ib0", "192.168.9.7/24", true),
            interface("docker0", "172.17.0.1/16", true),
            interface("eth1", "10.2.0.7/16", false),
        ]
    }

    fn chosen(include: &str, exclude: &str) -> Vec<String> {
        let filter = Filter::new(include, exclude).unwrap();
        let offered = offered(&host(), &filter);
        offered.iter().map(Subnet::to_string).collect()
    }

    #[test]
    fn lists_of_names_and_ranges() {
        let all = [
            "10.1.0.7/16",
            "fd00::7/64",
            "192.168.9.7/24",
            "172.17.0.1/16",
        ];
        assert_eq!(chosen("", ""), all);
        assert_eq!(chosen("", "docker0"), all[..3]);
        assert_eq!(chosen("", "172.16.0.0/12,fd00::/8"), [all[0], all[2]]);
        assert_eq!(chosen("eth0", ""), all[..2]);
        assert_eq!(chosen("10.0.0.0/8, ib0", ""), [all[0], all[2]]);
        assert_eq!(chosen("eth0,ib0", "fd00::/8"), [all[0], all[2]]);
        assert_eq!(chosen("lo", "::1"), ["127.0.0.1/8"], "if it is asked for");
        assert_eq!(
            chosen("", "eth0,ib0,docker0"),
            ["127.0.0.1/8", "::1/128"],
            "if no other is left"
        );
        assert!(chosen("eth1", "").is_empty(), "it is down");
    }

    #[test]
    fn the_chosen_ones_in_their_order() {
        let among = |include: &str, names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let filter = Filter::new(include, "172.16.0.0/12").unwrap().among(names);
            let offered = offered(&host(), &filter);
            let texts: Vec<String> = offered.iter().map(Subnet::to_string).collect();
            (texts.join(" "), filter.to_string())
        };
        let (texts, shown) = among("", &["ib0", "eth0"]);
        assert_eq!(texts, "192.168.9.7/24 10.1.0.7/16 fd00::7/64");
        assert_eq!(shown, "ib0, eth0 alone, and of these not 172.16.0.0/12");
        assert_eq!(among("10.0.0.0/8", &["ib0", "eth0"]).0, "10.1.0.7/16");
        assert_eq!(
            among("", &["lo", "ib0"]).0,
            "127.0.0.1/8 ::1/128 192.168.9.7/24"
        );
        assert_eq!(among("", &["docker0"]).0, "");
        assert_eq!(among("", &[]).0, "");
    }

    #[test]
    fn bad_lists_are_shown() {
        for (bad, start) in [
            ("eth0,,ib0", 5),
            (",", 0),
            ("10.0.0.0/40", 0),
            ("eth0,10.0/8", 5),
            ("^eth0", 0),
            ("e th", 0),
        ] {
            let error = Filter::new(bad, "").unwrap_err();
            assert_eq!(error.span.start, start, "{bad}");
            assert!(Filter::new("", bad).is_err());
        }
        let filter = Filter::new("eth0,10.0.0.0/8", "docker0").unwrap();
        assert_eq!(filter.to_string(), "eth0, 10.0.0.0/8, not docker0");
        assert_eq!(Filter::all(), Filter::new("", "").unwrap());
    }
}
