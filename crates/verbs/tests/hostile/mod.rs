//! Bytes and texts from outside: the bodies of fuzz targets, replayed over their corpora.

mod device_files;
mod receive_queues;
mod verbs_frames;

use oxmpi_testkit::fuzz::Body;
use oxmpi_testkit::rng::Rng;
use std::path::Path;

#[test]
fn no_corpus_has_a_finding() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let targets: [(&str, Body); 3] = [
        ("device_files", device_files::device_files),
        ("receive_queues", receive_queues::receive_queues),
        ("verbs_frames", verbs_frames::verbs_frames),
    ];
    let mut rng = Rng::new(7);
    for (name, body) in targets {
        let files = std::fs::read_dir(corpora.join(name)).expect("each target has a corpus");
        let mut count = 0;
        for file in files {
            let path = file.expect("the corpus can be listed").path();
            let mut bytes = std::fs::read(&path).expect("the corpus can be read");
            println!("{}", path.display());
            body(&bytes);
            // And with single bytes changed.
            for _ in 0..1000 {
                if let Some(at) = (rng.next() as usize).checked_rem(bytes.len()) {
                    let was = std::mem::replace(&mut bytes[at], rng.next() as u8);
                    body(&bytes);
                    bytes[at] = was;
                }
            }
            count += 1;
        }
        assert!(count > 0, "the corpus of {name} is empty");
    }
}
