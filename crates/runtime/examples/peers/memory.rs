//! Measures the memory of a process that has only joined its job; the twin of `crates/bench/peers/memory.c`.
//!
//! Prints one line from each rank, in bytes: RssAnon and RssShmem of /proc/self/status, and each shared
//! writable mapping of /proc/self/maps, as the device and number of its file with its first byte and the byte
//! after its last.

use std::fs;

/// A value in kB of /proc/self/status, as bytes.
fn status(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// A line of /proc/self/maps as an item of a JSON list, when it is shared and may be written.
fn shared(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let (from, behind) = words.next()?.split_once('-')?;
    let permissions = words.next()?;
    let hexadecimal = |word| u64::from_str_radix(word, 16).ok();
    let first = hexadecimal(words.next()?)?;
    let end = first + hexadecimal(behind)? - hexadecimal(from)?;
    let (device, inode) = (words.next()?, words.next()?);
    (permissions.contains('s') && permissions.contains('w'))
        .then(|| format!("[\"{device} {inode}\",{first},{end}]"))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let world = oxmpi::World::init()?;
    let private = status("RssAnon:").ok_or("no RssAnon")?;
    let touched = status("RssShmem:").ok_or("no RssShmem")?;
    let (rank, ranks) = (world.comm().rank(), world.comm().size());
    let maps = fs::read_to_string("/proc/self/maps")?;
    let shared: Vec<String> = maps.lines().filter_map(shared).collect();
    println!(
        "{{\"kernel\":\"memory\",\"ranks\":{ranks},\"rank\":{rank},\"private\":{private},\
         \"touched\":{touched},\"shared\":[{}]}}",
        shared.join(",")
    );
    Ok(())
}
