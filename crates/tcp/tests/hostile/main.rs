//! Strangers at the door, and a peer that keeps to no rule: the others go on.

#[path = "../common/mod.rs"]
mod common;
mod greeting;
mod stream;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use common::{Rank, SECRET, WATCHDOG, logs, ranks, site, until};
use oxmpi_os::RawBytes;
use oxmpi_tcp::door::{Caller, JobKey, Who};
use oxmpi_tcp::frame::{Control, Id, Run};
use oxmpi_tcp::{Card, Filter, Options, Site};
use oxmpi_testkit::conformance::Log;
use oxmpi_testkit::rng::Rng;
use oxmpi_wire::regions::Name;
use oxmpi_wire::{
    Access, Envelope, Fault, Flags, Header, Kind, Local, Memory, Peer, Put, Remote, Rma, Rx, Slot,
    Token, Tx,
};
use proptest::prelude::*;

/// Two ranks of a job of three, and where the first one listens. The third one is hostile.
struct Job {
    ranks: Vec<Rank<RawBytes>>,
    logs: Vec<Log>,
    door: SocketAddr,
    sent: u32,
}

const HOSTILE: u32 = 2;

impl Job {
    fn new(options: Options) -> Self {
        let sites: Vec<Site> = (0..3).map(|_| site(options)).collect();
        let cards: Vec<Card> = sites.iter().map(|site| site.card().clone()).collect();
        let door = SocketAddr::from(([127, 0, 0, 1], cards[0].port));
        let join = |(me, site): (u32, Site)| site.join(me, cards.clone()).expect("a rank");
        let ranks = (0..).zip(sites).take(2).map(join).collect();
        Self {
            ranks,
            logs: logs(2),
            door,
            sent: 0,
        }
    }

    fn poll(&mut self) {
        for ((tx, rx), log) in self.ranks.iter_mut().zip(&mut self.logs) {
            tx.flush();
            rx.poll(tx, 64, log);
        }
    }

    /// The two ranks exchange a message: all is well with them.
    fn goes_on(&mut self) {
        self.sent += 1;
        for me in 0..2 {
            send(&mut self.ranks[me], 1 - me as u32, self.sent);
        }
        let sent = self.sent as usize;
        let done = |_: &mut [Rank<RawBytes>], logs: &[Log]| {
            let own = |(me, log): (usize, &Log)| {
                let frames = log.frames.iter().filter(|f| f.0.0 as usize == 1 - me);
                frames.count() == sent
            };
            logs.iter().enumerate().all(own)
        };
        until(&mut self.ranks, "the job goes on", done, &mut self.logs);
    }

    fn loss(&self) -> Option<Fault> {
        let lost = &self.logs[0].lost;
        assert!(lost.iter().all(|(peer, _)| peer.0 == HOSTILE), "{lost:?}");
        lost.first().map(|(_, why)| *why)
    }

    /// After some of these steps the hostile rank is lost for this rule, and the job goes on.
    fn throws_out(&mut self, rule: &'static str, mut step: impl FnMut(&mut Self)) {
        let start = Instant::now();
        while self.loss().is_none() {
            step(self);
            assert!(start.elapsed() < WATCHDOG, "hangs: {rule}");
        }
        assert_eq!(self.loss(), Some(Fault::Protocol(rule)));
        self.goes_on();
    }

    /// The hostile rank joins as who knows the key.
    fn join(&mut self) -> TcpStream {
        self.join_with(SECRET).expect("the key is right")
    }

    fn join_with(&mut self, secret: &[u8]) -> Option<TcpStream> {
        let who = Who {
            from: HOSTILE,
            to: 0,
        };
        let mut caller = Caller::new(JobKey::new(secret), who, [3; 16]);
        let mut socket = TcpStream::connect(self.door).expect("the door is there");
        socket.set_nonblocking(true).expect("a socket");
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < WATCHDOG, "hangs: joining");
            let said = caller.output().len();
            if said > 0 {
                if socket.write_all(caller.output()).is_err() {
                    return None;
                }
                caller.wrote(said);
            }
            self.poll();
            match socket.read(caller.input()) {
                Ok(0) => return None,
                Ok(count) => match caller.came(count) {
                    Ok(true) => return Some(socket),
                    Ok(false) => {}
                    Err(_) => return None,
                },
                Err(_) => {}
            }
        }
    }

    /// Writes what the victim takes of `bytes`, while it reads.
    fn write(&mut self, socket: &mut TcpStream, mut bytes: &[u8]) {
        let start = Instant::now();
        while !bytes.is_empty() {
            assert!(start.elapsed() < WATCHDOG, "hangs: the victim reads");
            match socket.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return, // it was thrown out
            }
            self.poll();
        }
    }
}

