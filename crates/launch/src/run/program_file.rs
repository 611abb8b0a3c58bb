//! The file of a program: where it is, and which interpreter the kernel needs to start it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::elf::FileHeader64;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, ReadCache};

use super::options::Program;

/// The longest first line of a script that Linux reads, in bytes.
const SCRIPT_LINE_MAX: u64 = 255;

/// The value of a variable in the ranks of `program`; `shared` are the variables of all ranks.
pub(super) fn variable(
    shared: &[(OsString, OsString)],
    program: &Program,
    name: &str,
) -> Option<OsString> {
    let typed = shared.iter().chain(&program.env);
    let last = typed.rev().find(|(known, _)| known == name);
    last.map(|(_, value)| value.clone())
        .or_else(|| std::env::var_os(name))
}

/// The file that starts for a program, searched in the `PATH` of its ranks if its name has no slash.
pub(super) fn find(shared: &[(OsString, OsString)], program: &Program) -> Option<PathBuf> {
    let command = Path::new(&program.command);
    if command.components().count() > 1 {
        let from = program.directory.as_deref().unwrap_or(Path::new(""));
        return Some(from.join(command));
    }
    let path = variable(shared, program, "PATH")?;
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(command));
    files.find(|file| file.is_file())
}

/// A sentence on the interpreter that a file needs and that does not exist: that of a script's first line, or the loader of
/// an ELF program. `None` if there is nothing wrong with it. `directory` is the one in which the program starts.
///
/// Linux reports a missing interpreter as it does a missing program.
pub(super) fn missing_interpreter(file: &Path, directory: Option<&Path>) -> Option<String> {
    // Opening a FIFO would block.
    if !file.is_file() {
        return None;
    }
    let mut start = Vec::new();
    let opened = File::open(file).ok()?;
    opened.take(SCRIPT_LINE_MAX).read_to_end(&mut start).ok()?;
    let (interpreter, kind) = match start.strip_prefix(b"#!") {
        Some(line) => (script_interpreter(line), "interpreter"),
        None => (loader(file)?, "loader"),
    };
    let from = directory.unwrap_or(Path::new(""));
    if interpreter.is_empty() || from.join(&interpreter).exists() {
        return None;
    }
    let advice = match interpreter.as_bytes().ends_with(b"\r") {
        true => "its first line ends with a carriage return: give the file the line ends of Unix",
        false => "install it, or correct the file",
    };
    Some(format!(
        "the file is there, but the {kind} that it names is not: {interpreter:?} does not exist; {advice}"
    ))
}

/// The interpreter in the first line of a script, without its arguments.
fn script_interpreter(line: &[u8]) -> OsString {
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t'));
    let first = words.find(|word| !word.is_empty()).unwrap_or_default();
    OsStr::from_bytes(first).to_owned()
}

/// The loader that an ELF program names.
fn loader(file: &Path) -> Option<OsString> {
    let file = ReadCache::new(File::open(file).ok()?);
    let header = FileHeader64::<Endianness>::parse(&file).ok()?;
    let endian = header.endian().ok()?;
    let headers = header.program_headers(endian, &file).ok()?;
    let names = headers
        .iter()
        .map(|header| header.interpreter(endian, &file));
    let name = names.filter_map(Result::ok).flatten().next()?;
    let name = name.strip_suffix(b"\0").unwrap_or(name);
    Some(OsStr::from_bytes(name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_testkit::folder::Folder;

    #[test]
    fn an_interpreter_that_is_missing_is_named() {
        let folder = Folder::fresh();
        for (text, says) in [
            ("#!/bin/sh\n", None),
            ("#! /bin/sh -e\nexit\n", None),
            ("#!\n", None),
            ("echo\n", None),
            ("", None),
            (
                "#!/no/such/python3 -u\n",
                Some("\"/no/such/python3\" does not exist; install it"),
            ),
            ("#!/no/such", Some("\"/no/such\" does not exist")),
            (
                "#!/bin/sh\r\nexit\r\n",
                Some("\"/bin/sh\\r\" does not exist; its first line ends with a carriage return"),
            ),
        ] {
            let file = folder.write("script", text);
            let found = missing_interpreter(Path::new(&file), None);
            match (found, says) {
                (None, None) => {}
                (Some(found), Some(says)) => assert!(found.contains(says), "{text:?}: {found}"),
                (found, _) => panic!("{text:?}: {found:?}"),
            }
        }
        let this = std::env::current_exe().expect("a program of this system");
        assert_eq!(missing_interpreter(&this, None), None);
        assert_eq!(missing_interpreter(folder.path(), None), None);
        // A relative name is below the directory in which the program starts.
        folder.write("below/shell", "");
        let file = folder.write("script", "#!below/shell\n");
        assert_eq!(
            missing_interpreter(Path::new(&file), Some(folder.path())),
            None
        );
        assert!(missing_interpreter(Path::new(&file), None).is_some());
    }

    #[test]
    fn the_loader_of_a_program_is_read_from_its_file() {
        let this = std::env::current_exe().expect("a program of this system");
        let loader = loader(&this).expect("tests are linked dynamically");
        assert!(Path::new(&loader).exists(), "{loader:?}");
        // The same program with a loader that is not there.
        let mut bytes = std::fs::read(&this).expect("a file");
        let name = loader.as_bytes();
        let at = bytes.windows(name.len()).position(|window| window == name);
        let at = at.expect("the name is in the file");
        bytes[at + 1] = b'?';
        let folder = Folder::fresh();
        let other = folder.path().join("other");
        std::fs::write(&other, bytes).expect("a file");
        let says = missing_interpreter(&other, None).expect("nobody has such a loader");
        assert!(says.contains("the loader that it names"), "{says}");
    }
}
