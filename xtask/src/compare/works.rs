//! The benchmarks that can be compared: each word of `--what` with its program, arguments and ranks.

use super::programs::{Implementation, OURS};
use clap::builder::PossibleValuesParser;
use clap::value_parser;

/// One benchmark program with its arguments, run by every implementation in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Work {
    /// The word of `--what`, and the kernel in the output of a program that has one.
    pub(crate) name: &'static str,
    /// The title of the tables.
    pub(crate) title: String,
    /// The name of `crates/bench/peers/PROGRAM.c` and of its Rust twin; empty: the command is `true`.
    pub(crate) program: &'static str,
    pub(crate) arguments: Vec<String>,
    pub(crate) ranks: usize,
    /// Whether the processors' placement matters.
    pub(crate) placed: bool,
    /// Whether the ranks talk by TCP over the loopback device, as if on two hosts.
    pub(crate) network: bool,
}

/// The benchmark, and its program, that peers do not have.
pub(crate) const OURS_ALONE: &str = "threads";

/// The collectives of the Intel MPI Benchmarks that are compared.
pub(crate) const COLLECTIVES: [&str; 9] = [
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "allgather",
    "alltoall",
    "gather",
    "scatter",
    "reduce_scatter_block",
];

/// The options that select variants of the benchmarks.
#[derive(Debug, clap::Args)]
pub(crate) struct Variants {
    /// Message lengths in bytes of pingpong, rewritten, vector, vectors, network, stream, rma, rma-network and collectives; each has its own by default
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value_parser!(u32).range(..=1 << 30))]
    sizes: Vec<u32>,
    /// The operations of collectives; all by default
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = COLLECTIVES)]
    operations: Vec<String>,
    /// Only these numbers of ranks, where there are several
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value_parser!(u16).range(1..))]
    ranks: Vec<u16>,
}

/// A word of `--what`.
struct Benchmark {
    name: &'static str,
    program: &'static str,
    title: &'static str,
    /// The arguments before the message lengths.
    arguments: &'static [&'static str],
    lengths: &'static [u32],
    /// Whether `--sizes` replaces the lengths.
    sized: bool,
    ranks: &'static [usize],
    placed: bool,
    network: bool,
}

/// A benchmark between two ranks, of messages without lengths.
const fn pair(name: &'static str, program: &'static str, title: &'static str) -> Benchmark {
    Benchmark {
        name,
        program,
        title,
        arguments: &[],
        lengths: &[],
        sized: false,
        ranks: &[2],
        placed: true,
        network: false,
    }
}

impl Benchmark {
    /// With messages of these lengths.
    const fn of(self, lengths: &'static [u32]) -> Self {
        Benchmark { lengths, ..self }
    }

    /// With messages of the lengths of `--sizes`, by default these.
    const fn sized(self, lengths: &'static [u32]) -> Self {
        let sized = true;
        Benchmark {
            lengths,
            sized,
            ..self
        }
    }

    const fn with(self, arguments: &'static [&'static str]) -> Self {
        Benchmark { arguments, ..self }
    }

    const fn on(self, ranks: &'static [usize]) -> Self {
        Benchmark { ranks, ..self }
    }

    const fn anywhere(self) -> Self {
        let placed = false;
        Benchmark { placed, ..self }
    }

    const fn by_tcp(self) -> Self {
        let network = true;
        Benchmark { network, ..self }
    }
}

const MESSAGES: &[u32] = &[8, 64, 1024, 8192, 65536, 1048576, 4194304];
const VECTORS: &[u32] = &[1024, 65536, 1048576, 8388608];
const PATTERNS: &[u32] = &[8, 65536, 1048576];

/// Every word of `--what` but `all`, in the order in which they run.
const BENCHMARKS: [Benchmark; 21] = [
    pair("pingpong", "pingpong", "PingPong one way, source untouched").sized(MESSAGES),
    pair(
        "rewritten",
        "pingpong",
        "PingPong one way, source rewritten before each send",
    )
    .with(&["rewritten"])
    .sized(MESSAGES),
    pair("cold", "pingpong", "PingPong one way, out of cache")
        .with(&["cold"])
        .of(&[1048576, 4194304]),
    pair(
        "posted",
        "posted",
        "PingPong one way, receives posted before",
    )
    .of(&[8]),
    pair(
        "vector",
        "vector",
        "PingPong one way, from a vector of blocks of 8 B",
    )
    .sized(VECTORS),
    pair(
        "vectors",
        "vector",
        "PingPong one way, from and into vectors of blocks of 8 B",
    )
    .with(&["both"])
    .sized(VECTORS),
    pair("sendrecv", "sendrecv", "Sendrecv").of(PATTERNS),
    pair("exchange", "exchange", "Exchange").of(PATTERNS),
    pair("rate", "rate", "One message of a window of 64").of(&[8]),
    pair(
        "network",
        "pingpong",
        "PingPong one way, by TCP over the loopback device",
    )
    .sized(&[8, 1024, 8192, 65536, 262144, 1048576, 4194304])
    .by_tcp(),
    pair(
        "stream",
        "rate",
        "One message of a window of 64, by TCP over the loopback device",
    )
    .sized(&[8, 1024, 8192, 65536, 1048576])
    .by_tcp(),
    pair("rma", "rma", "One-sided communication").sized(&[8, 65536, 1048576, 4194304]),
    pair("rma-crowd", "rma", "One-sided communication of all ranks")
        .of(&[8])
        .on(&[4, 8]),
    pair(
        RMA_BY_TCP,
        "rma",
        "One-sided communication, by TCP over the loopback device",
    )
    .with(&["far"])
    .sized(&[8, 1048576])
    .by_tcp(),
    pair(
        "crowd",
        "crowd",
        "PingPong one way, the other ranks in a barrier",
    )
    .on(&[4, 8]),
    pair("barrier", "barrier", "Barrier").on(&[2, 4, 8]),
    pair(
        ALL_COLLECTIVES,
        "collectives",
        "Collectives, the slowest rank",
    )
    .sized(&[8, 1024, 65536, 1048576])
    .on(&[2, 4, 8]),
    pair("memory", "memory", "Memory after init")
        .on(&[8])
        .anywhere(),
    pair(
        OURS_ALONE,
        "threads",
        "A message of 8 B to oneself, all threads together, each on its own endpoint",
    )
    .on(&[1])
    .anywhere(),
    pair("init", "init", "init + finalize").anywhere(),
    pair("start", "", "start to end of `true`").anywhere(),
];

