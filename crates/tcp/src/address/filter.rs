//! [`InterfaceFilter`]: which network interfaces may be used, by lists of names and address ranges.

use std::fmt;

use oxmpi_os::interface::Interface;
use oxmpi_text::{Error, Span};

use super::Subnet;

/// An entry of a list: the name of an interface, or a range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FilterEntry {
    Name(String),
    Range(Subnet),
}

impl FilterEntry {
    fn covers(&self, interface: &Interface) -> bool {
        match self {
            Self::Name(name) => *name == interface.name,
            Self::Range(range) => range.contains(&interface.address),
        }
    }
}

/// Which interfaces may be used: those of the include list, without those of the exclude list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceFilter {
    include: Vec<FilterEntry>,
    exclude: Vec<FilterEntry>,
    /// If set, only these interfaces, in this order.
    selected: Option<Vec<String>>,
}

impl InterfaceFilter {
    /// Every interface, the loopback device only if there is no other.
    #[must_use]
    pub const fn all() -> Self {
        Self {
            include: Vec::new(),
            exclude: Vec::new(),
            selected: None,
        }
    }

    /// The interfaces of `include` (all, if it is empty) without those of `exclude`. Each is a list of names
    /// (`eth0`) and ranges (`10.0.0.0/8`, `fd00::/8`), separated by commas.
    ///
    /// # Errors
    /// The first entry that is neither.
    pub fn new(include: &str, exclude: &str) -> Result<Self, Error> {
        Ok(Self {
            include: entries(include)?,
            exclude: entries(exclude)?,
            selected: None,
        })
    }

    /// Restricts this filter to the interfaces `names`, best first; the loopback device is used if named.
    #[must_use]
    pub fn restrict_to(self, names: Vec<String>) -> Self {
        Self {
            selected: Some(names),
            ..self
        }
    }

    /// The position of `interface` in the order of preference; `None`: it is not allowed.
    fn position(&self, interface: &Interface) -> Option<usize> {
        let selected = self.selected.as_ref().map_or(Some(0), |names| {
            names.iter().position(|name| *name == interface.name)
        });
        selected.filter(|_| self.allows(interface))
    }

    /// Whether the lists allow this interface with this address.
    #[must_use]
    pub fn allows(&self, interface: &Interface) -> bool {
        let listed = |list: &[FilterEntry]| list.iter().any(|entry| entry.covers(interface));
        (self.include.is_empty() || listed(&self.include)) && !listed(&self.exclude)
    }
}

/// Reads a list of names and ranges; an empty text is an empty list.
pub(crate) fn check(text: &str) -> Result<(), Error> {
    entries(text).map(drop)
}

