//! The machines of simulations and of the choice of algorithms: the costs of messages and bytes, in
//! picoseconds.
//!
//! The three networks are published measurements, rounded; the single node is estimated. `oxmpi settings
//! --tune` fits the costs to the machine at hand. Whole picoseconds make sums exact, so a simulation
//! gives the same numbers on every machine.

/// The costs of a message between two ranks, in picoseconds: the parameters of LogGP (Alexandrov,
/// Ionescu, Schauser and Scheiman, "LogGP: incorporating long messages into the LogP model", 1995).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathCosts {
    /// The time from the end of sending to the arrival of the first byte.
    pub latency: u64,
    /// The sender's processor time for one message.
    pub send: u64,
    /// The receiver's processor time for one message.
    pub recv: u64,
    /// The least time between two messages at one end of a node's adapter; unused inside a node.
    pub gap: u64,
    /// The time per byte: of the adapter between nodes, of the receiver's processor inside a node.
    pub byte: u64,
}

/// A machine of equal nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// The costs of a message between two nodes.
    pub network: PathCosts,
    /// The costs of a message between two ranks of a node.
    pub node: PathCosts,
    /// Ranks per node, unless a placement says otherwise.
    pub per_node: u32,
    /// The longest message, in bytes, that is sent eagerly.
    pub eager: u64,
}

impl Machine {
    /// A Cray XE6 with its Gemini network: 1 us, 6 GB/s, 8 million messages per second at each end of an
    /// adapter.
    ///
    /// EuroBen's report on the XE6; Vishnu and others, "Evaluating the potential of Cray Gemini
    /// interconnect for PGAS communication runtime systems", 2011; Gerstenberger, Besta and Hoefler,
    /// "Enabling highly-scalable remote memory access programming with MPI-3 one sided", 2013.
    pub const GEMINI: Machine = Machine {
        network: path(1_100_000, 350_000, 350_000, 120_000, 160),
        node: path(250_000, 120_000, 120_000, 0, 250),
        per_node: 16,
        eager: EAGER,
    };

    /// An HPE Slingshot network of 200 Gb/s.
    ///
    /// De Sensi and others, "An in-depth analysis of the Slingshot interconnect", 2020.
    pub const SLINGSHOT: Machine = Machine {
        network: path(1_500_000, 200_000, 200_000, 10_000, 40),
        node: path(150_000, 60_000, 60_000, 0, 80),
        per_node: 64,
        eager: EAGER,
    };

    /// An InfiniBand NDR network of 400 Gb/s.
    pub const NDR: Machine = Machine {
        network: path(650_000, 80_000, 120_000, 5_000, 20),
        node: path(120_000, 50_000, 50_000, 0, 60),
        per_node: 64,
        eager: EAGER,
    };

    /// AMD Zen 4 nodes connected by TCP, with one processor per rank and shared memory inside a node.
    ///
    /// Estimated from latencies between two processors that share a cache, and from message times between
    /// two network namespaces, most of which are the kernel's sending and receiving. That part is serial
    /// per node, so two messages of half the length cost more than one.
    pub const ZEN4: Machine = Machine {
        network: path(8_000_000, 4_000_000, 4_000_000, 4_000_000, 250),
        node: path(40_000, 15_000, 15_000, 0, 60),
        per_node: 128,
        eager: EAGER,
    };

    /// The machines with names: name, description, costs.
    pub const NAMED: [(&'static str, &'static str, Machine); 4] = [
        (
            "gemini",
            "Cray XE6 of 2010, 16 ranks a node",
            Machine::GEMINI,
        ),
        (
            "slingshot",
            "HPE Slingshot, 200 Gb/s, 64 ranks a node",
            Machine::SLINGSHOT,
        ),
        (
            "ndr",
            "InfiniBand NDR, 400 Gb/s, 64 ranks a node",
            Machine::NDR,
        ),
        (
            "zen4",
            "AMD Zen 4, 128 ranks a node, TCP between nodes",
            Machine::ZEN4,
        ),
    ];

    /// The longest message, in bytes, that can be a flag: one word, which is stored atomically.
    pub const FLAG: u64 = 8;

    /// The time per byte of a copy within a rank's own memory: a quarter of the time per byte between two
    /// ranks of a node, where data are written, moved between caches and read.
    pub const fn copy(&self) -> u64 {
        self.node.byte / 4
    }

    /// The machine with this name.
    pub fn named(name: &str) -> Option<Machine> {
        let row = Machine::NAMED.iter().find(|row| row.0 == name);
        row.map(|row| row.2)
    }
}

/// The eager limit of Cray MPICH, assumed for all machines.
const EAGER: u64 = 8 << 10;

const fn path(latency: u64, send: u64, recv: u64, gap: u64, byte: u64) -> PathCosts {
    PathCosts {
        latency,
        send,
        recv,
        gap,
        byte,
    }
}

#[cfg(test)]
mod tests {
    use super::{Machine, PathCosts};

    /// FNV-1a over the constants of the published machines, in the order of declaration.
    fn fingerprint() -> u64 {
        let path = |p: PathCosts| [p.latency, p.send, p.recv, p.gap, p.byte];
        [Machine::GEMINI, Machine::SLINGSHOT, Machine::NDR]
            .iter()
            .flat_map(|m| {
                let mut all = path(m.network).to_vec();
                all.extend(path(m.node));
                all.extend([u64::from(m.per_node), m.eager, m.copy(), Machine::FLAG]);
                all
            })
            .flat_map(u64::to_le_bytes)
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
    }

    #[test]
    fn the_constants_are_those_of_the_claims() {
        assert_eq!(
            fingerprint(),
            18_021_620_786_339_923_151,
            "the claims in docs/simulations depend on these numbers"
        );
    }

    #[test]
    fn machines_have_names() {
        assert_eq!(Machine::named("ndr"), Some(Machine::NDR));
        assert_eq!(Machine::named("aries"), None);
    }
}
