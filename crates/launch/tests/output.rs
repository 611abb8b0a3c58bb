//! Tests of the output of `oxmpi run`: when it appears, where it goes, and what happens if it cannot be written.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};

use crate::common::terminal::Terminal;
use crate::common::{Job, Leash, finish, named_pipe, oxmpi, run, signal, start};
use oxmpi_testkit::folder::Folder;
use rustix::process::Signal;

/// The launcher shows a prompt without a newline before the answer is typed.
#[test]
fn a_prompt_is_shown_before_its_answer_is_typed() {
    let script = "printf 'N = '; read n; echo got $n";
    let mut terminal = Terminal::oxmpi(&["run", "-n", "1", "sh", "-c", script]);
    assert_eq!(terminal.see("N = "), "N = ");
    terminal.type_text("7\n");
    assert_eq!(terminal.end(), (0, "7\ngot 7\n".into()));
}

/// Rank 0 shows a prompt; then rank 1 writes to standard output and to standard error, which are one terminal.
#[test]
fn output_of_another_rank_begins_a_line_of_its_own() {
    let folder = Folder::fresh();
    // A gate each: the writer of the first may still have it open when rank 1 comes to the second.
    let gates = ["x", "y"].map(|name| folder.at(name));
    gates.iter().for_each(|gate| named_pipe(gate));
    let [x, y] = &gates;
    let script = format!(
        "if [ $PMI_RANK = 1 ]; then read go <{x}; echo x; read go <{y}; echo y >&2; exit; fi; \
         printf 'N = '; read n; printf 'M = '; read n; echo got $n"
    );
    let options = ["run", "--oversubscribe", "-n", "2", "-l"];
    let mut terminal = Terminal::oxmpi(&[&options[..], &["sh", "-c", &script]].concat());
    let open_gate = |gate: &str| fs::write(gate, "go\n").expect("rank 1 reads");
    assert_eq!(terminal.see("N = "), "[0] N = ");
    open_gate(x);
    assert_eq!(terminal.see("x\n"), "\n[1] x\n");
    terminal.type_text("7\n");
    assert_eq!(terminal.see("M = "), "7\n[0] M = ");
    open_gate(y);
    assert_eq!(terminal.see("y\n"), "\n[1] y\n");
    terminal.type_text("8\n");
    assert_eq!(terminal.end(), (0, "8\n[0] got 8\n".into()));
}

