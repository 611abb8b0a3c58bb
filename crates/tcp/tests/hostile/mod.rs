//! Tests with foreign programs that connect and with a peer that violates the protocol: the other ranks go on.

mod generated;
mod handshake;
mod job;
mod stream;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::common::{Job, SECRET, WATCHDOG, send};
use job::{HOSTILE, HostileJob, has_hostile_frame, loss};
use oxmpi_os::RawBytes;
use oxmpi_tcp::frame::{Control, OperationId, Push};
use oxmpi_tcp::{BusinessCard, InterfaceFilter, JobKey, PassiveEndpoint, TcpOptions};
use oxmpi_testkit::conformance::{EventLog, eager};
use oxmpi_testkit::rng::Rng;
use oxmpi_wire::regions::RegionId;
use oxmpi_wire::{
    Access, Fault, Header, Kind, Local, Memory, Peer, Put, Remote, Rma, Rx, Slot, Token, Tx,
};

/// The bytes of a control frame, without its bulk.
fn control(control: Control) -> Vec<u8> {
    [&control.header().bytes()[..], &control.bytes()].concat()
}

/// Rank 0 refuses thousands of foreign connections, silent or with random bytes, and holds few at once. A peer
/// that connects then is accepted.
#[test]
fn crowds_of_foreign_connections_keep_no_peer_out() {
    let mut job = HostileJob::new(TcpOptions {
        pending_connections: 16,
        handshake_timeout: Duration::from_millis(200),
        ..TcpOptions::default()
    });
    job.goes_on();
    let mut rng = Rng::new(5);
    let mut crowd = Vec::new();
    for number in 0..3000 {
        let mut socket = TcpStream::connect(job.address).expect("rank 0 listens");
        if number % 3 == 0 {
            let noise: Vec<u8> = (0..number % 200).map(|_| rng.next() as u8).collect();
            socket.write_all(&noise).ok();
        }
        if number % 50 == 0 {
            job.poll_all();
        }
        crowd.push(socket);
        if crowd.len() > 200 {
            crowd.clear();
        }
    }
    job.goes_on();
    let start = Instant::now();
    // A peer whose handshake times out connects again.
    let _late = loop {
        assert!(start.elapsed() < WATCHDOG, "hangs: a rank is accepted");
        if let Some(late) = job.join_with(SECRET) {
            break late;
        }
    };
    job.goes_on();
    for mut silent in crowd {
        silent
            .set_read_timeout(Some(Duration::from_millis(1)))
            .expect("a socket");
        let start = Instant::now();
        loop {
            job.poll_all();
            match silent.read(&mut [0; 16]) {
                Ok(0) => break,
                Ok(_) => panic!("a foreign connection was answered"),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
                Err(_) => assert!(
                    start.elapsed() < WATCHDOG,
                    "a foreign connection is still held"
                ),
            }
        }
    }
    assert_eq!(loss(&job), None);
}

/// A rank of another job has another key: neither side accepts the other.
#[test]
fn a_wrong_key_is_refused() {
    let mut job = HostileJob::new(TcpOptions::default());
    assert!(job.join_with(b"another secret").is_none());
    job.goes_on();
    assert_eq!(loss(&job), None);

    let loopback = InterfaceFilter::new("127.0.0.0/8", "").expect("a range");
    let options = TcpOptions {
        connect_timeout: Duration::from_millis(50),
        ..TcpOptions::default()
    };
    let foreign = PassiveEndpoint::open(JobKey::new(b"another secret"), &loopback, options)
        .expect("it listens");
    let own = foreign.card().clone();
    let rank_zero = BusinessCard {
        port: job.address.port(),
        ..own.clone()
    };
    let cards = vec![rank_zero.clone(), rank_zero, own];
    let mut foreign = foreign.join::<RawBytes>(HOSTILE, cards).expect("a rank");
    let mut log = EventLog::default();
    send(&mut foreign, 0, 1);
    let start = Instant::now();
    while log.lost.is_empty() {
        job.poll_all();
        foreign.1.poll(&mut foreign.0, 64, &mut log);
        assert!(
            start.elapsed() < WATCHDOG,
            "hangs: the foreign rank loses rank 0"
        );
    }
    job.goes_on();
    assert_eq!(loss(&job), None);
    assert!(!has_hostile_frame(&job));
}

