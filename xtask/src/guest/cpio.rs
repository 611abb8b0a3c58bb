//! Writes archives in cpio's "new ASCII" format, which a Linux kernel unpacks as its first root.
//!
//! The format is described in the kernel's `Documentation/driver-api/early-userspace/buffer-format.rst`:
//! a header of hexadecimal fields, the name, the content; each part padded to four bytes.

use std::collections::BTreeMap;

/// The files, folders and links of an archive, by paths without a leading slash.
///
/// Adding an entry adds its folders, which precede it in the archive.
#[derive(Default)]
pub(super) struct Archive {
    entries: BTreeMap<String, Entry>,
}

enum Entry {
    Folder,
    File { bytes: Vec<u8>, executable: bool },
}

impl Archive {
    /// Adds an empty folder.
    pub(super) fn folder(&mut self, path: &str) {
        self.insert(path, Entry::Folder);
    }

    /// Adds a file that everybody may read, and run if it is `executable`.
    ///
    /// Replaces a file of the same path.
    pub(super) fn file(&mut self, path: &str, bytes: Vec<u8>, executable: bool) {
        self.insert(path, Entry::File { bytes, executable });
    }

    fn insert(&mut self, path: &str, entry: Entry) {
        let path = path.trim_start_matches('/');
        for (slash, _) in path.match_indices('/') {
            self.entries
                .entry(path[..slash].to_owned())
                .or_insert(Entry::Folder);
        }
        self.entries.insert(path.to_owned(), entry);
    }

    /// The archive's bytes. Equal contents give equal bytes: all dates are 1970.
    pub(super) fn bytes(&self) -> Vec<u8> {
        const FOLDER: u32 = 0o040_755;
        const FILE: u32 = 0o100_644;
        const PROGRAM: u32 = 0o100_755;
        let mut out = Vec::new();
        for (number, (path, entry)) in (1..).zip(&self.entries) {
            let (mode, content): (u32, &[u8]) = match entry {
                Entry::Folder => (FOLDER, &[]),
                Entry::File { bytes, executable } => {
                    (if *executable { PROGRAM } else { FILE }, bytes)
                }
            };
            append(&mut out, number, mode, path, content);
        }
        append(&mut out, 0, 0, "TRAILER!!!", &[]);
        out
    }
}

fn append(out: &mut Vec<u8>, inode: u32, mode: u32, path: &str, content: &[u8]) {
    let length = u32::try_from(content.len()).expect("a file of an initramfs is far below 4 GiB");
    let name = u32::try_from(path.len() + 1).expect("a path is short");
    out.extend_from_slice(b"070701");
    // inode, mode, user, group, links, date, length, two numbers of the disk, two of the device, length of
    // the name with its zero, a checksum that this format does not use
    for field in [inode, mode, 0, 0, 1, 0, length, 0, 0, 0, 0, name, 0] {
        out.extend_from_slice(format!("{field:08x}").as_bytes());
    }
    out.extend_from_slice(path.as_bytes());
    out.push(0);
    pad(out);
    out.extend_from_slice(content);
    pad(out);
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    //! Tests that read an archive back by the rules of the format.

    use super::Archive;

    /// Path, mode and content of each entry.
    fn read(mut bytes: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
        let mut entries = Vec::new();
        loop {
            assert_eq!(&bytes[..6], b"070701");
            let field = |index: usize| {
                let digits = std::str::from_utf8(&bytes[6 + 8 * index..14 + 8 * index]).unwrap();
                u32::from_str_radix(digits, 16).unwrap()
            };
            let (mode, length, name) = (field(1), field(6) as usize, field(11) as usize);
            let path = String::from_utf8(bytes[110..109 + name].to_vec()).unwrap();
            assert_eq!(bytes[109 + name], 0);
            let content = (110 + name).next_multiple_of(4);
            if path == "TRAILER!!!" {
                return entries;
            }
            entries.push((path, mode, bytes[content..content + length].to_vec()));
            bytes = &bytes[(content + length).next_multiple_of(4)..];
        }
    }

    #[test]
    fn what_is_added_is_in_the_archive_after_its_folders() {
        let mut archive = Archive::default();
        archive.file("/lib/x/libc.so", b"12345".to_vec(), false);
        archive.file("bin/sh", b"#!".to_vec(), true);
        archive.folder("proc");
        let expected = [
            ("bin", 0o040_755, &b""[..]),
            ("bin/sh", 0o100_755, b"#!"),
            ("lib", 0o040_755, b""),
            ("lib/x", 0o040_755, b""),
            ("lib/x/libc.so", 0o100_644, b"12345"),
            ("proc", 0o040_755, b""),
        ];
        let expected: Vec<_> = expected
            .map(|(path, mode, content)| (path.to_owned(), mode, content.to_vec()))
            .into();
        assert_eq!(read(&archive.bytes()), expected);
    }

    #[test]
    fn a_file_added_twice_is_the_later_one() {
        let mut archive = Archive::default();
        archive.file("init", b"old".to_vec(), true);
        archive.file("init", b"new".to_vec(), true);
        let entries = read(&archive.bytes());
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].2, b"new");
    }
}
