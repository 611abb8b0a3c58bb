//! Tests with random and recorded bytes as a peer's frames and as handshakes.

use std::path::Path;

use oxmpi_tcp::TcpOptions;
use oxmpi_tcp::frame::Control;
use oxmpi_testkit::conformance::eager;
use oxmpi_wire::{Header, Kind};
use proptest::prelude::*;

use super::job::{HostileJob, loss};
use super::{handshake, stream};

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
    corpus("handshake", handshake::handshake);
}

/// Frames that are nearly right, with random bytes between them.
fn nearly_frames() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![Just(0u64), 1u64..9, Just(1 << 32 | 1), any::<u64>()];
    let atomic = (0u64..13, 0u64..10).prop_map(|(atomic, len)| len << 16 | atomic << 8 | 12);
    let code = prop_oneof![0u64..15, atomic];
    let bulk = prop_oneof![Just(0), 0u32..1200];
    let own = (code, prop::collection::vec(word, 4), bulk).prop_map(|(code, words, bulk)| {
        let mut frame = Header {
            kind: Kind::Transport,
            ..eager(0, Control::LEN + bulk as usize)
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
    let kinds = (0usize..8, 0usize..300).prop_map(|(kind, len)| {
        let mut frame = Header {
            kind: Kind::ALL[kind],
            ..eager(1, len)
        }
        .bytes()
        .to_vec();
        frame.resize(frame.len() + len, 0xcd);
        frame
    });
    let noise = prop::collection::vec(any::<u8>(), 0..40);
    let piece = prop_oneof![4 => own, 4 => kinds, 1 => noise];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nearly_frames_are_read_alike_however_cut(stream in nearly_frames(), piece in any::<u8>()) {
        stream::stream(&[&[piece], &stream[..]].concat());
    }

    #[test]
    fn noise_in_a_handshake_is_read_alike_however_cut(sent in prop::collection::vec(any::<u8>(), 0..200)) {
        handshake::handshake(&sent);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A rank of the job that writes random bytes is lost at worst.
    #[test]
    fn the_others_go_on_whatever_a_peer_writes(stream in nearly_frames()) {
        let mut job = HostileJob::new(TcpOptions::default());
        let mut socket = job.join();
        job.write(&mut socket, &stream);
        job.goes_on();
        drop(socket);
        job.until("the loss is reported", |job| loss(job).is_some());
        job.goes_on();
    }
}
