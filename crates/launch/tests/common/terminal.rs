//! A pseudo-terminal: a program runs on it, and a test types and reads as a person does.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};

use super::watchdog;

/// A terminal and the program that runs on it. Both end with this.
pub struct Terminal {
    /// The side that a terminal emulator holds.
    ours: File,
    /// What was printed after the last text that [`Terminal::see`] found.
    shown: Vec<u8>,
    program: Child,
}

impl Terminal {
    /// Starts a program as the leader of a new session, whose controlling terminal is a new pseudo-terminal with
    /// echo. A shell (`bash --norc -i`) is there to test what happens to its jobs.
    pub fn start(words: &[&str]) -> Self {
        let mut command = Command::new("setsid");
        command.arg("--ctty").args(words);
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let ours = openpt(flags).expect("a pseudo-terminal");
        grantpt(&ours).expect("it is ours");
        unlockpt(&ours).expect("it is ours");
        let theirs = ioctl_tiocgptpeer(&ours, flags).expect("it is unlocked");
        let copy = || theirs.try_clone().expect("a descriptor");
        command.stdin(copy()).stdout(copy()).stderr(copy());
        // Shells print no control sequences on it.
        command.env("TERM", "dumb");
        Self {
            ours: ours.into(),
            shown: Vec::new(),
            program: command.spawn().expect("the program starts"),
        }
    }

    /// Starts `oxmpi` with these arguments as [`Terminal::start`] does.
    pub fn oxmpi(arguments: &[&str]) -> Self {
        Self::start(&[&[env!("CARGO_BIN_EXE_oxmpi")], arguments].concat())
    }

    /// The process number of the program.
    pub fn id(&self) -> u32 {
        self.program.id()
    }

    /// Types `text`. The terminal makes `\u{3}` SIGINT, `\u{1a}` SIGTSTP, and `\u{4}` the end of the input.
    pub fn type_text(&mut self, text: &str) {
        let typed = self.ours.write_all(text.as_bytes());
        typed.expect("the terminal takes it");
    }

    /// Waits until the terminal shows `text`, echo included. Returns what it showed since the last call, up to
    /// and with `text`. Line ends are `\n`.
    pub fn see(&mut self, text: &str) -> String {
        loop {
            let found = self.shown.windows(text.len());
            let mut found = found.enumerate();
            if let Some((at, _)) = found.find(|(_, here)| *here == text.as_bytes()) {
                let rest = self.shown.split_off(at + text.len());
                return lossy(&std::mem::replace(&mut self.shown, rest));
            }
            let is_open = self.read(text);
            assert!(is_open, "no `{text}` in {:?}", lossy(&self.shown));
        }
    }

    /// Waits until no process has the terminal open. Returns the exit code of the program, or 1000 + the signal
    /// that killed it, and what the terminal showed since the last [`Terminal::see`].
    pub fn end(mut self) -> (i32, String) {
        while self.read("the end") {}
        let status = self.program.wait().expect("a child of ours");
        let signal = status.signal().unwrap_or_default();
        let code = status.code().unwrap_or(1000 + signal);
        (code, lossy(&self.shown))
    }

    /// Reads once. `false` if no process has the terminal open.
    fn read(&mut self, awaited: &str) -> bool {
        let limit = Timespec {
            tv_sec: watchdog().as_secs().cast_signed(),
            tv_nsec: 0,
        };
        let ready = poll(&mut [PollFd::new(&self.ours, PollFlags::IN)], Some(&limit));
        let shown = || lossy(&self.shown);
        assert_ne!(ready, Ok(0), "no `{awaited}` in time, but {:?}", shown());
        let mut bytes = [0; 4096];
        // EIO: the last process has closed the terminal.
        let read = self.ours.read(&mut bytes).unwrap_or(0);
        // The terminal puts a carriage return before each newline.
        let printed = bytes[..read].iter().filter(|byte| **byte != b'\r');
        self.shown.extend(printed);
        read > 0
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Both fail after `end` only. The end of the leader hangs up its terminal.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
