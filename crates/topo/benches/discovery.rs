//! How long reading /proc and /sys takes: `cargo bench -p oxmpi-topo --bench discovery`. Every recorded
//! machine is unpacked into a temporary directory and read from there, and so is this machine. The limit for
//! the largest, of 128 processors, is 20 ms.

use criterion::{Criterion, criterion_group, criterion_main};
use oxmpi_topo::Machine;
use oxmpi_topo::linux::{Recording, Root};
use std::path::{Path, PathBuf};
use std::{fs, io};

fn discovery(criterion: &mut Criterion) {
    let unpacked = std::env::temp_dir().join(format!("oxmpi-topo-{}", std::process::id()));
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let mut group = criterion.benchmark_group("discovery");
    for file in fs::read_dir(recorded).expect("the recordings") {
        let file = file.expect("a recording").path();
        if file
            .extension()
            .is_some_and(|extension| extension == "files")
        {
            let text = fs::read_to_string(&file).expect("a text");
            let files = Recording::parse(&text).expect("a recording");
            let name = file.file_stem().expect("a name").to_string_lossy();
            let root = unpacked.join(&*name);
            unpack(&files, &root).expect("room in the temporary directory");

            let root = Root::new(root);
            let machine = Machine::from_linux(&root).expect("a machine");
            assert_eq!(
                Some(machine),
                Machine::from_linux(&files).ok(),
                "{name} is unpacked"
            );
            group.bench_function(&*name, |bencher| {
                bencher.iter(|| Machine::from_linux(&root))
            });
        }
    }
    group.bench_function("this machine", |bencher| bencher.iter(Machine::this));
    group.finish();
    fs::remove_dir_all(unpacked).ok();
}

/// Writes the files of a recording below a directory.
fn unpack(files: &Recording, root: &Path) -> io::Result<()> {
    let below = |path: &str| -> PathBuf { root.join(path.trim_start_matches('/')) };
    let paths: Vec<&str> = files.iter().map(|(path, _, _)| path).collect();
    for (path, content, link) in files.iter() {
        let place = below(path);
        let directory = place.parent().expect("a path below the root");
        fs::create_dir_all(directory)?;
        // Files behind a link are written through it, so it has to lead somewhere.
        if let Some(link) = link {
            fs::create_dir_all(directory.join(link))?;
            symlink(link, &place)?;
        } else if paths.iter().any(|other| is_below(other, path)) || place.is_dir() {
            fs::create_dir_all(&place)?;
        } else {
            fs::write(&place, content)?;
        }
    }
    Ok(())
}

fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(unix)]
fn symlink(link: &str, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(link, place)
}

#[cfg(not(unix))]
fn symlink(_link: &str, place: &Path) -> io::Result<()> {
    fs::create_dir_all(place)
}

criterion_group!(benches, discovery);
criterion_main!(benches);
