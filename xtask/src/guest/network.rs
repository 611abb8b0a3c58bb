//! Several guests on networks of their own. Wires are sockets in a folder and this process is the switch,
//! so that nothing of this host's network is touched and any number of such networks can be.

use super::host::Host;
use super::job::Job;
use super::machine::Machine;
use super::run::{Extra, Run};
use crate::{Repo, Result};
use std::net::Shutdown;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::id;
use std::thread;
use std::time::Duration;

/// Networks that all guests are on, each by an adapter of its own: `eth0`, `eth1`.
const NETWORKS: usize = 2;

impl Host {
    /// Boots `count` guests of one kind that are joined by two networks, and runs `job` in each, which
    /// finds its number from 0 on in `node` and `count` in `nodes`. As [`Host::boot`] otherwise.
    ///
    /// # Errors
    /// As [`Host::boot`], for the first guest that it befalls.
    pub(crate) fn boot_joined(
        &self,
        name: &str,
        count: usize,
        machine: Machine,
        job: &Job,
        limit: Duration,
    ) -> Result<Vec<Run>> {
        let wires = Wires::lay(count)?;
        let boot = |node: usize| {
            let extra = Extra {
                variables: format!("node={node} nodes={count}"),
                devices: wires.adapters(node),
            };
            // A shell stays with the thread that made it.
            let repo = Repo::open().map_err(|error| error.to_string())?;
            let name = format!("{name}/node{node}");
            self.boot_with(&repo, &name, machine, job, limit, &extra)
                .map_err(|error| format!("node {node}: {error}"))
        };
        let runs: Vec<_> = thread::scope(|scope| {
            let boot = &boot;
            let guests: Vec<_> = (0..count)
                .map(|node| scope.spawn(move || boot(node)))
                .collect();
            let ended = guests
                .into_iter()
                .map(|guest| guest.join().expect("no panic"));
            ended.collect()
        });
        Ok(runs.into_iter().collect::<std::result::Result<_, _>>()?)
    }
}

/// The wires of all guests, each to the switch of its network, which this process is.
struct Wires {
    folder: PathBuf,
    /// The switches' ends.
    ports: Vec<UnixDatagram>,
}

/// How long a switch waits for a guest that takes no packets, before it loses one.
const PATIENCE: Duration = Duration::from_millis(50);

impl Wires {
    fn lay(count: usize) -> Result<Wires> {
        // The path of a socket has few bytes, which that of the repository may exceed.
        let folder = std::env::temp_dir().join(format!("oxmpi-guests-{}", id()));
        std::fs::create_dir_all(&folder)?;
        let mut wires = Wires {
            folder,
            ports: Vec::new(),
        };
        for network in 0..NETWORKS {
            for node in 0..count {
                let port = UnixDatagram::bind(wires.end("switch", network, node))?;
                wires.ports.push(port.try_clone()?);
                let others = (0..count).filter(|other| *other != node);
                let others = others
                    .map(|other| wires.end("node", network, other))
                    .collect();
                let speaker = UnixDatagram::unbound()?;
                speaker.set_write_timeout(Some(PATIENCE))?;
                thread::spawn(move || pass_on(&port, &speaker, others));
            }
        }
        Ok(wires)
    }

    /// One end of a wire.
    fn end(&self, of: &str, network: usize, node: usize) -> PathBuf {
        self.folder.join(format!("{of}{network}.{node}"))
    }

    /// QEMU's arguments for the adapters of a guest.
    fn adapters(&self, node: usize) -> Vec<String> {
        let adapter = |network: usize| {
            let here = self.end("node", network, node);
            let there = self.end("switch", network, node);
            [
                "-netdev".to_owned(),
                format!(
                    "dgram,id=wire{network},local.type=unix,local.path={},\
                     remote.type=unix,remote.path={}",
                    here.display(),
                    there.display()
                ),
                "-device".to_owned(),
                // Without the program for booting from the network, which would take time.
                format!(
                    "e1000,romfile=,netdev=wire{network},mac=52:54:00:00:{network:02}:{node:02}"
                ),
            ]
        };
        (0..NETWORKS).flat_map(adapter).collect()
    }
}

/// Gives every packet that comes out of `port` to all `others`, until the port is shut.
fn pass_on(port: &UnixDatagram, speaker: &UnixDatagram, others: Vec<PathBuf>) {
    // The longest packet that an adapter makes.
    let mut packet = vec![0; 1 << 17];
    while let Ok(length @ 1..) = port.recv(&mut packet) {
        for other in &others {
            // A guest that is not there yet, or no more, misses it.
            let _ = speaker.send_to(&packet[..length], other);
        }
    }
}

impl Drop for Wires {
    fn drop(&mut self) {
        for port in &self.ports {
            // Its thread ends by that.
            let _ = port.shutdown(Shutdown::Both);
        }
        if let Err(why) = std::fs::remove_dir_all(&self.folder) {
            println!("{} is left: {why}", self.folder.display());
        }
    }
}
