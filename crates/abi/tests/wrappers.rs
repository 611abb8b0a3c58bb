//! Tests what the compiler wrappers answer and which command they run, with `echo` as the compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// An installed tree with wrappers only.
fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrappers, installed");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("wrappers");
        fs::create_dir_all(prefix.join("bin")).unwrap();
        fs::create_dir_all(prefix.join("lib/pkgconfig")).unwrap();
        for name in ["oxmpicc", "oxmpicxx"] {
            fs::copy(sources.join("oxmpicc"), prefix.join("bin").join(name)).unwrap();
        }
        let description = fs::read_to_string(sources.join("oxmpi.pc")).unwrap();
        let description = description.replace("@VERSION@", "1.2.3");
        fs::write(prefix.join("lib/pkgconfig/oxmpi.pc"), description).unwrap();
        prefix
    })
}

fn run(wrapper: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    Command::new(prefix().join("bin").join(wrapper))
        .args(arguments)
        .env_remove("OXMPI_CC")
        .env_remove("OXMPI_CXX")
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

/// What a wrapper prints, with PREFIX instead of the place where it is installed.
fn said(wrapper: &str, arguments: &[&str]) -> String {
    let output = run(wrapper, arguments, &[]);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    said.trim_end()
        .replace(prefix().to_str().unwrap(), "PREFIX")
}

const COMPILE: &str = "'-IPREFIX/include'";
const LINK: &str = "'-LPREFIX/lib' '-Wl,-rpath,PREFIX/lib' -Wl,--enable-new-dtags -lmpi_abi";

#[test]
fn questions_are_answered() {
    let link_alone = format!("cc {LINK}");
    let compile_alone = format!("cc {COMPILE}");
    for (question, answer) in [
        ("-showme:compile", COMPILE),
        ("-showme:link", LINK),
        ("-showme:incdirs", "'PREFIX/include'"),
        ("-showme:libdirs", "'PREFIX/lib'"),
        ("-showme:libs", "mpi_abi"),
        ("-showme:command", "cc"),
        ("-showme:version", "oxmpicc: oxmpi 1.2.3 (Language: C)"),
        ("--showme:version", "oxmpicc: oxmpi 1.2.3 (Language: C)"),
        ("-compile-info", &compile_alone),
        ("-compile_info", &compile_alone),
        ("-link-info", &link_alone),
        ("-link_info", &link_alone),
    ] {
        assert_eq!(said("oxmpicc", &[question]), answer, "{question}");
    }
    assert_eq!(said("oxmpicc", &["-show"]), format!("cc {COMPILE} {LINK}"));
    assert_eq!(said("oxmpicxx", &["-showme:command"]), "c++");
    assert!(
        said("oxmpicxx", &["-help"]).contains("calls the C++ compiler")
            || said("oxmpicxx", &["-help"]).contains("Calls the C++ compiler")
    );
}

#[test]
fn nothing_is_linked_where_the_compiler_does_not_link() {
    for arguments in [
        ["-c", "a.c"].as_slice(),
        &["a.c", "-c"],
        &["-E", "a.c"],
        &["-S", "a.c"],
        &["-M", "a.c"],
        &["-MM", "a.c"],
        &["-fsyntax-only", "a.c"],
        &["--version"],
        &["-dumpmachine"],
    ] {
        let shown = said("oxmpicc", &[&["-cc=echo"], arguments].concat());
        assert!(!shown.contains("mpi_abi"), "{arguments:?}: {shown}");
        assert!(shown.contains("PREFIX/include"), "{arguments:?}: {shown}");
    }
    for arguments in [["a.o"].as_slice(), &["-MMD", "a.c"], &["-o", "a", "a.c"]] {
        let shown = said("oxmpicc", &[&["-cc=echo"], arguments].concat());
        assert!(shown.ends_with("-lmpi_abi"), "{arguments:?}: {shown}");
    }
}

#[test]
fn arguments_arrive_as_they_were_given() {
    let odd = ["-show", "-DNAME=\"it's\"", "a b.c", ""];
    let shown = said("oxmpicc", &odd);
    let expected = format!("cc {COMPILE} '-DNAME=\"it'\\''s\"' 'a b.c' '' {LINK}");
    assert_eq!(shown, expected);
    let shell = Command::new("sh")
        .args(["-c", &format!("printf '%s|' {shown}")])
        .output()
        .unwrap();
    let words = String::from_utf8(shell.stdout).unwrap();
    assert!(words.contains("|-DNAME=\"it's\"|a b.c||-L"), "{words}");
}

#[test]
fn another_compiler_is_called() {
    let words = [("OXMPI_CC", "echo two words"), ("OXMPI_CXX", "echo other")];
    let output = run("oxmpicc", &["-c", "a.c"], &words);
    assert!(output.stdout.starts_with(b"two words -I"), "{output:?}");
    let output = run("oxmpicxx", &["-c", "a.c"], &words);
    assert!(output.stdout.starts_with(b"other -I"), "{output:?}");
    // The option stands above the variable.
    let output = run("oxmpicc", &["-cc=echo", "-c", "a.c"], &words);
    assert!(output.stdout.starts_with(b"-I"), "{output:?}");
}

#[test]
fn the_version_is_printed_before_the_compiler_speaks() {
    let shown = said("oxmpicc", &["-cc=echo", "-v"]);
    let expected = format!(
        "oxmpicc: oxmpi 1.2.3 (Language: C)\n-I{} -v",
        "PREFIX/include"
    );
    assert_eq!(shown, expected);
}

#[test]
fn a_wrapper_that_would_call_itself_says_so() {
    let itself = prefix().join("bin/oxmpicc");
    let output = run("oxmpicc", &["-c", "a.c"], &[("OXMPI_WRAPPED", "1")]);
    assert!(!output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("OXMPI_CC") && itself.exists(), "{said}");
    assert!(!run("oxmpicc", &[], &[]).status.success());
}

#[test]
fn the_compilers_exit_status_is_the_wrappers() {
    let output = run("oxmpicc", &["-cc=false", "-c", "a.c"], &[]);
    assert_eq!(output.status.code(), Some(1));
}
