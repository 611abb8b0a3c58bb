//! The no_std proof: each such crate is called from a program that is linked without std.
//!
//! A program that names nothing of a crate proves nothing, so each probe under `probes/` calls one
//! function. The proof is refuted in the same run: with `extern crate std` added to the crate (and
//! `extern crate alloc`, where the crate promises to do without) the program must not build.

use crate::Repo;
use crate::Result;
use crate::packages::Packages;
use crate::repo::Package;
use crate::steps::Tally;
use std::process::Stdio;

/// A probe: the crate it is about, whether that needs an allocator, and a function that calls it.
struct Probe {
    short: &'static str,
    alloc: bool,
    call: &'static str,
}

const PROBES: &[Probe] = &[];

/// What every probe's program has besides its call.
const PROGRAM: &str = include_str!("probes/program.rs");
/// The allocator of programs whose crate needs one.
const ALLOCATOR: &str = include_str!("probes/allocator.rs");
/// No unwinding, so that nothing of std is asked for by the linker.
const PROFILE: &str = "[profile.release]\npanic = \"abort\"\n";

/// Links every probe, and sees it refused when its crate names std or alloc.
///
/// # Errors
/// When a probe does not link, or links though it must not.
pub(super) fn prove(repo: &Repo) -> Result<Tally> {
    let packages = Packages::make(repo)?;
    let mut tally = Tally::default();
    for probe in PROBES {
        let package = repo
            .libraries()
            .find(|package| package.short() == probe.short);
        let package = package.ok_or_else(|| format!("no library '{}'", probe.short))?;
        if !links(&packages, probe, package, true)? {
            return Err(format!("{} does not link without std", probe.short).into());
        }
        tally += Tally::ONE;
        let forbidden: &[&str] = if probe.alloc {
            &["std"]
        } else {
            &["std", "alloc"]
        };
        for name in forbidden {
            let root = packages.folder.join(&package.name).join("src/lib.rs");
            let source = std::fs::read_to_string(&root)?;
            std::fs::write(
                &root,
                format!("{source}\nextern crate {name} as refuted;\n"),
            )?;
            let linked = links(&packages, probe, package, false)?;
            std::fs::write(&root, source)?;
            if linked {
                return Err(format!(
                    "{} links though it names {name}: the proof is void",
                    probe.short
                )
                .into());
            }
            println!(
                "{}: refused with `extern crate {name}`, as it must be",
                probe.short
            );
            tally += Tally::ONE;
        }
    }
    Ok(tally)
}

/// Whether the probe's program links with its crate's features off.
fn links(packages: &Packages, probe: &Probe, package: &Package, loud: bool) -> Result<bool> {
    let features = if probe.alloc && package.has_feature("alloc") {
        vec!["alloc".into()]
    } else {
        Vec::new()
    };
    let allocator = if probe.alloc { "mod allocator;\n" } else { "" };
    let program = format!("{PROGRAM}\n{allocator}\n{}", probe.call);
    let files = [("src/main.rs", &*program), ("src/allocator.rs", ALLOCATOR)];
    let name = format!("{}-no-std", probe.short);
    let project = packages.project(
        &name,
        package,
        &features,
        PROFILE,
        &[("src/main.rs", &program)],
    )?;
    let mut cargo = packages.cargo(&project);
    cargo.args(["rustc", "--quiet", "--release", "--"]);
    cargo.args(["-C", "link-arg=-nostartfiles", "-C", "link-arg=-lc"]);
    if !loud {
        cargo.stderr(Stdio::null());
    } else {
        println!("{}: linking without std", probe.short);
    }
    Ok(cargo.status()?.success())
}
