//! Words of the command line that are no text, directories, and programs that cannot start.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use oxmpi_testkit::folder::Folder;

use super::done;
use crate::common::oxmpi;

#[test]
fn bytes_reach_the_ranks_however_they_are_typed() {
    let folder = Folder::fresh();
    let name = OsStr::from_bytes(b"d\xffir");
    let directory = folder.path().join(name);
    std::fs::create_dir(&directory).expect("a directory");
    let joined = |before: &str, value: &OsStr| {
        let mut word = std::ffi::OsString::from(before);
        word.push(value);
        word
    };
    let value = OsStr::from_bytes(b"\xfe\xff");
    for words in [
        vec![joined("--wdir=", directory.as_os_str())],
        vec!["-wdir".into(), directory.clone().into()],
    ] {
        for variable in [
            vec!["-x".into(), joined("V=", value)],
            vec![joined("-x=V=", value)],
            vec!["-genv".into(), joined("V=", value)],
            vec!["-env".into(), "V".into(), value.to_owned()],
        ] {
            let mut command = oxmpi(&["run", "-n", "1"]);
            command.args(&words).args(&variable);
            command.args(["sh", "-c", "printf '%s %s' \"$V\" \"$PWD\""]);
            let output = command.output().expect("oxmpi starts");
            let expected = [value.as_bytes(), b" ", directory.as_os_str().as_bytes()].concat();
            assert_eq!(
                output.stdout, expected,
                "{words:?} {variable:?}: {output:?}"
            );
        }
    }
}

#[test]
fn pwd_is_the_directory_of_the_program() {
    let folder = Folder::fresh();
    folder.write("real/file", "");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("real"), &link).expect("a link");
    let link = folder.at("link");
    // `env` shows what the launcher set; a shell would mend it.
    for (options, expected) in [
        (&["-wdir", &link][..], format!("PWD={link}")),
        (&["-env", "PWD", "mine", "-wdir", &link], "PWD=mine".into()),
    ] {
        let done = done(&[&["run", "-n", "1"], options, &["env"]].concat());
        let found = done.out.lines().find(|line| line.starts_with("PWD="));
        assert_eq!(found, Some(&*expected), "{options:?}: {done:?}");
    }
}

#[test]
fn a_missing_interpreter_of_a_script_is_named() {
    let folder = Folder::fresh();
    for (first, says) in [
        (
            "#!/no/such/python3\n",
            "\"/no/such/python3\" does not exist; install it, or correct the file",
        ),
        (
            "#!/bin/sh\r\n",
            "ends with a carriage return: give the file the line ends of Unix",
        ),
    ] {
        let script = folder.write("script", first);
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&script, executable).expect("our file");
        let done = done(&["run", "-n", "1", &script]);
        assert!(done.code == 127 && done.err.contains(says), "{done:?}");
    }
    let missing = done(&["run", "-n", "1", "./no-such-program"]);
    assert!(
        missing.err.contains("not found (looked in PATH"),
        "{missing:?}"
    );
}
