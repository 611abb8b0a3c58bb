//! Runs C programs on the library, alone and as jobs of several ranks.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The folder of the build in which this test was built.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder = test
        .ancestors()
        .nth(2)
        .expect("cargo puts tests into a folder of a folder");
    folder.to_owned()
}

/// A folder with the library under the name by which programs ask for it.
fn library() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("library");
    std::fs::create_dir_all(&folder).expect("a folder");
    let library = built().join("deps/libmpi_abi.so");
    assert!(
        library.exists(),
        "cargo builds the library with this test: {library:?}"
    );
    static LINKED: std::sync::Once = std::sync::Once::new();
    LINKED.call_once(|| {
        let link = folder.join("libmpi_abi.so.1");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(library, link).expect("a link");
    });
    folder
}

/// Compiles a program of `tests/programs`.
fn compile(name: &str, library: &Path) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let program = library.join(format!("{name}-{number}"));
    let status = Command::new("cc")
        .arg("-o")
        .arg(&program)
        .arg(sources.join(format!("tests/programs/{name}.c")))
        .arg("-I")
        .arg(sources.join("include"))
        .arg("-L")
        .arg(library)
        .args(["-l:libmpi_abi.so.1", "-pthread"])
        .args(["-Wall", "-Wextra", "-Werror"])
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .status();
    assert!(
        status.expect("there is a C compiler").success(),
        "{name} is compiled"
    );
    program
}

/// Runs a command to its end; it is killed after two minutes, as it hangs then.
fn output(mut command: Command) -> Output {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.expect("the program starts");
    let pid = child.id().to_string();
    let (done, waits) = channel::<()>();
    let watchdog = thread::spawn(move || {
        if waits.recv_timeout(Duration::from_secs(120)) == Err(RecvTimeoutError::Timeout) {
            let _ = Command::new("kill").args(["-KILL", &pid]).status();
        }
    });
    let output = child.wait_with_output().expect("the program ends");
    drop(done);
    watchdog.join().expect("the watchdog ends");
    output
}

/// The command that runs a program on so many ranks; without a launcher for one rank.
fn job(ranks: u32, program: &Path) -> Command {
    if ranks == 1 {
        return Command::new(program);
    }
    let launcher = built().join("oxmpi");
    assert!(
        launcher.exists(),
        "the launcher is not built: `cargo build -p oxmpi-launch` does that"
    );
    let mut command = Command::new(launcher);
    command
        .args(["run", "--oversubscribe", "-n", &ranks.to_string()])
        .arg(program);
    command
}

/// Runs a program on one, two and four ranks; it checks itself.
fn succeeds(name: &str) {
    let library = library();
    let program = compile(name, &library);
    for ranks in [1, 2, 4] {
        let ended = output(job(ranks, &program));
        assert!(ended.status.success(), "{name} on {ranks} ranks: {ended:?}");
    }
}

#[test]
fn messages_arrive() {
    succeeds("messages");
}

#[test]
fn some_of_many_requests_are_completed() {
    succeeds("several");
}

#[test]
fn partitions_arrive_once_all_are_ready() {
    succeeds("partitioned");
}

#[test]
fn collectives_have_their_results() {
    succeeds("collectives");
}

#[test]
fn operations_keep_what_they_use() {
    succeeds("lifetimes");
}

#[test]
fn a_receive_from_a_rank_that_has_left_is_cancelled() {
    succeeds("leaves");
}

#[test]
fn datatypes_are_sent_and_reduced() {
    succeeds("datatypes");
}

#[test]
fn communicators_are_made_of_others() {
    succeeds("communicators");
}

#[test]
fn sessions_share_one_job() {
    succeeds("sessions");
}

#[test]
fn threads_call_at_once_or_one_after_another() {
    let program = compile("threads", &library());
    for level in ["multiple", "serialized"] {
        for ranks in [1, 2] {
            let mut command = job(ranks, &program);
            let ended = output({
                command.arg(level);
                command
            });
            assert!(ended.status.success(), "{level}, {ranks} ranks: {ended:?}");
        }
    }
}

#[test]
fn wrong_arguments_are_errors() {
    succeeds("errors");
}

#[test]
fn a_fatal_error_names_rank_function_and_argument() {
    let program = compile("errors", &library());
    for ranks in [1, 2] {
        let mut command = job(ranks, &program);
        let ended = output({
            command.arg("fatal");
            command
        });
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!ended.status.success(), "{said}");
        let rank = u32::from(!said.contains("oxmpi: rank 0: "));
        let expected = format!(
            "rank {rank}: MPI_Send on MPI_COMM_WORLD: rank {rank} named rank -7, but the \
             communicator has ranks 0 to {} (MPI_ERR_RANK)",
            ranks - 1
        );
        assert!(said.contains(&expected), "{ranks} ranks: {said}");
    }
}

#[test]
fn the_library_ends_from_exit_handlers_and_destructors() {
    let program = compile("ends", &library());
    for from in ["handler", "destructor"] {
        for ranks in [1, 2] {
            let mut command = job(ranks, &program);
            let ended = output({
                command.arg(from);
                command
            });
            let said = String::from_utf8_lossy(&ended.stdout).into_owned();
            assert!(ended.status.success(), "{from}, {ranks} ranks: {ended:?}");
            assert_eq!(
                said.matches("finalized").count(),
                ranks as usize,
                "{from}: {said}"
            );
            // The attributes of MPI_COMM_SELF are deleted, the last that was set first.
            let (first, second) = (said.find("deleted first"), said.find("deleted second"));
            assert!(
                ranks > 1 || second < first && second.is_some(),
                "{from}: {said}"
            );
        }
    }
}
