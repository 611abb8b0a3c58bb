//! Tests of the setting `transports` in jobs.

use std::env;
use std::fs::{self, DirEntry};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use oxmpi::{Comm, Op, Result, Source, Tag, World};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{socket_acceptconn, socket_type};
use rustix::net::{SocketAddrAny, SocketType, getpeername, getsockname};

use crate::job::{Job, SIZES, over_hosts};

/// Exchanges messages of all protocols around a ring, and calls allreduce.
fn exchange(comm: &Comm) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    for len in [1, 1000, 300_000] {
        let mine = vec![rank as u64; len];
        let mut theirs = vec![u64::MAX; len];
        comm.scope(|s| {
            s.irecv(&mut theirs, left, 1)?;
            s.isend(&mine, right, 1)?;
            Ok(())
        })?;
        assert!(theirs.iter().all(|&value| value == left as u64));
    }
    assert_eq!(comm.allreduce(&1usize, Op::SUM)?, size);
    Ok(())
}

#[test]
fn ranks_of_one_host_need_no_tcp() {
    let job = Job::of(3).with("OXMPI_TRANSPORTS", "^tcp").on_one_host();
    job.succeed(|world| exchange(world.comm()));
}

/// Ranks of a host use tcp without shared memory, also on endpoints that are opened later.
#[test]
fn without_shared_memory_ranks_of_a_host_use_tcp() {
    for ranks in SIZES {
        Job::of(ranks)
            .with("OXMPI_TRANSPORTS", "tcp")
            .succeed(|world| {
                let comm = world.comm();
                assert_eq!(comm.split_by_node(0)?.size(), 1);
                exchange(comm)?;
                let shared = comm.share()?;
                shared.barrier()?;
                assert_eq!(shared.allreduce(&1usize, Op::SUM)?, comm.size());
                assert_eq!(shared.split_by_node(0)?.size(), 1);
                Ok(())
            });
    }
}

/// The number of tcp connections of this process that the peer has not closed.
fn connections() -> usize {
    let is_live = |socket: &OwnedFd| {
        let peer = getpeername(socket).ok().flatten();
        let mut polled = [PollFd::new(socket, PollFlags::RDHUP)];
        poll(&mut polled, Some(&Timespec::default())).expect("a socket can be polled");
        let is_ended = polled[0]
            .revents()
            .intersects(PollFlags::RDHUP | PollFlags::HUP);
        is_ip(peer) && !is_ended
    };
    sockets().filter(is_live).count()
}

/// This process's stream sockets, from its own descriptors. The kernel's table of connections is no snapshot:
/// while connections open and close, it repeats some and leaves out others.
fn sockets() -> impl Iterator<Item = OwnedFd> {
    let fds = fs::read_dir("/proc/self/fd").expect("its descriptors");
    let number = |fd: DirEntry| -> Option<RawFd> {
        let link = fs::read_link(fd.path()).ok()?;
        let is_socket = link.to_str()?.starts_with("socket:");
        is_socket.then(|| fd.file_name().to_str()?.parse().ok())?
    };
    let numbers: Vec<RawFd> = fds.flatten().filter_map(number).collect();
    let own = |number| {
        // SAFETY: the descriptor stays open: this process closes sockets only within calls of oxmpi.
        let socket = unsafe { BorrowedFd::borrow_raw(number) };
        socket.try_clone_to_owned().expect("a descriptor more")
    };
    let is_stream = |socket: &OwnedFd| socket_type(socket) == Ok(SocketType::STREAM);
    numbers.into_iter().map(own).filter(is_stream)
}

fn is_ip(address: Option<SocketAddrAny>) -> bool {
    address.is_some_and(|address| SocketAddr::try_from(address).is_ok())
}