#[test]
fn lines_of_3_megabytes_stay_whole() {
    let script = "yes $PMI_RANK | tr -d '\\n' | head -c 3000000; echo";
    let done = run(&["-n", "2", "sh", "-c", script]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let mut lines: Vec<&str> = done.out.lines().collect();
    lines.sort_unstable();
    let lengths: Vec<usize> = lines.iter().map(|line| line.len()).collect();
    assert_eq!(lengths, [3_000_000; 2]);
    assert!(lines[0].bytes().all(|byte| byte == b'0') && lines[1].bytes().all(|byte| byte == b'1'));
}

#[test]
fn lines_of_64_ranks_are_not_mixed() {
    let script =
        "yes $PMI_RANK-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-$PMI_RANK | head -n 2000";
    let done = run(&["-n", "64", "sh", "-c", script]);
    let mut counts = [0; 64];
    for line in done.out.lines() {
        let (rank, rest) = line
            .split_once("-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-")
            .expect(line);
        assert_eq!(rank, rest);
        counts[rank.parse::<usize>().expect(line)] += 1;
    }
    assert_eq!((done.code, counts), (0, [2000; 64]));
}

/// Both streams are one file, as with `2>&1`.
#[test]
fn a_message_that_breaks_a_long_line_is_followed_by_a_word_on_it() {
    let folder = Folder::fresh();
    let (path, mut leash) = Leash::new();
    let script = format!(
        "exec 3>{path}; trap 'ended=1' TERM; yes x | tr -d '\\n' | head -c 20000; echo rank 0 pid $$ >&3; \
         until [ $ended ]; do sleep 0.01; done; echo rest"
    );
    let both = File::create(folder.at("both")).expect("a file");
    let mut command = oxmpi(&["run", "-n", "1", "sh", "-c", &script]);
    command.stdout(both.try_clone().expect("a copy"));
    command.stderr(both);
    let job = Job::from(command.spawn().expect("oxmpi starts"));
    leash.pids(1);
    let text = || fs::read_to_string(folder.at("both")).expect("the file");
    while text().len() < 20_000 {
        std::thread::yield_now();
    }
    signal(job.id(), Signal::TERM);
    assert_eq!(finish(job).code, 0);
    leash.end();
    let text = text();
    // A shell may report the end of the `sleep` that it waits for.
    let lines: Vec<&str> = text.lines().filter(|line| *line != "Terminated").collect();
    let [line, request, word, rest] = lines[..] else {
        panic!("{} lines, not 4: {:?}", lines.len(), &lines[1..]);
    };
    assert_eq!((line.len(), rest), (20_000, "rest"));
    assert!(
        request.starts_with("oxmpi: SIGTERM is forwarded"),
        "{request}"
    );
    let expected = "oxmpi: rank 0 wrote 20000 bytes of a line to stdout, and what follows is on a line of its own: ";
    assert!(word.starts_with(expected), "{word}");
}

/// The test does not read until rank 0 and the launcher wait for it.
#[test]
fn a_slow_reader_makes_ranks_wait() {
    let (path, mut leash) = Leash::new();
    let script = format!("echo rank 0 pid $$ >{path}; exec head -c 67108864 /dev/zero");
    let job = start(&["run", "-n", "1", "sh", "-c", &script]);
    let pid = leash.pids(1)[0];
    leash.end();
    while !(has_state(pid, 'S') && has_state(job.id(), 'S')) {
        std::thread::yield_now();
    }
    let status = fs::read_to_string(format!("/proc/{}/status", job.id())).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.expect(&status).trim().trim_end_matches(" kB");
    let peak: u64 = peak.parse().expect(&status);
    assert!(peak < 32 << 10, "the launcher has used {peak} KiB");
    let done = finish(job);
    assert_eq!((done.code, done.out.len()), (0, 64 << 20));
}

/// Whether a process has a state: `R` runs, `S` sleeps.
fn has_state(pid: u32, state: char) -> bool {
    // The name of the program is in parentheses before the state.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it exists");
    stat.contains(&format!(") {state} "))
}

/// Reads a piece of the output of `job` when the launcher has nothing to do but to wait, as a slow reader does.
fn read_slowly(job: &mut Job, piece: &mut [u8]) -> usize {
    while has_state(job.id(), 'R') {
        std::thread::yield_now();
    }
    let reader = job.child_mut().stdout.as_mut().expect("caught");
    reader.read(piece).expect("output")
}

/// Every line is written at once by its rank, so that its rest is in the pipe when its beginning is read.
#[test]
fn lines_stay_whole_when_the_reader_is_slow() {
    let script = "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); \
         echo $PMI_RANK-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-$PMI_RANK; done";
    let mut job = start(&["run", "--oversubscribe", "-n", "8", "sh", "-c", script]);
    let (mut out, mut piece) = (Vec::new(), [0; 4096]);
    while out.len() < 2 << 20 {
        let read = read_slowly(&mut job, &mut piece);
        assert!(read > 0, "the job ended early");
        out.extend_from_slice(&piece[..read]);
    }
    let done = finish(job);
    let out = String::from_utf8(out).expect("text") + &done.out;
    let mut counts = [0; 8];
    for line in out.lines() {
        let (rank, rest) = line
            .split_once(&format!("-{}-", "x".repeat(80)))
            .expect(line);
        assert_eq!(rank, rest);
        counts[rank.parse::<usize>().expect(line)] += 1;
    }
    assert_eq!((done.code, counts), (0, [5000; 8]));
}

#[test]
fn a_fast_rank_leaves_room_for_another_when_the_reader_is_slow() {
    let script = "exec yes $PMI_RANK";
    let mut job = start(&["run", "--oversubscribe", "-n", "2", "sh", "-c", script]);
    let mut piece = [0; 4096];
    let mut lines_of_ranks = || {
        let read = read_slowly(&mut job, &mut piece);
        let text = String::from_utf8_lossy(&piece[..read]);
        ['0', '1'].map(|digit| text.matches(digit).count())
    };
    // How often each `yes` runs is the scheduler's choice, so no ratio is expected: but both send more than
    // pipes hold.
    let mut lines = [0; 2];
    while lines[0].min(lines[1]) < 4 << 20 {
        assert!(
            lines[0].max(lines[1]) < 64 << 20,
            "one rank starves: {lines:?}"
        );
        let more = lines_of_ranks();
        lines = [lines[0] + more[0], lines[1] + more[1]];
    }
    drop(job.child_mut().stdout.take());
    assert_eq!(finish(job).code, 141);
}

/// A file name cannot drive the terminal.
#[test]
fn messages_of_a_running_job_escape_control_characters() {
    let folder = Folder::fresh();
    let program = folder.at("\u{1b}[31mred");
    std::os::unix::fs::symlink("/bin/false", &program).expect("a link");
    let done = run(&["-n", "1", &program]);
    assert!(done.code == 1 && done.err.contains("[31mred"), "{done:?}");
    assert!(!done.err.contains('\u{1b}'), "{done:?}");
}

#[test]
fn output_that_cannot_be_written_ends_the_job_with_a_message() {
    for (stream, name) in [(1, "output"), (2, "error")] {
        let full = File::options().write(true).open("/dev/full");
        let full = full.expect("/dev/full");
        let script = format!("echo text >&{stream}; exec sleep 1000");
        let mut command = oxmpi(&["run", "-n", "1", "sh", "-c", &script]);
        if stream == 1 {
            command.stdout(full);
        } else {
            command.stderr(full);
        }
        let done = finish(command.spawn().expect("oxmpi starts"));
        let message = format!(
            "oxmpi: cannot write standard {name}: No space left on device (os error 28); the output of ranks is lost, \
             and the job ends\n"
        );
        assert_eq!((done.code, done.out + &done.err), (1, message));
    }
}

/// The launcher warns of more ranks than processors.
#[test]
fn a_warning_that_cannot_be_written_is_an_error() {
    let full = File::options().write(true).open("/dev/full");
    let ranks = std::thread::available_parallelism()
        .expect("a number")
        .get()
        + 1;
    let mut command = oxmpi(&["run", "-n", &ranks.to_string(), "--bind-to", "none", "true"]);
    command.stderr(full.expect("/dev/full"));
    let done = finish(command.spawn().expect("oxmpi starts"));
    let message = "oxmpi: cannot write standard error: No space left on device (os error 28)";
    assert!(done.code == 1 && done.out.starts_with(message), "{done:?}");
}

/// A warning of another command, whose standard output is its answer.
#[test]
fn an_answer_whose_warning_cannot_be_written_is_an_error() {
    let listing = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../bench/tests/imb/noise-in-table.txt"
    );
    let full = File::options().write(true).open("/dev/full");
    let mut command = oxmpi(&["bench", "report", "--text", listing]);
    command.stderr(full.expect("/dev/full"));
    let done = finish(command.spawn().expect("oxmpi starts"));
    assert!(done.code == 1 && done.out.contains("PingPong"), "{done:?}");
}

