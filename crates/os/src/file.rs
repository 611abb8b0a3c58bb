//! Reads files that a user names.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The most bytes of a file that people write by hand: settings, hosts, programs, names, lengths.
pub const HANDWRITTEN_MAX: u64 = 1 << 20;

/// The bytes of the file, at most `most`. A device without an end, such as `/dev/zero`, is read up to that
/// length only.
///
/// # Errors
/// `FileTooLarge` for a longer file, else what open(2) and read(2) return.
pub fn read_bytes(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= most {
        return Ok(bytes);
    }
    let limit = match most >> 20 {
        0 => format!("{most} bytes"),
        mib => format!("{mib} MiB"),
    };
    Err(io::Error::new(
        ErrorKind::FileTooLarge,
        format!("longer than {limit}, the limit for such a file"),
    ))
}

/// The text of the file, as [`read_bytes`].
///
/// # Errors
/// As [`read_bytes`]; `InvalidData` if the text is not UTF-8.
pub fn read_text(path: impl AsRef<Path>, most: u64) -> io::Result<String> {
    String::from_utf8(read_bytes(path, most)?)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use oxmpi_testkit::folder::Folder;

    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = Folder::fresh();
        let path = folder.at("text");
        std::fs::write(&path, "four").expect("a file");
        assert_eq!(read_text(&path, 4).expect("the text"), "four");
        let kind = |path: &str, most| read_text(path, most).expect_err("an error").kind();
        assert_eq!(kind(&path, 3), ErrorKind::FileTooLarge);
        assert_eq!(kind("/dev/zero", 1 << 20), ErrorKind::FileTooLarge);
        assert_eq!(kind(&folder.at("absent"), 4), ErrorKind::NotFound);
        std::fs::write(&path, [0xff]).expect("a file");
        assert_eq!(kind(&path, 4), ErrorKind::InvalidData);
    }
}
