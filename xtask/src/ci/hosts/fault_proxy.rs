//! Proxies between hosts, one on each host: every connection that begins there passes its proxy, unseen by
//! both ends.

use super::namespaces::Namespaces;
use crate::{Repo, Result};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The port on which the proxies listen.
const PORT: u16 = 7;
/// The group by which the packet filter recognises the proxies' own connections.
const GROUP: u32 = 65_533;

/// The running proxies. Dropping this value ends them.
pub(super) struct FaultProxy<'h> {
    hosts: &'h Namespaces,
    proxies: Vec<Child>,
    /// A file in this folder, named by an address, stalls all traffic to that address.
    folder: PathBuf,
}

impl<'h> FaultProxy<'h> {
    /// Starts the proxies.
    ///
    /// # Errors
    /// When a proxy or its redirection rules cannot be set up.
    pub(super) fn build(repo: &Repo, hosts: &'h Namespaces) -> Result<Self> {
        let built = repo.for_tests(&["--example", "fault_proxy"])?;
        let program = built.join("examples/fault_proxy");
        let mut fault_proxy = Self {
            hosts,
            proxies: Vec::new(),
            folder: repo.scratch("fault_proxy")?,
        };
        for (seed, host) in (1..).zip(hosts.names()) {
            redirect(host)?;
            let mut proxy = Command::new("ip")
                .args(["netns", "exec", host, "setpriv", "--clear-groups"])
                .arg(format!("--regid={GROUP}"))
                .arg(&program)
                .args([PORT.to_string(), u32::to_string(&seed)])
                .arg(&fault_proxy.folder)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .spawn()?;
            let said = proxy.stdout.take().expect("it is piped");
            fault_proxy.proxies.push(proxy);
            let mut line = String::new();
            BufReader::new(said).read_line(&mut line)?;
            if line != "listening\n" {
                return Err(format!("the proxy on {host} does not listen").into());
            }
        }
        Ok(fault_proxy)
    }

    /// The command that stalls all traffic to and from host `{node}`.
    pub(super) fn stall(&self) -> String {
        let file = self.folder.join(Namespaces::address("{node}"));
        format!("touch {}", file.display())
    }
}

impl Drop for FaultProxy<'_> {
    fn drop(&mut self) {
        for proxy in &mut self.proxies {
            // Fails only when the proxy has ended already.
            let _ = proxy.kill();
            let _ = proxy.wait();
        }
        for host in self.hosts.names() {
            if let Err(why) = filter(host, "delete table ip fault_proxy") {
                println!("a redirection on {host} could not be removed: {why}");
            }
        }
    }
}

/// Redirects connections that begin on `host` to its proxy, except the proxy's own.
fn redirect(host: &str) -> Result {
    let network = Namespaces::NETWORK;
    filter(
        host,
        &format!(
            "table ip fault_proxy {{
                chain out {{
                    type nat hook output priority -100
                    ip daddr {network} meta l4proto tcp meta skgid != {GROUP} redirect to :{PORT}
                }}
            }}"
        ),
    )
}

/// Loads rules into the packet filter of `host`.
fn filter(host: &str, rules: &str) -> Result {
    let mut nft = Command::new("ip")
        .args(["netns", "exec", host, "nft", "--file", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut rules_of = nft.stdin.take().expect("it is piped");
    rules_of.write_all(rules.as_bytes())?;
    drop(rules_of);
    let output = nft.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("nft: {}", said.trim()).into())
}
