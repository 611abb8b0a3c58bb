//! Programs that must not compile: they would use a buffer under a request, let a request outlive its scope,
//! move an endpoint's handle to another thread, or send data that is not plain bytes.
//!
//! The compiler's errors and their places are compared, so that each fails for its own reason. They differ from version
//! to version, so only the version below is tested.
//!
//! The compiler gets the library that cargo has built for this test: to build it once more would take a minute.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The version whose words are recorded; with `OXMPI_TEST_RECORD` in the environment they are recorded anew.
const RECORDED_WITH: &str = "rustc 1.95.";

/// Where the programs are, each with its errors beside it.
const PROGRAMS: &str = "tests/compile-fail";

#[test]
fn unsound_programs_do_not_compile() {
    let version = Command::new("rustc").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    if !version
        .as_ref()
        .is_ok_and(|said| said.starts_with(RECORDED_WITH))
    {
        println!("not compared: recorded with {RECORDED_WITH}, here is {version:?}");
        return;
    }
    let folder = fs::read_dir(PROGRAMS).expect("the tests start in the folder of the package");
    let paths = folder.map(|entry| entry.expect("an entry of the folder").path());
    let programs: Vec<_> = paths.filter(|path| has_extension(path, "rs")).collect();
    assert!(!programs.is_empty(), "no programs in {PROGRAMS}");
    let library = library();
    let wrong: Vec<_> = programs
        .iter()
        .filter_map(|program| compared(program, &library).err())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compiles a program, which must fail with the errors that are recorded.
///
/// # Errors
/// What differs.
fn compared(program: &Path, library: &Path) -> Result<(), String> {
    let folder = library.parent().expect("a file lies in a folder");
    let mut dependencies = OsStr::new("dependency=").to_owned();
    dependencies.push(folder);
    let mut oxmpi = OsStr::new("oxmpi=").to_owned();
    oxmpi.push(library);
    let compiler = Command::new("rustc")
        .args(["--edition=2024", "--crate-type=bin", "--emit=metadata"])
        .args(["--error-format=short", "--color=never"])
        .args([OsStr::new("--extern"), &oxmpi])
        .args([OsStr::new("-L"), &dependencies])
        .args([
            OsStr::new("--out-dir"),
            OsStr::new(env!("CARGO_TARGET_TMPDIR")),
        ])
        .arg(program)
        .output()
        .expect("the compiler starts");
    let said = String::from_utf8_lossy(&compiler.stderr);
    let name = program.display();
    if compiler.status.success() {
        return Err(format!("{name} compiles"));
    }
    let record = program.with_extension("stderr");
    if env::var_os("OXMPI_TEST_RECORD").is_some() {
        fs::write(&record, &*said).expect("the record is written");
    }
    let recorded = fs::read_to_string(&record).unwrap_or_default();
    match recorded == said {
        true => Ok(()),
        false => Err(format!("{name} fails with\n{said}recorded is\n{recorded}")),
    }
}

/// The library that this test is linked with: the last one that was built before it.
fn library() -> PathBuf {
    let test = env::current_exe().expect("the path of this program");
    let age = |path: &Path| fs::metadata(path).and_then(|data| data.modified());
    let built = age(&test).expect("the time when this program was built");
    let folder = test.parent().expect("a file lies in a folder");
    let files = fs::read_dir(folder).expect("the folder of this program");
    let libraries = files.filter_map(|entry| {
        let path = entry.ok()?.path();
        let name = path.file_name()?.to_str()?;
        let is_library = name.starts_with("liboxmpi-") && has_extension(&path, "rlib");
        let age = age(&path).ok()?;
        (is_library && age <= built).then_some((age, path))
    });
    let newest = libraries.max_by_key(|(age, _)| *age);
    newest.expect("a library that was built before this test").1
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}
