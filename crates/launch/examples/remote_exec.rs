//! Runs a command on another machine, for tests: like `rsh`, with the PMI descriptor of a rank.
//!
//! ```text
//! remote_exec serve PORT               on every machine
//! remote_exec ADDRESS:PORT COMMAND...  runs COMMAND there: oxmpi run --wrap 'remote_exec 10.0.0.{node}:99'
//! ```
//!
//! COMMAND gets the environment of the caller, and both ends of `PMI_FD` are joined. Its output is forwarded,
//! and so does its end, which becomes that of the process here; when this one ends first, COMMAND is
//! killed. There is no authentication: use it in private networks only.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio, exit};
use std::sync::{Arc, Mutex};
use std::thread;

use oxmpi_os::pipe::{PollFd, PollFlags, poll};
use oxmpi_os::process::{Process, ProcessEnd, SpawnSetup, spawn};
use rustix::process::{Pid, Signal, getpgrp, getpid, kill_process, pidfd_send_signal};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The variable that names a rank's descriptor.
const PMI: &str = "PMI_FD";

/// The stream to which the bytes of a frame belong.
const TO_MANAGER: u8 = 0;
const OUTPUT: u8 = 1;
const ERRORS: u8 = 2;
const END: u8 = 3;
/// An end by a signal is this plus the number of the signal.
const SIGNAL: i32 = 1000;

fn main() -> Result<()> {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    match &words[..] {
        [word, port] if word == "serve" => serve(port.to_str().ok_or("no port")?.parse()?),
        [address, command @ ..] if !command.is_empty() => {
            run_remotely(address.to_str().ok_or("no address")?, command)
        }
        _ => Err("usage: remote_exec serve PORT, or remote_exec ADDRESS:PORT COMMAND...".into()),
    }
}

/// Runs `command` at `address`, and exits as it does.
fn run_remotely(address: &str, command: &[OsString]) -> Result<()> {
    let mut there = TcpStream::connect(address)?;
    there.set_nodelay(true)?;
    let manager = match env::var(PMI) {
        Ok(number) => Some(UnixStream::from(oxmpi_os::inherit(number.parse()?)?)),
        Err(_) => None,
    };
    let variables = env::vars_os().filter(|(name, _)| name != PMI);
    let variables: Vec<OsString> = variables.flat_map(|(name, value)| [name, value]).collect();
    write_words(&mut there, command)?;
    write_words(&mut there, &variables)?;
    there.write_all(&[manager.is_some().into()])?;

    if let Some(manager) = &manager {
        let (manager, there) = (manager.try_clone()?, Mutex::new(there.try_clone()?));
        // It ends with this process.
        thread::spawn(move || forward(manager, &there, TO_MANAGER));
    }
    loop {
        let (of, bytes) = read_piece(&mut there)?;
        match of {
            TO_MANAGER => manager.as_ref().ok_or("no manager")?.write_all(&bytes)?,
            OUTPUT => io::stdout().write_all(&bytes).and(io::stdout().flush())?,
            ERRORS => io::stderr().write_all(&bytes)?,
            _ => end(i32::from_le_bytes(bytes[..].try_into()?))?,
        }
    }
}

/// Ends this process as the other one has ended.
fn end(how: i32) -> Result<()> {
    if let Some(signal) = Signal::from_named_raw(how - SIGNAL) {
        kill_process(getpid(), signal)?;
    }
    exit(how)
}

/// Runs what it is asked to, for ever.
fn serve(port: u16) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))?;
    loop {
        let (asker, _) = listener.accept()?;
        thread::spawn(move || {
            if let Err(why) = run(&asker) {
                eprintln!("carry: {why}");
            }
        });
    }
}

/// Runs one command for `asker`, to its end.
fn run(mut asker: &TcpStream) -> Result<()> {
    asker.set_nodelay(true)?;
    let words = read_words(&mut asker)?;
    let variables = read_words(&mut asker)?;
    let mut with_manager = [0];
    asker.read_exact(&mut with_manager)?;

    let (manager, of_command) = UnixStream::pair()?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_clear();
    command.envs(variables.chunks_exact(2).map(|pair| (&pair[0], &pair[1])));
    if with_manager == [1] {
        command.env(PMI, of_command.as_raw_fd().to_string());
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let setup = SpawnSetup {
        group: Pid::as_raw(Some(getpgrp())),
        cpus: None,
        keep: of_command.as_fd(),
    };
    let mut process = spawn(command, &setup)?;
    drop(of_command);

    let (output, errors) = (process.stdout.take(), process.stderr.take());
    let process = Arc::new(process);
    listen(
        asker.try_clone()?,
        manager.try_clone()?,
        Arc::clone(&process),
    );
    let answers = Mutex::new(asker.try_clone()?);
    thread::scope(|scope| {
        scope.spawn(|| forward(manager, &answers, TO_MANAGER));
        scope.spawn(|| output.map(|pipe| forward(pipe, &answers, OUTPUT)));
        scope.spawn(|| errors.map(|pipe| forward(pipe, &answers, ERRORS)));
    });
    // All of its output has gone, so that its end comes last.
    poll(&mut [PollFd::new(&process, PollFlags::IN)], None)?;
    let how = match process.try_wait()? {
        Some(ProcessEnd::Exited(code)) => code,
        Some(ProcessEnd::Killed(signal)) => SIGNAL + signal,
        None => return Err("it has not ended".into()),
    };
    write_piece(&answers, END, &how.to_le_bytes())?;
    Ok(())
}

/// Passes on what the asker says to the command's manager; kills the command when the asker is gone.
fn listen(mut asker: TcpStream, mut manager: UnixStream, process: Arc<Process>) {
    thread::spawn(move || {
        while let Ok((_, bytes)) = read_piece(&mut asker) {
            // The rank may have closed its end.
            let _ = manager.write_all(&bytes);
        }
        // It may have ended.
        let _ = pidfd_send_signal(&*process, Signal::KILL);
    });
}

/// Passes on bytes until there are no more.
fn forward(mut from: impl Read, to: &Mutex<TcpStream>, of: u8) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if write_piece(to, of, &buffer[..read]).is_err() {
            return;
        }
    }
}

fn write_piece(to: &Mutex<TcpStream>, of: u8, bytes: &[u8]) -> io::Result<()> {
    let mut piece = vec![of];
    piece.extend((bytes.len() as u32).to_le_bytes());
    piece.extend(bytes);
    to.lock().expect("nobody panics").write_all(&piece)
}

fn read_piece(from: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut of = [0];
    from.read_exact(&mut of)?;
    Ok((of[0], read_bytes(from)?))
}

fn read_bytes(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn write_words(to: &mut impl Write, words: &[OsString]) -> io::Result<()> {
    to.write_all(&(words.len() as u32).to_le_bytes())?;
    words.iter().try_for_each(|word| {
        to.write_all(&(word.len() as u32).to_le_bytes())?;
        to.write_all(word.as_bytes())
    })
}

fn read_words(from: &mut impl Read) -> io::Result<Vec<OsString>> {
    let mut count = [0; 4];
    from.read_exact(&mut count)?;
    let count = u32::from_le_bytes(count);
    (0..count)
        .map(|_| read_bytes(from).map(OsString::from_vec))
        .collect()
}
