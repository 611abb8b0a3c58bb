//! Programs that must not compile: they would use a buffer under a request, let a request outlive its scope,
//! move an endpoint's handle to another thread, or send data that is not plain bytes.
//!
//! The compiler's messages are compared too, so that each fails for its own reason. They differ from version
//! to version, so only the version below is tested.

use std::process::Command;

/// The version whose words are recorded; `TRYBUILD=overwrite` records them anew.
const RECORDED_WITH: &str = "rustc 1.95.";

#[test]
fn unsound_programs_do_not_compile() {
    let version = Command::new("rustc").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    match version {
        Ok(version) if version.starts_with(RECORDED_WITH) => {
            trybuild::TestCases::new().compile_fail("tests/compile-fail/*.rs");
        }
        other => println!("not compared: recorded with {RECORDED_WITH}, here is {other:?}"),
    }
}
