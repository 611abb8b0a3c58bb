//! The emulated machine of a guest, and QEMU's arguments for it.

use clap::builder::RangedI64ValueParser;

/// The parser of each number of a machine.
fn positive() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

/// Processors, caches and memory of a guest; every part of one kind is alike.
///
/// The processors are emulated, so a guest needs no hardware support and any host can show any machine.
/// They are Intel processors: QEMU's AMD model shows no hyper-threading under emulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub(crate) struct GuestMachine {
    /// Sockets
    #[arg(long, value_name = "N", default_value_t = Self::USUAL.sockets, value_parser = positive())]
    pub(crate) sockets: u32,
    /// Modules in a socket, whose cores share a level 2 cache when there are several (QEMU 10)
    #[arg(long, value_name = "N", default_value_t = Self::USUAL.modules, value_parser = positive())]
    pub(crate) modules: u32,
    /// Cores in a module
    #[arg(long, value_name = "N", default_value_t = Self::USUAL.cores, value_parser = positive())]
    pub(crate) cores: u32,
    /// Hardware threads in a core
    #[arg(long, value_name = "N", default_value_t = Self::USUAL.threads, value_parser = positive())]
    pub(crate) threads: u32,
    /// NUMA nodes, each with the same number of consecutive processors and the same memory
    #[arg(long, value_name = "N", default_value_t = Self::USUAL.nodes, value_parser = positive())]
    pub(crate) nodes: u32,
    /// MiB of the whole machine
    #[arg(long, value_name = "N", default_value_t = Self::USUAL.memory, value_parser = positive())]
    pub(crate) memory: u32,
}

impl GuestMachine {
    /// Two sockets of four cores of two threads, four NUMA nodes, 1 GiB.
    pub(crate) const USUAL: GuestMachine = GuestMachine {
        sockets: 2,
        modules: 1,
        cores: 4,
        threads: 2,
        nodes: 4,
        memory: 1024,
    };

    /// A node for guests that share a host: two processors, 512 MiB.
    pub(crate) const NODE: GuestMachine = GuestMachine {
        sockets: 1,
        modules: 1,
        cores: 2,
        threads: 1,
        nodes: 1,
        memory: 512,
    };

    /// The maximum number of processors of QEMU's machine type.
    const MOST: u32 = 255;

    /// The number of hardware threads, or `None` if there are too many to count.
    fn processors(self) -> Option<u32> {
        [self.modules, self.cores, self.threads]
            .into_iter()
            .try_fold(self.sockets, u32::checked_mul)
    }

    /// QEMU's arguments for this machine.
    ///
    /// # Errors
    /// When a number is 0, there are too many processors, or the NUMA nodes cannot have equal shares.
    pub(super) fn arguments(self) -> Result<Vec<String>, String> {
        let processors = self
            .processors()
            .filter(|count| (1..=GuestMachine::MOST).contains(count))
            .ok_or_else(|| format!("{self:?}: 1 to {} processors", GuestMachine::MOST))?;
        let share = |whole: u32| whole.checked_div(self.nodes).filter(|part| *part > 0);
        let (Some(each), Some(memory)) = (share(processors), share(self.memory)) else {
            return Err(format!(
                "{self:?}: each NUMA node needs a processor and memory"
            ));
        };
        if each * self.nodes != processors || memory * self.nodes != self.memory {
            return Err(format!(
                "{self:?}: processors and memory must be multiples of the NUMA nodes"
            ));
        }

        let GuestMachine {
            sockets,
            modules,
            cores,
            threads,
            ..
        } = self;
        let mut model = "max,vendor=GenuineIntel".to_owned();
        let mut board = "pc,usb=off,vmport=off,hpet=off".to_owned();
        let mut topology = format!("{processors},sockets={sockets}");
        if modules > 1 {
            // cpuid leaf 0x1f shows modules, and only processors of level 0x1a or later have it.
            model += ",level=0x1a";
            board += ",smp-cache.0.cache=l2,smp-cache.0.topology=module";
            topology += &format!(",modules={modules}");
        }
        topology += &format!(",cores={cores},threads={threads}");
        let mut arguments: Vec<String> = ["-cpu", &model, "-machine", &board, "-smp", &topology]
            .map(String::from)
            .into();
        arguments.extend(["-m".to_owned(), self.memory.to_string()]);
        for node in 0..self.nodes {
            let (first, last) = (node * each, (node + 1) * each - 1);
            arguments.extend([
                "-object".to_owned(),
                format!("memory-backend-ram,id=memory{node},size={memory}M"),
                "-numa".to_owned(),
                format!("node,nodeid={node},cpus={first}-{last},memdev=memory{node}"),
            ]);
        }
        Ok(arguments)
    }
}

#[cfg(test)]
mod tests {
    //! Tests of QEMU's arguments, and of machines that cannot be.

    use super::GuestMachine;

    fn line(machine: GuestMachine) -> String {
        machine.arguments().unwrap().join(" ")
    }

    #[test]
    fn the_usual_one_has_sixteen_processors_in_four_nodes() {
        let line = line(GuestMachine::USUAL);
        assert!(line.contains("-smp 16,sockets=2,cores=4,threads=2 -m 1024 "));
        for node in [
            "node,nodeid=0,cpus=0-3,memdev=memory0",
            "node,nodeid=3,cpus=12-15,memdev=memory3",
            "memory-backend-ram,id=memory2,size=256M",
        ] {
            assert!(line.contains(node), "{line}");
        }
        assert!(!line.contains("smp-cache"));
    }

    #[test]
    fn cores_of_a_module_share_a_cache() {
        let line = line(GuestMachine {
            modules: 2,
            cores: 2,
            ..GuestMachine::USUAL
        });
        assert!(line.contains("-smp 16,sockets=2,modules=2,cores=2,threads=2 "));
        assert!(line.contains("smp-cache.0.cache=l2,smp-cache.0.topology=module"));
        assert!(line.contains("level=0x1a"));
    }

    #[test]
    fn a_machine_that_cannot_be_is_refused() {
        let good = GuestMachine::USUAL;
        for (machine, why) in [
            (GuestMachine { cores: 0, ..good }, "1 to 255 processors"),
            (GuestMachine { cores: 64, ..good }, "1 to 255 processors"),
            (
                GuestMachine {
                    sockets: u32::MAX,
                    ..good
                },
                "1 to 255 processors",
            ),
            (GuestMachine { nodes: 0, ..good }, "needs a processor"),
            (GuestMachine { nodes: 17, ..good }, "needs a processor"),
            (GuestMachine { nodes: 3, ..good }, "multiples"),
            (
                GuestMachine {
                    memory: 1023,
                    ..good
                },
                "multiples",
            ),
        ] {
            let refusal = machine.arguments().unwrap_err();
            assert!(refusal.contains(why), "{refusal}");
        }
    }
}