/// The address at which this process accepts connections.
fn acceptor() -> SocketAddr {
    let is_acceptor = |socket: &OwnedFd| socket_acceptconn(socket).expect("it is a socket");
    let ends = sockets()
        .filter(is_acceptor)
        .filter_map(|acceptor| SocketAddr::try_from(getsockname(acceptor).ok()?).ok());
    let ends: Vec<SocketAddr> = ends.collect();
    let [mut end] = ends[..] else {
        panic!("one acceptor: {ends:?}");
    };
    if end.ip().is_unspecified() {
        end.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    end
}

#[test]
fn an_unknown_connection_is_logged() {
    let job = |log| {
        Job::of(2)
            .with("OXMPI_TRANSPORTS", "tcp")
            .with("OXMPI_TCP_LOG", log)
    };
    for (log, lines) in [("on", 1), ("off", 0)] {
        let done = job(log).run(|| {
            let world = World::init()?;
            let comm = world.comm();
            if comm.rank() == 1 {
                let mut stranger = TcpStream::connect(acceptor()).expect("the acceptor");
                stranger.write_all(&[b'?'; 300]).expect("a word");
                stranger.set_nonblocking(true).expect("no waiting");
                let is_open = |mut stranger: &TcpStream| {
                    let read = stranger.read(&mut [0; 16]);
                    matches!(read, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
                };
                while is_open(&stranger) {
                    comm.iprobe(Source::Any, Tag::Any)?;
                }
            }
            exchange(comm)
        });
        assert_eq!(done.code, 0, "{done:?}");
        let said = "oxmpi: rank 1: refused a connection from ";
        assert_eq!(done.err.matches(said).count(), lines, "{}", done.err);
    }
}

#[test]
fn a_job_connects_all_ranks_at_its_start_on_request() {
    let job = Job::of(12).with("OXMPI_TRANSPORTS", "tcp");
    job.with("I_MPI_DYNAMIC_CONNECTION", "disable")
        .succeed(|world| {
            // No rank has sent a message yet. Two ranks that connect to each other at once may have two
            // connections.
            let count = connections();
            assert!(count >= world.comm().size() - 1, "{count}");
            exchange(world.comm())
        });
}

#[test]
fn a_job_connects_ranks_at_their_first_message() {
    Job::of(16)
        .with("OXMPI_TRANSPORTS", "tcp")
        .with("OXMPI_BARRIER_ALGORITHM", "dissemination")
        .succeed(|world| {
            // At the start a rank exchanges messages with the ranks at distance 1, 2, 4 and 8, which are 7.
            // Two ranks that connect to each other at once may have two connections, so up to 14 are right.
            // The barrier is among the same ranks: no rank connects to another before all have counted.
            let count = connections();
            world.comm().barrier()?;
            assert!(count < world.comm().size() - 1, "{count}");
            exchange(world.comm())
        });
}

#[test]
fn an_unknown_name_is_reported_once_in_a_job() {
    let done = Job::of(4)
        .with("OXMPI_TRANSPORTS", "sm,tcp,tpc")
        .run(|| exchange(World::init()?.comm()));
    assert_eq!(done.code, 0, "{}", done.err);
    let said = "tpc is no transport and no device here; did you mean tcp?";
    assert_eq!(done.err.matches(said).count(), 1, "{}", done.err);
}

/// Variable with the value of a setting for rank 1 alone.
const SETTING: &str = "TEST_SETTING";

/// Joins a job in which rank 1 alone has the setting `name`: rank 1 starts its program again with that
/// variable. Settings files of hosts may differ in this way.
fn join_with_setting(name: &str) -> Result<()> {
    if env::var("PMI_RANK").is_ok_and(|rank| rank == "1") && env::var_os(name).is_none() {
        let mut again = Command::new(env::current_exe().expect("its own path"));
        let value = env::var(SETTING).expect("the job's");
        panic!(
            "{}",
            again.args(env::args().skip(1)).env(name, value).exec()
        );
    }
    World::init().map(drop)
}

#[test]
fn ranks_with_different_lengths_of_frames_do_not_join() {
    // The data that ranks exchange at the start is longer than the first length.
    for frame in ["128", "1048576"] {
        let job = Job::of(3).with("OXMPI_TRANSPORTS", "tcp");
        let job = job.with(SETTING, frame);
        let done = job.run(|| join_with_setting("OXMPI_TCP_FRAME"));
        assert_eq!(done.code, 1, "{done:?}");
        let said = format!("has tcp_frame={frame} and tcp_chunk=");
        for said in ["comparing the settings of all ranks", &said] {
            assert!(done.err.contains(said), "{}", done.err);
        }
    }
}

/// Such ranks would choose different algorithms, and wait for each other.
#[test]
fn ranks_with_different_settings_of_collectives_do_not_join() {
    let job = Job::of(3).with(SETTING, "ring");
    let done = job.run(|| join_with_setting("OXMPI_ALLREDUCE_ALGORITHM"));
    assert_eq!(done.code, 1, "{done:?}");
    let version = env!("CARGO_PKG_VERSION");
    let said = format!(
        "rank 0 has oxmpi {version} and the defaults, and rank 1 has oxmpi {version} and \
         allreduce_algorithm = ring (OXMPI_ALLREDUCE_ALGORITHM); all ranks of a job need the same"
    );
    assert!(done.err.contains(&said), "{}", done.err);
}

#[test]
fn ranks_with_the_same_value_of_a_setting_join() {
    let job = Job::of(2).with(SETTING, "16384");
    let done = job.run(|| join_with_setting("OXMPI_GATHERV_SHORT"));
    assert_eq!(done.code, 0, "{done:?}");
}

#[test]
fn a_job_without_a_transport_fails_at_its_start() {
    let done = Job::of(2)
        .with("OXMPI_TRANSPORTS", "^sm,tcp")
        .run(|| World::init().map(drop));
    assert_eq!(done.code, 1, "{done:?}");
    for said in [
        "sm: transports = ^sm,tcp (OXMPI_TRANSPORTS) excludes it",
        "tcp: transports = ^sm,tcp (OXMPI_TRANSPORTS) excludes it",
        "with `transports=auto`",
    ] {
        assert!(done.err.contains(said), "{}", done.err);
    }
}

#[test]
fn a_job_over_hosts_without_tcp_fails_at_its_start() {
    if !over_hosts() {
        return;
    }
    let done = Job::of(4)
        .with("OXMPI_TRANSPORTS", "^tcp")
        .run(|| World::init().map(drop));
    assert_eq!(done.code, 1, "{done:?}");
    for said in [
        "tcp: transports = ^tcp (OXMPI_TRANSPORTS) excludes it",
        "with `transports=auto`",
    ] {
        assert!(done.err.contains(said), "{}", done.err);
    }
}
