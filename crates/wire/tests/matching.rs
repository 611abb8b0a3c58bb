//! Matching among very many: tags that come, go, and never come back; crowds with wildcards.

use oxmpi_testkit::fabric::FabricConfig;
use oxmpi_testkit::job::Job;
use oxmpi_testkit::memory::SharedBytes;
use oxmpi_testkit::rng::Rng;
use oxmpi_testkit::scenario::{Op, run};
use oxmpi_wire::{EngineConfig, Envelope, Mode, Peer, Source, Tag};

const TAGS: u32 = 300;

fn shuffled(rng: &mut Rng, round: u32) -> Vec<u32> {
    let mut tags: Vec<u32> = (round * TAGS..(round + 1) * TAGS).collect();
    for at in (1..tags.len()).rev() {
        tags.swap(at, rng.below(at as u64 + 1) as usize);
    }
    tags
}

fn send(job: &mut Job, tag: u32) {
    let envelope = Envelope { context: 0, tag };
    let body = SharedBytes::new(tag.to_le_bytes().to_vec());
    let sent = job.send(0, 1, envelope, Mode::Standard, body);
    job.ranks[0].engine.detach(sent);
    if tag.is_multiple_of(16) {
        job.step();
    }
}

#[test]
fn every_receive_gets_the_message_of_its_tag() {
    let mut rng = Rng::new(9);
    let mut job = Job::new(2, FabricConfig::default(), EngineConfig::default());
    for round in 0..48 {
        let source = [Source::Any, Source::Peer(Peer(0))][round as usize % 2];
        let expected = round % 3 != 0;
        let (to_send, to_receive) = (shuffled(&mut rng, round), shuffled(&mut rng, round));
        if !expected {
            for &tag in &to_send {
                send(&mut job, tag);
            }
            job.settle();
        }
        let received: Vec<_> = to_receive
            .iter()
            .map(|&tag| {
                let room = SharedBytes::zeroed(4);
                (tag, job.recv(1, source, 0, Tag::Exact(tag), &room), room)
            })
            .collect();
        if expected {
            for &tag in &to_send {
                send(&mut job, tag);
            }
        }
        for (tag, request, room) in received {
            assert_eq!(job.wait(1, request).unwrap().tag, tag);
            assert_eq!(room.to_vec(), tag.to_le_bytes());
        }
    }
    assert_eq!(job.ranks[1].engine.probe(Source::Any, 0, Tag::Any), None);
    assert!(job.ranks[1].engine.is_fast_path_open(Source::Peer(Peer(0))));
}

/// Ten thousand receives of every form are posted before the first message comes, and the other way
/// round; who gets what is the oracle's.
#[test]
fn a_crowd_with_wildcards_keeps_the_standards_order() {
    let is = |receive: bool| {
        move |op: &Op| match op {
            Op::Recv { .. } => receive,
            Op::Send { .. } | Op::Eager { .. } => !receive,
            _ => false,
        }
    };
    for receives_first in [true, false] {
        let mut rng = Rng::new(4);
        let ops = (0..40_000).map(|_| Op::random(&mut rng));
        let (first, rest): (Vec<_>, Vec<_>) = ops.partition(is(receives_first));
        let second: Vec<_> = rest.into_iter().filter(is(!receives_first)).collect();
        assert!(first.len().min(second.len()) > 9000);
        let mut all = first;
        all.extend(std::iter::repeat_n(Op::Step(8), 4000));
        for ops in second.chunks(8) {
            all.extend_from_slice(ops);
            all.push(Op::Step(1));
        }
        run(3, FabricConfig::default(), EngineConfig::default(), all);
    }
}
