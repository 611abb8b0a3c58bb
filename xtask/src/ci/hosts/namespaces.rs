//! Network namespaces joined by a bridge, which has a namespace of its own, so that this machine's network
//! stays untouched. A program in a namespace also sees a host name of its own.

use crate::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, id};

/// The hosts. Dropping this value removes them.
pub(super) struct Namespaces {
    /// The prefix of their names.
    prefix: String,
    /// The namespaces that were made.
    made: Vec<String>,
    /// The script that starts a program on a host.
    start: PathBuf,
}

/// Starts `$2 ...` on host `$1`.
const START: &str = r#"#!/bin/sh
exec ip netns exec PREFIX$1 unshare --uts sh -c 'hostname "host$0" && exec "$@"' "$@"
"#;

impl Namespaces {
    /// The common prefix of the hosts' addresses.
    pub(super) const NETWORK: &str = "10.77.0.0/24";

    /// The address of host `number`, which has one digit.
    pub(super) fn address(node: &str) -> String {
        format!("10.77.0.1{node}")
    }

    /// Makes `count` hosts, up to ten, named host0, host1 and so on, with a file in `folder`.
    ///
    /// # Errors
    /// The message of `ip`, when this user may not make namespaces or the system cannot.
    pub(super) fn make(folder: &Path, count: u32) -> Result<Self> {
        let prefix = format!("oxmpi{}-", id());
        fs::create_dir_all(folder)?;
        let start = folder.join("start.sh");
        fs::write(&start, START.replace("PREFIX", &prefix))?;
        let mut hosts = Self {
            prefix,
            made: Vec::new(),
            start,
        };
        let hub = hosts.add("hub")?;
        ip(&format!("-n {hub} link add hub type bridge"))?;
        ip(&format!("-n {hub} link set hub up"))?;
        for number in 0..count {
            let host = hosts.add(&number.to_string())?;
            let link = format!("host{number}");
            ip(&format!(
                "-n {hub} link add {link} type veth peer name eth0 netns {host}"
            ))?;
            ip(&format!("-n {hub} link set {link} master hub up"))?;
            let address = Self::address(&number.to_string());
            ip(&format!("-n {host} addr add {address}/24 dev eth0"))?;
            ip(&format!("-n {host} link set eth0 up"))?;
            ip(&format!("-n {host} link set lo up"))?;
        }
        Ok(hosts)
    }

    /// The names of the hosts' namespaces, in order.
    pub(super) fn names(&self) -> &[String] {
        // The first namespace holds the bridge.
        &self.made[1..]
    }

    /// The number of hosts, and the command that starts a rank on host `{node}`.
    pub(super) fn command(&self) -> String {
        format!(
            "{} sh {} {{node}}",
            self.names().len(),
            self.start.display()
        )
    }

    /// The cheapest command that starts a rank on host `{node}`: it keeps this machine's host name.
    pub(super) fn plain_command(&self) -> String {
        format!("nsenter --net=/run/netns/{}{{node}}", self.prefix)
    }

    /// The number of hosts.
    pub(super) fn count(&self) -> u32 {
        self.names().len() as u32
    }

    /// The command that takes host `{node}` off the network.
    pub(super) fn cut(&self) -> String {
        format!("ip -n {}hub link set host{{node}} down", self.prefix)
    }

    /// Gives each host a bridge with this name and address, as container engines do.
    pub(super) fn add_bridges(&self, name: &str, address: &str) -> Result {
        for host in self.names() {
            ip(&format!("-n {host} link add {name} type bridge"))?;
            ip(&format!("-n {host} addr add {address} dev {name}"))?;
            ip(&format!("-n {host} link set {name} up"))?;
        }
        Ok(())
    }

    /// Removes the bridges of [`Namespaces::add_bridges`].
    pub(super) fn remove_bridges(&self, name: &str) -> Result {
        let mut hosts = self.names().iter();
        hosts.try_for_each(|host| ip(&format!("-n {host} link del {name}")))
    }

    fn add(&mut self, name: &str) -> Result<String> {
        let name = format!("{}{name}", self.prefix);
        ip(&format!("netns add {name}"))?;
        self.made.push(name.clone());
        Ok(name)
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.made {
            if let Err(why) = ip(&format!("netns del {name}")) {
                println!("network namespace {name} could not be removed: {why}");
            }
        }
    }
}

fn ip(arguments: &str) -> Result {
    let output = Command::new("ip").args(arguments.split(' ')).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("ip {arguments}: {}", said.trim()).into())
}