fn entries(text: &str) -> Result<Vec<FilterEntry>, Error> {
    let mut list = Vec::new();
    let mut at = 0;
    if text.is_empty() {
        return Ok(list);
    }
    for part in text.split(',') {
        let end = at + part.len();
        let wrong = |expected| Error::new(Span { start: at, end }, expected);
        let word = part.trim();
        let entry = if word.contains(['/', ':']) || word.parse::<std::net::IpAddr>().is_ok() {
            let range = word.parse();
            FilterEntry::Range(
                range.map_err(|()| wrong("a range of addresses such as 10.0.0.0/8"))?,
            )
        } else if !word.is_empty() && word.bytes().all(|b| b.is_ascii_graphic() && b != b'^') {
            FilterEntry::Name(word.to_owned())
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

impl fmt::Display for InterfaceFilter {
    /// The settings that restrict it, as in `tcp_include=eth0,10.0.0.0/8 tcp_exclude=docker0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |entries: &[FilterEntry]| {
            let entries = entries.iter().map(|entry| match entry {
                FilterEntry::Name(name) => name.clone(),
                FilterEntry::Range(range) => range.to_string(),
            });
            entries.collect::<Vec<_>>().join(",")
        };
        let mut settings = Vec::new();
        if let Some(names) = self.selected.as_ref().filter(|names| !names.is_empty()) {
            settings.push(format!("network_devices (interfaces: {})", names.join(",")));
        }
        for (name, entries) in [
            ("tcp_include", &self.include),
            ("tcp_exclude", &self.exclude),
        ] {
            if !entries.is_empty() {
                settings.push(format!("{name}={}", text(entries)));
            }
        }
        f.write_str(&settings.join(" "))
    }
}

/// Why `filter` leaves no address of `interfaces` to advertise: its settings, and what there is.
#[must_use]
pub fn nothing_left(interfaces: &[Interface], filter: &InterfaceFilter) -> String {
    let mut existing: Vec<(&str, Vec<String>)> = Vec::new();
    for interface in interfaces {
        let address = Subnet::new(interface.address, interface.prefix).to_string();
        let text = address + if interface.up { "" } else { ", down" };
        match existing
            .iter_mut()
            .find(|(name, _)| *name == interface.name)
        {
            Some((_, addresses)) => addresses.push(text),
            None => existing.push((&interface.name, vec![text])),
        }
    }
    let existing = existing
        .iter()
        .map(|(name, addresses)| format!("{name} ({})", addresses.join(", ")));
    let existing = existing.collect::<Vec<_>>().join(", ");
    let existing = if existing.is_empty() {
        "none with an address"
    } else {
        &existing
    };
    match filter.to_string() {
        none if none.is_empty() => format!("no interface is up and selected; there is {existing}"),
        settings => format!("{settings} leaves no interface that is up; there is {existing}"),
    }
}

/// The addresses that a rank advertises: those of interfaces that are up and that `filter` allows, in its
/// order. The loopback device counts only if the filter includes or names it, or nothing else is left.
/// IPv6 link-local addresses are left out: a peer does not know the link.
#[must_use]
pub fn advertised(interfaces: &[Interface], filter: &InterfaceFilter) -> Vec<Subnet> {
    let usable = |interface: &&Interface| {
        let is_link_local = match interface.address.to_canonical() {
            std::net::IpAddr::V6(address) => address.is_unicast_link_local(),
            std::net::IpAddr::V4(_) => false,
        };
        interface.up && !is_link_local && filter.position(interface).is_some()
    };
    let with_loopback = !filter.include.is_empty() || filter.selected.is_some();
    let subnets = |loopback: bool| {
        let usable = interfaces.iter().filter(usable);
        let wanted = usable.filter(|i| loopback || !i.loopback || with_loopback);
        let mut wanted: Vec<_> = wanted.collect();
        wanted.sort_by_key(|interface| filter.position(interface));
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

    fn selected(include: &str, exclude: &str) -> Vec<String> {
        let filter = InterfaceFilter::new(include, exclude).unwrap();
        let found = advertised(&host(), &filter);
        found.iter().map(Subnet::to_string).collect()
    }

    #[test]
    fn lists_of_names_and_ranges() {
        let all = [
            "10.1.0.7/16",
            "fd00::7/64",
            "192.168.9.7/24",
            "172.17.0.1/16",
        ];
        assert_eq!(selected("", ""), all);
        assert_eq!(selected("", "docker0"), all[..3]);
        assert_eq!(selected("", "172.16.0.0/12,fd00::/8"), [all[0], all[2]]);
        assert_eq!(selected("eth0", ""), all[..2]);
        assert_eq!(selected("10.0.0.0/8, ib0", ""), [all[0], all[2]]);
        assert_eq!(selected("eth0,ib0", "fd00::/8"), [all[0], all[2]]);
        assert_eq!(selected("lo", "::1"), ["127.0.0.1/8"], "if it is included");
        assert_eq!(
            selected("", "eth0,ib0,docker0"),
            ["127.0.0.1/8", "::1/128"],
            "if no other is left"
        );
        assert!(selected("eth1", "").is_empty(), "it is down");
    }

    #[test]
    fn selected_interfaces_in_their_order() {
        let among = |include: &str, names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let filter = InterfaceFilter::new(include, "172.16.0.0/12")
                .unwrap()
                .restrict_to(names);
            let found = advertised(&host(), &filter);
            let texts: Vec<String> = found.iter().map(Subnet::to_string).collect();
            (texts.join(" "), filter.to_string())
        };
        let (texts, shown) = among("", &["ib0", "eth0"]);
        assert_eq!(texts, "192.168.9.7/24 10.1.0.7/16 fd00::7/64");
        assert_eq!(
            shown,
            "network_devices (interfaces: ib0,eth0) tcp_exclude=172.16.0.0/12"
        );
        assert_eq!(among("10.0.0.0/8", &["ib0", "eth0"]).0, "10.1.0.7/16");
        assert_eq!(
            among("", &["lo", "ib0"]).0,
            "127.0.0.1/8 ::1/128 192.168.9.7/24"
        );
        assert_eq!(among("", &["docker0"]).0, "");
        assert_eq!(among("", &[]).0, "");
    }

    #[test]
    fn the_setting_that_leaves_nothing_is_named_and_what_exists() {
        let filter = InterfaceFilter::new("ib1", "eth0").unwrap();
        assert!(advertised(&host(), &filter).is_empty());
        assert_eq!(
            nothing_left(&host(), &filter),
            "tcp_include=ib1 tcp_exclude=eth0 leaves no interface that is up; there is lo (127.0.0.1/8, ::1/128), \
             eth0 (10.1.0.7/16, fd00::7/64, fe80::7/64), ib0 (192.168.9.7/24), docker0 (172.17.0.1/16), \
             eth1 (10.2.0.7/16, down)"
        );
        assert_eq!(
            nothing_left(&[], &InterfaceFilter::all()),
            "no interface is up and selected; there is none with an address"
        );
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
            let error = InterfaceFilter::new(bad, "").unwrap_err();
            assert_eq!(error.span.start, start, "{bad}");
            assert!(InterfaceFilter::new("", bad).is_err());
        }
        let filter = InterfaceFilter::new("eth0,10.0.0.0/8", "docker0").unwrap();
        assert_eq!(
            filter.to_string(),
            "tcp_include=eth0,10.0.0.0/8 tcp_exclude=docker0"
        );
        assert_eq!(
            InterfaceFilter::all(),
            InterfaceFilter::new("", "").unwrap()
        );
    }
}
