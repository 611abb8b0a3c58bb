//! Folders of tests' own.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

/// A folder for the files of one test, which goes with this value.
///
/// ```
/// let folder = oxmpi_testkit::folder::Folder::fresh();
/// let file = folder.write("below/it.txt", "text");
/// assert_eq!(std::fs::read_to_string(&file)?, "text");
/// drop(folder);
/// assert!(!std::path::Path::new(&file).exists());
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A new and empty one among the system's temporary files. Its name is random: a test that is killed leaves its
    /// folder behind, and the number of its process comes again.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn fresh() -> Self {
        let number = RandomState::new().hash_one(());
        let path = std::env::temp_dir().join(format!("oxmpi-test-{number:016x}"));
        fs::create_dir(&path).expect("a new folder");
        Self(path)
    }

    /// Its own path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of what has this name in it.
    ///
    /// # Panics
    /// When the path is no text.
    #[must_use]
    pub fn at(&self, name: &str) -> String {
        let path = self.0.join(name);
        path.to_str().expect("a path that is text").into()
    }

    /// Writes a file of this name, which may be in folders below. Gives its path.
    ///
    /// # Panics
    /// When that is not possible.
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
        // What cannot be removed is left to the system, which clears its temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