fn eager(tag: u32, len: u32) -> Header {
    Header {
        kind: Kind::Eager,
        flags: Flags::empty(),
        len,
        envelope: Envelope { context: 0, tag },
    }
}

fn send(rank: &mut Rank<RawBytes>, to: u32, tag: u32) {
    let mut slot = rank.0.frame(Peer(to), &eager(tag, 4), 4).expect("room");
    slot.put(&tag.to_le_bytes());
    slot.send();
}

/// The bytes of a frame of the transport's own, without its bulk.
fn control(control: Control) -> Vec<u8> {
    [&control.header().bytes()[..], &control.bytes()].concat()
}

/// Thousands of connections, most of which say nothing, some of which say anything: few are held at
/// once, all are turned away in the end, and a rank that comes then gets in.
#[test]
fn crowds_of_strangers_keep_nobody_out() {
    let mut job = Job::new(Options {
        guests: 16,
        greeting: Duration::from_millis(200),
        ..Options::default()
    });
    job.goes_on();
    let mut rng = Rng::new(5);
    let mut crowd = Vec::new();
    for number in 0..3000 {
        let mut socket = TcpStream::connect(job.door).expect("the door is there");
        if number % 3 == 0 {
            let noise: Vec<u8> = (0..number % 200).map(|_| rng.next() as u8).collect();
            socket.write_all(&noise).ok();
        }
        if number % 50 == 0 {
            job.poll();
        }
        crowd.push(socket);
        if crowd.len() > 200 {
            crowd.clear();
        }
    }
    job.goes_on();
    let start = Instant::now();
    // A guest that is not heard in time calls again.
    let _late = loop {
        assert!(start.elapsed() < WATCHDOG, "hangs: a rank gets in");
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
            job.poll();
            match silent.read(&mut [0; 16]) {
                Ok(0) => break,
                Ok(_) => panic!("a stranger was answered"),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
                Err(_) => assert!(start.elapsed() < WATCHDOG, "a stranger is still held"),
            }
        }
    }
    assert_eq!(job.loss(), None);
}

/// Another job's rank knows another key: neither side lets the other in.
#[test]
fn a_wrong_key_opens_nothing() {
    let mut job = Job::new(Options::default());
    assert!(job.join_with(b"another secret").is_none());
    job.goes_on();
    assert_eq!(job.loss(), None);

    let loopback = Filter::new("127.0.0.0/8", "").expect("a range");
    let options = Options {
        patience: Duration::from_millis(50),
        ..Options::default()
    };
    let stranger = Site::open(JobKey::new(b"another secret"), &loopback, options).expect("a site");
    let own = stranger.card().clone();
    let door = Card {
        port: job.door.port(),
        ..own.clone()
    };
    let cards = vec![door.clone(), door, own];
    let mut stranger = stranger.join::<RawBytes>(HOSTILE, cards).expect("a rank");
    let mut log = Log::default();
    send(&mut stranger, 0, 1);
    let start = Instant::now();
    while log.lost.is_empty() {
        job.poll();
        stranger.1.poll(&mut stranger.0, 64, &mut log);
        assert!(start.elapsed() < WATCHDOG, "hangs: it gives up");
    }
    job.goes_on();
    assert_eq!(job.loss(), None);
    assert!(
        job.logs[0]
            .frames
            .iter()
            .all(|(from, _, _)| from.0 != HOSTILE)
    );
}

/// Frames that break a rule, one by one: the rank that sent them is lost, with the rule's name.
#[test]
fn each_broken_rule_is_named() {
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
            with(own(Control::LEN as u32), &[9; Control::LEN]),
            "a code that does not exist",
        ),
    ] {
        let mut job = Job::new(Options::default());
        job.goes_on();
        let mut socket = job.join();
        job.write(&mut socket, &bytes);
        job.throws_out(rule, Job::poll);
    }
}

/// Answers to what was never asked are as those to what has ended early: dropped, and the frame after
/// them arrives.
#[test]
fn answers_to_nothing_are_dropped() {
    let mut job = Job::new(Options::default());
    let mut socket = job.join();
    let id = Id(77);
    for frame in [
        control(Control::Ended { id, ok: true }),
        [control(Control::Data { id, at: 9, len: 3 }), vec![1; 3]].concat(),
        eager(5, 0).bytes().to_vec(),
    ] {
        job.write(&mut socket, &frame);
    }
    let start = Instant::now();
    while !job.logs[0].frames.iter().any(|frame| frame.0.0 == HOSTILE) {
        job.poll();
        assert!(start.elapsed() < WATCHDOG, "hangs: the last frame arrives");
    }
    assert_eq!(job.loss(), None);
    job.goes_on();
}

