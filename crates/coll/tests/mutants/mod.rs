//! Mutation tests of the checker: 20 random mutants of each algorithm, and 20 more of each that sends
//! long blocks straight, are reported as faults or are equivalent to the plan. So are they with
//! equivalent ranks represented by a few, and with only some blocks followed.
//!
//! A slow search that shares no code with the checker decides whether a mutant is equivalent; the two
//! must agree. `equivalent.md` lists the equivalent ones with the reason. `OXMPI_BLESS=1 cargo test -p
//! oxmpi-coll --test integration mutants::` writes it when it differs: look at it before it is committed.

mod drawn;
mod mutation;
mod reason;
mod waits;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::{env, fs};

use drawn::{MUTANTS, RandomMutant, is_straight, small, straight};
use mutation::Mutant;
use oxmpi_coll::catalog::{Algorithm, Collective};
use oxmpi_coll::check::{Case, Contract, Ranks, check_plans};
use oxmpi_coll::plan::Acts;
use reason::reason;

/// The text of `equivalent.md`, and the counts that it states.
#[derive(Default)]
struct Page {
    lines: String,
    mutants: usize,
    equivalent: usize,
}

impl Page {
    /// Asserts that the checker reports exactly those mutants of the algorithm that are not equivalent,
    /// and adds a line for each kind of mutation and reason.
    fn add(&mut self, name: &str, algorithm: Algorithm, all: &[Case], wanted: fn(&Acts) -> bool) {
        let mut counts = BTreeMap::new();
        let mut drawn = 0;
        for mutant in RandomMutant::some(algorithm, all, wanted) {
            drawn += 1;
            let why = match (reason(&mutant), mutant.is_detected()) {
                (None, true) => continue,
                (Some(why), false) => why,
                (why, noticed) => panic!("{name}, noticed: {noticed}, as right: {why:?}: {mutant}"),
            };
            let mutation = format!("{:?}", mutant.at.0);
            *counts.entry((mutation, why)).or_default() += 1;
        }
        assert_eq!(drawn, MUTANTS, "{name}");
        self.mutants += drawn;
        self.equivalent += counts.values().sum::<usize>();
        for ((mutation, why), count) in counts {
            writeln!(self.lines, "| {name} | {mutation} | {count} | {why} |").expect("a string");
        }
    }

    fn text(&self) -> String {
        let (mutants, equivalent) = (self.mutants, self.equivalent);
        let noticed = mutants - equivalent;
        format!(
            "# Equivalent mutants\n\n\
             Made by `crates/coll/tests/mutants`. There are {mutants} mutants: {MUTANTS} of each algorithm, and {MUTANTS} more \
             of each that sends long blocks\nstraight. The checker reports {noticed} as faults and accepts these \
             {equivalent}, which are equivalent to the plan for reasons that\n`reason.rs` finds independently; the test \
             fails if the two disagree. `Hasty`: a step waits for no other step. `Swapped`:\na step is exchanged with \
             the next one. `Side`: an operand is on the other side.\n\n\
             | algorithm | mutation | mutants | why it is equivalent |\n|---|---|---|---|\n{}",
            self.lines
        )
    }
}

#[test]
fn the_checker_reports_all_mutants_but_the_listed_equivalent_ones() {
    let mut page = Page::default();
    for algorithm in Algorithm::ALL {
        page.add(&algorithm.to_string(), algorithm, &small(algorithm), |_| {
            true
        });
    }
    let mut with_straight_blocks = 0;
    for algorithm in Algorithm::ALL {
        let all = straight(algorithm);
        if !all.is_empty() {
            with_straight_blocks += 1;
            let name = format!("{algorithm}, long blocks");
            page.add(&name, algorithm, &all, is_straight);
        }
    }
    assert!(
        with_straight_blocks >= 2,
        "gatherv and scatterv send long blocks straight"
    );
    let (equivalent, mutants) = (page.equivalent, page.mutants);
    assert!(5 * equivalent < mutants, "{equivalent} of {mutants}");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mutants/equivalent.md");
    let text = page.text();
    let there = fs::read_to_string(path).unwrap_or_default();
    if there != text && env::var_os("OXMPI_BLESS").is_some() {
        fs::write(path, text).expect("equivalent.md can be written");
        return;
    }
    assert_eq!(
        there, text,
        "run with OXMPI_BLESS=1 and look at the difference"
    );
}

