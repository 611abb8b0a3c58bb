//! The no_std proof: each such crate is called from a program that is linked without std.
//!
//! A program that names nothing of a crate proves nothing, so each probe under `probes/` calls one
//! function. The proof is refuted in the same run: with `extern crate std` added to the crate (and
//! `extern crate alloc`, where the crate promises to do without) the program must not build, and
//! for that reason.

use crate::packages::Packages;
use crate::tally::Tally;
use crate::{Repo, Result};

/// A function that calls a crate, and whether what it calls needs an allocator.
struct Probe {
    krate: &'static str,
    alloc: bool,
    call: &'static str,
}

/// Probes of what needs no allocator, with all features off, and of what does, with `alloc` on.
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

/// Crates that a program may name, and what the compiler says when two of them meet our program.
const REFUTATIONS: [(&str, &str); 2] = [
    ("std", "panic_impl"),
    ("alloc", "no global memory allocator"),
];

/// What every probe's program has besides its call.
const PROGRAM: &str = include_str!("probes/program.rs");
/// The allocator of programs whose crate needs one.
const ALLOCATOR: &str = include_str!("probes/allocator.rs");
/// No unwinding, and core and alloc compiled again without it, so that nothing of std is asked for
/// by the linker.
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

/// Links every probe, and sees it refused when its crate names std or alloc.
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
                let why = "the compiler did not refuse it for that: the proof is void";
                return Err(format!("{krate} with `extern crate {name}`: {why}").into());
            }
            println!("{krate}: refused with `extern crate {name}`, as it must be");
            tally += Tally::ONE;
        }
    }
    Ok(tally)
}

/// Links the probe's program; the inner error is what the compiler said.
fn link(
    repo: &Repo,
    packages: &Packages,
    probe: &Probe,
) -> Result<std::result::Result<(), String>> {
    let package = repo
        .libraries()
        .find(|package| package.short() == probe.krate);
    let package = package.ok_or_else(|| format!("no library '{}'", probe.krate))?;
    let wants_alloc = probe.alloc && package.has_feature("alloc");
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
