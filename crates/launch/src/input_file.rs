//! Reads files that a user names on a command line.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest file in bytes: a list of hosts, programs, names or lengths has far less.
const FILE_MAX: u64 = 1 << 20;

/// The bytes of a file.
///
/// # Errors
/// A sentence without the name of the file: what the system says, or that the file is too long.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|why| why.to_string())?;
    let mut bytes = Vec::new();
    let length = file.take(FILE_MAX + 1).read_to_end(&mut bytes);
    match length.map_err(|why| why.to_string())? as u64 {
        0..=FILE_MAX => Ok(bytes),
        _ => Err(format!("the file is longer than {FILE_MAX} bytes")),
    }
}

/// The text of a file.
///
/// # Errors
/// As [`bytes`]; also if the file is not UTF-8.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    String::from_utf8(bytes(path)?).map_err(|_| "the file is not UTF-8".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_file_is_refused() {
        let why = text(Path::new("/dev/zero")).unwrap_err();
        assert!(why.contains("longer than 1048576 bytes"), "{why}");
        assert!(text(Path::new("/nowhere/file")).is_err());
    }
}
