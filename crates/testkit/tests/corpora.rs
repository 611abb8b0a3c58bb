//! Replays the fuzz corpora under version control through the fuzz bodies.

use oxmpi_testkit::fuzz::TARGETS;
use std::path::Path;

#[test]
fn no_corpus_has_a_finding() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, body) in TARGETS {
        let files = std::fs::read_dir(corpora.join(name)).expect("each target has a corpus");
        let mut count = 0;
        for file in files {
            let path = file.expect("the corpus can be listed").path();
            let bytes = std::fs::read(&path).expect("the corpus can be read");
            println!("{}", path.display());
            body(&bytes);
            count += 1;
        }
        assert!(count > 0, "the corpus of {name} is empty");
    }
}
