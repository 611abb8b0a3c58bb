//! The checker on plans written by hand: it names each kind of fault, and accepts right plans with parts
//! of several blocks.

mod scripts;

use oxmpi_coll::catalog::Collective;
use oxmpi_coll::check::FaultKind::{
    self, Bits, Conflict, CountedTwice, Deadlock, EmptyPart, LeftEarly, Length, Misplaced,
    MixedElements, Needs, OutsideBuffer, Peer, Tag, Undefined, WritesInput, Wrong,
};
use oxmpi_coll::check::{Case, Contract, Expected, ProofReport, Ranks, Task, check_plans};
use oxmpi_coll::plan::{Act, Acts, Buf, Part, Plan, PlanInputs, Side, TAGS};
use scripts::{IN, OUT, SCRATCH, Script, all, recv, reduce, script, send};

/// The contract of a call that is no barrier, with an operation that does not commute.
const fn contract(tasks: Vec<Task>, same_bits: bool) -> Contract {
    Contract {
        tasks,
        commutative: false,
        same_bits,
        barrier: false,
        followed: None,
        nodes: None,
    }
}

/// The task of a rank that contributes `count` elements to a reduction over the first `ranks` ranks and gets
/// the result if it `wants` it.
fn summand(count: u64, ranks: u32, wants: bool) -> Task {
    let expected = Expected {
        elements: 0..count,
        source: 0,
        ranks: Ranks::range(0..ranks),
    };
    Task {
        input: count,
        output: count,
        expected: Vec::from_iter(wants.then_some(expected)),
        ..Task::default()
    }
}

/// The contract of a reduction of four elements on two ranks, in rank order; `wanted` says which ranks
/// get the result.
fn reduced(wanted: [bool; 2]) -> Contract {
    let tasks = wanted.map(|wants| summand(4, 2, wants));
    contract(tasks.to_vec(), wanted == [true, true])
}

/// The fault that the checker reports for the steps of ranks 0 and 1 when rank 0 expects the sum.
fn fault(zero: Script, one: Script) -> FaultKind {
    check_plans(&[zero, one], &reduced([true, false]))
        .expect_err("the plan is broken")
        .kind
}

/// Rank 1's script: it sends its input.
fn sender() -> Script {
    script(0, &[&[send(0, IN)]])
}

/// The fault that the checker reports for the steps of rank 0 when rank 1 sends its input.
fn fault_of(scratch: u64, steps: &[&[Act]]) -> FaultKind {
    fault(script(scratch, steps), sender())
}

#[test]
fn the_checker_accepts_a_right_plan() {
    let zero = script(0, &[&[recv(1, OUT)], &[reduce(IN, OUT, Side::Left)]]);
    let expected = ProofReport {
        rounds: 1,
        messages: 1,
        volume: 4,
        scratch: 0,
    };
    let report = check_plans(&[zero, sender()], &reduced([true, false]));
    assert_eq!(report, Ok(expected));
}

#[test]
fn unmatched_messages() {
    let (from, into) = (1, OUT);
    for (act, expected) in [
        (recv(0, OUT), Peer { peer: 0 }),
        (recv(2, OUT), Peer { peer: 2 }),
        (
            Act::Recv {
                from,
                tag: TAGS,
                into,
            },
            Tag { tag: TAGS },
        ),
        (Act::Recv { from, tag: 1, into }, Deadlock { waiting: 2 }),
        (recv(1, all(Buf::Out, 3)), Length { from: 4, into: 3 }),
        (recv(1, all(Buf::Out, 0)), EmptyPart),
        (recv(1, all(Buf::In, 4)), WritesInput { part: IN }),
    ] {
        let found = fault_of(4, &[&[act], &[reduce(IN, OUT, Side::Left)]]);
        assert_eq!(found, expected, "{act:?}");
    }
}

#[test]
fn sends_that_deadlock() {
    let first_sends = |peer| script(0, &[&[send(peer, IN)], &[recv(peer, OUT)]]);
    let found = fault(first_sends(1), first_sends(0));
    assert_eq!(found, Deadlock { waiting: 2 });
}

#[test]
fn accesses_outside_of_buffers_or_to_undefined_elements() {
    let [input, part, scratch] = [Buf::In, Buf::Out, Buf::Scratch].map(|buf| all(buf, 5));
    let below = Part::new(Buf::In, 1, 1).repeated(2, -2);
    let outside = |part| OutsideBuffer { part, len: 4 };
    let (buf, element) = (Buf::Out, 0);
    for (scratch, act, expected) in [
        (0, recv(1, part), Length { from: 4, into: 5 }),
        (0, reduce(input, part, Side::Left), outside(input)),
        (5, reduce(part, scratch, Side::Left), outside(part)),
        (0, send(1, OUT), Undefined { buf, element }),
        (0, send(1, below), outside(below)),
    ] {
        assert_eq!(fault_of(scratch, &[&[act]]), expected, "{act:?}");
    }
}