/// A message that cannot be written changes no exit code.
#[test]
fn a_wrong_command_line_has_its_exit_code_without_standard_error() {
    let full = File::options().write(true).open("/dev/full");
    let mut command = oxmpi(&["run", "--no-such-option", "true"]);
    command.stderr(full.expect("/dev/full"));
    let done = finish(command.spawn().expect("oxmpi starts"));
    assert_eq!((done.code, done.out), (2, String::new()));
}

/// As `| head -n 1` does: no message, and the exit code of a program that SIGPIPE has killed.
#[test]
fn a_reader_that_has_enough_ends_the_job_without_a_message() {
    let mut job = start(&["run", "--oversubscribe", "-n", "2", "yes", "text"]);
    let mut reader = BufReader::new(job.child_mut().stdout.take().expect("caught"));
    let mut line = String::new();
    reader.read_line(&mut line).expect("text");
    drop(reader);
    let done = finish(job);
    assert_eq!(
        (line.as_str(), done.code, done.err.as_str()),
        ("text\n", 141, "")
    );
}

#[test]
fn each_rank_writes_to_a_file_of_its_own() {
    let folder = Folder::fresh();
    let pattern = folder.at("logs/out");
    let script = "echo out of $PMI_RANK; echo err of $PMI_RANK >&2; printf end";
    let done = run(&["-n", "2", "--output-filename", &pattern, "sh", "-c", script]);
    assert_eq!((done.code, done.out + &done.err), (0, String::new()));
    for rank in 0..2 {
        let text = fs::read_to_string(format!("{pattern}.{rank}")).expect("the file of a rank");
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        let expected = [
            "end".into(),
            format!("err of {rank}"),
            format!("out of {rank}"),
        ];
        assert_eq!(lines, expected);
    }
}

#[test]
fn a_file_that_cannot_be_created_or_written_is_named() {
    let folder = Folder::fresh();
    let mut file = File::create(folder.at("file")).expect("a file");
    file.write_all(b"kept").expect("room");
    let inside = folder.at("file/out");
    let done = run(&["-n", "1", "--output-filename", &inside, "echo", "text"]);
    let message = format!("oxmpi: cannot create `{inside}.0` for the output of rank 0: ");
    assert!(done.code == 1 && done.err.starts_with(&message), "{done:?}");

    let full = folder.at("full.0");
    std::os::unix::fs::symlink("/dev/full", &full).expect("a link");
    let pattern = folder.at("full.%r");
    let done = run(&["-n", "1", "--output-filename", &pattern, "echo", "text"]);
    let message = format!("oxmpi: cannot write `{full}`: No space left on device (os error 28)");
    assert!(done.code == 1 && done.err.starts_with(&message), "{done:?}");
}

#[test]
fn lines_have_the_time_and_the_tag_of_open_mpi() {
    let script = "echo out; echo err >&2";
    let done = run(&[
        "-n",
        "1",
        "--tag-output",
        "--timestamp-output",
        "sh",
        "-c",
        script,
    ]);
    for (line, end) in [
        (done.out, "Z [1,0]<stdout>:out\n"),
        (done.err, "Z [1,0]<stderr>:err\n"),
    ] {
        let time = line.strip_suffix(end).expect(&line);
        let form: String = time
            .chars()
            .map(|sign| if sign.is_ascii_digit() { '9' } else { sign })
            .collect();
        assert_eq!(form, "9999-99-99T99:99:99.999");
    }
}
