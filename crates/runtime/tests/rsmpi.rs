//! The programs of rsmpi that are rewritten here are no longer than their originals, and as long as the page says.

use std::fs;
use std::path::Path;

/// Lines that are neither empty nor comments.
fn lines_of_code(program: &str) -> usize {
    let code = |line: &&str| !line.is_empty() && !line.starts_with("//");
    program.lines().map(str::trim).filter(code).count()
}

#[test]
fn no_program_is_longer_than_the_original() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../../docs/from-rsmpi.md")).expect("the page");
    let mut programs = 0;
    for entry in fs::read_dir(root.join("examples/rsmpi")).expect("the programs") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .expect("a name");
        let cell = format!("| `{name}` |");
        let row = page.lines().find_map(|line| line.split_once(&cell));
        let (_, numbers) = row.unwrap_or_else(|| panic!("docs/from-rsmpi.md has no row of {name}"));
        let numbers: Vec<usize> = numbers
            .split('|')
            .filter_map(|cell| cell.trim().parse().ok())
            .collect();
        let ours = lines_of_code(&fs::read_to_string(&path).expect("a program"));
        let [original, said] = numbers[..] else {
            panic!("{name}: the row has two numbers");
        };
        assert_eq!(said, ours, "{name}");
        assert!(
            ours <= original,
            "{name} has {ours} lines, the original {original}"
        );
        programs += 1;
    }
    assert_eq!(programs, 12);
}