#[test]
fn conflicting_acts() {
    let one_step = [recv(1, OUT), reduce(IN, OUT, Side::Left)];
    let conflict = |one, act| Conflict {
        other: 0,
        acts: Box::new((one, act)),
    };
    let both = conflict(one_step[0], one_step[1]);
    assert_eq!(fault_of(0, &[&one_step]), both);

    let given = |steps| Script { scratch: 0, steps };
    let hasty = given(vec![(0, vec![one_step[0]]), (0, vec![one_step[1]])]);
    assert_eq!(fault(hasty, sender()), both);

    let onto_itself = Act::Copy {
        from: all(Buf::Out, 2),
        into: Part::new(Buf::Out, 1, 2),
    };
    let found = fault_of(0, &[&[onto_itself]]);
    assert_eq!(found, conflict(onto_itself, onto_itself));

    let too_late = given(vec![(1, vec![one_step[0]])]);
    assert_eq!(fault(too_late, sender()), Needs { needs: 1 });
}

#[test]
fn wrong_results() {
    let comes = [recv(1, OUT)];
    let sum = [reduce(IN, OUT, Side::Left)];
    let wrong = fault_of(0, &[&comes, &[reduce(IN, OUT, Side::Right)]]);
    assert_eq!(
        wrong.to_string(),
        "ends with ranks 1 0 in element 0 of the output, not with ranks 0-1"
    );

    let (low, high) = (Part::new(Buf::In, 0, 2), Part::new(Buf::Out, 2, 2));
    let mixed = [reduce(low, high, Side::Left)];
    let halves = [(0, 2), (2, 0)].map(|(from, into)| Act::Copy {
        from: Part::new(Buf::Scratch, from, 2),
        into: Part::new(Buf::Out, into, 2),
    });
    let in_scratch = [recv(1, SCRATCH)];
    let sum_in_scratch = [reduce(IN, SCRATCH, Side::Left)];
    let missing = Wrong {
        element: 0,
        found: Ranks::one(1),
        expected: Ranks::range(0..2),
    };
    let twice = CountedTwice {
        one: Ranks::one(0),
        other: Ranks::range(0..2),
    };
    let (found, expected) = (2, 0);
    let steps: [(&[&[Act]], FaultKind); 4] = [
        (&[&comes], missing),
        (&[&comes, &sum, &sum], twice),
        (&[&comes, &mixed], MixedElements { one: 0, other: 2 }),
        (
            &[&in_scratch, &sum_in_scratch, &halves],
            Misplaced { found, expected },
        ),
    ];
    for (steps, expected) in steps {
        assert_eq!(fault_of(4, steps), expected, "{steps:?}");
    }
}

/// Three ranks combine the same contributions in the same order but in different groupings: an operation
/// that does not associate exactly gives different bits.
#[test]
fn results_that_differ_in_bits() {
    let gather = [recv_at(1, 0), recv_at(2, 1)];
    let part = |slot| Part::new(Buf::Scratch, slot, 1);
    let (input, output) = (all(Buf::In, 1), all(Buf::Out, 1));
    let give = [send(1, input), send(2, input)];
    let copy = Act::Copy {
        from: input,
        into: output,
    };
    // (0 1) 2 on rank 0.
    let zero = [
        &[gather[0], gather[1], give[0], give[1]][..],
        &[copy],
        &[reduce(part(0), output, Side::Right)],
        &[reduce(part(1), output, Side::Right)],
    ];
    // 0 (1 2) on the others.
    let other = |one, two, tree: [Act; 2]| {
        let acts = [
            recv_at(one, 0),
            recv_at(two, 1),
            send(one, input),
            send(two, input),
        ];
        script(2, &[&acts, &[copy], &[tree[0]], &[tree[1]]])
    };
    let add = |slot, side| reduce(part(slot), output, side);
    let one = other(0, 2, [add(1, Side::Right), add(0, Side::Left)]);
    let two = other(0, 1, [add(1, Side::Left), add(0, Side::Left)]);
    let contract = |same_bits| contract(vec![summand(1, 3, true); 3], same_bits);
    let plans = [script(2, &zero), one, two];
    assert!(check_plans(&plans, &contract(false)).is_ok());
    let fault = check_plans(&plans, &contract(true)).expect_err("the bits differ");
    assert_eq!((fault.rank, fault.kind), (1, Bits { element: 0 }));
}

