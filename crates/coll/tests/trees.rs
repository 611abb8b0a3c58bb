//! The checker on gather, scatter, allgather, alltoall, their irregular versions and barriers: every
//! number of ranks to 40 and some larger ones, all roots of few ranks, blocks of one length, of
//! none and of many.

use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters};
use oxmpi_coll::check::{Arrays, Lengths, Report, check};

/// A collective call of all ranks, in short.
#[derive(Clone, Copy, Debug)]
struct Case {
    size: u32,
    root: u32,
    /// Length of a block, or of the longest one.
    count: u64,
    /// What the lengths of blocks that differ are drawn with; none: all have one length.
    seed: Option<u64>,
    in_place: bool,
    parameters: Parameters,
}

impl Case {
    /// The length of a block with this name; one in four is empty, one in eight is the longest.
    fn length(&self, name: u64) -> u64 {
        let Some(seed) = self.seed else {
            return self.count;
        };
        let drawn = (name + 1).wrapping_mul(2 * seed + 0x9e37_79b9_7f4a_7c15);
        match drawn >> 61 {
            0 | 1 => 0,
            2 => self.count,
            _ => (drawn >> 20) % (self.count + 1),
        }
    }

    /// The length of each rank's block.
    fn lengths(&self) -> Lengths {
        Lengths::new((0..self.size).map(|rank| self.length(rank.into())))
    }

    /// The length of what one rank gives to another; in place both ways have the same.
    fn between(&self, from: u32, to: u32) -> u64 {
        let (from, to) = if self.in_place {
            (from.min(to), from.max(to))
        } else {
            (from, to)
        };
        self.length(u64::from(from) << 32 | u64::from(to))
    }

    /// What a rank is given besides its call.
    fn arrays(&self, collective: Collective, rank: u32) -> Arrays {
        let mut arrays = Arrays::default();
        let ranks = 0..self.size;
        match collective {
            Collective::Gatherv if rank == self.root => arrays.recvs = self.lengths(),
            Collective::Scatterv if rank == self.root => arrays.sends = self.lengths(),
            Collective::Allgatherv => arrays.recvs = self.lengths(),
            Collective::Alltoallv => {
                arrays.sends = Lengths::new(ranks.clone().map(|to| self.between(rank, to)));
                arrays.recvs = Lengths::new(ranks.map(|from| self.between(from, rank)));
            }
            _ => {}
        }
        arrays
    }

    fn call(&self, collective: Collective, rank: u32) -> Call {
        let &Case {
            size, root, count, ..
        } = self;
        let own = self.length(rank.into());
        let call = match collective {
            Collective::Barrier => Call::barrier(rank, size),
            Collective::Gather => Call::gather(rank, size, root, count),
            Collective::Gatherv => Call::gatherv(rank, size, root, own),
            Collective::Scatter => Call::scatter(rank, size, root, count),
            Collective::Scatterv => Call::scatterv(rank, size, root, own),
            Collective::Allgather => Call::allgather(rank, size, count),
            Collective::Allgatherv => Call::allgatherv(rank, size, self.lengths().total()),
            Collective::Alltoall => Call::alltoall(rank, size, count),
            Collective::Alltoallv => Call::alltoallv(rank, size),
            other => panic!("{other} is not proved here"),
        };
        call.with_in_place(self.in_place && (!collective.has_root() || rank == root))
    }

    /// Proves the algorithm on the case; `None` where it does not suit.
    fn prove(&self, algorithm: Algorithm) -> Option<Report> {
        let collective = algorithm.collective();
        let ranks = 0..self.size;
        let calls: Vec<_> = ranks
            .clone()
            .map(|rank| self.call(collective, rank))
            .collect();
        let arrays: Vec<_> = ranks.map(|rank| self.arrays(collective, rank)).collect();
        algorithm.suits(&calls[0]).ok()?;
        let report = check(algorithm, &calls, &arrays, &self.parameters);
        Some(report.unwrap_or_else(|fault| panic!("{algorithm}, {self:?}: {fault}")))
    }

    /// The rounds that the algorithm promises.
    fn rounds(&self, algorithm: Algorithm) -> u64 {
        let call = self.call(algorithm.collective(), 0);
        algorithm.rounds(&call, &self.parameters)
    }
}

