//! Huge pages for shared memory: the kernel's policy, and the pages in the hugetlb pool.
//!
//! Source: the kernel's admin-guide/mm/transhuge.rst ("Hugepages in tmpfs/shmem") and
//! admin-guide/mm/hugetlbpage.rst.

use std::fmt;
use std::fs;
use std::path::Path;

/// Bytes of a huge page.
pub const SIZE: u64 = 2 << 20;

/// The file that [`Shmem`] is read from.
pub const SHMEM_ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

const POOL: &str = "/sys/kernel/mm/hugepages/hugepages-2048kB";

/// The kernel's policy of huge pages for memfd memory (`shmem_enabled`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shmem {
    /// Always.
    Always,
    /// Where they lie within the file's size.
    WithinSize,
    /// Where madvise asks for them.
    Advise,
    /// Never.
    Never,
    /// Never, in no mount.
    Deny,
    /// Always, in every mount.
    Force,
    /// The kernel has no such policy, or it cannot be read.
    Unknown,
}

impl Shmem {
    /// The policy of this machine.
    #[must_use]
    pub fn of_machine() -> Self {
        fs::read_to_string(SHMEM_ENABLED).map_or(Self::Unknown, |text| Self::parse(&text))
    }

    /// Parses the file: all words, the chosen one in brackets.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let chosen = text
            .split_ascii_whitespace()
            .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
        match chosen {
            Some("always") => Self::Always,
            Some("within_size") => Self::WithinSize,
            Some("advise") => Self::Advise,
            Some("never") => Self::Never,
            Some("deny") => Self::Deny,
            Some("force") => Self::Force,
            _ => Self::Unknown,
        }
    }

    /// Whether memory that asks for huge pages may get them.
    #[must_use]
    pub const fn follows(self) -> bool {
        matches!(
            self,
            Self::Always | Self::WithinSize | Self::Advise | Self::Force
        )
    }
}

impl fmt::Display for Shmem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Always => "always",
            Self::WithinSize => "within_size",
            Self::Advise => "advise",
            Self::Never => "never",
            Self::Deny => "deny",
            Self::Force => "force",
            Self::Unknown => "unknown",
        })
    }
}

/// Bytes of free huge pages in the pool that are not reserved.
#[must_use]
pub fn pool() -> u64 {
    pool_at(Path::new(POOL))
}

fn pool_at(dir: &Path) -> u64 {
    let number = |name: &str| {
        let text = fs::read_to_string(dir.join(name)).ok()?;
        text.trim().parse::<u64>().ok()
    };
    let free = number("free_hugepages").unwrap_or(0);
    let promised = number("resv_hugepages").unwrap_or(0);
    free.saturating_sub(promised).saturating_mul(SIZE)
}

#[cfg(test)]
mod tests {
    use oxmpi_testkit::folder::Folder;

    use super::*;

    #[test]
    fn the_word_in_brackets_holds() {
        let words = "always within_size advise never deny force\n";
        for (set, says, follows) in [
            ("always", Shmem::Always, true),
            ("within_size", Shmem::WithinSize, true),
            ("advise", Shmem::Advise, true),
            ("never", Shmem::Never, false),
            ("deny", Shmem::Deny, false),
            ("force", Shmem::Force, true),
        ] {
            let read = Shmem::parse(&words.replace(set, &format!("[{set}]")));
            assert_eq!((read, read.follows()), (says, follows), "{set}");
            assert_eq!(read.to_string(), set);
        }
        for text in ["always never", "[sometimes]", ""] {
            let read = Shmem::parse(text);
            assert_eq!((read, read.follows()), (Shmem::Unknown, false), "{text:?}");
        }
    }

    #[test]
    fn a_pool_that_is_promised_or_missing_has_nothing() {
        let folder = Folder::fresh();
        let dir = folder.path();
        assert_eq!(pool_at(&dir.join("missing")), 0, "no such folder");
        let file = |name: &str, text: &str| drop(folder.write(name, text));
        file("free_hugepages", "7\n");
        assert_eq!(pool_at(dir), 7 * SIZE);
        file("resv_hugepages", "3\n");
        assert_eq!(pool_at(dir), 4 * SIZE);
        file("resv_hugepages", "9\n");
        assert_eq!(pool_at(dir), 0);
        file("free_hugepages", "many\n");
        assert_eq!(pool_at(dir), 0);
    }
}
