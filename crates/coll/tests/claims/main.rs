//! Simulates the claims: our algorithms against the defaults of other libraries. Each claim holds, and
//! `docs/simulations/claims.md` is the table of the results.
//!
//! `OXMPI_BLESS=1 cargo test -p oxmpi-coll --features sim --test claims` writes the page when it
//! differs: look at it before it is committed.

mod list;

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use list::{CLAIMS, Claim, ClaimCell, Contender, Flags};
use oxmpi_coll::catalog::{Algorithm, Parameters};
use oxmpi_coll::sim::{
    Classical, Error, Machine, Order, Placement, Setup, SimReport, Simulation, Workload,
    is_node_symmetric,
};

impl Contender {
    /// The name on the page.
    fn name(self) -> String {
        match self {
            Contender::Classical(Classical::Gatherv) => "all to the root at once".to_owned(),
            Contender::Classical(Classical::Scatterv) => "all from the root at once".to_owned(),
            Contender::Plan(algorithm, 0) => format!("`{algorithm}`"),
            Contender::Plan(algorithm, radix) => format!("`{algorithm}`, radix {radix}"),
        }
    }
}

impl ClaimCell {
    /// The picoseconds until the last rank is done.
    fn time(&self, run: Contender, flags: bool) -> u64 {
        let machine = Machine::named(self.machine).expect("a machine of that name");
        let placement = Placement::new(self.order, self.ranks, machine.per_node);
        let setup = Setup::new(machine, placement)
            .with_matching(1000 * self.match_ns)
            .with_flags(flags)
            .with_serial_copies(self.serial_copies);
        let report = match run {
            Contender::Classical(classical) => {
                Simulation::new(&setup).run_classical(classical, self.bytes)
            }
            Contender::Plan(algorithm, radix) => self.plan(&setup, algorithm, radix),
        };
        report.expect("the simulator runs the algorithm").last()
    }

    fn plan(&self, setup: &Setup, algorithm: Algorithm, radix: u32) -> Result<SimReport, Error> {
        let setup = match setup.by_symmetry() {
            Ok(one_node) if is_node_symmetric(algorithm) => one_node,
            _ => *setup,
        };
        let work = Workload::new(algorithm.collective(), self.ranks, self.bytes);
        let parameters = Parameters::NONE.with_radix(radix);
        Simulation::new(&setup).work(&work, algorithm, &parameters)
    }

    /// The cell's line of the table, and whether the claim's goal is reached.
    fn line(&self, claim: &Claim) -> (String, bool) {
        let ours = self.time(claim.ours, self.flags != Flags::None);
        let theirs = claim
            .theirs
            .map(|run| self.time(run, self.flags == Flags::Both));
        let factor = theirs.map(|theirs| theirs as f64 / ours as f64);
        let order = match self.order {
            Order::Block => "block",
            Order::Cyclic => "cyclic",
        };
        let flags = match self.flags {
            Flags::None => "none",
            Flags::Ours => "ours",
            Flags::Both => "both",
        };
        let copies = match self.serial_copies {
            true => "one by one",
            false => "at once",
        };
        let micros = |picoseconds: u64| format!("{:.1}", picoseconds as f64 / 1e6);
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let times = |number: f64| format!("{number:.2}");
        let line = format!(
            "| {} | {order} | {} | {} | {} | {flags} | {copies} | {} | {} | {} | {} |\n",
            self.machine,
            self.ranks,
            self.bytes,
            self.match_ns,
            or_none(theirs.map(micros)),
            micros(ours),
            or_none(self.goal.map(times)),
            or_none(factor.map(times)),
        );
        (line, self.goal.is_none_or(|goal| factor >= Some(goal)))
    }
}

const HEAD: &str = "\
# Claims

Made by `crates/coll/tests/claims`, which fails if a goal is missed or a number differs. [README.md](README.md) describes the
machines and what every simulation leaves out; each claim says what else is left out. A line without a goal shows how a
part of the model affects the claim. *ns an entry*: the cost of matching per queue entry. *flags*: the side whose signals
are flags, which are not matched. *copies*: whether a rank copies messages of its own node at once or one by one.
";

const COLUMNS: &str = "\
| machine | placement | ranks | bytes | ns an entry | flags | copies | theirs, us | ours, us | goal, times | result, times |
|---|---|---|---|---|---|---|---|---|---|---|
";

#[test]
fn every_claim_holds_and_the_page_is_current() {
    let mut page = HEAD.to_owned();
    let mut missed = String::new();
    for claim in &CLAIMS {
        let theirs = claim
            .theirs
            .map_or_else(String::new, |theirs| format!(" Theirs: {}.", theirs.name()));
        write!(
            page,
            "\n## {}\n\nOurs: {}.{theirs} Left out: {}\n\n{COLUMNS}",
            claim.title,
            claim.ours.name(),
            claim.left_out
        )
        .expect("writing to a string cannot fail");
        for cell in claim.cells {
            let (line, holds) = cell.line(claim);
            page += &line;
            if !holds {
                write!(missed, "{}: {line}", claim.title).expect("writing to a string cannot fail");
            }
        }
    }
    assert!(missed.is_empty(), "claims whose goal is missed:\n{missed}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/simulations/claims.md");
    let there = fs::read_to_string(&path).unwrap_or_default();
    if there != page && env::var_os("OXMPI_BLESS").is_some() {
        fs::write(&path, page).expect("the page can be written");
        return;
    }
    assert_eq!(
        there, page,
        "run with OXMPI_BLESS=1 and look at the difference"
    );
}