/// The algorithms of these collectives.
fn algorithms() -> impl Iterator<Item = Algorithm> {
    [
        Collective::Barrier,
        Collective::Gather,
        Collective::Gatherv,
        Collective::Scatter,
        Collective::Scatterv,
        Collective::Allgather,
        Collective::Allgatherv,
        Collective::Alltoall,
        Collective::Alltoallv,
    ]
    .into_iter()
    .flat_map(Collective::algorithms)
}

/// Every number of ranks of interest with the roots that are tried, in place and not.
fn groups(algorithm: Algorithm) -> impl Iterator<Item = Case> {
    let roots = move |size: u32| match algorithm.collective().has_root() {
        true if size <= 12 => (0..size).collect(),
        true => vec![0, size / 2, size - 1],
        false => vec![0],
    };
    let sizes = (1..=40).chain([64, 97]);
    let rooted = sizes.flat_map(move |size| roots(size).into_iter().map(move |root| (size, root)));
    rooted.flat_map(|(size, root)| {
        [false, true].map(|in_place| Case {
            size,
            root,
            count: 0,
            seed: None,
            in_place,
            parameters: Parameters::NONE,
        })
    })
}

#[test]
fn blocks_of_one_length_and_the_rounds_that_are_promised() {
    for algorithm in algorithms() {
        for group in groups(algorithm) {
            let case = Case { count: 3, ..group };
            let Some(report) = case.prove(algorithm) else {
                continue;
            };
            let (rounds, promised) = (u64::from(report.rounds), case.rounds(algorithm));
            // Who asks for blocks, has several at a time or rests need not use all rounds.
            let exact = !matches!(algorithm.name(), "knomial" | "linear" | "pairwise");
            let kept = rounds == promised || !exact && rounds < promised;
            assert!(kept, "{algorithm}, {case:?}: {rounds} rounds");
            // Trees of blocks whose lengths not all ranks know have to say that there are none.
            let none = Case { count: 0, ..group }.prove(algorithm);
            let told = matches!(
                algorithm,
                Algorithm::GathervKnomial | Algorithm::ScattervKnomial
            );
            let is_quiet = none.is_some_and(|report| report.messages == 0);
            assert!(is_quiet || told || algorithm.collective() == Collective::Barrier);
        }
    }
}

#[test]
fn blocks_of_many_lengths_any_radix_window_and_cutoff() {
    let parameters = [(2, 1, 4), (3, 2, 1), (4, 3, 7), (7, 8, 2)];
    for algorithm in algorithms() {
        for group in groups(algorithm) {
            for (at, (radix, window, cutoff)) in (0..).zip(parameters) {
                let parameters = Parameters {
                    radix,
                    window,
                    cutoff,
                    ..Parameters::NONE
                };
                // Each number of ranks with other parameters than the next one.
                if (u64::from(group.size) + u64::from(group.root)) % 4 == at {
                    let seed = Some(u64::from(group.size) << 8 | at);
                    let case = Case {
                        count: 9,
                        seed,
                        parameters,
                        ..group
                    };
                    case.prove(algorithm);
                }
            }
        }
    }
}

#[test]
fn irregular_trees_take_no_more_rounds_and_bytes_than_regular_ones() {
    for size in 1..=64 {
        let rounds = (0..).find(|&k| 1_u32 << k >= size).expect("there is one");
        for root in [0, size / 3, size - 1] {
            let case = Case {
                size,
                root,
                count: 100,
                seed: None,
                in_place: false,
                parameters: Parameters::NONE,
            };
            let report = case.prove(Algorithm::GathervKnomial).expect("it suits");
            assert_eq!(
                (report.rounds, report.messages),
                (rounds, u64::from(size - 1))
            );
            let report = case.prove(Algorithm::ScattervKnomial).expect("it suits");
            assert_eq!(
                (report.rounds, report.messages),
                (rounds, u64::from(size - 1))
            );
            // The root tells the lengths of all blocks but those at the start of a message.
            assert!(report.volume <= u64::from(size - 1) * 108);
            // Long blocks go straight: nobody but the root has to do with those of others.
            let parameters = Parameters {
                cutoff: 99,
                ..Parameters::NONE
            };
            let case = Case { parameters, ..case };
            let report = case.prove(Algorithm::GathervKnomial).expect("it suits");
            assert_eq!(
                (report.volume, report.scratch),
                (if size > 1 { 100 } else { 0 }, 0)
            );
            let report = case.prove(Algorithm::ScattervKnomial).expect("it suits");
            assert!(report.volume <= u64::from(size - 1) * 108);
            assert!(report.scratch <= 16 * u64::from(size));
        }
    }
}