/// Receives one element into a slot of scratch.
fn recv_at(from: u32, slot: u64) -> Act {
    recv(from, Part::new(Buf::Scratch, slot, 1))
}

#[test]
fn a_barrier_that_a_rank_leaves_early() {
    let contract = Contract {
        commutative: true,
        barrier: true,
        ..contract(vec![Task::default(); 2], false)
    };
    let one_way = [
        script(0, &[&[send(1, Part::EMPTY)]]),
        script(0, &[&[recv(0, Part::EMPTY)]]),
    ];
    let fault =
        check_plans(&one_way, &contract).expect_err("rank 0 leaves before rank 1 has entered");
    let entered = Ranks::one(0);
    assert_eq!((fault.rank, fault.kind), (0, LeftEarly { entered }));
}

/// Rank 1 sends every other element in descending order; rank 0 stores them at their indexes.
#[test]
fn parts_of_several_blocks() {
    let odd = Part::new(Buf::In, 3, 1).repeated(2, -2);
    let places = Part {
        buf: Buf::Out,
        ..odd
    };
    let takes = |into| script(0, &[&[recv(1, into)]]);
    let sender = script(0, &[&[send(0, odd)]]);
    let expected = |element| Expected {
        elements: element..element + 1,
        source: element,
        ranks: Ranks::one(1),
    };
    let mut contract = reduced([false, false]);
    contract.tasks[0].expected = vec![expected(1), expected(3)];
    let report = check_plans(&[takes(places), sender.clone()], &contract);
    assert_eq!(report.map(|report| report.volume), Ok(2));

    let ascending = Part {
        first: 1,
        stride: 2,
        ..places
    };
    let fault = check_plans(&[takes(ascending), sender], &contract).expect_err("the order is lost");
    let (found, expected) = (3, 1);
    assert_eq!(fault.kind, Misplaced { found, expected });
}

/// Each rank gathers both inputs in scratch, its own at element `own`, and reduces them in four local
/// steps. The checker runs such steps once for all ranks that have the same steps and memory.
fn gathers(rank: u32, own: u64, last: Side) -> Script {
    let scratch = |first, count| Part::new(Buf::Scratch, first, count);
    let out = |first| Part::new(Buf::Out, first, 2);
    let peer = 1 - rank;
    script(
        8,
        &[
            &[
                recv(peer, scratch(4 - own, 4)),
                send(peer, IN),
                Act::Copy {
                    from: IN,
                    into: scratch(own, 4),
                },
            ],
            &[Act::Copy {
                from: scratch(0, 2),
                into: out(0),
            }],
            &[Act::Copy {
                from: scratch(2, 2),
                into: out(2),
            }],
            &[reduce(scratch(4, 2), out(0), Side::Right)],
            &[reduce(scratch(6, 2), out(2), last)],
        ],
    )
}

#[test]
fn shared_local_tails_depend_on_the_ranks_memory() {
    let check = |own: [u64; 2], last| {
        let plans = [gathers(0, own[0], Side::Right), gathers(1, own[1], last)];
        check_plans(&plans, &reduced([true, true]))
    };
    assert!(check([0, 4], Side::Right).is_ok());
    for broken in [check([0, 0], Side::Right), check([0, 4], Side::Left)] {
        let fault = broken.expect_err("rank 1 reduces in another order");
        assert!(matches!(fault.kind, Wrong { .. }), "{fault}");
        assert_eq!(fault.rank, 1);
    }
    let both = check([4, 0], Side::Right).expect_err("all ranks do");
    assert_eq!(both.rank, 0);
}

/// A plan of two steps whose first step is empty and, on rank 0, says that the second is empty, too.
#[derive(Clone, Copy, Debug)]
struct Hidden {
    rank: u32,
}

impl Plan for Hidden {
    fn steps(&self) -> u32 {
        2
    }

    fn step(&self, i: u32, _: &PlanInputs<'_>, acts: &mut Acts) -> Option<u32> {
        match (i, self.rank) {
            (0, 0) => acts.skip_to(2),
            (1, rank) if rank > 0 => acts.send(0, 0, Part::EMPTY),
            _ => {}
        }
        Some(i)
    }
}

#[test]
fn a_rank_with_steps_that_rank_0_skips_is_unlike_rank_0() {
    let case = Case::new(Collective::Barrier, 5, 0);
    let checked = case.check_plans_by_symmetry(|rank| Ok(Hidden { rank }));
    assert!(checked.is_none(), "{checked:?}");
}
