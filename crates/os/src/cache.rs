//! [`Cache`]: the last-level cache of a processor, from sysfs.
//!
//! Source: the kernel's documentation `ABI/testing/sysfs-devices-system-cpu`, `cache/index*`.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

/// A cache, and the processors that share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// Size in bytes.
    pub bytes: u64,
    served: Vec<RangeInclusive<u32>>,
    /// Number of processors that are online.
    online: u32,
}

impl Cache {
    /// Estimates how many of the machine's `threads` threads share this cache: the larger of an even spread
    /// over all processors and the number of `known` processors that share it. `known` has the processors of
    /// some or all threads.
    pub fn sharers(&self, threads: u32, known: impl Iterator<Item = u32>) -> u32 {
        let (all, served) = (u64::from(threads), u64::from(count(&self.served)));
        let even = (all * served).div_ceil(u64::from(self.online).max(1));
        let is_served = |cpu: &u32| self.served.iter().any(|range| range.contains(cpu));
        let known = known.filter(is_served).count() as u64;
        even.max(known).min(all) as u32
    }
}

/// Reads the last-level cache of processor `cpu`; `None` if sysfs has none, as in some virtual machines.
///
/// # Cost
/// About forty system calls.
#[must_use]
pub fn last(cpu: u32) -> Option<Cache> {
    within(Path::new("/sys/devices/system/cpu"), cpu)
}

fn within(root: &Path, cpu: u32) -> Option<Cache> {
    let caches = root.join(format!("cpu{cpu}/cache"));
    let level = |at: &Path| -> Option<u32> {
        let text = fs::read_to_string(at.join("level")).ok()?;
        text.trim().parse().ok()
    };
    let folders = fs::read_dir(caches).ok()?.flatten();
    let levels = folders.filter_map(|entry| Some((level(&entry.path())?, entry.path())));
    let (_, last) = levels.max()?;
    let read = |file: &str| fs::read_to_string(last.join(file)).ok();
    let kib: u64 = read("size")?.trim().strip_suffix('K')?.parse().ok()?;
    Some(Cache {
        bytes: kib.checked_mul(1 << 10)?,
        served: ranges(&read("shared_cpu_list")?)?,
        online: count(&ranges(&fs::read_to_string(root.join("online")).ok()?)?),
    })
}

/// The ranges of a list such as `0-3,8`.
fn ranges(list: &str) -> Option<Vec<RangeInclusive<u32>>> {
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let range = first.parse().ok()?..=last.parse().ok()?;
        (!range.is_empty()).then_some(range)
    };
    list.trim().split(',').map(range).collect()
}

fn count(ranges: &[RangeInclusive<u32>]) -> u32 {
    let lengths = ranges.iter().map(|range| range.end() - range.start());
    lengths.fold(0, |sum, length| {
        sum.saturating_add(length).saturating_add(1)
    })
}

#[cfg(test)]
mod tests {
    use oxmpi_testkit::folder::Folder;

    use super::*;

    #[test]
    fn the_last_cache_and_its_sharers() {
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
        let found = Cache {
            bytes: 32 << 20,
            served: vec![0..=7, 32..=39],
            online: 32,
        };
        assert_eq!(within(root.path(), 4), Some(found));
        assert_eq!(within(root.path(), 5), None);
        // A size in another unit is no cache.
        write("cpu4/cache/index1/size", "32 MiB\n");
        assert_eq!(within(root.path(), 4), None);
    }

    #[test]
    fn threads_share_by_their_number_and_by_where_they_are() {
        let cache = Cache {
            bytes: 1,
            served: vec![0..=7, 32..=39],
            online: 64,
        };
        let sharers = |threads, known: &[u32]| cache.sharers(threads, known.iter().copied());
        assert_eq!(
            [1, 2, 4, 5, 64].map(|all| sharers(all, &[])),
            [1, 1, 1, 2, 16]
        );
        assert_eq!(sharers(4, &[0, 7, 32, 8]), 3);
        assert_eq!(sharers(4, &[8, 31, 40]), 1);
        assert_eq!(sharers(2, &[0; 5]), 2);
    }

    #[test]
    fn lists_are_ranges() {
        let lists = ["0", "0-1\n", "0-3,8,10-11", "", "a", "3-1"];
        let counts = lists.map(|list| ranges(list).map(|ranges| count(&ranges)));
        assert_eq!(counts, [Some(1), Some(2), Some(7), None, None, None]);
        assert_eq!(count(&[0..=u32::MAX, 0..=0]), u32::MAX);
    }
}
