//! Simulates the claims: our algorithms against the defaults of other libraries. Each claim holds, and
//! `docs/simulations/claims.md` is the table of the results.
//!
//! `OXMPI_BLESS=1 cargo test -p oxmpi-coll --features sim --test figures claims::` writes the page when it
//! differs: look at it before it is committed.

mod list;

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use list::{CLAIMS, Claim, ClaimCell, Contender, Flags};
use oxmpi_coll::catalog::{Algorithm, Parameters};
use oxmpi_coll::choice::{Tuning, choose};
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
            Contender::Chosen(collective) => format!("the `{collective}` that a job chooses"),
        }
    }
}

/// The times of both sides in picoseconds, and by which factor ours is less.
struct Times {
    theirs: Option<u64>,
    ours: u64,
}

impl Times {
    fn factor(&self) -> Option<f64> {
        self.theirs.map(|theirs| theirs as f64 / self.ours as f64)
    }

    /// The columns of the table.
    fn columns(&self) -> String {
        let micros = |picoseconds: u64| format!("{:.1}", picoseconds as f64 / 1e6);
        format!(
            "{} | {} | {}",
            or_none(self.theirs.map(micros)),
            micros(self.ours),
            or_none(self.factor().map(times))
        )
    }
}

fn or_none(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

fn times(factor: f64) -> String {
    format!("{factor:.2}")
}

impl ClaimCell {
    fn setup(&self) -> Setup {
        let machine = Machine::named(self.machine).expect("a machine of that name");
        let placement = Placement::new(self.order, self.ranks, machine.per_node);
        Setup::new(machine, placement).with_matching(1000 * self.match_ns)
    }

    /// The picoseconds until the last rank is done.
    fn time(&self, run: Contender, setup: Setup) -> u64 {
        let report = match run {
            Contender::Classical(classical) => {
                Simulation::new(&setup).run_classical(classical, self.bytes)
            }
            Contender::Plan(algorithm, radix) => {
                self.plan(setup, algorithm, &Parameters::NONE.with_radix(radix))
            }
            Contender::Chosen(collective) => {
                let call = Workload::new(collective, self.ranks, self.bytes).call(0);
                let tuning = Tuning {
                    machine: setup.machine,
                    per_node: setup.placement.per_node(),
                    order: self.order,
                    serial_copies: setup.serial_copies,
                    flags: setup.flags,
                    ..Tuning::default()
                };
                let choice = choose(&call.expect("no neighbours"), &tuning).expect("a choice");
                self.plan(setup, choice.algorithm, &choice.parameters)
            }
        };
        report.expect("the simulator runs the algorithm").last()
    }

    fn plan(
        &self,
        setup: Setup,
        algorithm: Algorithm,
        parameters: &Parameters,
    ) -> Result<SimReport, Error> {
        let setup = match setup.by_symmetry() {
            Ok(one_node) if is_node_symmetric(algorithm) => one_node,
            _ => setup,
        };
        let work = Workload::new(algorithm.collective(), self.ranks, self.bytes);
        Simulation::new(&setup).work(&work, algorithm, parameters)
    }

    fn times(&self, claim: &Claim, serial_copies: bool) -> Times {
        let setup = self.setup().with_serial_copies(serial_copies);
        let theirs = setup.with_flags(self.flags == Flags::Both);
        Times {
            theirs: claim.theirs.map(|run| self.time(run, theirs)),
            ours: self.time(claim.ours, setup.with_flags(self.flags != Flags::None)),
        }
    }

    /// The cell's line of the table, and whether the claim's goal is reached.
    fn line(&self, claim: &Claim) -> (String, bool) {
        let at_once = self.times(claim, false);
        let one_by_one = self.one_by_one.then(|| self.times(claim, true));
        let order = match self.order {
            Order::Block => "block",
            Order::Cyclic => "cyclic",
        };
        let flags = match self.flags {
            Flags::None => "none",
            Flags::Ours => "ours",
            Flags::Both => "both",
        };
        let line = format!(
            "| {} | {order} | {} | {} | {} | {flags} | {} | {} | {} |\n",
            self.machine,
            self.ranks,
            self.bytes,
            self.match_ns,
            or_none(self.goal.map(times)),
            at_once.columns(),
            one_by_one.map_or("- | - | -".to_owned(), |times| times.columns()),
        );
        let holds = self.goal.is_none_or(|goal| at_once.factor() >= Some(goal));
        (line, holds)
    }

    /// The MiB that the simulation of our side takes at least.
    fn memory(&self, claim: &Claim) -> u64 {
        let Contender::Plan(algorithm, radix) = claim.ours else {
            return 0;
        };
        let parameters = Parameters::NONE.with_radix(radix);
        let work = Workload::new(algorithm.collective(), self.ranks, self.bytes);
        let setup = self.setup();
        let refused = Simulation::new(&setup)
            .memory_limit(0)
            .work(&work, algorithm, &parameters);
        match refused {
            Err(Error::Memory { needed, .. }) => needed >> 20,
            _ => 0,
        }
    }
}

/// `docs/simulations/README.md` repeats numbers of the page: the time of ours as a share of theirs, and the memory.
#[test]
fn the_description_has_the_numbers_of_the_page() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/simulations/README.md");
    let text = fs::read_to_string(path).expect("the description is there");
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let titled = |title: &str| {
        let claim = CLAIMS.iter().find(|claim| claim.title == title);
        claim.expect("a claim of that title")
    };
    let shares = |title: &str| {
        let claim = titled(title);
        let [at_once, one_by_one] = [false, true].map(|serial| {
            let factor = claim.cells[0].times(claim, serial).factor();
            1.0 / factor.expect("two sides")
        });
        (format!("{at_once:.2}"), format!("{one_by_one:.2}"))
    };
    let (allreduce, allreduce_serial) = shares("allreduce on nodes that are not full");
    let (scatter, scatter_serial) = shares("reduce_scatter on nodes that are not full");
    let many = titled("allreduce of 700,000 ranks");
    let memory = many.cells[0].memory(many) as f64 / 1024.0;
    for right in [
        format!("an allreduce of 64 KiB {allreduce} of the time"),
        format!("takes ({allreduce_serial} where"),
        format!("blocks of 512 B {scatter} ({scatter_serial})."),
        format!("takes {memory:.2} GiB of memory"),
    ] {
        assert!(text.contains(&right), "the description lacks \"{right}\"");
    }
}

const HEAD: &str = "\
# Claims

Made by `crates/coll/tests/figures/claims`, which fails if a goal is missed or a number differs. [README.md](README.md) describes the
machines and what every simulation leaves out; each claim says what else is left out. The goal is a factor by which ours is to
be faster where a rank copies the messages of its own node at once; the last three columns are the same where it copies them
one by one, and a factor below the goal, or below 1, is then no claim. A line without a goal shows how a part of the model
affects the claim. *ns an entry*: the cost of matching per queue entry. *flags*: the side whose signals are flags, which are
not matched. Times are in us, factors in times.
";

const COLUMNS: &str = "\
| machine | placement | ranks | bytes | ns an entry | flags | goal | at once: theirs | ours | factor | one by one: theirs | ours | factor |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
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
            if !cell.one_by_one {
                let memory = cell.memory(claim);
                writeln!(page, "\nIts simulation needs {memory} MiB or more.")
                    .expect("writing to a string cannot fail");
            }
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