/// The small cases of an algorithm in which a few ranks can represent all.
fn alike(algorithm: Algorithm) -> Vec<Case> {
    let equal = |case: Case| Case {
        commutative: true,
        seed: 0,
        count: match case.collective {
            Collective::Allreduce => 3 * u64::from(case.size),
            _ => case.count,
        },
        ..case
    };
    let cases = small(algorithm).into_iter().map(equal);
    let has_representatives = |case: &Case| case.check_by_symmetry(algorithm).is_some();
    cases.filter(has_representatives).collect()
}

/// A mutant of one rank makes it unlike the others; the same mutation on all ranks has one verdict
/// whether all ranks run or only the representatives.
#[test]
fn representatives_of_equivalent_ranks_detect_mutants() {
    let (mut unlike, mut noticed, mut kinds) = (0, 0, 0);
    for algorithm in Algorithm::ALL {
        let all = alike(algorithm);
        if all.is_empty() {
            continue;
        }
        kinds += 1;
        for mutant in RandomMutant::some(algorithm, &all, |_| true) {
            for mutated in [Some(mutant.rank), None] {
                let plans = mutant.plans(|number| mutated.is_none_or(|rank| rank == number));
                let few = mutant
                    .case
                    .check_plans_by_symmetry(|rank| Ok(plans[rank as usize]));
                let Some(few) = few else {
                    unlike += u32::from(mutated.is_some());
                    continue;
                };
                let every = check_plans(&plans, &mutant.contract);
                assert_eq!(
                    few.as_ref().ok(),
                    every.as_ref().ok(),
                    "{algorithm}, {mutated:?}: {few:?}, {every:?}\n{mutant}",
                );
                noticed += u32::from(few.is_err());
            }
        }
    }
    println!("{kinds} algorithms: {unlike} made one rank unlike, {noticed} in all ranks noticed");
    assert!(kinds >= 25, "only {kinds} algorithms have equivalent ranks");
    assert!(unlike > 14 * kinds && noticed > 14 * kinds);
}

/// A fault that the full check reports is reported when following some single block; most are with three
/// followed blocks.
#[test]
fn following_single_blocks_detects_mutants() {
    let (mut noticed, mut by_three) = (0, 0);
    for algorithm in [Collective::Allgather, Collective::Allgatherv]
        .into_iter()
        .flat_map(Collective::algorithms)
    {
        let all = small(algorithm);
        for mutant in RandomMutant::some(algorithm, &all, |_| true) {
            let (size, contract) = (mutant.case.size, &mutant.contract);
            let arrays = mutant.case.arrays();
            let calls = mutant.case.calls(&arrays);
            let whole = mutant.case.placed(Contract::of(&calls, &arrays));
            assert_eq!(&whole, contract);
            let follow = |plans: &[Mutant], ranks: &[u32]| {
                let ranks = ranks.iter().map(|&rank| Ranks::one(rank));
                let ranks = ranks.fold(Ranks::new(), |all, one| all.union(&one));
                check_plans(plans, &Contract::following(&calls, &arrays, &ranks))
            };
            let each: Vec<_> = (0..size).map(|rank| [rank]).collect();
            let plans = mutant.plans(|_| false);
            let report = check_plans(&plans, contract);
            assert!(each.iter().all(|one| follow(&plans, one) == report));
            let plans = mutant.plans(|number| number == mutant.rank);
            let is_detected = mutant.is_detected();
            let is_seen = each.iter().any(|one| follow(&plans, one).is_err());
            assert_eq!(is_detected, is_seen, "{algorithm}, {mutant}");
            let three = [0, size / 3, size - 1];
            noticed += u32::from(is_detected);
            by_three += u32::from(follow(&plans, &three).is_err());
        }
    }
    println!("{noticed} noticed by following some block, {by_three} by following three");
    assert!(noticed > 200 && 10 * by_three >= 9 * noticed);
}
