//! Tests of limits on memory (control groups) and address space: a rank returns an error with numbers before
//! the kernel kills its process.

use std::fs;
use std::path::PathBuf;
use std::process::id;

use oxmpi::{Result, World};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::common::Done;
use crate::job::Job;

/// Bytes that the control group allows: enough for a rank, and less than one link of [`job`].
const ALLOWED: u64 = 8 << 20;

/// Printed by a rank that cannot make a control group.
const NONE: &str = "no control group can be made here";

/// A control group of this process alone, a child of the group that the process was in.
struct Group {
    outer: PathBuf,
    own: PathBuf,
}

impl Group {
    /// Makes a group that is limited to `bytes` of memory, and moves this process into it.
    fn enter(bytes: u64) -> std::io::Result<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup")?;
        // Version 1 of control groups has a tree for each controller, version 2 has one for all.
        let place = |line: &str| {
            let (_, line) = line.split_once(':')?;
            let (controllers, path) = line.split_once(":/")?;
            match controllers {
                "" => Some(("memory.max", PathBuf::from("/sys/fs/cgroup").join(path))),
                "memory" => Some((
                    "memory.limit_in_bytes",
                    PathBuf::from("/sys/fs/cgroup/memory").join(path),
                )),
                _ => None,
            }
        };
        let mut answer = Err(std::io::ErrorKind::NotFound.into());
        for (limit, outer) in groups.lines().filter_map(place) {
            let group = Self {
                own: outer.join(format!("oxmpi-test-{}", id())),
                outer,
            };
            answer = fs::create_dir(&group.own)
                .and_then(|()| fs::metadata(group.own.join(limit)).map(drop))
                .and_then(|()| fs::write(group.own.join(limit), bytes.to_string()))
                .and_then(|()| fs::write(group.own.join("cgroup.procs"), id().to_string()))
                .map(|()| group);
            if answer.is_ok() {
                break;
            }
        }
        answer
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Errors do not matter: the group is empty, or was never made.
        let _ = fs::write(self.outer.join("cgroup.procs"), id().to_string());
        let _ = fs::remove_dir(&self.own);
    }
}

/// Two ranks with links of more than 8 MiB. A first barrier sends no message, as it makes no node group.
fn job() -> Job {
    Job::of(2)
        .on_one_host()
        .with("OXMPI_SHM_COLLECTIVES", "off")
        .with("OXMPI_SHM_BUFFER", "65472")
        .with("OXMPI_SHM_BUFFERS", "256")
        .with("OXMPI_SHM_HEAP", "0")
}

/// Whether the ranks of a job could make a control group; prints why they could not.
fn had_group(done: &Done) -> bool {
    let none = done.out.lines().find(|line| line.starts_with(NONE));
    if let Some(line) = none {
        println!("skipped: {line}");
    }
    none.is_none()
}

/// The numbers before and after `between` in `text`.
fn numbers(text: &str, between: &str) -> Option<[u64; 2]> {
    let (before, after) = text.split_once(between)?;
    let digits = |word: &str| word.parse().ok();
    let wanted = before.rsplit([' ', '\n']).next().and_then(digits)?;
    let left = after.split(' ').next().and_then(digits)?;
    Some([wanted, left])
}

#[test]
fn a_job_beyond_the_memory_of_its_control_group_is_refused_with_numbers() {
    let done = job().run(|| -> Result<()> {
        let group = Group::enter(ALLOWED);
        if let Err(why) = &group {
            println!("{NONE}: {why}");
            return World::init()?.comm().barrier();
        }
        World::init()?.comm().barrier()
    });
    if !had_group(&done) {
        return;
    }
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("left in control group /"), "{}", done.err);
    let said = numbers(&done.err, " MiB of shared memory wanted, ");
    let [wanted, left] = said.unwrap_or_else(|| panic!("{}", done.err));
    assert!(wanted > ALLOWED >> 20 && left <= ALLOWED >> 20, "{said:?}");
}

/// The first message to a peer takes the memory of a link.
#[test]
fn a_link_beyond_the_memory_of_its_control_group_is_refused_with_numbers() {
    let done = job().run(|| -> Result<()> {
        let world = World::init()?;
        let comm = world.comm();
        comm.barrier()?;
        if comm.rank() == 1 {
            // This returns an error, as rank 0 ends.
            let _ = comm.recv(&mut [0u8; 8], 0, 1);
            return Ok(());
        }
        let group = Group::enter(ALLOWED);
        if let Err(why) = &group {
            println!("{NONE}: {why}");
        }
        comm.send(&[1u8; 8], 1, 1)
    });
    if !had_group(&done) {
        return;
    }
    assert_eq!(done.code, 1, "{}", done.err);
    let said = numbers(&done.err, " B of memory wanted, ");
    let [wanted, left] = said.unwrap_or_else(|| panic!("{}", done.err));
    assert!(wanted > ALLOWED && left <= ALLOWED, "{said:?}");
}

/// A link fails with numbers when the address space is limited: the first link maps the larger buffers of all
/// links.
#[test]
fn a_link_beyond_the_address_space_is_refused_with_numbers() {
    /// Bytes of address space that are left for everything else.
    const LEFT: u64 = 1 << 20;
    let done = job().run(|| -> Result<()> {
        let world = World::init()?;
        let comm = world.comm();
        comm.barrier()?;
        if comm.rank() == 1 {
            let _ = comm.recv(&mut [0u8; 8], 0, 1);
            return Ok(());
        }
        let sizes = fs::read_to_string("/proc/self/statm").expect("the system tells sizes");
        let pages: u64 = sizes
            .split(' ')
            .next()
            .and_then(|n| n.parse().ok())
            .expect("a number");
        let limit = pages * rustix::param::page_size() as u64 + LEFT;
        let limit = Rlimit {
            current: Some(limit),
            maximum: Some(limit),
        };
        setrlimit(Resource::As, limit).expect("a lower limit may be set");
        comm.send(&[1u8; 8], 1, 1)
    });
    assert_eq!(done.code, 1, "{}", done.err);
    let said = numbers(&done.err, " B of addresses wanted, ");
    let [wanted, left] = said.unwrap_or_else(|| panic!("{}", done.err));
    assert!(wanted > 4 * ALLOWED && left <= LEFT, "{said:?}");
}
