//! Boots several guests on networks of their own. The wires are sockets in a folder and this process is the
//! switch, so the host's network stays untouched and any number of such networks can run.

use super::host::Host;
use super::job::Job;
use super::machine::GuestMachine;
use super::run::{Extra, GuestRun};
use crate::{Repo, Result};
use std::net::Shutdown;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::id;
use std::thread;
use std::time::Duration;

/// The networks of a set of guests; each guest has one adapter for each: `eth0`, `eth1`.
const NETWORKS: usize = 2;

impl Host {
    /// Boots `count` equal guests on two common networks and runs `job` in each, with its number from 0 on
    /// in `node` and `count` in `nodes`. Otherwise as [`Host::boot`].
    ///
    /// # Errors
    /// As [`Host::boot`], for the first guest that fails.
    pub(crate) fn boot_joined(
        &self,
        name: &str,
        count: usize,
        machine: GuestMachine,
        job: &Job,
        limit: Duration,
    ) -> Result<Vec<GuestRun>> {
        let wires = Wires::lay(count)?;
        let boot = |node: usize| {
            let extra = Extra {
                variables: format!("node={node} nodes={count}"),
                devices: wires.adapters(node),
            };
            // A shell cannot move to another thread.
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

/// The wires from all guests to the switches.
struct Wires {
    folder: PathBuf,
    /// The switches' ends of the wires.
    ports: Vec<UnixDatagram>,
}

/// How long a switch waits for a guest to take a packet before dropping it.
const PATIENCE: Duration = Duration::from_millis(50);

impl Wires {
    fn lay(count: usize) -> Result<Wires> {
        // A socket's path is limited to 108 bytes, which the repository's path may exceed.
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
                // `romfile=` leaves out the network boot program, which would take time.
                format!(
                    "e1000,romfile=,netdev=wire{network},mac=52:54:00:00:{network:02}:{node:02}"
                ),
            ]
        };
        (0..NETWORKS).flat_map(adapter).collect()
    }
}

/// Copies every packet from `port` to all `others`, until the port is shut down.
fn pass_on(port: &UnixDatagram, speaker: &UnixDatagram, others: Vec<PathBuf>) {
    // The longest packet of an adapter.
    let mut packet = vec![0; 1 << 17];
    while let Ok(length @ 1..) = port.recv(&mut packet) {
        for other in &others {
            // A guest that is not up, or has ended, misses the packet.
            let _ = speaker.send_to(&packet[..length], other);
        }
    }
}

impl Drop for Wires {
    fn drop(&mut self) {
        for port in &self.ports {
            // Ends the switch's thread.
            let _ = port.shutdown(Shutdown::Both);
        }
        if let Err(why) = std::fs::remove_dir_all(&self.folder) {
            println!("{} is left: {why}", self.folder.display());
        }
    }
}
