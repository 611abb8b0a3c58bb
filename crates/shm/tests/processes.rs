//! Ranks that are processes: this test program starts itself again.

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{Event, KEY, Rank, WATCHDOG, head, pattern};
use oxmpi_os::RawBytes;
use oxmpi_shm::{BulkPreference, BulkProtocol, JoinError, Node, NodeLeader, SegmentLayout};
use oxmpi_wire::regions::Region;
use oxmpi_wire::{Access, Fault, Key, Layout, Memory, Peer, Sleeper};

const PART: &str = "OXMPI_TEST_PART";
/// The number of messages that the part "die" sends, and what it then prints.
const SENT: u32 = 60;
const SAID: &str = "all sent";
const NAME: &str = "OXMPI_TEST_NAME";

/// Starts this program as rank 1 with a part to play.
fn start(part: &str, name: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "processes::rank_one", "--nocapture"])
        .env(PART, part)
        .env(NAME, name)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Joins rank 1, which plays `part`.
pub(crate) fn start_peer(part: &str) -> (Rank, Child) {
    let host = NodeLeader::bind().unwrap();
    let child = start(part, host.name());
    let node = host.serve(SegmentLayout::new(2), KEY, WATCHDOG).unwrap();
    assert_eq!(node.pid(1), child.id());
    (Rank::new(node), child)
}

/// The process that other tests start; without a part it ends at once.
#[test]
fn rank_one() {
    let Ok(part) = env::var(PART) else { return };
    let name = env::var(NAME).unwrap();
    let join = || Rank::new(Node::join(&name, 1, 2, KEY, WATCHDOG).unwrap());
    match part.as_str() {
        "echo" => echo(join()),
        "gaps" => crate::gaps::offer_drawn(join()),
        "die" => {
            let mut rank = join();
            for i in 0..SENT {
                rank.try_send(0, i, &pattern(i as usize % 49, 1)).unwrap();
            }
            println!("{SAID}");
            stay(&mut rank, u32::MAX);
        }
        "half-way" | "half-way-gaps" | "another-program" => {
            let mut rank = join();
            let stride = if part == "half-way-gaps" { 5000 } else { 4096 };
            let layout = Layout::strided(4096, stride, (HALF_WAY / 4096) as u32).unwrap();
            let mut body = pattern(layout.span().end as usize, 1);
            // SAFETY: the layout is within the body, which outlives the region.
            let bytes = unsafe { RawBytes::with_layout(body.as_mut_ptr(), layout) };
            let region = rank.tx.register(bytes, Access::READ, Peer(0)).unwrap();
            let key = rank.tx.expose(&region, Peer(0));
            rank.send(0, 0, &key.0);
            if part == "another-program" {
                // Without a poll, which may move bytes: else all might be there before the line is printed.
                std::io::stdin().read_exact(&mut [0]).unwrap();
                let error = Command::new("sleep").arg("20").exec();
                panic!("{error}");
            }
            stay(&mut rank, PIECES / 2);
        }
        other => panic!("no part {other}"),
    }
}

