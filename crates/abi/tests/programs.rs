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
    let (name, compiler) = match name.ends_with(".cc") {
        true => (name.to_owned(), "c++"),
        false => (format!("{name}.c"), "cc"),
    };
    let status = Command::new(compiler)
        .arg("-o")
        .arg(&program)
        .arg(sources.join("tests/programs").join(&name))
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

/// A number of a variable of the environment.
fn number_of(variable: &str, default: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.map_or(default, |text| text.parse().expect("a number"))
}

/// Runs a command to its end; it is killed after two minutes, or `OXMPI_TEST_WATCHDOG` seconds, as it hangs then.
fn output(mut command: Command) -> Output {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.expect("the program starts");
    let pid = child.id().to_string();
    let (done, waits) = channel::<()>();
    let limit = Duration::from_secs(number_of("OXMPI_TEST_WATCHDOG", 120));
    let watchdog = thread::spawn(move || {
        if waits.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
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

/// Runs a program with arguments on so many ranks.
fn run(ranks: u32, program: &Path, arguments: &[&str]) -> Output {
    let mut command = job(ranks, program);
    command.args(arguments);
    output(command)
}

/// What a program wrote to standard error.
fn errors(ended: &Output) -> String {
    String::from_utf8_lossy(&ended.stderr).into_owned()
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
fn words_arrive_and_wrong_ones_are_refused() {
    let program = compile("words", &library());
    for level in ["single", "multiple"] {
        for ranks in [1, 2, 3] {
            let ended = run(ranks, &program, &[level]);
            assert!(ended.status.success(), "{level}, {ranks} ranks: {ended:?}");
        }
    }
}

#[test]
fn a_look_at_a_request_leaves_it_as_it_is() {
    succeeds("peeks");
}

#[test]
fn error_handlers_live_as_long_as_something_holds_them() {
    succeeds("handlers");
}

#[test]
fn some_of_many_requests_are_completed() {
    succeeds("several");
}

#[test]
fn partitions_arrive_once_all_are_ready() {
    succeeds("partitioned");
}

/// A helper thread carries on what a rank that computes has started.
#[test]
fn a_rank_computes_while_its_helper_works() {
    let library = library();
    let program = compile("computes", &library);
    for level in ["single", "multiple"] {
        for (name, value) in [
            ("OXMPI_SHM_COLLECTIVES", "on"),
            ("OXMPI_SHM_COLLECTIVES", "off"),
            ("OXMPI_TRANSPORTS", "tcp"),
        ] {
            let folder = library.join(format!("computes-{}", std::process::id()));
            for ranks in [2, 4] {
                std::fs::create_dir_all(&folder).expect("a folder");
                let mut command = job(ranks, &program);
                command.arg(level).arg(&folder);
                command.env("OXMPI_ASYNC_PROGRESS", "on").env(name, value);
                let ended = output(command);
                std::fs::remove_dir_all(&folder).expect("it is there");
                assert!(
                    ended.status.success(),
                    "{level}, {value}, {ranks}: {ended:?}"
                );
            }
        }
    }
}

/// By loads and stores, by system calls, and by messages.
#[test]
fn windows_are_accessed() {
    let program = compile("windows", &library());
    for direct in ["on", "off"] {
        for ranks in [1, 2, 4] {
            let mut command = job(ranks, &program);
            command.env("OXMPI_WINDOW_DIRECT", direct);
            let ended = output(command);
            assert!(ended.status.success(), "{direct}, {ranks} ranks: {ended:?}");
        }
    }
}

/// Of every kind, by every path: `OXMPI_TEST_WINDOW_STEPS` accesses (default: 2,000) a job.
#[test]
fn random_accesses_to_windows_leave_what_a_model_says() {
    let program = compile("random_windows", &library());
    let steps = number_of("OXMPI_TEST_WINDOW_STEPS", 2000).to_string();
    let paths = [
        ["OXMPI_WINDOW_DIRECT", "on"],
        ["OXMPI_WINDOW_DIRECT", "off"],
        ["OXMPI_TRANSPORTS", "tcp"],
    ];
    for [name, value] in paths {
        for ranks in [1, 2, 3, 8] {
            let mut command = job(ranks, &program);
            let seed = ranks.to_string();
            command.args([&steps, &seed]).env(name, value);
            command.env_remove("OXMPI_TEST_WATCHDOG");
            command.env_remove("OXMPI_TEST_WINDOW_STEPS");
            let ended = output(command);
            assert!(
                ended.status.success(),
                "{name}={value}, {ranks} ranks, {steps} accesses, seed {seed}: {ended:?}"
            );
        }
    }
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
fn programs_of_a_job_have_numbers() {
    let program = compile("program_number", &library());
    let alone = run(1, &program, &["none"]);
    assert!(alone.status.success(), "{alone:?}");
    // As a check of all programs starts it, which knows no arguments.
    for ranks in [1, 2] {
        let ended = run(ranks, &program, &[]);
        assert!(ended.status.success(), "{ranks} ranks: {ended:?}");
    }
    let mut command = job(2, &program);
    command.args(["0", ":", "-n", "1"]).arg(&program).arg("1");
    let ended = output(command);
    assert!(ended.status.success(), "{ended:?}");
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
            let ended = run(ranks, &program, &[level]);
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
        let ended = run(ranks, &program, &["fatal"]);
        let said = errors(&ended);
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
            let ended = run(ranks, &program, &[from]);
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

#[test]
fn the_library_ends_from_the_destructor_of_a_static_object() {
    let program = compile("static_destructor.cc", &library());
    for ranks in [1, 2] {
        let ended = run(ranks, &program, &[]);
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(ended.status.success(), "{ranks} ranks: {ended:?}");
        assert_eq!(said.matches("finalized").count(), ranks as usize, "{said}");
    }
}

#[test]
fn every_class_reaches_every_kind_of_error_handler() {
    succeeds("classes");
}

#[test]
fn a_fatal_error_of_every_class_ends_the_job_and_names_what_is_wrong() {
    let program = compile("classes", &library());
    let rows = run(1, &program, &["list"]);
    let rows = String::from_utf8_lossy(&rows.stdout).into_owned();
    assert!(rows.lines().count() > 20, "{rows}");
    for (number, row) in rows.lines().enumerate() {
        let [class, function, text] = row.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        for handler in ["fatal", "abort"] {
            let ended = run(1, &program, &[handler, &number.to_string()]);
            let said = errors(&ended);
            assert!(!ended.status.success(), "{row}, {handler}: {said}");
            let expected = format!("oxmpi: rank 0: {function} on ");
            assert!(said.contains(&expected), "{row}, {handler}: {said}");
            let expected = format!("({class}); its error handler ends the job");
            assert!(said.contains(&expected), "{row}, {handler}: {said}");
            assert!(said.contains(text), "{row}, {handler}: {said}");
        }
    }
}

#[test]
fn exit_handlers_may_call_the_library_while_the_job_is_ended() {
    let program = compile("aborts", &library());
    for (how, all) in [("error", true), ("abort", false)] {
        let ended = run(1, &program, &[how]);
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        // The code of the first error, MPI_ERR_RANK.
        assert_eq!(ended.status.code(), Some(6), "{how}: {ended:?}");
        assert!(said.contains("the second handler runs"), "{how}: {ended:?}");
        // MPI_Abort ends the process at once.
        assert_eq!(
            said.contains("the first handler runs"),
            all,
            "{how}: {said}"
        );
        assert_eq!(errors(&ended).matches("oxmpi: ").count(), 1, "{ended:?}");
    }
}

#[test]
fn handles_that_are_left_are_reported_when_asked() {
    let program = compile("leaks", &library());
    let said = |asked: &str, argument: &str| {
        let mut command = job(1, &program);
        command.arg(argument).env("OXMPI_HANDLE_LEAKS", asked);
        let ended = output(command);
        assert!(ended.status.success(), "{ended:?}");
        errors(&ended)
    };
    assert_eq!(said("off", "left"), "");
    assert_eq!(said("on", "freed"), "");
    let report = said("on", "left");
    for part in [
        "oxmpi: rank 0: MPI_Finalize: the program has not freed 1 communicator (halo), 1 datatype (",
        "2 info objects (first 0x",
        "1 request (0x",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert!(!report.contains("error handler"), "{report}");
}
