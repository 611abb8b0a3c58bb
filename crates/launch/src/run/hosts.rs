//! Hosts on the command line: ranks start on this machine only; other hosts need a process manager.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::net::IpAddr;
use std::path::Path;

use oxmpi_text::whole;

use oxmpi_os::file::{HANDWRITTEN_MAX, read_text};

/// The largest number of ranks, and so of slots.
pub(super) const RANKS_MAX: u64 = 1 << 20;

/// A host, and how many ranks are meant to run there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// Its name or address.
    pub(crate) name: String,
    /// `None` if nothing is stated.
    pub(crate) slots: Option<u32>,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, slots } = self;
        match slots {
            None => f.write_str(name),
            Some(slots) if name.contains(':') => write!(f, "[{name}]:{slots}"),
            Some(slots) => write!(f, "{name}:{slots}"),
        }
    }
}

/// The slots of all hosts; `None` without hosts, or if one of them states none. A name that is repeated has a slot each
/// time.
pub(super) fn slots(hosts: &[Host]) -> Option<u64> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for host in hosts {
        *times.entry(&host.name).or_default() += 1;
    }
    let implied = |host: &Host| (times[&*host.name] > 1).then_some(1);
    let slots = hosts
        .iter()
        .map(|host| host.slots.or_else(|| implied(host)).map(u64::from));
    let sum = slots.sum::<Option<u64>>();
    sum.filter(|_| !hosts.is_empty())
}

/// The hosts of a comma-separated list.
///
/// # Errors
/// Slots that are not a number.
pub(super) fn in_list(list: &str) -> Result<Vec<Host>, String> {
    let entries = list.split(',').map(str::trim);
    let entries = entries.filter(|entry| !entry.is_empty());
    entries.map(host).collect()
}

/// The hosts of a file: the first word of each line, with the `slots=N` behind it; `#` begins a comment.
///
/// # Errors
/// If the file cannot be read, or slots are not a number, with the file and the line.
pub(super) fn in_file(path: &OsStr) -> Result<Vec<Host>, String> {
    let path = Path::new(path);
    let text = read_text(path, HANDWRITTEN_MAX)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let mut hosts = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let found = in_line(line).map_err(|why| format!("{}:{number}: {why}", path.display()))?;
        hosts.extend(found);
    }
    Ok(hosts)
}

fn in_line(line: &str) -> Result<Option<Host>, String> {
    let line = line.split('#').next().unwrap_or_default();
    let spaced = line.replace('=', " = ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let [name, settings @ ..] = &words[..] else {
        return Ok(None);
    };
    let mut host = host(name)?;
    let mut assigned = settings.windows(3);
    if let Some(slots) = assigned.find(|words| words[..2] == ["slots", "="]) {
        host.slots = Some(number(slots[2])?);
    }
    Ok(Some(host))
}

/// A name or an address, with `:N` behind it for its slots. An IPv6 address has them behind brackets: `[::1]:4`.
fn host(entry: &str) -> Result<Host, String> {
    let bracketed = entry
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    let (name, slots) = match bracketed {
        Some((name, "")) => (name, None),
        Some((name, rest)) => (name, Some(rest.strip_prefix(':').unwrap_or(rest))),
        None if matches!(address(entry), Some(IpAddr::V6(_))) => (entry, None),
        None => match entry.split_once(':') {
            Some((name, slots)) => (name, Some(slots)),
            None => (entry, None),
        },
    };
    let slots = slots.map(number).transpose();
    Ok(Host {
        name: name.into(),
        slots: slots.map_err(|why| format!("host `{entry}`: {why}"))?,
    })
}

/// The address in a name such as `fe80::1%eth0`, without its zone.
fn address(name: &str) -> Option<IpAddr> {
    let without_zone = name.split('%').next().unwrap_or(name);
    without_zone.parse().ok()
}

fn number(text: &str) -> Result<u32, String> {
    let expected = "a number of slots from 1 to 1048576";
    let slots = whole(text, 1..=RANKS_MAX, expected);
    slots
        .map(|slots| u32::try_from(slots).unwrap_or(u32::MAX))
        .map_err(|_| format!("expected {expected}, found `{text}`"))
}

/// Checks that all hosts are this machine, whose name is `here` and whose interfaces have the `addresses`.
///
/// # Errors
/// A sentence with the first other host, and a command for each process manager that reaches it.
pub(super) fn require_local(
    hosts: &[Host],
    here: &str,
    addresses: &[IpAddr],
    command: &str,
) -> Result<(), String> {
    let short = |host: &str| host.split('.').next().unwrap_or(host).to_owned();
    let is_here = |host: &&Host| match address(&host.name) {
        Some(address) => address.is_loopback() || addresses.contains(&address),
        None => {
            let name = &host.name;
            name == "localhost" || name.starts_with("127.") || short(name) == short(here)
        }
    };
    let Some(other) = hosts.iter().find(|host| !is_here(host)) else {
        return Ok(());
    };
    let names: Vec<&str> = hosts.iter().map(|host| &*host.name).collect();
    let list = names.join(",");
    Err(format!(
        "host `{}` is another machine than this one ({here}); `oxmpi run` starts ranks on this machine \
         only.\nOn other machines the process manager of the site starts oxmpi programs:\n\
         \x20 Slurm:    srun --mpi=pmi2 -w {list} {command}\n\
         \x20 Hydra:    mpiexec.hydra -hosts {list} {command}",
        other.name
    ))
}