/// Bytes that were got, sent twice and then unasked too, are more than there was to get.
#[test]
fn more_bytes_than_were_got_are_refused() {
    let mut job = Job::new(Options::default());
    let mut socket = job.join();
    job.goes_on();
    let mut memory = [0; 100];
    // SAFETY: the array lives longer than the ranks, and is not looked at.
    let bytes = unsafe { RawBytes::new(memory.as_mut_ptr(), memory.len()) };
    let victim = &mut job.ranks[0].0;
    let region = victim.register(bytes, Access::Write, Peer(HOSTILE));
    let (region, len) = (&region.expect("a region"), 100);
    let key = &Run { number: 0, len: 60 }.key(Name::of_word(88));
    let (from, to) = (Remote { key, at: 0, len }, Local { region, at: 0, len });
    victim.get(Peer(HOSTILE), from, to, Token(5)).expect("room");
    victim.flush();
    socket.set_nonblocking(false).expect("a socket");
    let mut asked = [0; Header::LEN + Control::LEN];
    socket.read_exact(&mut asked).expect("it asks");
    let body = asked.last_chunk().expect("a body");
    let Ok(Control::Get {
        id,
        at: 60,
        len: 40,
        ..
    }) = Control::parse(body, Control::LEN as u32)
    else {
        panic!("it asks for what does not come unasked");
    };
    let data = [control(Control::Data { id, at: 0, len: 40 }), vec![1; 40]].concat();
    let ahead = Control::Ahead {
        number: 0,
        at: 0,
        len: 60,
    };
    let ahead = [control(ahead), vec![1; 60]].concat();
    socket
        .write_all(&[&data[..], &data, &ahead].concat())
        .expect("room");
    job.throws_out("bytes that were not announced", Job::poll);
}

/// Pads carry nothing, and count all the same: a look at who sends them without end comes to its end.
#[test]
fn pads_are_counted() {
    let mut job = Job::new(Options::default());
    let mut socket = job.join();
    job.goes_on();
    let pads = control(Control::Pad).repeat(500);
    let all = [&pads[..], &eager(5, 0).bytes()].concat();
    socket.set_nonblocking(false).expect("a socket");
    socket.write_all(&all).expect("the system has room");
    let came = |job: &Job| job.logs[0].frames.iter().any(|frame| frame.0.0 == HOSTILE);
    job.poll();
    assert!(!came(&job), "more than a look allows");
    let start = Instant::now();
    while !came(&job) {
        job.poll();
        assert!(start.elapsed() < WATCHDOG, "hangs: the last frame arrives");
    }
    job.goes_on();
}

/// A peer that asks for ever and reads no answer is lost before the answers fill the memory.
#[test]
fn answers_that_nobody_reads_are_bounded() {
    let mut job = Job::new(Options::default());
    let mut socket = job.join();
    let ask = Control::Get {
        id: Id(77),
        from: Name::of_word(88),
        at: 0,
        len: 8,
    };
    let asks = [&ask.header().bytes()[..], &ask.bytes()]
        .concat()
        .repeat(1000);
    let rule = "more requests at once than there can be";
    job.throws_out(rule, |job| job.write(&mut socket, &asks));
}

/// A peer that is given up in the middle of a put, though its connection stands, uses nobody's memory any more:
/// the region can be released.
#[test]
fn who_is_given_up_in_a_put_lets_go_of_the_memory() {
    let mut job = Job::new(Options::default());
    let mut socket = job.join();
    let mut memory = [0; 1000];
    let first = memory.as_mut_ptr();
    // SAFETY: the array lives longer than the ranks, and is looked at only between their calls.
    let bytes = unsafe { RawBytes::new(first, memory.len()) };
    let victim = &mut job.ranks[0].0;
    let region = victim.register(bytes, Access::Write, Peer(HOSTILE));
    let region = region.expect("a region");
    let put = Control::Put {
        id: Id(77),
        to: Name::of_key(&victim.key(&region, Peer(HOSTILE))).0,
        at: 0,
        len: 1000,
        last: true,
    };
    job.write(&mut socket, &[&control(put)[..], &[7; 10]].concat());
    let start = Instant::now();
    // SAFETY: it is the first byte of the array, and no call of a rank runs.
    while unsafe { first.read() } != 7 {
        job.poll();
        assert!(start.elapsed() < WATCHDOG, "hangs: the first bytes arrive");
    }
    let victim = &mut job.ranks[0].0;
    victim.give_up(Peer(HOSTILE), Fault::Silent);
    victim.release(region, Token(5));
    while job.logs[0].done.is_empty() {
        job.poll();
        assert!(start.elapsed() < WATCHDOG, "hangs: the region is released");
    }
    assert_eq!(job.loss(), Some(Fault::Silent));
    job.goes_on();
    // It hears of that.
    socket.set_nonblocking(false).expect("a socket");
    assert!(!matches!(socket.read(&mut [0]), Ok(1..)));
}

