//! Plans that learn lengths while they run: a gatherv and a scatterv along a chain of the plan is for
//! three ranks, where only rank 0 is given the lengths of the blocks.

use oxmpi_coll::catalog::Call;
use oxmpi_coll::check::{Arrays, Contract, Fault, FaultKind, Lengths, ProofReport, check_plans};
use oxmpi_coll::plan::{Acts, Buf, Part, Plan, PlanInputs};

/// `count` elements from `first` on.
const fn part(buf: Buf, first: u64, count: u64) -> Part {
    Part::new(buf, first, count)
}

/// A gatherv: rank 2 sends to rank 1, which learns the length and forwards both blocks to rank 0.
#[derive(Clone, Copy)]
struct Gather {
    rank: u32,
    own: u64,
    /// The length that rank 1 assumes instead of asking for it.
    assumes: Option<u64>,
}

impl Gather {
    fn length_from_rank_2(&self, inputs: &PlanInputs<'_>) -> Option<u64> {
        self.assumes.or_else(|| inputs.learned.get(3))
    }
}

impl Plan for Gather {
    fn steps(&self) -> u32 {
        [1, 3, 1][self.rank as usize]
    }

    fn scratch(&self, inputs: &PlanInputs<'_>) -> u64 {
        match self.rank {
            1 => self.own + self.length_from_rank_2(inputs).unwrap_or(0),
            _ => 0,
        }
    }

    fn step(&self, i: u32, inputs: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        let own = part(Buf::In, 0, self.own);
        match (self.rank, i) {
            (0, _) => {
                let [first, second, third] = inputs.arrays.recvs else {
                    panic!("the plan is for three ranks")
                };
                acts.recv(1, 0, part(Buf::OutBlock(1), 0, second + third));
                acts.copy(own, part(Buf::OutBlock(0), 0, *first));
            }
            (1, 0) => {
                if self.assumes.is_none() {
                    acts.size(2, 0, 3);
                }
            }
            (1, 1) => {
                let length_from_rank_2 = self.length_from_rank_2(inputs)?;
                acts.recv(2, 0, part(Buf::Scratch, self.own, length_from_rank_2));
                acts.copy(own, part(Buf::Scratch, 0, self.own));
            }
            (1, _) => acts.send(
                0,
                0,
                part(Buf::Scratch, 0, self.own + self.length_from_rank_2(inputs)?),
            ),
            _ => acts.send(1, 0, own),
        }
        Some(i)
    }
}

fn gathered(assumes: Option<u64>) -> Result<ProofReport, Fault> {
    let lengths = [5, 7, 11];
    let calls = [0, 1, 2].map(|rank| Call::gatherv(rank, 3, 0, lengths[rank as usize]));
    let mut arrays = vec![Arrays::default(); 3];
    arrays[0].recvs = Lengths::new(lengths);
    let plans = [0, 1, 2].map(|rank| Gather {
        rank,
        own: lengths[rank as usize],
        assumes,
    });
    check_plans(&plans, &Contract::of(&calls, &arrays))
}

#[test]
fn a_middle_rank_learns_the_length_that_it_forwards() {
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

/// A scatterv: rank 0 sends ranks 1 and 2 their lengths and blocks; rank 1 learns where rank 2's block
/// ends and forwards it.
#[derive(Clone, Copy)]
struct Scatter {
    rank: u32,
    own: u64,
    /// Where in the message rank 1 looks for rank 2's length.
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
                    panic!("the plan is for three ranks")
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
fn a_middle_rank_learns_lengths_from_a_message() {
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
    // Rank 1 takes its own length for rank 2's, or reads bytes that are no length.
    assert_eq!(scattered(0), Err(FaultKind::Length { from: 7, into: 11 }));
    assert_eq!(scattered(16), Err(FaultKind::CountsAsData));
    assert_eq!(scattered(4), Err(FaultKind::CountsAsData));
}