#[cfg(test)]
mod tests {
    use oxmpi_testkit::folder::Folder;

    use super::*;

    /// Hosts as `NAME/SLOTS`, with `-` for slots that are not stated.
    fn shown(hosts: Result<Vec<Host>, String>) -> String {
        let hosts = hosts.expect("a list").into_iter();
        let shown = hosts.map(|Host { name, slots }| match slots {
            Some(slots) => format!("{name}/{slots}"),
            None => format!("{name}/-"),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn names_addresses_and_slots_are_read() {
        for (list, expected) in [
            ("node1", "node1/-"),
            ("node1:4, node2", "node1/4 node2/-"),
            ("127.0.0.1:2", "127.0.0.1/2"),
            ("::1", "::1/-"),
            ("[::1]", "::1/-"),
            ("[::1]:4", "::1/4"),
            ("fe80::1%eth0,2001:db8::7", "fe80::1%eth0/- 2001:db8::7/-"),
            ("[fe80::1%eth0]:3", "fe80::1%eth0/3"),
        ] {
            assert_eq!(shown(in_list(list)), expected, "{list}");
        }
        for wrong in [
            "node1:",
            "node1:x",
            "node1:0",
            "node1:2:3",
            "[::1]4:",
            "[::1]:-1",
        ] {
            let why = in_list(wrong).expect_err(wrong);
            let says = format!("host `{wrong}`: expected a number of slots from 1 to 1048576");
            assert!(why.starts_with(&says), "{why}");
        }
        let both = in_list("a:1,[::1]:2").expect("a list");
        assert_eq!(format!("{},{}", both[0], both[1]), "a:1,[::1]:2");
    }

    #[test]
    fn slots_count_only_if_every_host_states_them() {
        for (list, expected) in [
            ("", None),
            ("a", None),
            ("a:2,b", None),
            ("a:2,b:3,a:1", Some(6)),
            ("a,a", Some(2)),
            ("a:2,a", Some(3)),
            ("a,b,a", None),
            ("a,b:4,a", Some(6)),
        ] {
            assert_eq!(slots(&in_list(list).expect(list)), expected, "{list}");
        }
    }

    #[test]
    fn this_machine_has_several_names() {
        let hosts = in_list("localhost, node1:4,127.0.0.1,127.3.2.1,::1,[::1]:2,node1.cluster");
        let hosts = hosts.expect("a list");
        assert_eq!(require_local(&hosts, "node1", &[], ""), Ok(()));
        assert_eq!(require_local(&[], "node1", &[], ""), Ok(()));
    }

    #[test]
    fn the_addresses_of_this_machine_are_this_machine() {
        let own = ["192.0.2.7", "fe80::1"].map(|text| text.parse().expect("an address"));
        for (host, is_here) in [
            ("192.0.2.7", true),
            ("192.0.2.7:4", true),
            ("fe80::1%eth0", true),
            ("[fe80::1%eth0]:2", true),
            ("192.0.2.8", false),
            ("fe80::2%eth0", false),
        ] {
            let hosts = in_list(host).expect(host);
            let answer = require_local(&hosts, "node1", &own, "");
            assert_eq!(answer.is_ok(), is_here, "{host}");
        }
    }

    #[test]
    fn other_machines_are_answered_by_the_process_managers() {
        let hosts = in_list("node1,node2:3").expect("a list");
        let answer =
            require_local(&hosts, "node1", &[], "-n 2 ./a.out").expect_err("node2 is elsewhere");
        assert!(
            answer.starts_with("host `node2` is another machine"),
            "{answer}"
        );
        for line in [
            "srun --mpi=pmi2 -w node1,node2 -n 2 ./a.out",
            "mpiexec.hydra -hosts node1,node2 -n 2 ./a.out",
        ] {
            assert!(answer.contains(line), "{answer}");
        }
    }

    #[test]
    fn a_host_file_names_one_host_a_line() {
        let folder = Folder::fresh();
        let text = "# some\nnode1 slots=4\n\n  node2:8 # the other\nnode3 slots = 2 max_slots=9\n::1\nnode4 max_slots=3 slots=1\n";
        let hosts = in_file(OsStr::new(&folder.write("hosts", text)));
        assert_eq!(shown(hosts), "node1/4 node2/8 node3/2 ::1/- node4/1");
        let file = folder.write("hosts", "node1\nnode2 slots=some\n");
        let why = in_file(OsStr::new(&file)).expect_err("no number");
        let expected = "expected a number of slots from 1 to 1048576, found `some`";
        assert_eq!(why, format!("{file}:2: {expected}"));
    }

    #[test]
    fn a_missing_host_file_is_named() {
        let error = in_file(OsStr::new("no-such-file")).expect_err("it does not exist");
        assert!(error.starts_with("cannot read no-such-file:"), "{error}");
    }
}
