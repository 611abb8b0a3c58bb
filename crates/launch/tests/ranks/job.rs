//! Runs a closure of a test as the ranks of a job.
//!
//! The test starts `oxmpi run` with this very test program, told to run this very test. There the
//! same call finds that it is a rank, runs the closure, and ends the process as `main` would: with
//! code 0, or with `Error: ...` and code 1.

use std::any::type_name;
use std::env;
use std::fmt::Debug;
use std::process::{Child, Command, exit};

use oxmpi::World;

use crate::common::{Done, Leash, finish, oxmpi};

/// The numbers of ranks that tests run on.
pub(crate) const SIZES: [usize; 5] = [1, 2, 3, 4, 8];

/// A number of hosts, and a command that starts a rank on host `{node}`: then every job is spread over
/// all of them, as `4 ip netns exec ns{node}`. `cargo xtask ci hosts` and `nodes` set it.
const HOSTS: &str = "OXMPI_TEST_HOSTS";

/// A command that takes host `{node}` off the network, there; it stays off, so only the test of that has it.
const CUT: &str = "OXMPI_TEST_CUT";

/// The same, for the ranks of that test: of a host that exists.
const CUT_LAST: &str = "TEST_CUT_LAST";

/// A job that is to be: how many ranks, with which variables in their environment.
#[derive(Debug)]
pub(crate) struct Job {
    ranks: usize,
    variables: Vec<[String; 2]>,
    one_host: bool,
    in_turn: bool,
}

impl Job {
    /// A job of `ranks` ranks.
    pub(crate) fn of(ranks: usize) -> Self {
        Self {
            ranks,
            variables: Vec::new(),
            one_host: false,
            in_turn: false,
        }
    }

    /// With a variable in the environment of every rank.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push([name.into(), value.into()]);
        self
    }

    /// About what ranks of one host do, wherever other jobs run.
    pub(crate) fn on_one_host(mut self) -> Self {
        self.one_host = true;
        self
    }

    /// With one rank to each host in turn, where jobs run over hosts.
    pub(crate) fn in_turn(mut self) -> Self {
        self.in_turn = true;
        self
    }

    /// Runs `rank` as each rank, to the end of the job. A test has one closure: the ranks know it
    /// by the test's name.
    pub(crate) fn run<E: Debug, F: Fn() -> Result<(), E>>(self, rank: F) -> Done {
        end(self.start(rank))
    }

    /// As [`Job::run`], with a world, and every rank has to end well.
    pub(crate) fn succeed<F: Fn(&World) -> oxmpi::Result<()>>(self, rank: F) {
        let ranks = self.ranks;
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

    /// As [`Job::start`], with a leash that `rank` is given the path of. Only the test makes one: a
    /// rank that is killed would leave its own behind.
    pub(crate) fn start_leashed<E: Debug, F: Fn(&str) -> Result<(), E>>(
        self,
        rank: F,
    ) -> (Child, Leash) {
        const LEASH: &str = "OXMPI_TEST_LEASH";
        let rank_of_job = || rank(&env::var(LEASH).expect("set"));
        if is_rank() {
            live(rank_of_job)
        }
        let (path, leash) = Leash::new();
        let job = self.with(LEASH, &path);
        (job.launch(test_of::<F>(), rank_of_job), leash)
    }

    fn launch<E: Debug>(self, test: &str, rank: impl Fn() -> Result<(), E>) -> Child {
        if is_rank() {
            live(rank)
        }
        let ranks = self.ranks.to_string();
        let program = env::current_exe().expect("a test program has a path");
        let mut command = oxmpi(&["run", "-n", &ranks, "--oversubscribe"]);
        if let Some((count, wrap)) = hosts().filter(|_| !self.one_host) {
            let each = match self.in_turn {
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
        // Ranks warn of variables of ours that they do not know.
        command.env_remove(HOSTS).env_remove(CUT);
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

/// Whether jobs are spread over hosts, as far as the test knows; a rank is one of such a job.
pub(crate) fn over_hosts() -> bool {
    is_rank() || env::var_os(HOSTS).is_some()
}

/// Whether hosts may be cut off, as [`over_hosts`].
pub(crate) fn can_cut() -> bool {
    is_rank() || env::var_os(CUT).is_some()
}

/// Takes the last host off the network; a rank there does it.
pub(crate) fn cut_last_host() {
    let cut = env::var(CUT_LAST).expect("the test says how");
    let mut words = cut.split(' ');
    let mut command = Command::new(words.next().expect("a command"));
    let status = command.args(words).status().expect("it starts");
    assert!(status.success(), "{cut}: {status}");
}

/// How many hosts there are, and what starts a rank on one.
fn hosts() -> Option<(usize, String)> {
    let value = env::var(HOSTS).ok()?;
    let (count, wrap) = value.split_once(' ').expect("a number and a command");
    Some((count.parse().expect("a number of hosts"), wrap.to_owned()))
}

/// Whether this process is a rank of a test's job, and not the test.
fn is_rank() -> bool {
    env::var_os("PMI_RANK").is_some()
}

/// Runs a rank and ends its process.
fn live<E: Debug>(rank: impl Fn() -> Result<(), E>) -> ! {
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
    // What the test harness says before it runs the test.
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

/// The name of the test that a closure is written in, as the test harness knows it.
fn test_of<F>() -> &'static str {
    let path = type_name::<F>();
    let path = path
        .split_once("::{{closure}}")
        .map_or(path, |(test, _)| test);
    path.split_once("::").map_or(path, |(_, test)| test)
}