/// The benchmark by TCP whose program has several kernels.
const RMA_BY_TCP: &str = "rma-network";

/// The benchmark whose first argument names the operations.
const ALL_COLLECTIVES: &str = "collectives";

impl Work {
    /// Reads a word of `--what`.
    pub(crate) fn names() -> PossibleValuesParser {
        let names = BENCHMARKS.iter().map(|benchmark| benchmark.name);
        PossibleValuesParser::new(names.chain(["all"]))
    }

    /// The benchmarks that a word of `--what` names.
    pub(crate) fn named(name: &str, asked: &Variants) -> Vec<Work> {
        let benchmarks = BENCHMARKS
            .iter()
            .filter(|benchmark| name == "all" || name == benchmark.name);
        let works = benchmarks.flat_map(|benchmark| {
            let is_asked = |ranks: &&usize| {
                asked.ranks.is_empty()
                    || asked
                        .ranks
                        .iter()
                        .any(|&asked| usize::from(asked) == **ranks)
            };
            let ranks = benchmark.ranks.iter().filter(is_asked);
            ranks.map(|&ranks| Work::new(benchmark, ranks, asked))
        });
        works.collect()
    }

    fn new(benchmark: &Benchmark, ranks: usize, asked: &Variants) -> Work {
        let mut arguments: Vec<String> = benchmark
            .arguments
            .iter()
            .map(|&word| word.into())
            .collect();
        if benchmark.name == ALL_COLLECTIVES {
            arguments.push(match asked.operations.is_empty() {
                true => COLLECTIVES.join(","),
                false => asked.operations.join(","),
            });
        }
        let asked_lengths = benchmark.sized && !asked.sizes.is_empty();
        let lengths = if asked_lengths {
            &asked.sizes
        } else {
            benchmark.lengths
        };
        arguments.extend(lengths.iter().map(u32::to_string));
        let mut title = benchmark.title.to_owned();
        if benchmark.placed && ranks > 2 {
            title += ", on 2 processors";
        }
        Work {
            name: benchmark.name,
            title,
            program: benchmark.program,
            arguments,
            ranks,
            placed: benchmark.placed,
            network: benchmark.network,
        }
    }

    /// Whether there are more ranks than processors.
    pub(crate) fn crowded(&self) -> bool {
        self.ranks > 2
    }

    /// Whether each rank is bound to a processor of its own.
    pub(crate) fn bound(&self) -> bool {
        self.ranks == 2
    }

    /// Whether an implementation has the benchmark and completes it.
    pub(crate) fn suits(&self, implementation: &Implementation) -> bool {
        match self.name {
            "stream" | RMA_BY_TCP if implementation.bare() => false,
            _ if self.network && !implementation.bare() => !implementation.network.is_empty(),
            OURS_ALONE => implementation.name == OURS,
            ALL_COLLECTIVES | "vector" | "vectors" if implementation.bare() => false,
            "crowd" | "barrier" | "rma-crowd" if self.crowded() => !implementation.bare(),
            "memory" | "init" => !implementation.bare(),
            _ => true,
        }
    }

    /// The kernel in tables and aims of one that the program prints: the programs of benchmarks by TCP are those for shared
    /// memory, so their lines name the same kernels.
    pub(crate) fn kernel(&self, printed: String) -> String {
        match self.name {
            RMA_BY_TCP => format!("network {printed}"),
            name if self.network => name.to_owned(),
            _ => printed,
        }
    }

    /// The program's arguments. The floor is one program, so its first argument names the kernel.
    pub(crate) fn words(&self, implementation: &Implementation) -> Vec<String> {
        if implementation.bare() {
            let lengths = self.lengths().map(|bytes| bytes.to_string());
            std::iter::once(self.name.to_owned())
                .chain(lengths)
                .collect()
        } else {
            self.arguments.clone()
        }
    }

    /// The message lengths among the arguments.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = u64> {
        self.arguments.iter().filter_map(|word| word.parse().ok())
    }
}
