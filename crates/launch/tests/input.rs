//! Tests of standard input: what is typed on a terminal, and `--stdin`.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::Stdio;

use crate::common::terminal::Terminal;
use crate::common::{Done, finish, named_pipe, oxmpi, run};
use oxmpi_testkit::folder::Folder;

const OXMPI: &str = env!("CARGO_BIN_EXE_oxmpi");

/// An interactive shell on a terminal.
fn shell() -> Terminal {
    let mut shell = Terminal::start(&[
        "env",
        "--default-signal",
        "bash",
        "--norc",
        "--noprofile",
        "-i",
    ]);
    shell.type_text("PS1='$ '\n");
    shell.see("\n$ ");
    shell
}

/// A rank that reads from the named pipe goes on.
fn open(gate: &str) {
    let mut gate = OpenOptions::new()
        .write(true)
        .open(gate)
        .expect("a rank opens it");
    gate.write_all(b"go\n").expect("a rank reads");
}

/// The launcher forwards output that is written after the text was typed, so it has seen that the terminal has input.
#[test]
fn what_is_typed_while_no_rank_reads_belongs_to_the_shell() {
    let folder = Folder::fresh();
    let gates = [folder.at("first"), folder.at("second"), folder.at("pid")];
    gates.iter().for_each(|gate| named_pipe(gate));
    // Rank 0 does not read; rank 1 waits until rank 0 has ended.
    let ended = format!(
        "[ $PMI_RANK = 1 ] || {{ echo $$ >{}; exit; }}; read pid <{}; \
         while kill -0 $pid; do sleep 0.01; done 2>/dev/null; ",
        gates[2], gates[2]
    );
    for (ranks, first) in [(1, ""), (2, &*ended)] {
        let script = format!(
            "{first}echo started; read x <{}; echo again; read x <{}",
            gates[0], gates[1]
        );
        let mut shell = shell();
        shell.type_text(&format!(
            "{OXMPI} run --oversubscribe -n {ranks} sh -c '{script}'\n"
        ));
        shell.see("\nstarted\n");
        shell.type_text("echo typed-$((40 + 2))\n");
        open(&gates[0]);
        shell.see("\nagain\n");
        open(&gates[1]);
        shell.see("\ntyped-42\n");
        shell.type_text("exit\n");
        assert_eq!(shell.end().0, 0);
    }
}

#[test]
fn a_rank_that_waits_gets_what_is_typed() {
    // The shell reads, its child reads, and a child that polls.
    for script in [
        "read x; echo got $x",
        "(read x; echo got $x); :",
        "sed -u s/^/got\\ /",
    ] {
        let mut terminal =
            Terminal::oxmpi(&["run", "--oversubscribe", "-n", "2", "sh", "-c", script]);
        for word in ["one", "two"] {
            terminal.type_text(&format!("{word}\n"));
            terminal.see(&format!("\ngot {word}\n"));
            if !script.contains("sed") {
                break;
            }
        }
        terminal.type_text("\u{4}");
        assert_eq!(terminal.end().0, 0, "{script}");
    }
}

#[test]
fn a_job_in_the_background_leaves_the_terminal_to_the_shell() {
    let mut shell = shell();
    shell.type_text(&format!("{OXMPI} run -n 1 sh -c 'echo started; cat' &\n"));
    shell.see("started\n");
    for number in 1..=5 {
        shell.type_text(&format!("echo typed-$(({number} + 10))\n"));
        shell.see(&format!("\ntyped-{}\n", number + 10));
    }
    shell.type_text("fg\n");
    shell.see("oxmpi run");
    shell.see("\n");
    shell.type_text("for cat\n");
    shell.see("for cat\n");
    shell.see("for cat\n");
    shell.type_text("\u{4}");
    shell.see("$ ");
    shell.type_text("exit\n");
    assert_eq!(shell.end().0, 0);
}

#[test]
fn no_rank_reads_with_none() {
    let script = "read x || echo end";
    let mut terminal = Terminal::oxmpi(&["run", "--stdin", "none", "-n", "1", "sh", "-c", script]);
    terminal.see("end");
    terminal.end();
}

/// Runs a job with this standard input.
fn with_input(arguments: &[&str], input: &[u8]) -> Done {
    let mut command = oxmpi(&[&["run", "--oversubscribe"], arguments].concat());
    let mut child = command.stdin(Stdio::piped()).spawn().expect("oxmpi starts");
    let mut pipe = child.stdin.take().expect("piped");
    pipe.write_all(input).expect("ranks read");
    drop(pipe);
    finish(child)
}

#[test]
fn another_rank_reads_standard_input() {
    let done = with_input(&["--stdin", "1", "-n", "2", "-l", "cat"], b"a\nb\n");
    assert_eq!(done.out, "[1] a\n[1] b\n", "{done:?}");
}

#[test]
fn all_ranks_get_a_copy_of_standard_input() {
    let input = vec![b'x'; 300_000];
    // Rank 0 does not read.
    let script = "[ $PMI_RANK = 0 ] && exec <&-; wc -c 2>/dev/null; exit 0";
    let done = with_input(&["--stdin", "all", "-n", "3", "sh", "-c", script], &input);
    let counts: Vec<&str> = done.out.lines().filter(|line| *line != "0").collect();
    assert_eq!(counts, ["300000", "300000"], "{done:?}");
}

#[test]
fn a_rank_that_the_job_does_not_have_is_refused() {
    let done = run(&["--stdin", "2", "-n", "2", "true"]);
    let says = "oxmpi: --stdin 2: the ranks of this job are 0 to 1\n";
    assert_eq!((done.code, done.err.as_str()), (2, says));
    let done = run(&["--stdin", "some", "-n", "2", "true"]);
    assert!(
        done.err
            .contains("expected a rank such as 0, `all` or `none`"),
        "{done:?}"
    );
}
