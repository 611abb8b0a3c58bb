//! What a machine costs: the constants of every simulation and of the choice of algorithms, in one place.
//!
//! The three networks are published measurements, rounded; the single node is estimated. A fit of
//! the machine at hand is made where it can be measured: by `oxmpi settings --tune`. Times are in
//! picoseconds, so that sums are exact and a run gives the same numbers on every machine.

/// One way between two ranks, as the parameters of LogGP (Alexandrov, Ionescu, Schauser and Scheiman, "LogGP: incorporating
/// long messages into the LogP model", 1995). Picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathCosts {
    /// From the end of sending until the first byte is there.
    pub latency: u64,
    /// The sender's processor for one message.
    pub send: u64,
    /// The receiver's processor for one message.
    pub recv: u64,
    /// The least time from one message to the next at one end of a node's adapter; unused inside a node.
    pub gap: u64,
    /// For each byte: of the adapter between nodes, of the receiver's processor inside a node.
    pub byte: u64,
}

/// A machine of equal nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// Between two nodes.
    pub network: PathCosts,
    /// Between two ranks of a node.
    pub node: PathCosts,
    /// Ranks of a node, unless a placement says otherwise.
    pub per_node: u32,
    /// The longest message, in bytes, that is sent before its receive is known.
    pub eager: u64,
}

impl Machine {
    /// The parameters of the Cray XE6's network: 1 us, 6 GB/s, 8 M messages a second at each of the adapter's ends.
    ///
    /// EuroBen's report on the XE6; Vishnu and others, "Evaluating the potential of Cray Gemini interconnect for PGAS
    /// communication runtime systems", 2011; Gerstenberger, Besta and Hoefler, "Enabling highly-scalable remote memory access
    /// programming with MPI-3 one sided", 2013.
    pub const GEMINI: Machine = Machine {
        network: path(1_100_000, 350_000, 350_000, 120_000, 160),
        node: path(250_000, 120_000, 120_000, 0, 250),
        per_node: 16,
        eager: EAGER,
    };

    /// The parameters of an HPE Slingshot network of 200 Gb/s.
    ///
    /// De Sensi and others, "An in-depth analysis of the Slingshot interconnect", 2020.
    pub const SLINGSHOT: Machine = Machine {
        network: path(1_500_000, 200_000, 200_000, 10_000, 40),
        node: path(150_000, 60_000, 60_000, 0, 80),
        per_node: 64,
        eager: EAGER,
    };

    /// The parameters of an InfiniBand NDR network of 400 Gb/s.
    pub const NDR: Machine = Machine {
        network: path(650_000, 80_000, 120_000, 5_000, 20),
        node: path(120_000, 50_000, 50_000, 0, 60),
        per_node: 64,
        eager: EAGER,
    };

    /// Nodes that sockets of the kernel join: shared memory between ranks that have a processor each, and TCP
    /// between the nodes.
    ///
    /// Estimated, not a fit: from latencies seen between two processors of an AMD Zen 4 that share a cache, and
    /// from what messages took between two network namespaces, where the kernel's part in sending and receiving
    /// is most of it. That part is taken as one after another on a node, whichever ranks send: two messages of
    /// half a length are dearer than one.
    pub const ZEN4: Machine = Machine {
        network: path(8_000_000, 4_000_000, 4_000_000, 4_000_000, 250),
        node: path(40_000, 15_000, 15_000, 0, 60),
        per_node: 128,
        eager: EAGER,
    };

    /// The machines that have names, and what each is.
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

    /// The longest message, in bytes, that can be a flag: one word, which is stored whole.
    pub const FLAG: u64 = 8;

    /// What a byte costs that a rank copies within its own memory: a quarter of one that comes from
    /// another rank of the node, which is written, moved from cache to cache and read.
    pub const fn copy(&self) -> u64 {
        self.node.byte / 4
    }

    /// The machine of that name.
    pub fn named(name: &str) -> Option<Machine> {
        let row = Machine::NAMED.iter().find(|row| row.0 == name);
        row.map(|row| row.2)
    }
}

/// What Cray's library sends eagerly; the other two are given the same.
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

    /// FNV-1a over the constants of the published machines, in the order of their declaration.
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
    fn the_constants_are_those_that_the_claims_were_made_with() {
        assert_eq!(
            fingerprint(),
            18_021_620_786_339_923_151,
            "a claim stands on these numbers: see docs/simulations"
        );
    }

    #[test]
    fn machines_have_names() {
        assert_eq!(Machine::named("ndr"), Some(Machine::NDR));
        assert_eq!(Machine::named("aries"), None);
    }
}
