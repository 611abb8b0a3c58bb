//! Measures how fast `oxmpi run` forwards the output of one rank, against `cat`: `forwarding OXMPI [LINE [GIB]]`.
//!
//! A rank writes lines of LINE bytes (default: 64), GIB GiB in all (default: 4), to `oxmpi run -n 1`, or to `cat`, whose
//! output this program reads by a pipe. Both alternate; the medians and their ratio are printed.

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Number of measurements of each.
const ROUNDS: usize = 7;
/// Bytes of one write and of one read.
const CHUNK: usize = 256 << 10;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |at: usize, default: usize| {
        words
            .get(at)
            .map_or(default, |word| word.parse().expect("a number"))
    };
    let (line, bytes) = (number(2, 64), number(3, 4) << 30);
    if words.get(1) == Some(&"--write") {
        return write(line, bytes);
    }
    let oxmpi = words.get(1).expect("the path of oxmpi");
    let writer = format!("{} --write {line} {}", words[0], bytes >> 30);
    let commands = [
        format!("{oxmpi} run -n 1 {writer}"),
        format!("{writer} | cat"),
    ];
    let mut speeds = [Vec::new(), Vec::new()];
    for round in 0..2 * ROUNDS {
        speeds[round % 2].push(read(&commands[round % 2], bytes)?);
    }
    let median = |speeds: &mut Vec<f64>| {
        speeds.sort_by(f64::total_cmp);
        speeds[ROUNDS / 2]
    };
    let [oxmpi, cat] = speeds.each_mut().map(median);
    let ratio = oxmpi / cat;
    println!("lines of {line} B: oxmpi {oxmpi:.2} GB/s, cat {cat:.2} GB/s, ratio {ratio:.2}");
    Ok(())
}

/// Writes lines, as a rank.
fn write(line: usize, bytes: usize) -> io::Result<()> {
    let lines: Vec<u8> = (1..=CHUNK)
        .map(|at| if at % line == 0 { b'\n' } else { b'x' })
        .collect();
    let mut output = std::fs::File::options()
        .write(true)
        .open("/proc/self/fd/1")?;
    for _ in 0..bytes / CHUNK {
        output.write_all(&lines)?;
    }
    Ok(())
}

/// Reads the output of a shell command. Returns its speed in GB/s.
fn read(command: &str, bytes: usize) -> io::Result<f64> {
    let start = Instant::now();
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut output = child.stdout.take().expect("piped");
    let (mut buffer, mut read) = (vec![0; CHUNK], 0);
    loop {
        match output.read(&mut buffer)? {
            0 => break,
            more => read += more,
        }
    }
    let time = start.elapsed();
    assert!(
        child.wait()?.success() && read == bytes,
        "{command}: {read} bytes"
    );
    Ok(bytes as f64 / time.as_secs_f64() / 1e9)
}
