//! `cargo xtask asm`: compares the machine code that sends an 8 B message with the checked-in listings.
//!
//! ```text
//! functions.rs  the functions, compiled in a package of their own
//! listing       extracts one function from the compiler's output, without names that change from build to build
//! rules         what the code must not contain, whatever the compiler
//! ```

mod listing;
mod rules;

use crate::steps::StepOutcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use listing::Listing;
use std::path::PathBuf;
use xshell::cmd;

/// Compare the machine code that sends an 8 B message with the checked-in listings
///
/// Compiles the five functions that send and receive an 8 B message (`xtask/src/asm/functions.rs`) in
/// release with fixed settings, and compares their x86-64 code with `crates/runtime/assembly/`. Each file
/// there names its compiler: another compiler's code is not compared, and a line says so.
///
/// Whatever the compiler, the code must have no locked instruction, fence or system call, and call
/// only functions that are listed as cold in `xtask/src/asm/rules.rs`.
///
/// With `--bless` the files are written anew: review the difference before you commit it. `cargo xtask ci`
/// runs this verb as a step.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct AsmOptions {
    /// Write the checked-in listings anew
    #[arg(long)]
    bless: bool,
}

/// The functions of `functions.rs`, in the order in which a message passes them.
const FUNCTIONS: [&str; 5] = ["send", "engine_short", "ring_short", "flush", "recv"];

const SOURCE: &str = include_str!("functions.rs");

/// One codegen unit makes inlining reproducible; v0 symbols keep the names of generic functions apart.
const FLAGS: [&str; 8] = [
    "-C",
    "codegen-units=1",
    "-C",
    "target-cpu=x86-64",
    "-C",
    "relocation-model=static",
    "-C",
    "llvm-args=-x86-asm-syntax=intel",
];

pub(crate) fn run(repo: &Repo, options: &AsmOptions) -> Result {
    if options.bless {
        return bless(repo);
    }
    match check(repo)? {
        StepOutcome::Ran(tally) | StepOutcome::Noted(tally, _) if tally.failed > 0 => {
            Err("the code differs from the checked-in listings, or breaks a rule".into())
        }
        StepOutcome::Ran(_) | StepOutcome::Noted(..) => Ok(()),
        StepOutcome::Skipped(why) | StepOutcome::Absent(why) => Err(why.into()),
    }
}

/// Compares the listings with the checked-in ones, and checks the rules.
///
/// # Errors
/// When the functions do not compile. Differences and broken rules are failures in the tally.
pub(crate) fn check(repo: &Repo) -> Result<StepOutcome> {
    if !cfg!(target_arch = "x86_64") {
        return Ok(StepOutcome::Absent(
            "the checked-in listings are for x86-64".into(),
        ));
    }
    let compiler = compiler(repo)?;
    let made = repo.root.join("target/xtask/assembly");
    repo.shell.create_dir(&made)?;
    let (mut tally, mut note) = (Tally::default(), "instructions:".to_owned());
    for listing in listings(repo)? {
        let name = listing.name;
        let broken = rules::broken(&listing);
        for rule in &broken {
            println!("{name}: {rule}");
        }
        tally += if broken.is_empty() {
            Tally::ONE
        } else {
            Tally::failed(format!("{name}: {}", broken.join("; ")))
        };

        note += &format!(" {name} {}", listing.instructions());

        let file = file(repo, name);
        let ours = made.join(file.file_name().unwrap_or_default());
        let text = text(&listing, &compiler);
        repo.shell.write_file(&ours, &text)?;
        let kept = repo.shell.read_file(&file).unwrap_or_default();
        let maker = listing::maker(&kept).unwrap_or("nobody");
        if kept == text {
            println!(
                "{name}: {} instructions, as checked in",
                listing.instructions()
            );
            tally += Tally::ONE;
        } else if maker != compiler && maker != "nobody" {
            println!(
                "{name}: not compared: the listing was made by {maker}, this compiler is {compiler}"
            );
        } else {
            let (file, ours) = (file.display(), ours.display());
            let finding = format!(
                "{name}: other code than is checked in; look at it, then bless it:\n  \
                 git diff --no-index {file} {ours}\n  cargo xtask asm --bless"
            );
            println!("{finding}");
            tally += Tally::failed(finding);
        }
    }
    Ok(StepOutcome::Noted(tally, note))
}

/// Writes the checked-in listings anew.
fn bless(repo: &Repo) -> Result {
    let compiler = compiler(repo)?;
    for listing in listings(repo)? {
        let file = file(repo, listing.name);
        repo.shell.write_file(&file, text(&listing, &compiler))?;
        println!("{}: {} instructions", listing.name, listing.instructions());
        for rule in rules::broken(&listing) {
            println!("{}: {rule}", listing.name);
        }
    }
    Ok(())
}

/// The listing of each function.
fn listings(repo: &Repo) -> Result<Vec<Listing>> {
    let assembly = compile(repo)?;
    let found = FUNCTIONS.iter().map(|name| {
        Listing::find(&assembly, name)
            .ok_or_else(|| format!("the compiler made no `{name}`").into())
    });
    found.collect()
}

/// Compiles the functions in a package of their own, as a user's package would, and returns all assembly.
///
/// They are one codegen unit, so link-time optimisation would only optimise the code of other crates, which is not looked at.
fn compile(repo: &Repo) -> Result<String> {
    let sh = &repo.shell;
    let folder = repo.scratch("asm")?;
    let path = |krate: &str| repo.root.join("crates").join(krate).display().to_string();
    let (runtime, shm, wire) = (path("runtime"), path("shm"), path("wire"));
    let manifest = format!(
        "[package]\nname = \"functions\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\noxmpi.path = '{runtime}'\noxmpi-shm.path = '{shm}'\noxmpi-wire.path = '{wire}'\n\n\
         [profile.release]\nlto = 'off'\n"
    );
    sh.write_file(folder.join("Cargo.toml"), manifest)?;
    sh.write_file(folder.join("src/lib.rs"), SOURCE)?;
    sh.copy_file(repo.root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let target = repo.root.join("target/xtask/asm-target");
    sh.create_dir(&target)?;
    let output = target.join("functions.s");
    let emit = format!("--emit=asm={}", output.display());
    let _in = sh.push_dir(folder);
    cmd!(
        sh,
        "cargo rustc --quiet --release --lib -- {emit} {FLAGS...}"
    )
    .env("CARGO_TARGET_DIR", target)
    .env_remove("RUSTFLAGS")
    .env_remove("CARGO_ENCODED_RUSTFLAGS")
    .run()?;
    Ok(sh.read_file(output)?)
}

/// The version of the compiler and of its LLVM.
fn compiler(repo: &Repo) -> Result<String> {
    let said = cmd!(repo.shell, "rustc --version --verbose")
        .quiet()
        .read()?;
    let mut lines = said.lines();
    let version = lines.next().unwrap_or_default();
    let llvm = lines.find(|line| line.starts_with("LLVM version: "));
    let llvm = llvm.unwrap_or_default().replace(" version: ", " ");
    Ok(format!("{version}, {llvm}"))
}

fn file(repo: &Repo, name: &str) -> PathBuf {
    repo.root
        .join(format!("crates/runtime/assembly/{name}.x86-64.s"))
}

/// The text of a checked-in listing.
fn text(listing: &Listing, compiler: &str) -> String {
    format!(
        "# {}: {} instructions, release, {}\n{}{compiler}\n\n{}",
        listing.name,
        listing.instructions(),
        "one codegen unit, target-cpu x86-64",
        listing::MAKER,
        listing.text()
    )
}

#[cfg(test)]
mod tests;
