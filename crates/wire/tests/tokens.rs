//! Tests of tokens: the ends of operations reach the owner that started them.

use oxmpi_testkit::fabric::FabricConfig;
use oxmpi_testkit::job::{Job, Rank};
use oxmpi_testkit::memory::Buffer;
use oxmpi_wire::paths::RendezvousScheme;
use oxmpi_wire::{
    Access, EngineConfig, Envelope, Fault, Local, Memory, Mode, PathOverrides, Peer, Remote, Rma,
    Source, Tag, Token,
};

const ENVELOPE: Envelope = Envelope { context: 1, tag: 5 };

#[test]
fn a_foreign_token_keeps_its_number() {
    for number in [0, 1, 77, (1 << 62) - 1] {
        assert_eq!(Token::foreign(number).foreign_number(), Some(number));
    }
    for word in [0, 1, 2, 4, u64::MAX - 1] {
        assert_eq!(Token(word).foreign_number(), None);
    }
}

/// Long messages by either scheme, and puts of another owner at the same time: the engine completes the messages, and
/// the owner gets each of its ends once.
#[test]
fn each_owner_gets_its_own_ends() {
    for rendezvous in [RendezvousScheme::Get, RendezvousScheme::Put] {
        let config = EngineConfig {
            overrides: PathOverrides {
                rendezvous,
                ..PathOverrides::NONE
            },
            ..EngineConfig::default()
        };
        let mut job = Job::new(2, FabricConfig::adverse(3), config);
        let [here, there] = [Buffer::pattern(400, 1), Buffer::zeroed(400)];
        let register = |rank: &mut Rank, bytes: &Buffer, access| {
            let region = rank.tx.register(bytes.clone(), access, Peer(0));
            region.expect("the fabric has room")
        };
        let region = register(&mut job.ranks[0], &here, Access::READ);
        let target = register(&mut job.ranks[1], &there, Access::WRITE);
        let key = job.ranks[1].tx.expose(&target, Peer(0));
        let mut started = 0;
        let mut ended = Vec::new();
        for _ in 0..20 {
            let room = Buffer::zeroed(9000);
            let sent = job.send(0, 1, ENVELOPE, Mode::Standard, Buffer::pattern(9000, 2));
            let got = job.recv(1, Source::Any, 1, Tag::Any, &room);
            job.until(|job| {
                let Rank { tx, engine, .. } = &mut job.ranks[0];
                if started < 50 {
                    let (at, len) = (started * 8, 8);
                    let (from, to) = (
                        Local {
                            region: &region,
                            at,
                            len,
                        },
                        Remote { key: &key, at, len },
                    );
                    let token = Token::foreign(started);
                    started += u64::from(tx.put(Peer(1), from, to, token).is_ok());
                }
                ended.extend(std::iter::from_fn(|| engine.take_foreign()));
                job.ranks[1].engine.is_done(got)
            });
            job.wait(0, sent).expect("a message");
            assert_eq!(room, Buffer::pattern(9000, 2));
        }
        job.until(|job| {
            let engine = &mut job.ranks[0].engine;
            ended.extend(std::iter::from_fn(|| engine.take_foreign()));
            ended.len() as u64 == started
        });
        assert!(started > 20, "some puts overlap messages");
        ended.sort_unstable_by_key(|end| end.0);
        let all: Vec<_> = (0..started)
            .map(|number| (number, Ok::<(), Fault>(())))
            .collect();
        assert_eq!(ended, all);
        let moved = started as usize * 8;
        assert_eq!(there.to_vec()[..moved], here.to_vec()[..moved]);
    }
}
