//! Performance guidelines in the simulator: a collective is not slower than others that contain it, nor
//! on fewer ranks than on more. Some tests take the best algorithm of the catalog, one takes the
//! algorithm that [`choose`] picks. Hunold and Traeff, "Tuning MPI collectives by verifying performance
//! guidelines", 2018.

use crate::variants::{RADIXES, fastest, suiting, variants};
use oxmpi_coll::catalog::{Algorithm, Call, Collective, Parameters, Stage};
use oxmpi_coll::choice::{Tuning, choose};
use oxmpi_coll::sim::{Machine, Order, Placement, Setup, Simulation, Workload};

/// A page of `docs/simulations` in one line.
fn page(name: &str) -> String {
    let path = format!(
        "{}/../../docs/simulations/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).expect("the page is there");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The shares and factors of the list that `docs/simulations/README.md` repeats.
#[test]
fn the_description_has_the_numbers_of_the_list() {
    let (list, text) = (page("guidelines.md"), page("README.md"));
    let (serial, at_once) = list.split_once("## Copies AtOnce").expect("two halves");
    let [serial_share, at_once_share] = [serial, at_once].map(|half| {
        let counts = half.split(" of ").zip(half.split(" of ").skip(1));
        let counts = counts.filter(|(_, after)| after.contains(" cells"));
        let (mut broken, mut all) = (0, 0);
        for (before, after) in counts {
            let number = |word: Option<&str>| word.and_then(|word| word.parse::<f64>().ok());
            if let (Some(few), Some(cells)) = (
                number(before.rsplit(' ').next()),
                number(after.split(' ').next()),
            ) {
                broken += few as u32;
                all += cells as u32;
            }
        }
        assert_eq!((all, broken > 0), (3_600 / 2 + 9_072 / 2, true));
        (f64::from(all) / f64::from(broken)).round()
    });
    let factor = |half: &str, rule: &str, cell: &str| {
        let rule = half.split(&format!("- {rule}")).nth(1).expect("a rule");
        let rule = rule.split(" - ").next().expect("its cells");
        let cell = rule.split(&format!("{cell} B ")).nth(1).expect("a cell");
        let number = cell.split([' ', ';']).next().expect("a factor");
        let number: f64 = number.trim_end_matches('.').parse().expect("a number");
        format!("{number:.2}")
    };
    let allreduce = |half, cell| factor(half, "allreduce(p)", cell);
    let scatter = |half, cell| factor(half, "reduce_scatter_block(p)", cell);
    let alone = allreduce(serial, "gemini 33 x 8192");
    assert_eq!(alone, factor(serial, "bcast <=", "slingshot 65 x 65536"));
    for right in [
        "Of 3,600 cells of the first rules and 9,072 of".into(),
        format!(
            "one of {serial_share} where copies follow one another, and in one of {at_once_share} where"
        ),
        format!("take up to {alone} times what is allowed on 33 and 65 ranks"),
        format!(
            "takes {} times. - Where",
            allreduce(serial, "gemini 31 x 8192")
        ),
        format!(
            "takes up to {} times what is allowed on 63 ranks of gemini, and {} times on 31; where they follow one another, {} and {}.",
            scatter(at_once, "gemini 63 x 8192"),
            scatter(at_once, "gemini 31 x 8192"),
            scatter(serial, "gemini 63 x 8192"),
            scatter(serial, "gemini 31 x 8192"),
        ),
        format!(
            "on gemini {} times what is allowed where copies follow one another, and {} times where they are made at once",
            allreduce(serial, "gemini 63 x 524288"),
            allreduce(at_once, "gemini 63 x 524288"),
        ),
    ] {
        assert!(text.contains(&right), "the description lacks \"{right}\"");
    }
}

/// The picoseconds of the best algorithm, and its name and parameters.
fn best(machine: Machine, collective: Collective, ranks: u32, bytes: u64) -> (u64, String) {
    let setup = Setup::new(
        machine,
        Placement::new(Order::Block, ranks, machine.per_node),
    );
    let work = Workload::new(collective, ranks, bytes);
    let call = work.call(0).expect("a call");
    let all = suiting(&call).flat_map(|one| tuned(one).map(move |parameters| (one, parameters)));
    let (time, algorithm, Parameters { radix, blocks, .. }) = fastest(&setup, &work, all);
    (time, format!("{algorithm}, radix {radix}, {blocks} blocks"))
}

/// The radixes and numbers of blocks that are tried with an algorithm that takes them.
fn tuned(algorithm: Algorithm) -> impl Iterator<Item = Parameters> {
    let stages = algorithm.row().parameters.stages;
    let radixes = stages[0].into_iter().flat_map(|_| RADIXES);
    let trees = radixes.map(move |radix| Parameters {
        stages: stages.map(|stage| stage.map(|stage| Stage { radix, ..stage })),
        ..Parameters::NONE
    });
    variants(algorithm, &[1, 2, 4, 8, 16, 32, 64], &[0]).chain(trees)
}

const MACHINES: [Machine; 2] = [Machine::GEMINI, Machine::NDR];
/// Short messages; `docs/simulations` lists where the rules are broken.
const SIZES: [u64; 3] = [8, 64, 1 << 10];

#[test]
fn a_collective_is_not_slower_than_others_that_contain_it() {
    let mut broken = Vec::new();
    for machine in MACHINES {
        for ranks in [2, 3, 7, 16, 24, 33, 64, 100] {
            for bytes in SIZES {
                let best = |collective, bytes| best(machine, collective, ranks, bytes).0;
                let share = bytes.div_ceil(u64::from(ranks));
                let rules = [
                    (
                        "gather <= allgather",
                        best(Collective::Gather, bytes),
                        best(Collective::Allgather, bytes),
                    ),
                    (
                        "bcast <= scatter + allgather",
                        best(Collective::Bcast, bytes),
                        best(Collective::Scatter, share) + best(Collective::Allgather, share),
                    ),
                    (
                        "allreduce <= reduce + bcast",
                        best(Collective::Allreduce, bytes),
                        best(Collective::Reduce, bytes) + best(Collective::Bcast, bytes),
                    ),
                ];
                for (rule, part, whole) in rules {
                    if part > whole {
                        broken.push(format!(
                            "{rule}: {part} > {whole}, {ranks} ranks, {bytes} B"
                        ));
                    }
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn fewer_ranks_are_not_slower() {
    let mut broken = Vec::new();
    for machine in MACHINES {
        for collective in [
            Collective::Barrier,
            Collective::Bcast,
            Collective::Gather,
            Collective::Scatter,
            Collective::Reduce,
        ] {
            for bytes in [8, 1 << 10] {
                let times: Vec<_> = (2..=40)
                    .map(|p| best(machine, collective, p, bytes))
                    .collect();
                for (p, pair) in (2..).zip(times.windows(2)) {
                    if pair[0].0 as f64 > 1.05 * pair[1].0 as f64 {
                        broken.push(format!(
                            "{collective} {bytes} B: {:?} on {p} ranks, {:?} on one more",
                            pair[0], pair[1]
                        ));
                    }
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// With any radix, a rank copies little beyond its data and waits hardly longer than it copies and
/// reduces.
#[test]
fn long_blocks_on_one_node_take_little_more_than_their_copies_and_reductions() {
    let (machine, bytes) = (Machine::ZEN4, 128 << 10);
    for (name, each) in [("allgather", 1), ("reduce_scatter_block", 2)] {
        let name = format!("{name} node-aware");
        let algorithm = Algorithm::ALL
            .into_iter()
            .find(|one| one.to_string() == name);
        let algorithm = algorithm.expect("the catalog has it");
        for ranks in [3, 5, 9, 17, 33, 47, 55, 63, 64, 65, 96, 100] {
            let placement = Placement::new(Order::Block, ranks, machine.per_node);
            let setup = Setup::new(machine, placement).with_serial_copies(true);
            let work = Workload::new(algorithm.collective(), ranks, bytes);
            // A rank copies its own block within its own memory.
            let each_byte = each * u64::from(ranks - 1) * machine.node.byte + machine.copy();
            let least = bytes * each_byte;
            for radix in [2, 3, 4, 5, 8, 16] {
                let parameters = Parameters::NONE.with_radix(radix);
                let report = Simulation::new(&setup).work(&work, algorithm, &parameters);
                let time = report.expect("a time").last();
                assert!(
                    time as f64 <= 1.09 * least as f64,
                    "{algorithm} on {ranks} ranks, radix {radix}: {time} > 1.09 * {least}"
                );
            }
        }
    }
}

/// Whether a rank copies messages from its own node one after another or all at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copies {
    Serial,
    AtOnce,
}

/// The simulated setup and the tuning that the choice uses on it.
fn setup_and_tuning(machine: Machine, copies: Copies, ranks: u32) -> (Setup, Tuning) {
    let serial_copies = copies == Copies::Serial;
    let placement = Placement::new(Order::Block, ranks, machine.per_node);
    let setup = Setup::new(machine, placement).with_serial_copies(serial_copies);
    let tuning = Tuning {
        machine,
        per_node: machine.per_node,
        serial_copies,
        ..Tuning::default()
    };
    (setup, tuning)
}

/// The picoseconds of a bcast cut at elements of 8 bytes as a reduction's are: cut at bytes, blocks could
/// be up to 3 bytes more even, which is 1 ns.
fn bcast_of_elements(machine: Machine, copies: Copies, ranks: u32, bytes: u64) -> u64 {
    let (setup, tuning) = setup_and_tuning(machine, copies, ranks);
    let call = |rank| {
        let mut call = Call::bcast(rank, ranks, 0, bytes / 8);
        call.element_bytes = 8;
        call
    };
    let choice = choose(&call(0), &tuning).expect("something suits");
    let parameters = choice.parameters.with_per_node(machine.per_node);
    let plan = |rank| Ok(choice.algorithm.plan(&call(rank), &parameters)?);
    let report = Simulation::new(&setup).element_bytes(8).run(plan);
    report.expect("a time").last()
}

/// The picoseconds of the algorithm that [`choose`] picks.
fn chosen(machine: Machine, copies: Copies, collective: Collective, ranks: u32, bytes: u64) -> u64 {
    let (setup, tuning) = setup_and_tuning(machine, copies, ranks);
    let work = Workload::new(collective, ranks, bytes);
    let choice = choose(&work.call(0).expect("a call"), &tuning).expect("something suits");
    let report = Simulation::new(&setup).work(&work, choice.algorithm, &choice.parameters);
    report.expect("a time").last()
}

/// Powers of two, the number before each and the three after it.
const GROUPS: [u32; 25] = [
    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 16, 17, 18, 19, 31, 32, 33, 34, 35, 63, 64, 65, 66, 67,
];

/// Whether the last node has one rank, two ranks, or one less than a full node. One rank handles all
/// messages of its node; two share copies that three share with one rank more; one less than full puts
/// ranks out of step, so that requests for long messages queue behind others.
fn is_near_full_nodes(machine: Machine, ranks: u32) -> bool {
    let last = ranks % machine.per_node;
    ranks > machine.per_node && [1, 2, machine.per_node - 1].contains(&last)
}

/// The largest allowed ratio of a cell's time to what its rule allows: with copies at the same time; with
/// serial copies beside full nodes; with serial copies elsewhere.
const MOST_AT_ONCE: f64 = 1.45;
const MOST_NEAR_FULL: f64 = 1.14;
const MOST_OTHERWISE: f64 = 1.03;

/// The number of cells in a thousand that may break a rule.
const MOST_BROKEN: usize = 9;

const ALL_SIZES: [u64; 6] = [8, 512, 8 << 10, 64 << 10, 512 << 10, 4 << 20];

const COLLECTIVES: [Collective; 9] = [
    Collective::Barrier,
    Collective::Bcast,
    Collective::Gather,
    Collective::Scatter,
    Collective::Allgather,
    Collective::Alltoall,
    Collective::Reduce,
    Collective::Allreduce,
    Collective::ReduceScatterBlock,
];

/// A machine's name, description and constants.
type Named = (&'static str, &'static str, Machine);

/// The times of the chosen algorithms on one group, for one size.
struct GuidelineCell {
    machine: Named,
    copies: Copies,
    ranks: u32,
    bytes: u64,
    times: [u64; COLLECTIVES.len()],
    /// A scatter and an allgather of blocks that are together a vector of that many bytes.
    in_blocks: u64,
    /// A bcast of a reduction's elements.
    in_elements: u64,
}

impl GuidelineCell {
    fn time(&self, collective: Collective) -> u64 {
        let at = COLLECTIVES.iter().position(|&one| one == collective);
        self.times[at.expect("the collective is in the list")]
    }
}

/// All cells of a machine, ordered by size, then by group.
fn cells(named: Named, copies: Copies) -> Vec<GuidelineCell> {
    let machine = named.2;
    let groups = |bytes| GROUPS.map(|ranks| (ranks, bytes));
    let cell = |(ranks, bytes): (u32, u64)| {
        let time = |collective, bytes| chosen(machine, copies, collective, ranks, bytes);
        let share = bytes.div_ceil(ranks.into());
        GuidelineCell {
            machine: named,
            copies,
            ranks,
            bytes,
            times: COLLECTIVES.map(|one| time(one, bytes)),
            in_blocks: time(Collective::Scatter, share) + time(Collective::Allgather, share),
            in_elements: bcast_of_elements(machine, copies, ranks, bytes),
        }
    };
    ALL_SIZES.into_iter().flat_map(groups).map(cell).collect()
}

/// The cells that break one rule, each with the factor by which it exceeds what the rule allows.
struct Tally {
    rule: String,
    cells: usize,
    broken: Vec<(f64, String)>,
    /// Whether a cell exceeds the ratio that the test allows.
    fails: bool,
}

impl Tally {
    /// Tallies a rule over cells, each with its time and the time that the rule allows.
    fn of<'a>(rule: String, cells: impl Iterator<Item = (&'a GuidelineCell, u64, u64)>) -> Tally {
        let (mut all, mut broken, mut fails) = (0, Vec::new(), false);
        for (cell, taken, allowed) in cells {
            all += 1;
            let over = taken as f64 / allowed.max(1) as f64;
            if over > 1.0 {
                let GuidelineCell {
                    machine: (machine, _, model),
                    ranks,
                    bytes,
                    copies,
                    ..
                } = cell;
                fails |= over
                    > match copies {
                        Copies::AtOnce => MOST_AT_ONCE,
                        Copies::Serial if is_near_full_nodes(*model, *ranks) => MOST_NEAR_FULL,
                        Copies::Serial => MOST_OTHERWISE,
                    };
                broken.push((over, format!("{machine} {ranks} x {bytes} B {over:.3}")));
            }
        }
        broken.sort_by(|one, other| other.0.total_cmp(&one.0));
        Tally {
            rule,
            cells: all,
            broken,
            fails,
        }
    }

    /// The rule's entry on the page.
    fn text(&self) -> String {
        let broken: Vec<_> = self.broken.iter().map(|one| &*one.1).collect();
        let count = format!("{} of {} cells", broken.len(), self.cells);
        let cells = match &broken[..] {
            [] => "none".to_owned(),
            some => some.join("; "),
        };
        format!("- {}: {count}. {cells}.\n", self.rule)
    }
}

/// Tallies the rules that a collective is not slower than others that contain it.
fn containment_rules(copies: Copies, cells: &[GuidelineCell]) -> Vec<Tally> {
    use Collective::{Allgather, Allreduce, Bcast, Gather, Reduce};
    type Times = fn(&GuidelineCell) -> [u64; 2];
    let rules: [(&str, Times); 3] = [
        ("gather <= allgather", |cell| {
            [Gather, Allgather].map(|one| cell.time(one))
        }),
        ("bcast <= scatter + allgather", |cell| {
            [cell.time(Bcast), cell.in_blocks]
        }),
        ("allreduce <= reduce + bcast", |cell| {
            [cell.time(Allreduce), cell.time(Reduce) + cell.in_elements]
        }),
    ];
    let tally = |(rule, times): (&str, Times)| {
        let of_cell = cells
            .iter()
            .filter(|cell| cell.copies == copies)
            .map(|cell| {
                let [part, whole] = times(cell);
                (cell, part, whole)
            });
        Tally::of(format!("{rule}, copies {copies:?}"), of_cell)
    };
    rules.map(tally).into()
}

/// Tallies the rule that a collective is not slower than on one rank more.
fn fewer_ranks_rule(collective: Collective, copies: Copies, cells: &[GuidelineCell]) -> Tally {
    let pairs = cells
        .windows(2)
        .filter(|pair| pair[0].ranks + 1 == pair[1].ranks && pair[0].copies == copies);
    let of_cell = pairs.map(|pair| {
        let [fewer, more] = [&pair[0], &pair[1]].map(|cell| cell.time(collective));
        (&pair[0], fewer, more + more / 20)
    });
    let rule = format!("{collective}(p) <= 1.05 {collective}(p + 1), copies {copies:?}");
    Tally::of(rule, of_cell)
}

/// The page states for each rule the number of cells and lists those in which the chosen algorithm breaks
/// it.
#[test]
fn chosen_algorithms_break_rules_in_few_cells_and_the_page_lists_them() {
    let cells: Vec<GuidelineCell> = std::thread::scope(|scope| {
        let each = [Copies::Serial, Copies::AtOnce]
            .into_iter()
            .flat_map(|copies| {
                Machine::NAMED.map(|machine| scope.spawn(move || cells(machine, copies)))
            });
        let running: Vec<_> = each.collect();
        let done = running.into_iter().flat_map(|one| {
            one.join()
                .expect("the simulation of a machine does not panic")
        });
        done.collect()
    });
    let mut page = String::from(
        "# Guidelines for the chosen algorithms\n\nMade by `crates/coll/tests/figures/guidelines.rs`. [README.md](README.md) states \
         the rules and what the test allows. A cell is a machine,\nranks and bytes; for each cell that breaks a rule, the \
         factor by which it exceeds what the rule allows is given.\n",
    );
    let (mut broken, mut all, mut few) = (String::new(), 0, 0);
    for copies in [Copies::Serial, Copies::AtOnce] {
        page += &format!("\n## Copies {copies:?}\n\n");
        let fewer = COLLECTIVES.map(|collective| fewer_ranks_rule(collective, copies, &cells));
        for tally in containment_rules(copies, &cells).into_iter().chain(fewer) {
            let line = tally.text();
            page += &line;
            (all, few) = (all + tally.cells, few + tally.broken.len());
            if tally.fails {
                broken += &line;
            }
        }
    }
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/simulations/guidelines.md"
    );
    if std::env::var_os("OXMPI_BLESS").is_some() {
        std::fs::write(path, &page).expect("the page can be written");
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(broken.is_empty(), "{broken}");
    println!("{few} of {all} cells");
    assert!(1000 * few <= MOST_BROKEN * all, "{few} of {all} cells");
    assert_eq!(page, committed, "OXMPI_BLESS=1 writes the page");
}
