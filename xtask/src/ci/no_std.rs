//! Proves that crates work without std: links a program without std that calls each crate.
//!
//! A program that names nothing of a crate proves nothing, so each probe under `probes/` calls one
//! function. The same run checks the proof itself: with `extern crate std` added to the crate (and `extern
//! crate alloc`, where the crate needs no allocator) the program must fail to link, for that reason.

use crate::packages::Packages;
use crate::tally::Tally;
use crate::{Repo, Result};

/// A function that calls a crate, and whether the called part needs an allocator.
struct Probe {
    krate: &'static str,
    alloc: bool,
    call: &'static str,
}

/// Probes: `core` ones need no allocator and have all features off, `alloc` ones have `alloc` on.
const PROBES: &[Probe] = &[
    core("text", include_str!("probes/text.rs")),
    core("wire", include_str!("probes/wire.rs")),
    alloc("topo", include_str!("probes/topo.rs")),
    alloc("pin", include_str!("probes/pin.rs")),
    alloc("wire", include_str!("probes/wire_alloc.rs")),
    core("coll", include_str!("probes/coll.rs")),
    core("bench", include_str!("probes/bench.rs")),
    alloc("bench", include_str!("probes/bench_alloc.rs")),
    core("shm", include_str!("probes/shm.rs")),
];

/// Crates that must not be linked, and the compiler's error when one of them is.
const REFUTATIONS: [(&str, &str); 2] = [
    ("std", "panic_impl"),
    ("alloc", "no global memory allocator"),
];

/// The program around each probe.
const PROGRAM: &str = include_str!("probes/program.rs");
/// The allocator of programs whose crate needs one.
const ALLOCATOR: &str = include_str!("probes/allocator.rs");
/// Without unwinding, and with core and alloc compiled again without it, the linker asks for nothing of
/// std.
const PROFILE: &str = "[profile.release]\npanic = \"abort\"\nlto = true\n";

const fn core(krate: &'static str, call: &'static str) -> Probe {
    Probe {
        krate,
        alloc: false,
        call,
    }
}

const fn alloc(krate: &'static str, call: &'static str) -> Probe {
    Probe {
        krate,
        alloc: true,
        call,
    }
}

/// Links every probe, and checks that it is refused when its crate names std or alloc.
///
/// # Errors
/// When a probe does not link, or links though it must not.
pub(super) fn prove(repo: &Repo) -> Result<Tally> {
    let packages = Packages::make(repo)?;
    let mut tally = Tally::default();
    for probe in PROBES {
        let krate = probe.krate;
        let said = link(repo, &packages, probe)?;
        said.map_err(|said| format!("{krate} does not link without std:\n{said}"))?;
        println!(
            "{krate}{}: links",
            if probe.alloc { " with alloc" } else { "" }
        );
        tally += Tally::ONE;
        for (name, reason) in REFUTATIONS {
            if probe.alloc && name == "alloc" {
                continue;
            }
            let root = packages.folder.join(format!("oxmpi-{krate}/src/lib.rs"));
            let source = std::fs::read_to_string(&root)?;
            std::fs::write(
                &root,
                format!("{source}\nextern crate {name} as refuted;\n"),
            )?;
            let said = link(repo, &packages, probe)?;
            std::fs::write(&root, source)?;
            if !said.is_err_and(|said| said.contains(reason)) {
                let why = "the compiler did not refuse it for that reason, so this proves nothing";
                return Err(format!("{krate} with `extern crate {name}`: {why}").into());
            }
            println!("{krate}: refused with `extern crate {name}`, as it must be");
            tally += Tally::ONE;
        }
    }
    Ok(tally)
}

/// Links the probe's program; the inner error is the compiler's output.
fn link(
    repo: &Repo,
    packages: &Packages,
    probe: &Probe,
) -> Result<std::result::Result<(), String>> {
    let package = repo
        .libraries()
        .find(|package| package.short() == probe.krate);
    let package = package.ok_or_else(|| format!("no library '{}'", probe.krate))?;
    let wants_alloc = probe.alloc && package.features().any(|name| name == "alloc");
    let features: &[String] = if wants_alloc { &["alloc".into()] } else { &[] };
    let allocator = if probe.alloc { "mod allocator;\n" } else { "" };
    let program = format!("{PROGRAM}\n{allocator}mod probe;\n");
    let files = [
        ("src/main.rs", &*program),
        ("src/allocator.rs", ALLOCATOR),
        ("src/probe.rs", probe.call),
    ];
    let project = packages.project("no-std", package, features, PROFILE, &files)?;
    let mut cargo = packages.cargo(&project);
    cargo.args(["rustc", "--quiet", "--release", "--"]);
    cargo.args(["-C", "link-arg=-nostartfiles", "-C", "link-arg=-lc"]);
    let output = cargo.output()?;
    if output.status.success() {
        return Ok(Ok(()));
    }
    Ok(Err(String::from_utf8_lossy(&output.stderr).into_owned()))
}
