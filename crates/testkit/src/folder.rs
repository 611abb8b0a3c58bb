//! Temporary folders for tests ([`Folder`]).

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

/// A temporary folder, which is removed when this value is dropped.
///
/// ```
/// let folder = oxmpi_testkit::folder::Folder::fresh();
/// let file = folder.write("below/file.txt", "text");
/// assert_eq!(std::fs::read_to_string(&file)?, "text");
/// drop(folder);
/// assert!(!std::path::Path::new(&file).exists());
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes an empty folder in the system's temporary directory. Its name is random, since a killed test
    /// leaves its folder behind, and process ids repeat.
    ///
    /// # Panics
    /// If it cannot be made.
    #[must_use]
    pub fn fresh() -> Self {
        let number = RandomState::new().hash_one(());
        let path = std::env::temp_dir().join(format!("oxmpi-test-{number:016x}"));
        fs::create_dir(&path).expect("a new folder");
        Self(path)
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of the file `name` in the folder.
    ///
    /// # Panics
    /// If the path is not UTF-8.
    #[must_use]
    pub fn at(&self, name: &str) -> String {
        let path = self.0.join(name);
        path.to_str().expect("a path that is text").into()
    }

    /// Writes the file `name`, which may be in folders below, and returns its path.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, content: &str) -> String {
        let path = self.0.join(name);
        let inner = path.parent().expect("it is in this folder");
        fs::create_dir_all(inner).expect("folders below ours");
        fs::write(&path, content).expect("a file in our folder");
        self.at(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the system, which clears its temporary directory.
        let _ = fs::remove_dir_all(&self.0);
    }
}
