//! Prints the line of `mpirun --report-bindings` for one rank.

use alloc::vec::Vec;
use core::fmt;

use oxmpi_topo::{CpuSet, Machine};

use crate::RankPlace;
use crate::intel::Shape;
use crate::processors::Processors;

/// Shows where a rank is bound, as Open MPI does:
/// `[host:pid] MCW rank 0 bound to socket 0[core 0[hwt 0]]: [B./../..][../../..]`. Sockets and cores are
/// numbered through the machine in its order, hardware threads inside their core; the map has a letter
/// for each hardware thread, `B` for bound, a group for each core, brackets for each socket.
pub struct Report<'a> {
    /// The machine with its sockets and cores.
    pub machine: &'a Machine,
    /// The name of the host.
    pub host: &'a str,
    /// The process number of the rank.
    pub pid: u32,
    /// The rank and its processors.
    pub place: &'a RankPlace,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            machine,
            host,
            pid,
            place,
        } = self;
        let all = machine.online();
        write!(f, "[{host}:{pid}] MCW rank {}", place.rank)?;
        if all.is_subset(&place.cpus) {
            return f.write_str(" is not bound (or bound to all available processors)");
        }
        let processors = Processors::new(machine, all);
        let cores = processors.parts(Shape::Core, false);
        let threads = |core: &CpuSet| -> Vec<bool> {
            let threads = processors.compact.iter().filter(|cpu| core.contains(**cpu));
            threads.map(|cpu| place.cpus.contains(*cpu)).collect()
        };
        let sockets: Vec<Vec<Vec<bool>>> = processors
            .parts(Shape::Socket, false)
            .iter()
            .map(|socket| {
                let cores = cores.iter().filter(|core| core.is_subset(socket));
                cores.map(threads).collect()
            })
            .collect();
        bound_to(f, &sockets)?;
        f.write_str(": ")?;
        sockets.iter().try_for_each(|cores| map(f, cores))
    }
}

/// ` bound to socket 0[core 0[hwt 0-1]], socket 0[core 1[hwt 0]]`
fn bound_to(f: &mut fmt::Formatter<'_>, sockets: &[Vec<Vec<bool>>]) -> fmt::Result {
    f.write_str(" bound to ")?;
    let (mut core, mut comma) = (0, "");
    for (socket, cores) in sockets.iter().enumerate() {
        for threads in cores {
            let bound = (0u32..)
                .zip(threads)
                .filter(|(_, bound)| **bound)
                .map(|(thread, _)| thread);
            if threads.contains(&true) {
                write!(
                    f,
                    "{comma}socket {socket}[core {core}[hwt {}]]",
                    oxmpi_text::NumberList(bound)
                )?;
                comma = ", ";
            }
            core += 1;
        }
    }
    Ok(())
}

/// `[BB/../..]`
fn map(f: &mut fmt::Formatter<'_>, cores: &[Vec<bool>]) -> fmt::Result {
    let mut before = "[";
    for threads in cores {
        f.write_str(before)?;
        threads
            .iter()
            .try_for_each(|&bound| f.write_str(if bound { "B" } else { "." }))?;
        before = "/";
    }
    f.write_str("]")
}