/// The sender of an invalid frame is lost, for the rule that it violated.
#[test]
fn each_violated_rule_is_named() {
    let own = |len| Header {
        kind: Kind::Transport,
        ..eager(0, len)
    };
    let with = |head: Header, body: &[u8]| [&head.bytes(), body].concat();
    let mut version = eager(1, 0).bytes();
    version[0] = 9;
    let mut kind = eager(1, 0).bytes();
    kind[1] = 200;
    for (bytes, rule) in [
        (version.to_vec(), "a frame of another version"),
        (kind.to_vec(), "a frame of unknown kind"),
        (
            with(eager(1, 1 << 30), &[]),
            "a frame longer than frames may be",
        ),
        (
            with(own(7), &[1; Control::LEN]),
            "a body of another length than its kind has",
        ),
        (
            with(own(Control::LEN), &[9; Control::LEN]),
            "a code that does not exist",
        ),
    ] {
        let mut job = HostileJob::new(TcpOptions::default());
        job.goes_on();
        let mut socket = job.join();
        job.write(&mut socket, &bytes);
        job.loses_hostile_for(rule, |job| job.poll_all());
    }
}

/// Replies to operations that do not exist are dropped, and the next frame arrives.
#[test]
fn replies_to_no_operation_are_dropped() {
    let mut job = HostileJob::new(TcpOptions::default());
    let mut socket = job.join();
    let id = OperationId(77);
    for frame in [
        control(Control::Completion { id, ok: true }),
        [control(Control::Data { id, at: 9, len: 3 }), vec![1; 3]].concat(),
        eager(5, 0).bytes().to_vec(),
    ] {
        job.write(&mut socket, &frame);
    }
    job.until("the last frame arrives", has_hostile_frame);
    assert_eq!(loss(&job), None);
    job.goes_on();
}

/// A peer that sends the bytes of a get twice, and then as a push, is lost.
#[test]
fn more_bytes_than_the_get_are_refused() {
    let mut job = HostileJob::new(TcpOptions::default());
    let mut socket = job.join();
    job.goes_on();
    let mut memory = [0; 100];
    // SAFETY: the array lives longer than the ranks, and the test does not read it.
    let bytes = unsafe { RawBytes::new(memory.as_mut_ptr(), memory.len()) };
    let victim = &mut job.ranks[0].0;
    let region = victim.register(bytes, Access::WRITE, Peer(HOSTILE));
    let (region, len) = (&region.expect("a region"), 100);
    let key = &Push { number: 0, len: 60 }.key(RegionId::from_word(88));
    let (from, to) = (Remote { key, at: 0, len }, Local { region, at: 0, len });
    victim.get(Peer(HOSTILE), from, to, Token(5)).expect("room");
    victim.flush();
    socket.set_nonblocking(false).expect("a socket");
    let mut request = [0; Header::LEN + Control::LEN];
    socket.read_exact(&mut request).expect("a get of rank 0");
    let body = request.last_chunk().expect("a body");
    let Ok(Control::Get {
        id,
        at: 60,
        len: 40,
        ..
    }) = Control::parse(body, Control::LEN as u32)
    else {
        panic!("rank 0 gets the bytes that are not pushed");
    };
    let data = [control(Control::Data { id, at: 0, len: 40 }), vec![1; 40]].concat();
    let push = Control::Push {
        number: 0,
        at: 0,
        len: 60,
    };
    let push = [control(push), vec![1; 60]].concat();
    socket
        .write_all(&[&data[..], &data, &push].concat())
        .expect("room");
    job.loses_hostile_for("bytes that were not announced", |job| job.poll_all());
}

