//! The caches next to memory, by the kernel's tables.
//!
//! Source: the kernel's documentation `ABI/testing/sysfs-devices-system-cpu`, `cache/index*`.

use std::fs;
use std::path::Path;

/// A kind of cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// The size of one in bytes.
    pub bytes: u64,
    /// How many of them serve the processors that are switched on, if all are alike.
    pub count: usize,
}

/// The last caches, next to memory, as processor `cpu` has one; `None` where the system does not tell, as in some guests.
///
/// # Cost
/// Some ten system calls.
#[must_use]
pub fn last(cpu: u32) -> Option<Caches> {
    within(Path::new("/sys/devices/system/cpu"), cpu)
}

fn within(root: &Path, cpu: u32) -> Option<Caches> {
    let online = length(&fs::read_to_string(root.join("online")).ok()?)?;
    let caches = fs::read_dir(root.join(format!("cpu{cpu}/cache"))).ok()?;
    let cache = |at: &Path| {
        let read = |file: &str| fs::read_to_string(at.join(file)).ok();
        let level: u32 = read("level")?.trim().parse().ok()?;
        let kib: u64 = read("size")?.trim().strip_suffix('K')?.parse().ok()?;
        let caches = Caches {
            bytes: kib.checked_mul(1 << 10)?,
            count: online.div_ceil(length(&read("shared_cpu_list")?)?),
        };
        Some((level, caches))
    };
    let caches = caches.flatten().filter_map(|entry| cache(&entry.path()));
    let (_, last) = caches.max_by_key(|(level, _)| *level)?;
    Some(last)
}

/// How many numbers a list such as `0-3,8` has.
fn length(list: &str) -> Option<usize> {
    let ranges = list.trim().split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let [first, last]: [usize; 2] = [first.parse().ok()?, last.parse().ok()?];
        last.checked_sub(first)?.checked_add(1)
    });
    ranges.sum()
}

#[cfg(test)]
mod tests {
    use oxmpi_testkit::folder::Folder;

    use super::*;

    #[test]
    fn the_last_cache_and_who_shares_it() {
        let root = Folder::fresh();
        let write = |file: &str, text: &str| drop(root.write(file, text));
        write("online", "0-15,32-47\n");
        let caches = [
            ("2", "1024K", "4,36"),
            ("3", "32768K", "0-7,32-39"),
            ("1", "32K", "4,36"),
        ];
        for (index, (level, size, list)) in caches.into_iter().enumerate() {
            for (file, text) in [("level", level), ("size", size), ("shared_cpu_list", list)] {
                write(
                    &format!("cpu4/cache/index{index}/{file}"),
                    &format!("{text}\n"),
                );
            }
        }
        write("cpu4/cache/uevent", "");
        let found = Caches {
            bytes: 32 << 20,
            count: 2,
        };
        assert_eq!(within(root.path(), 4), Some(found));
        assert_eq!(within(root.path(), 5), None);
        write("online", "all\n");
        assert_eq!(within(root.path(), 4), None);
    }

    #[test]
    fn lists_are_counted() {
        let lists = ["0", "0-1\n", "0-3,8,10-11", "", "a", "3-1"];
        let lengths = lists.map(length);
        assert_eq!(lengths, [Some(1), Some(2), Some(7), None, None, None]);
    }
}
