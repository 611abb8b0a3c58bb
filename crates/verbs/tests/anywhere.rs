//! What holds on machines without RDMA, and on those without libibverbs.

use object::read::elf::{Dyn as _, FileHeader as _};
use object::{Endianness, elf};

#[test]
fn a_machine_without_rdma_gives_no_device_or_a_reason() {
    match oxmpi_verbs::devices() {
        Ok(devices) => println!("{devices:?}"),
        Err(why) => {
            println!("{why}");
            assert!(why.to_string().len() > 20, "{why}");
        }
    }
}

/// Like every program that uses the crate, this one loads the libraries only when it is asked to.
#[test]
fn no_program_needs_a_library_to_start() {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let header = elf::FileHeader64::<Endianness>::parse(&*program).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, &*program).unwrap();
    let (entries, strings) = sections
        .dynamic(endian, &*program)
        .unwrap()
        .expect("a dynamic program");
    let strings = sections.strings(endian, &*program, strings).unwrap();
    let needed = entries
        .iter()
        .filter(|entry| entry.tag(endian) == elf::DT_NEEDED);
    let names: Vec<_> = needed
        .map(|entry| entry.string(endian, strings).unwrap())
        .collect();
    assert!(names.contains(&&b"libc.so.6"[..]), "{names:?}");
    let is_ours = |name: &&[u8]| name.starts_with(b"libibverbs") || name.starts_with(b"librdmacm");
    assert!(!names.iter().any(is_ours), "{names:?}");
}

#[test]
fn the_example_of_the_readme_is_the_program() {
    let (readme, program) = (
        include_str!("../README.md"),
        include_str!("../examples/verbs_pingpong.rs"),
    );
    let (_, code) = program
        .split_once("\n\n")
        .expect("the program begins with its description");
    assert!(readme.contains(&format!("```rust,no_run\n{code}```\n")));
}
