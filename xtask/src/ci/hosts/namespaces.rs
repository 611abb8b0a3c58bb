//! Network namespaces that are joined by a bridge, which is in one of its own: nothing of this machine's
//! network is touched. What runs in one has a host's name of its own, too.

use crate::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, id};

/// Hosts; they go when this is dropped.
pub(super) struct Namespaces {
    /// What their names begin with.
    prefix: String,
    /// The names that were made.
    made: Vec<String>,
    /// The command that starts a program on a host.
    start: PathBuf,
}

/// Starts `$2 ...` on host `$1`.
const START: &str = r#"#!/bin/sh
exec ip netns exec PREFIX$1 unshare --uts sh -c 'hostname "host$0" && exec "$@"' "$@"
"#;

impl Namespaces {
    /// What all their addresses are in.
    pub(super) const NETWORK: &str = "10.77.0.0/24";

    /// The address of a host by its number, which has one digit.
    pub(super) fn address(node: &str) -> String {
        format!("10.77.0.1{node}")
    }

    /// Makes `count` hosts, up to ten: the first is called host0, and so on. Takes `folder` for a file.
    ///
    /// # Errors
    /// What `ip` says, when this user may not, or the system cannot.
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

    /// The names of their namespaces, in order.
    pub(super) fn names(&self) -> &[String] {
        // The first is that of the bridge.
        &self.made[1..]
    }

    /// Their number, and the command that starts a rank on host `{node}`.
    pub(super) fn command(&self) -> String {
        format!(
            "{} sh {} {{node}}",
            self.names().len(),
            self.start.display()
        )
    }

    /// The same with as little beside it as can be: the hosts' names are this machine's.
    pub(super) fn plain_command(&self) -> String {
        format!("nsenter --net=/run/netns/{}{{node}}", self.prefix)
    }

    /// How many hosts there are.
    pub(super) fn count(&self) -> u32 {
        self.names().len() as u32
    }

    /// The command that takes host `{node}` off the network.
    pub(super) fn cut(&self) -> String {
        format!("ip -n {}hub link set host{{node}} down", self.prefix)
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
                println!("network namespace {name} is left: {why}");
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
