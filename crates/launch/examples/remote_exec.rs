//! Runs a command on another machine, for tests: like `rsh`, with the PMI descriptor of a rank.
//!
//! ```text
//! remote_exec serve PORT               on every machine
//! remote_exec ADDRESS:PORT COMMAND...  runs COMMAND there: oxmpi run --wrap 'remote_exec 10.0.0.{node}:99'
//! ```
//!
//! COMMAND gets the environment of the caller, and a `PMI_FD` that is forwarded to that of the caller. Its
//! output is forwarded, and this process ends as COMMAND does; if this process ends first, COMMAND is killed.
//! There is no authentication: use it in private networks only.

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

/// Kind of a frame: bytes to or from the process manager.
const TO_MANAGER: u8 = 0;
/// Kind of a frame: standard output.
const OUTPUT: u8 = 1;
/// Kind of a frame: standard error.
const ERRORS: u8 = 2;
/// Kind of a frame: the end of the command.
const END: u8 = 3;
/// Added to the number of the signal that killed the command, to tell it from an exit code.
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

/// Runs `command` at `address`, and ends this process as the command ends.
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
        // The thread ends with this process.
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

/// Ends this process with an exit code, or by a signal when `how` is at least [`SIGNAL`].
fn end(how: i32) -> Result<()> {
    if let Some(signal) = Signal::from_named_raw(how - SIGNAL) {
        kill_process(getpid(), signal)?;
    }
    exit(how)
}

/// Accepts connections without end, and runs the command of each.
fn serve(port: u16) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))?;
    loop {
        let (caller, _) = listener.accept()?;
        thread::spawn(move || {
            if let Err(why) = run(&caller) {
                eprintln!("remote_exec: {why}");
            }
        });
    }
}

/// Runs the command that arrives on connection `caller`, and sends its output and its end.
fn run(mut caller: &TcpStream) -> Result<()> {
    caller.set_nodelay(true)?;
    let words = read_words(&mut caller)?;
    let variables = read_words(&mut caller)?;
    let mut with_manager = [0];
    caller.read_exact(&mut with_manager)?;

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
        caller.try_clone()?,
        manager.try_clone()?,
        Arc::clone(&process),
    );
    let answers = Mutex::new(caller.try_clone()?);
    thread::scope(|scope| {
        scope.spawn(|| forward(manager, &answers, TO_MANAGER));
        scope.spawn(|| output.map(|pipe| forward(pipe, &answers, OUTPUT)));
        scope.spawn(|| errors.map(|pipe| forward(pipe, &answers, ERRORS)));
    });
    // The end of the command is sent last, after all of its output.
    poll(&mut [PollFd::new(&process, PollFlags::IN)], None)?;
    let how = match process.try_wait()? {
        Some(ProcessEnd::Exited(code)) => code,
        Some(ProcessEnd::Killed(signal)) => SIGNAL + signal,
        None => return Err("it has not ended".into()),
    };
    write_piece(&answers, END, &how.to_le_bytes())?;
    Ok(())
}

/// Starts a thread that forwards bytes from the connection to the command's `PMI_FD`, and kills the command
/// when the connection ends.
fn listen(mut caller: TcpStream, mut manager: UnixStream, process: Arc<Process>) {
    thread::spawn(move || {
        while let Ok((_, bytes)) = read_piece(&mut caller) {
            // Errors do not matter: the command may have closed `PMI_FD`.
            let _ = manager.write_all(&bytes);
        }
        // Errors do not matter: the command may have ended.
        let _ = pidfd_send_signal(&*process, Signal::KILL);
    });
}

/// Sends bytes of `from` as frames of kind `of`, until they end.
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
