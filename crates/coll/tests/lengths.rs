//! Plans that learn lengths on their way: a gatherv and a scatterv along a chain of three ranks, of
//! which only the first knows how long the blocks are.

use oxmpi_coll::catalog::Call;
use oxmpi_coll::check::{Arrays, Contract, Fault, FaultKind, Lengths, ProofReport, check_plans};
use oxmpi_coll::plan::{Acts, Buf, Part, Plan, PlanInputs};

/// The elements from `first` on.
const fn part(buf: Buf, first: u64, count: u64) -> Part {
    Part::new(buf, first, count)
}

/// Gathers: rank 2 sends to rank 1, which learns the length and passes both blocks on to rank 0.
#[derive(Clone, Copy)]
struct Gather {
    rank: u32,
    own: u64,
    /// Rank 1 believes that so many bytes come, and does not ask.
    believes: Option<u64>,
}

impl Gather {
    fn coming(&self, inputs: &PlanInputs<'_>) -> Option<u64> {
        self.believes.or_else(|| inputs.learned.get(3))
    }
}

impl Plan for Gather {
    fn steps(&self) -> u32 {
        [1, 3, 1][self.rank as usize]
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        match self.rank {
            1 => self.own + self.coming(inputs).unwrap_or(0),
            _ => 0,
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let own = part(Buf::In, 0, self.own);
        match (self.rank, i) {
            (0, _) => {
                let [first, second, third] = inputs.arrays.recvs else {
                    panic!("three ranks")
                };
                acts.recv(1, 0, part(Buf::OutBlock(1), 0, second + third));
                acts.copy(own, part(Buf::OutBlock(0), 0, *first));
            }
            (1, 0) => {
                if self.believes.is_none() {
                    acts.size(2, 0, 3);
                }
            }
            (1, 1) => {
                let coming = self.coming(inputs)?;
                acts.recv(2, 0, part(Buf::Scratch, self.own, coming));
                acts.copy(own, part(Buf::Scratch, 0, self.own));
            }
            (1, _) => acts.send(0, 0, part(Buf::Scratch, 0, self.own + self.coming(inputs)?)),
            _ => acts.send(1, 0, own),
        }
        Some(i)
    }
}

fn gathered(believes: Option<u64>) -> Result<ProofReport, Fault> {
    let lengths = [5, 7, 11];
    let calls = [0, 1, 2].map(|rank| Call::gatherv(rank, 3, 0, lengths[rank as usize]));
    let mut arrays = vec![Arrays::default(); 3];
    arrays[0].recvs = Lengths::new(lengths);
    let plans = [0, 1, 2].map(|rank| Gather {
        rank,
        own: lengths[rank as usize],
        believes,
    });
    check_plans(&plans, &Contract::of(&calls, &arrays))
}

#[test]
fn a_rank_between_learns_how_much_it_passes_on() {
    let report = gathered(None).expect("the plan is right");
    assert_eq!(
        (
            report.rounds,
            report.messages,
            report.volume,
            report.scratch
        ),
        (2, 2, 18, 18)
    );
    assert_eq!(gathered(Some(11)), Ok(report));
    assert_eq!(
        gathered(Some(10)).map_err(|fault| fault.kind),
        Err(FaultKind::Length { from: 11, into: 10 })
    );
}

/// Scatters: rank 0 sends the counts of ranks 1 and 2 and their blocks; rank 1 learns where rank 2's
/// block ends and passes it on.
#[derive(Clone, Copy)]
struct Scatter {
    rank: u32,
    own: u64,
    /// Where rank 1 finds rank 2's count.
    at: u64,
}

impl Plan for Scatter {
    fn steps(&self) -> u32 {
        [2, 4, 1][self.rank as usize]
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        match (self.rank, inputs.arrays.sends) {
            (0, [_, second, third]) => 16 + second + third,
            (1, _) => inputs.learned.get(1).unwrap_or(0),
            _ => 0,
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let learned = |slot| inputs.learned.get(slot);
        match (self.rank, i) {
            (0, 0) => {
                let [first, second, third] = inputs.arrays.sends else {
                    panic!("three ranks")
                };
                let rest = second + third;
                acts.copy(part(Buf::Counts, 8, 16), part(Buf::Scratch, 0, 16));
                acts.copy(part(Buf::InBlock(1), 0, rest), part(Buf::Scratch, 16, rest));
                acts.copy(part(Buf::InBlock(0), 0, *first), part(Buf::Out, 0, *first));
            }
            (0, _) => acts.send(1, 0, part(Buf::Scratch, 0, self.scratch(inputs))),
            (1, 0) => acts.size(0, 0, 1),
            (1, 1) => acts.recv(0, 0, part(Buf::Scratch, 0, learned(1)?)),
            (1, 2) => acts.learn(part(Buf::Scratch, self.at, 8), 2),
            (1, _) => {
                acts.send(2, 0, part(Buf::Scratch, 16 + self.own, learned(2)?));
                acts.copy(
                    part(Buf::Scratch, 16, self.own),
                    part(Buf::Out, 0, self.own),
                );
            }
            _ => acts.recv(1, 0, part(Buf::Out, 0, self.own)),
        }
        Some(i)
    }
}

fn scattered(at: u64) -> Result<ProofReport, FaultKind> {
    let lengths = [5, 7, 11];
    let calls = [0, 1, 2].map(|rank| Call::scatterv(rank, 3, 0, lengths[rank as usize]));
    let mut arrays = vec![Arrays::default(); 3];
    arrays[0].sends = Lengths::new(lengths);
    let plans = [0, 1, 2].map(|rank| Scatter {
        rank,
        own: lengths[rank as usize],
        at,
    });
    let checked = check_plans(&plans, &Contract::of(&calls, &arrays));
    checked.map_err(|fault| fault.kind)
}

#[test]
fn a_rank_between_learns_from_what_it_received() {
    let report = scattered(8).expect("the plan is right");
    assert_eq!(
        (
            report.rounds,
            report.messages,
            report.volume,
            report.scratch
        ),
        (2, 2, 34, 34)
    );
    // It takes its own count for its child's, and then something that is no number.
    assert_eq!(scattered(0), Err(FaultKind::Length { from: 7, into: 11 }));
    assert_eq!(scattered(16), Err(FaultKind::Numbers));
    assert_eq!(scattered(4), Err(FaultKind::Numbers));
}
