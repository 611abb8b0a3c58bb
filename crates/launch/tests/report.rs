//! `oxmpi bench report` as people call it.

mod common;

use common::{Done, finish, start};
use std::path::{Path, PathBuf};

fn report(arguments: &[&str]) -> Done {
    finish(start(&[&["bench", "report"], arguments].concat()))
}

/// A listing of the original.
fn listing(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/tests/imb");
    folder.join(name).to_str().expect("a plain name").into()
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("oxmpi-report-{}-{name}", std::process::id()))
}

#[test]
fn listings_become_text() {
    let done = report(&["--text", &listing("sample1.txt"), &listing("msglog.txt")]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    for part in ["sample1 has lost 0 of ", "PingPong, 2 ranks", "best other"] {
        assert!(done.out.contains(part), "no {part:?} in:\n{}", done.out);
    }
}

#[test]
fn a_page_is_written_once() {
    let page = scratch("page.html");
    let to = page.to_str().expect("a plain name");
    let done = report(&["-o", to, &listing("sample2.txt")]);
    assert_eq!((done.code, done.out.as_str()), (0, ""), "{}", done.err);
    let text = std::fs::read_to_string(&page).expect("the page is there");
    assert!(text.starts_with("<!DOCTYPE html>") && text.contains("Multi-PingPing"));
    let again = report(&["-o", to, &listing("sample2.txt")]);
    assert!(
        again.code == 1 && again.err.contains("--force overwrites it"),
        "{}",
        again.err
    );
    std::fs::remove_file(&page).expect("the page can be removed");
}

#[test]
fn a_wrong_file_is_named_with_its_line() {
    let wrong = scratch("wrong.txt");
    let text = std::fs::read_to_string(listing("sample1.txt")).expect("the listing is there");
    std::fs::write(&wrong, text.replace("0.09         0.00", "0.09")).expect("a file is written");
    let done = report(&[wrong.to_str().expect("a plain name")]);
    std::fs::remove_file(&wrong).expect("the file can be removed");
    let part = "wrong.txt: line 36: 3 numbers under 4 columns";
    assert!(done.code == 1 && done.err.contains(part), "{}", done.err);
    let missing = report(&["nowhere.json"]);
    assert!(missing.code == 1 && missing.err.contains("nowhere.json: cannot be read"));
    assert_eq!(report(&[]).code, 2);
}
