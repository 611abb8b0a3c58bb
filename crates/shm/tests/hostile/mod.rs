//! A hostile rank in the segment: the fuzz target's corpus, and random acts.

mod segment;

use std::path::Path;

use proptest::prelude::*;
use segment::fire::under_fire;
use segment::segment;

/// Every run would be empty if the sound exchange wrote no words.
#[test]
fn a_sound_exchange_writes_slots_buffers_credits_and_control_words() {
    let (own, all) = segment::writes();
    assert!(own > 150 && all > own + 100, "{own} of {all} words");
}

#[test]
fn the_corpus_is_replayed_without_a_finding() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/segment");
    // A package of this crate alone has no corpora.
    let Ok(files) = std::fs::read_dir(corpus) else {
        return;
    };
    for file in files {
        let path = file.expect("the corpus can be listed").path();
        println!("{}", path.display());
        segment(&std::fs::read(&path).expect("the corpus can be read"));
    }
}

proptest! {
    #[test]
    fn the_other_ranks_go_on_whatever_one_rank_writes(
        data in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        segment(&data);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn the_other_ranks_go_on_whatever_one_rank_writes_at_any_moment(
        noise in prop::collection::vec(any::<u8>(), 8..100),
    ) {
        under_fire(60, &noise);
    }
}
