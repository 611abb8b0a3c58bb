//! Runs a closure of a test as the ranks of a job.
//!
//! The test starts `oxmpi run` with its own test program, restricted to the same test. In each rank the same
//! call runs the closure, and ends the process as `main` would: with code 0, or with `Error: ...` and code 1.

use std::any::type_name;
use std::env;
use std::fmt::Debug;
use std::process::{Child, Command, exit};

use oxmpi::World;

use crate::common::{Done, Leash, finish, oxmpi};

/// The numbers of ranks that tests run on.
pub(crate) const SIZES: [usize; 5] = [1, 2, 3, 4, 8];

/// Variables of a job for each path to a window's memory: what ranks of a node reach themselves, and messages.
pub(crate) const WINDOW_PATHS: [[&str; 2]; 3] = [
    ["OXMPI_WINDOW_DIRECT", "on"],
    ["OXMPI_WINDOW_DIRECT", "off"],
    ["OXMPI_TRANSPORTS", "tcp"],
];

/// Variable with a number of hosts and a command that starts a rank on host `{node}`, such as `4 ip netns
/// exec ns{node}`. Every job is then spread over all hosts. `cargo xtask ci hosts` and `nodes` set it.
const HOSTS: &str = "OXMPI_TEST_HOSTS";

/// Variable with a command that takes host `{node}` off the network when it runs there. The host stays off,
/// so it is set only for the test of a lost host.
const CUT: &str = "OXMPI_TEST_CUT";

/// Variable of the ranks of that test: the command of [`CUT`] for the last host.
const CUT_LAST: &str = "TEST_CUT_LAST";

/// Variable with the most ranks of a job: larger ones are left out. `cargo xtask long rdma` sets it, as emulated machines
/// take minutes for them.
const MOST_RANKS: &str = "OXMPI_TEST_MOST_RANKS";

/// Of these numbers of ranks, those for a test of every algorithm: all; where [`MOST_RANKS`] is set, only the largest
/// that it allows, as a job for each algorithm and number takes hours there.
pub(crate) fn for_each_algorithm(all: &[usize]) -> Vec<usize> {
    let Some(most) = most_ranks() else {
        return all.to_vec();
    };
    let allowed = all.iter().copied().filter(|&ranks| ranks <= most);
    allowed.max().into_iter().collect()
}

fn most_ranks() -> Option<usize> {
    let most = env::var(MOST_RANKS).ok()?;
    Some(most.parse().expect("a number of ranks"))
}

/// A description of a job to start: the number of ranks, their placement, and variables of their environment.
#[derive(Debug)]
pub(crate) struct Job {
    ranks: usize,
    variables: Vec<[String; 2]>,
    one_host: bool,
    two_hosts: bool,
    cyclic: bool,
}

impl Job {
    /// A job of `ranks` ranks.
    pub(crate) fn of(ranks: usize) -> Self {
        Self {
            ranks,
            variables: Vec::new(),
            one_host: false,
            two_hosts: false,
            cyclic: false,
        }
    }

