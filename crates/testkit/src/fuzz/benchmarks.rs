//! Fuzz body of the benchmarks' command line and files: a run is refused, or its tables are valid.

use oxmpi_bench::OffCache;
use oxmpi_bench::options::{Request, System, parse};
use oxmpi_bench::report::{Environment, text};
use oxmpi_bench::suite::{Plan, SampleTable, tables};

/// Longest message that a command line may request, in bytes.
const LONGEST: usize = 1 << 30;

/// The two files, by the option that reads them.
struct Files<'a> {
    names: &'a str,
    lengths: &'a str,
}

impl System for Files<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        match path {
            "names" => Ok(self.names.into()),
            "lengths" => Ok(self.lengths.into()),
            _ => Err("no such file".into()),
        }
    }

    fn cache(&self) -> Option<OffCache> {
        None
    }
}

/// Uses the parts of `data` between zeros as the words of a command line and as the files `names` and
/// `lengths`, and makes the tables of the run on 1 to 9 ranks.
///
/// # Panics
/// On a finding.
pub fn benchmarks(data: &[u8]) {
    let Ok(data) = std::str::from_utf8(data) else {
        return;
    };
    let mut parts = data.splitn(3, '\0');
    let mut part = || parts.next().unwrap_or_default();
    let words = part();
    let files = Files {
        names: part(),
        lengths: part(),
    };
    match parse(words.split_whitespace(), &files) {
        Ok(Request::Run(order)) => check(&order.plan),
        Ok(Request::Help | Request::List(_)) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn check(plan: &Plan) {
    assert!(!plan.benchmarks.is_empty());
    assert!(plan.method.samples > 0 && plan.method.seconds > 0.0);
    assert!(plan.lengths.largest() <= LONGEST);
    let mut out = String::new();
    text::header(&mut out, &Environment::default(), plan).expect("a string takes all text");
    for ranks in 1..=9 {
        for table in tables(plan, ranks) {
            check_table(plan, &table, ranks);
        }
    }
}

fn check_table(plan: &Plan, table: &SampleTable, ranks: usize) {
    let mut out = String::new();
    text::heading(&mut out, table).expect("a string takes all text");
    let mut seen: Vec<usize> = table.groups.concat();
    assert_eq!(seen[0], 0, "rank 0 reports");
    assert_eq!(seen.len() + table.waiting, ranks);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len() + table.waiting, ranks, "a rank is in one group");
    assert!(seen.iter().all(|rank| *rank < ranks));
    let sizes = table.groups.iter().map(Vec::len);
    assert!(table.processes() > 0 && sizes.into_iter().all(|size| size == table.processes()));
    for bytes in plan.lengths_of(table.kernel) {
        assert!((1..=plan.method.samples).contains(&plan.method.repetitions(bytes)));
    }
}
