//! `cargo xtask imb`: runs a whole part of the benchmarks on oxmpi, and the original program on other libraries.

use crate::compare::{Implementation, Probe, peers, publish};
use crate::{Repo, Result};
use std::collections::BTreeSet;
use std::fmt;
use xshell::{PushEnv, cmd};

/// Run a whole part of the Intel MPI Benchmarks on 2 and 4 ranks, and the original on other libraries
///
/// Runs `oxmpi bench PART`, then the original program (of Intel's package, which has none for EXT) on Intel MPI
/// and on MPICH, which has the same binary interface; Open MPI has another one. With more ranks than processors
/// MPICH runs without its intra-node collectives, which spin (MPIR_CVAR_NOLOCAL=1).
///
/// The listings, our JSON and their report (`oxmpi bench report --text`) are written to target/imb/PART; without
/// `--text` that command makes a page with plots.
///
/// On a machine that does other work too, run it in a cpu control group with many shares.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ImbOptions {
    /// The part
    #[arg(value_enum, default_value_t = Part::Mpi1, ignore_case = true)]
    part: Part,
    /// The maximum time of a sample
    #[arg(long, value_name = "SECONDS", default_value_t = 0.2)]
    time: f64,
    /// Keep all but the JSON under crates/bench/runs/DATE-KIND-part, with the machine's description
    #[arg(long)]
    publish: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Part {
    Mpi1,
    Ext,
    Rma,
    Nbc,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Mpi1 => "MPI1",
            Part::Ext => "EXT",
            Part::Rma => "RMA",
            Part::Nbc => "NBC",
        })
    }
}

const RANKS: [usize; 2] = [2, 4];

pub(crate) fn run(repo: &Repo, options: &ImbOptions) -> Result {
    let seconds = options.time.to_string();
    let part = options.part.to_string();
    let program = format!("IMB-{part}");
    let sh = &repo.shell;
    let oxmpi = repo.oxmpi()?;
    let peers = match options.part {
        Part::Ext => Vec::new(),
        _ => peers::prepare(repo, &BTreeSet::new()),
    };
    let folder = repo.root.join("target/imb").join(&part);
    sh.create_dir(&folder)?;
    let _there = sh.push_dir(&folder);
    let processors = std::thread::available_parallelism()?.get();

    for ranks in RANKS {
        println!("{ranks} ranks: oxmpi");
        let count = ranks.to_string();
        let (json, csv) = (format!("oxmpi-{ranks}.json"), format!("oxmpi-{ranks}.csv"));
        let listing = cmd!(
            sh,
            "{oxmpi} bench -n {count} {part} -time {seconds} --json {json} --csv {csv}"
        );
        sh.write_file(
            format!("oxmpi-{ranks}.txt"),
            listing.quiet().output()?.stdout,
        )?;
        let mut files = vec![json];
        let crowded = ranks > processors;
        for peer in &peers {
            let (Some(_variables), Some(launcher)) = (enter(repo, peer, crowded), &peer.launcher)
            else {
                continue;
            };
            println!("{ranks} ranks: {}", peer.name);
            let options = if crowded { peer.unbound } else { peer.bound };
            let listing = cmd!(
                sh,
                "{launcher} {options...} -n {count} {program} -time {seconds}"
            );
            let file = format!("{}-{ranks}.txt", peer.name);
            sh.write_file(&file, listing.quiet().output()?.stdout)?;
            files.push(file);
        }
        let report = format!("report-{ranks}.txt");
        cmd!(
            sh,
            "{oxmpi} bench report --text --force --output {report} {files...}"
        )
        .quiet()
        .run()?;
    }
    println!("{}", folder.display());
    if options.publish {
        let kept = publish::new_folder(
            repo,
            &Probe::build(repo)?,
            &format!("-{}", part.to_lowercase()),
        )?;
        for file in sh.read_dir(&folder)? {
            if file.extension().is_some_and(|kind| kind != "json") {
                sh.copy_file(&file, &kept)?;
            }
        }
        println!("kept under {}", kept.display());
    }
    Ok(())
}

/// Variables with which the original program finds this library; `None` where it cannot.
fn enter<'a>(repo: &'a Repo, peer: &Implementation, crowded: bool) -> Option<Vec<PushEnv<'a>>> {
    let sh = &repo.shell;
    let packages = repo.root.join("target/peers");
    let library = match peer.name {
        "intel" => packages.join("impi-rt/lib"),
        "mpich" => packages.join("mpich/lib"),
        _ => return None,
    };
    let path = std::env::var("PATH").unwrap_or_default();
    // By its name alone, which the listing quotes.
    let original = packages.join("impi-rt/bin");
    let mut variables = vec![
        sh.push_env("PATH", format!("{}:{path}", original.display())),
        sh.push_env("LD_LIBRARY_PATH", library),
    ];
    let own = peer.environment.iter();
    variables.extend(own.map(|(name, value)| sh.push_env(name, value)));
    if crowded {
        variables.extend(
            peer.crowded
                .iter()
                .map(|&(name, value)| sh.push_env(name, value)),
        );
    }
    Some(variables)
}