/// Sends every message back, until an empty one comes.
fn echo(mut rank: Rank) {
    loop {
        rank.until("frames", |log| !log.is_empty());
        for event in std::mem::take(&mut rank.log.0) {
            match event {
                Event::Frame(_, head, body) => {
                    rank.send(0, head.envelope.tag, &body);
                    if body.is_empty() {
                        return;
                    }
                }
                Event::Room(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Polls until it has moved `most` pieces, then waits to be killed, at most until the watchdog is over.
fn stay(rank: &mut Rank, most: u32) {
    let (start, mut moved) = (std::time::Instant::now(), 0);
    while start.elapsed() < 2 * WATCHDOG {
        if moved < most {
            moved += rank.poll();
        }
        std::thread::yield_now();
    }
}

#[test]
fn two_processes_exchange_messages() {
    let (mut rank, mut child) = start_peer("echo");
    for round in 0..2_000 {
        let body = pattern(1 + round * 13 % 8192, round);
        rank.send(1, round as u32, &body);
        rank.until("echo", |log| !log.is_empty());
        let expected = Event::Frame(1, head(round as u32, body.len()), body);
        assert_eq!(rank.log.0, [expected]);
        rank.log.0.clear();
    }
    rank.send(1, 0, &[]);
    assert!(child.wait().unwrap().success());
}

/// Waits until rank 1 has sent all, without a poll, and kills it.
fn kill_after_sending(child: &mut Child) {
    let output = BufReader::new(child.stdout.take().unwrap());
    output
        .lines()
        .find(|line| line.as_ref().unwrap().contains(SAID))
        .unwrap()
        .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn messages_of_a_killed_peer_come_before_its_loss() {
    let (mut rank, mut child) = start_peer("die");
    kill_after_sending(&mut child);
    rank.until("loss", |log| log.contains(&Event::Lost(1, Fault::PeerDead)));
    assert_eq!(rank.log.0.len() as u32, SENT + 1);
    assert!(rank.try_send(1, 0, &[]).is_err());
    for _ in 0..100_000 {
        rank.poll();
    }
    assert_eq!(rank.log.0.len() as u32, SENT + 1, "reported once");
}

#[test]
fn a_sleeper_notices_that_its_peer_was_killed() {
    let (mut rank, mut child) = start_peer("die");
    kill_after_sending(&mut child);
    let start = std::time::Instant::now();
    while !rank.log.0.contains(&Event::Lost(1, Fault::PeerDead)) {
        if rank.poll() == 0 && rank.rx.arm() {
            rank.rx.nap(Duration::from_millis(10));
        }
        assert!(start.elapsed() < WATCHDOG);
    }
}

#[test]
fn a_get_from_a_killed_peer_ends() {
    let all = BulkProtocol::CLAIMABLE
        .into_iter()
        .chain([BulkProtocol::Buffers])
        .map(|protocol| ("half-way", protocol));
    for (part, protocol) in all.chain([("half-way-gaps", BulkProtocol::Cma)]) {
        let (mut rank, mut child) = start_peer(part);
        let mut copy = vec![0; HALF_WAY];
        let region = start_half_way(&mut rank, &mut copy, protocol);
        child.kill().unwrap();
        child.wait().unwrap();
        lose_half_way(&mut rank, region);
    }
}

/// A peer's process that runs another program is not the peer: its bytes are not read.
#[test]
fn a_get_from_a_peer_that_became_another_program_ends() {
    for protocol in [BulkProtocol::Cma, BulkProtocol::CmaBoth] {
        let (mut rank, mut child) = start_peer("another-program");
        let mut copy = vec![0; HALF_WAY];
        let region = start_half_way(&mut rank, &mut copy, protocol);
        // Only now, so that the get is half-way.
        child.stdin.take().unwrap().write_all(b"\n").unwrap();
        let proc = format!("/proc/{}/comm", child.id());
        while std::fs::read_to_string(&proc).unwrap().trim() != "sleep" {
            std::thread::yield_now();
        }
        let single = oxmpi_os::probe::process_vm_readv().is_ok();
        if single {
            lose_half_way(&mut rank, region);
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// Bytes of the region that rank 1 offers half-way.
const HALF_WAY: usize = 64 << 20;

/// Its pieces by `CmaBoth`, the longest there are. Rank 1 stops before the last piece, so that it is killed half-way, however
/// late that is.
const PIECES: u32 = (HALF_WAY / (1 << 20)) as u32;

/// The get half-way ends with the loss of rank 1, and its region is free again.
fn lose_half_way(rank: &mut Rank, region: Region) {
    rank.until("loss", |log| log.contains(&Event::Lost(1, Fault::PeerDead)));
    assert!(rank.log.0.contains(&Event::Done(5, Err(Fault::PeerDead))));
    rank.release(region, 6);
}

/// Starts to get the region of rank 1.
fn start_half_way(rank: &mut Rank, copy: &mut [u8], protocol: BulkProtocol) -> Region {
    rank.tx.set_bulk_preference(BulkPreference {
        protocol: Some(protocol),
        chunk: None,
    });
    rank.until("key", |log| !log.is_empty());
    let Some(Event::Frame(_, _, body)) = rank.log.0.pop() else {
        panic!("a key first")
    };
    let key = Key(body.try_into().unwrap());
    let region = rank.register(copy, Access::WRITE);
    rank.get(1, &key, &region, HALF_WAY, 5);
    rank.poll();
    region
}

#[test]
fn a_sleeper_is_woken() {
    let (mut rank, mut child) = start_peer("echo");
    for round in 0..200 {
        rank.send(1, round, &[1; 8]);
        let start = std::time::Instant::now();
        while rank.log.0.is_empty() {
            if rank.poll() == 0 && rank.rx.arm() {
                rank.rx.nap(WATCHDOG);
            }
        }
        assert!(
            start.elapsed() < WATCHDOG,
            "round {round}: the wake was missed"
        );
        rank.log.0.clear();
    }
    rank.send(1, 0, &[]);
    child.wait().unwrap();
}

/// Serves a node of so many ranks for so long, while another thread runs `join` with the leader's name.
fn serve(
    (ranks, limit): (u32, Duration),
    join: impl FnOnce(&str) + Send,
) -> Result<Node, JoinError> {
    let host = NodeLeader::bind().unwrap();
    let name = host.name().to_owned();
    std::thread::scope(|s| {
        s.spawn(|| join(&name));
        host.serve(SegmentLayout::new(ranks), KEY, limit)
    })
}

#[test]
fn a_missing_rank_is_named() {
    let short = Duration::from_millis(50);
    // The joining rank waits longer than its leader, or it would report a missing rank, too.
    let served = serve((4, short), |name| {
        Node::join(name, 2, 4, KEY, WATCHDOG).unwrap_err();
    });
    let error = served.unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("of 4 ranks") && text.contains("rank 1"),
        "{text}"
    );
    assert!(matches!(error, JoinError::Missing { missing, .. } if missing.starts_with(&[1])));

    let error = Node::join("oxmpi-nobody", 1, 2, KEY, short).unwrap_err();
    assert!(
        error.to_string().contains("connect to the leader"),
        "{error}"
    );
}

#[test]
fn strangers_and_mismatched_ranks_are_refused() {
    let served = serve((2, WATCHDOG), |name| {
        let stranger = Node::join(name, 1, 2, [0; 16], WATCHDOG).unwrap_err();
        let text = stranger.to_string();
        assert!(text.contains("refused this rank"), "{text}");
        Node::join(name, 1, 2, KEY, WATCHDOG).unwrap();
    });
    served.unwrap();
    for (rank, ranks, says) in [
        (1, 3, "has 3 ranks"),
        (5, 2, "not one of"),
        (0, 2, "not one of"),
    ] {
        let served = serve((2, WATCHDOG), |name| {
            Node::join(name, rank, ranks, KEY, WATCHDOG).unwrap_err();
        });
        let error = served.unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn more_memory_than_the_machine_has_is_refused() {
    let layout = SegmentLayout {
        ranks: 256,
        slots: 65_536,
        buffer: 65_472,
        buffers: 4096,
    };
    let host = NodeLeader::bind().unwrap();
    let error = host.serve(layout, KEY, WATCHDOG).unwrap_err();
    assert!(
        matches!(error, JoinError::Memory(_) | JoinError::Layout(_)),
        "{error}"
    );
    assert!(error.to_string().contains("MiB"), "{error}");
}
