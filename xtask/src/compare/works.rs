//! The benchmarks that can be compared: each word of `--what` with its program, arguments and ranks.

use super::programs::{Implementation, OURS};
use crate::Result;

/// One benchmark program with its arguments, run by every implementation in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Work {
    /// The word of `--what`, and the kernel in the program's output.
    pub(crate) name: &'static str,
    /// The title of the tables.
    pub(crate) title: &'static str,
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
pub(crate) const COLLECTIVES: &str =
    "barrier,bcast,reduce,allreduce,allgather,alltoall,gather,scatter,reduce_scatter_block";

/// The options that select variants of the benchmarks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Message lengths; empty: each benchmark's own.
    pub(crate) sizes: Vec<String>,
    /// The operations of `collectives`, separated by commas.
    pub(crate) operations: String,
    /// Numbers of ranks; empty: all.
    pub(crate) ranks: Vec<usize>,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            sizes: Vec::new(),
            operations: COLLECTIVES.into(),
            ranks: Vec::new(),
        }
    }
}

/// Every word of `--what`.
pub(crate) const NAMES: [&str; 16] = [
    "pingpong",
    "rewritten",
    "cold",
    "posted",
    "sendrecv",
    "exchange",
    "rate",
    "network",
    "stream",
    "crowd",
    "barrier",
    "collectives",
    "memory",
    "threads",
    "init",
    "start",
];

impl Work {
    /// The benchmarks that a word of `--what` names.
    pub(crate) fn named(name: &str, asked: &Asked) -> Result<Vec<Work>> {
        let mut works = Work::all_named(name, asked)?;
        works.retain(|work| asked.ranks.is_empty() || asked.ranks.contains(&work.ranks));
        Ok(works)
    }

    /// As [`Work::named`], for all numbers of ranks.
    fn all_named(name: &str, asked: &Asked) -> Result<Vec<Work>> {
        let work = |name, title, program, arguments: &[&str], ranks| Work {
            name,
            title,
            program,
            arguments: arguments.iter().map(|&word| word.into()).collect(),
            ranks,
            placed: true,
            network: false,
        };
        let sized = |mut work: Work, own: &str| {
            match asked.sizes.is_empty() {
                true => work.arguments.extend(own.split(',').map(String::from)),
                false => work.arguments.extend_from_slice(&asked.sizes),
            }
            work
        };
        let messages = "8,64,1024,8192,65536,1048576,4194304";
        let patterns = ["8", "65536", "1048576"];
        Ok(match name {
            "pingpong" => vec![sized(
                work(
                    "pingpong",
                    "PingPong one way, source untouched",
                    "pingpong",
                    &[],
                    2,
                ),
                messages,
            )],
            "rewritten" => vec![sized(
                work(
                    "rewritten",
                    "PingPong one way, source rewritten before each send",
                    "pingpong",
                    &["rewritten"],
                    2,
                ),
                messages,
            )],
            "cold" => vec![work(
                "cold",
                "PingPong one way, out of cache",
                "pingpong",
                &["cold", "1048576", "4194304"],
                2,
            )],
            "posted" => vec![work(
                "posted",
                "PingPong one way, receives posted before",
                "posted",
                &["8"],
                2,
            )],
            "sendrecv" => vec![work("sendrecv", "Sendrecv", "sendrecv", &patterns, 2)],
            "exchange" => vec![work("exchange", "Exchange", "exchange", &patterns, 2)],
            "rate" => vec![work(
                "rate",
                "One message of a window of 64",
                "rate",
                &["8"],
                2,
            )],
            "network" => {
                let title = "PingPong one way, by TCP over the loopback device";
                let work = work("network", title, "pingpong", &[], 2);
                vec![Work {
                    network: true,
                    ..sized(work, "8,1024,8192,65536,262144,1048576,4194304")
                }]
            }
            "stream" => {
                let title = "One message of a window of 64, by TCP over the loopback device";
                let work = work("stream", title, "rate", &[], 2);
                vec![Work {
                    network: true,
                    ..sized(work, "8,1024,8192,65536,1048576")
                }]
            }
            "crowd" => [4, 8]
                .map(|ranks| {
                    let title = "PingPong one way, the other ranks in a barrier, on 2 processors";
                    work("crowd", title, "crowd", &[], ranks)
                })
                .to_vec(),
            "barrier" => [
                (2, "Barrier"),
                (4, "Barrier, on 2 processors"),
                (8, "Barrier, on 2 processors"),
            ]
            .map(|(ranks, title)| work("barrier", title, "barrier", &[], ranks))
            .to_vec(),
            "collectives" => [
                (2, "Collectives, the slowest rank"),
                (4, "Collectives, the slowest rank, on 2 processors"),
                (8, "Collectives, the slowest rank, on 2 processors"),
            ]
            .map(|(ranks, title)| {
                let operations = [asked.operations.as_str()];
                let work = work("collectives", title, "collectives", &operations, ranks);
                sized(work, "8,1024,65536,1048576")
            })
            .to_vec(),
            "memory" => vec![Work {
                placed: false,
                ..work("memory", "Memory after init", "memory", &[], 8)
            }],
            "threads" => vec![Work {
                placed: false,
                ..work(
                    "threads",
                    "A message of 8 B to oneself, all threads together, each on its own endpoint",
                    "threads",
                    &[],
                    1,
                )
            }],
            "init" => vec![Work {
                placed: false,
                ..work("init", "init + finalize", "init", &[], 2)
            }],
            "start" => vec![Work {
                placed: false,
                ..work("start", "start to end of `true`", "", &[], 2)
            }],
            other => {
                let names = NAMES.join(", ");
                return Err(format!("--what '{other}': there are {names}, and all").into());
            }
        })
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
            "stream" if implementation.bare() => false,
            _ if self.network && !implementation.bare() => !implementation.network.is_empty(),
            OURS_ALONE => implementation.name == OURS,
            "collectives" if implementation.bare() => false,
            "crowd" | "barrier" if self.crowded() => !implementation.bare(),
            "memory" | "init" => !implementation.bare(),
            _ => true,
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