/// Pads count against the budget of a poll, so that an endless series of them does not block it.
#[test]
fn pads_are_counted() {
    let mut job = HostileJob::new(TcpOptions::default());
    let mut socket = job.join();
    job.goes_on();
    let pads = control(Control::Pad).repeat(500);
    let all = [&pads[..], &eager(5, 0).bytes()].concat();
    socket.set_nonblocking(false).expect("a socket");
    socket.write_all(&all).expect("the system has room");
    job.poll_all();
    assert!(!has_hostile_frame(&job), "more than the budget");
    job.until("the last frame arrives", has_hostile_frame);
    job.goes_on();
}

/// A peer that sends requests and reads no reply is lost before the replies fill the memory.
#[test]
fn unread_replies_are_bounded() {
    let mut job = HostileJob::new(TcpOptions::default());
    let mut socket = job.join();
    let get = Control::Get {
        id: OperationId(77),
        from: RegionId::from_word(88),
        at: 0,
        len: 8,
    };
    let gets = control(get).repeat(1000);
    let rule = "more requests at once than a rank may have";
    job.loses_hostile_for(rule, |job| job.write(&mut socket, &gets));
}

/// A peer that is given up in the middle of a put no longer uses the region: it can be released.
#[test]
fn a_peer_given_up_in_a_put_releases_the_region() {
    let mut job = HostileJob::new(TcpOptions::default());
    let mut socket = job.join();
    let mut memory = [0; 1000];
    let first = memory.as_mut_ptr();
    // SAFETY: the array lives longer than the ranks, and is looked at only between their calls.
    let bytes = unsafe { RawBytes::new(first, memory.len()) };
    let victim = &mut job.ranks[0].0;
    let region = victim.register(bytes, Access::WRITE, Peer(HOSTILE));
    let region = region.expect("a region");
    let put = Control::Put {
        id: OperationId(77),
        to: RegionId::from_key(&victim.expose(&region, Peer(HOSTILE))).0,
        at: 0,
        len: 1000,
        last: true,
    };
    job.write(&mut socket, &[&control(put)[..], &[7; 10]].concat());
    let start = Instant::now();
    // SAFETY: it is the first byte of the array, and no call of a rank runs.
    while unsafe { first.read() } != 7 {
        job.poll_all();
        assert!(start.elapsed() < WATCHDOG, "hangs: the first bytes arrive");
    }
    let victim = &mut job.ranks[0].0;
    victim.give_up(Peer(HOSTILE), Fault::Silent);
    victim.release(region, Token(5));
    while job.logs[0].done.is_empty() {
        job.poll_all();
        assert!(start.elapsed() < WATCHDOG, "hangs: the region is released");
    }
    assert_eq!(loss(&job), Some(Fault::Silent));
    job.goes_on();
    // The connection of the hostile rank is closed.
    socket.set_nonblocking(false).expect("a socket");
    assert!(!matches!(socket.read(&mut [0]), Ok(1..)));
}

/// The bytes that wait for a peer that does not read are bounded.
#[test]
fn a_peer_that_stops_reading_harms_no_other() {
    let mut job = HostileJob::new(TcpOptions::default());
    let socket = job.join();
    let len = TcpOptions::default().frame as usize;
    let body = vec![1; len];
    let (mut taken, mut refused) = (0, 0);
    while refused < 1000 {
        let tx = &mut job.ranks[0].0;
        match tx.frame(Peer(HOSTILE), &eager(1, len), len) {
            Ok(mut slot) => {
                slot.put(&body);
                slot.send();
                taken += 1;
            }
            Err(oxmpi_wire::Busy) => refused += 1,
        }
        job.poll_all();
        assert!(taken < 4000, "the buffers must fill up");
    }
    job.goes_on();
    assert_eq!(loss(&job), None);
    drop(socket);
    job.until("the loss is reported", |job| loss(job).is_some());
    assert_eq!(loss(&job), Some(Fault::PeerDead));
    job.goes_on();
}

/// Ranks that never start harm no other.
#[test]
fn ranks_that_never_start_are_not_missed() {
    let mut job: Job = Job::new(64, TcpOptions::default());
    job.ranks.truncate(2);
    job.send(0, 1, 1);
    job.until("the frame arrives", |job| job.logs[1].frames.len() == 1);
}