/// A peer that does not read is bounded: what waits for it does not grow.
#[test]
fn a_peer_that_stops_reading_harms_nobody() {
    let mut job = Job::new(Options::default());
    let socket = job.join();
    let len = Options::default().frame as usize;
    let body = vec![1; len];
    let (mut taken, mut refused) = (0, 0);
    while refused < 1000 {
        match job.ranks[0]
            .0
            .frame(Peer(HOSTILE), &eager(1, len as u32), len)
        {
            Ok(mut slot) => {
                slot.put(&body);
                slot.send();
                taken += 1;
            }
            Err(oxmpi_wire::Busy) => refused += 1,
        }
        job.poll();
        assert!(taken < 4000, "what is not read must fill up");
    }
    job.goes_on();
    assert_eq!(job.loss(), None);
    drop(socket);
    let start = Instant::now();
    while job.loss().is_none() {
        job.poll();
        assert!(start.elapsed() < WATCHDOG, "hangs: its end is told");
    }
    assert_eq!(job.loss(), Some(Fault::PeerDead));
    job.goes_on();
}

fn corpus(name: &str, body: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    // A package of this crate alone has no corpora.
    let Ok(files) = std::fs::read_dir(corpus.join(name)) else {
        return;
    };
    for file in files {
        let path = file.expect("the corpus can be listed").path();
        println!("{}", path.display());
        body(&std::fs::read(&path).expect("the corpus can be read"));
    }
}

#[test]
fn the_corpora_are_replayed_without_a_finding() {
    corpus("stream", stream::stream);
    corpus("greeting", greeting::greeting);
}

/// Pieces of frames that are nearly right, so that noise gets far.
fn nearly_frames() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![Just(0u64), 1u64..9, Just(1 << 32 | 1), any::<u64>()];
    let own =
        (0u64..13, prop::collection::vec(word, 4), 0u32..1200).prop_map(|(code, words, bulk)| {
            let mut frame = Header {
                kind: Kind::Transport,
                ..eager(0, Control::LEN as u32 + bulk)
            }
            .bytes()
            .to_vec();
            let words = std::iter::once(code)
                .chain(words)
                .take(4)
                .chain([u64::from(bulk), 0]);
            frame.extend(words.flat_map(u64::to_le_bytes));
            frame.resize(frame.len() + bulk as usize, 0xab);
            frame
        });
    let kinds = (0usize..8, 0u32..300).prop_map(|(kind, len)| {
        let mut frame = Header {
            kind: Kind::ALL[kind],
            ..eager(1, len)
        }
        .bytes()
        .to_vec();
        frame.resize(frame.len() + len as usize, 0xcd);
        frame
    });
    let noise = prop::collection::vec(any::<u8>(), 0..40);
    let piece = prop_oneof![4 => own, 4 => kinds, 1 => noise];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nearly_frames_are_judged_alike_however_cut(stream in nearly_frames(), piece in any::<u8>()) {
        stream::stream(&[&[piece], &stream[..]].concat());
    }

    #[test]
    fn noise_at_the_door_is_judged_alike_however_cut(said in prop::collection::vec(any::<u8>(), 0..200)) {
        greeting::greeting(&said);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A rank of the job that writes anything: at worst it is lost.
    #[test]
    fn whatever_a_peer_writes_the_others_go_on(stream in nearly_frames()) {
        let mut job = Job::new(Options::default());
        let mut socket = job.join();
        job.write(&mut socket, &stream);
        job.goes_on();
        drop(socket);
        let start = Instant::now();
        while job.loss().is_none() {
            job.poll();
            prop_assert!(start.elapsed() < WATCHDOG, "hangs: its end is told");
        }
        job.goes_on();
    }
}

/// Nobody of the job is harmed by ranks that were never there.
#[test]
fn ranks_that_never_come_are_not_missed() {
    let mut ranks = ranks::<RawBytes>(64, Options::default());
    ranks.truncate(2);
    send(&mut ranks[0], 1, 1);
    until(
        &mut ranks,
        "the frame arrives",
        |_, logs| logs[1].frames.len() == 1,
        &mut logs(2),
    );
}