    /// Adds a variable to the environment of every rank.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push([name.into(), value.into()]);
        self
    }

    /// Keeps all ranks on one host, also where other jobs are spread over hosts.
    pub(crate) fn on_one_host(mut self) -> Self {
        self.one_host = true;
        self
    }

    /// Takes two hosts only, each with half of the ranks, where jobs are spread over more.
    pub(crate) fn on_two_hosts(mut self) -> Self {
        self.two_hosts = true;
        self
    }

    /// Places one rank on each host in turn (cyclic), where jobs are spread over hosts.
    pub(crate) fn cyclic(mut self) -> Self {
        self.cyclic = true;
        self
    }

    /// Runs `rank` as each rank, and waits for the end of the job. A test has one such closure, as ranks find
    /// it by the name of the test.
    pub(crate) fn run<E: Debug, F: Fn() -> Result<(), E>>(self, rank: F) -> Done {
        end(self.start(rank))
    }

    /// Runs `rank` as [`Job::run`] does, with a `World`, and checks that every rank succeeds. A job of more ranks than
    /// [`MOST_RANKS`] says is left out.
    pub(crate) fn succeed<F: Fn(&World) -> oxmpi::Result<()>>(self, rank: F) {
        let ranks = self.ranks;
        if most_ranks().is_some_and(|most| ranks > most) {
            return;
        }
        let done = end(self.launch(test_of::<F>(), || rank(&World::init()?)));
        assert_eq!(
            done.code, 0,
            "{ranks} ranks\n-- out:\n{}\n-- err:\n{}",
            done.out, done.err
        );
    }

    /// Starts the job; [`end`] waits for it.
    pub(crate) fn start<E: Debug, F: Fn() -> Result<(), E>>(self, rank: F) -> Child {
        self.launch(test_of::<F>(), rank)
    }

    /// Starts the job as [`Job::start`] does, and gives `rank` the path of a leash. The test makes the leash:
    /// a rank that is killed would leave the file behind.
    pub(crate) fn start_leashed<E: Debug, F: Fn(&str) -> Result<(), E>>(
        self,
        rank: F,
    ) -> (Child, Leash) {
        const LEASH: &str = "OXMPI_TEST_LEASH";
        let rank_of_job = || rank(&env::var(LEASH).expect("set"));
        if is_rank() {
            run_rank(rank_of_job)
        }
        let (path, leash) = Leash::new();
        let job = self.with(LEASH, &path);
        (job.launch(test_of::<F>(), rank_of_job), leash)
    }

    fn launch<E: Debug>(self, test: &str, rank: impl Fn() -> Result<(), E>) -> Child {
        if is_rank() {
            run_rank(rank)
        }
        let ranks = self.ranks.to_string();
        let program = env::current_exe().expect("a test program has a path");
        let mut command = oxmpi(&["run", "-n", &ranks, "--oversubscribe"]);
        if let Some((count, wrap)) = hosts().filter(|_| !self.one_host) {
            let count = if self.two_hosts { count.min(2) } else { count };
            let each = match self.cyclic {
                true => 1,
                false => self.ranks.div_ceil(count),
            };
            let hosts: Vec<_> = (0..count).map(|host| host.to_string()).collect();
            command.args(["-ppn", &each.to_string(), "-hosts", &hosts.join(",")]);
            command.args(["--wrap", &wrap]);
            if let Ok(cut) = env::var(CUT) {
                let last = (count - 1).to_string();
                command.env(CUT_LAST, cut.replace("{node}", &last));
            }
        }
        // Ranks warn of unknown variables whose names begin with OXMPI.
        command
            .env_remove(HOSTS)
            .env_remove(CUT)
            .env_remove(MOST_RANKS);
        for [name, value] in &self.variables {
            command.args(["-env", name, value]);
        }
        command
            .arg(program)
            .args(["--exact", test, "--quiet", "--nocapture"])
            .arg("--test-threads=1")
            .spawn()
            .expect("oxmpi starts")
    }
}

/// Whether jobs are spread over hosts. It is always true in a rank, so that the rank runs its test.
pub(crate) fn over_hosts() -> bool {
    is_rank() || env::var_os(HOSTS).is_some()
}

/// Whether a host may be cut off the network. It is always true in a rank.
pub(crate) fn can_cut() -> bool {
    is_rank() || env::var_os(CUT).is_some()
}

/// Takes the last host off the network. A rank on that host calls it.
pub(crate) fn cut_last_host() {
    let cut = env::var(CUT_LAST).expect("the test says how");
    let mut words = cut.split(' ');
    let mut command = Command::new(words.next().expect("a command"));
    let status = command.args(words).status().expect("it starts");
    assert!(status.success(), "{cut}: {status}");
}

/// The number of hosts, and the command that starts a rank on one.
fn hosts() -> Option<(usize, String)> {
    let value = env::var(HOSTS).ok()?;
    let (count, wrap) = value.split_once(' ').expect("a number and a command");
    Some((count.parse().expect("a number of hosts"), wrap.to_owned()))
}

/// Whether this process is a rank of a job, and not the test that starts it.
fn is_rank() -> bool {
    env::var_os("PMI_RANK").is_some()
}

/// Runs `rank` and ends this process with its result.
fn run_rank<E: Debug>(rank: impl Fn() -> Result<(), E>) -> ! {
    match rank() {
        Ok(()) => exit(0),
        Err(error) => {
            eprintln!("Error: {error:?}");
            exit(1)
        }
    }
}

/// Waits for the end of a job and of all its processes.
pub(crate) fn end(job: Child) -> Done {
    let mut done = finish(job);
    // The test harness of each rank prints a line before it runs the test.
    let said: Vec<&str> = done.out.lines().collect();
    let (head, body): (Vec<_>, Vec<_>) = said
        .into_iter()
        .filter(|line| !line.is_empty())
        .partition(|line| line.starts_with("running "));
    assert!(
        head.iter().all(|line| *line == "running 1 test"),
        "the ranks did not find their test: {head:?}"
    );
    done.out = body.iter().flat_map(|line| [line, "\n"]).collect();
    done
}

/// The name, for the test harness, of the test that contains the closure of type `F`.
fn test_of<F>() -> &'static str {
    let path = type_name::<F>();
    let path = path
        .split_once("::{{closure}}")
        .map_or(path, |(test, _)| test);
    path.split_once("::").map_or(path, |(_, test)| test)
}
