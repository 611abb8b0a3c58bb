//! Converts result files to runs.

mod bench;
mod compared;
mod original;

use super::run::ComparedRun;
use crate::listing::{self, Listing};
use serde::Deserialize;
use std::string::String;
use std::vec::Vec;

/// Reads the runs in a file named `name`: results of `oxmpi bench --json`, raw data of `cargo xtask
/// compare`, or listings in the format of the Intel MPI Benchmarks. A comparison has a run for each
/// implementation, and each listing is a run.
///
/// # Errors
/// When the file has none of these formats, an unknown version, or damage; the error says where.
pub fn read(name: &str, text: &str) -> Result<Vec<ComparedRun>, Error> {
    if text.starts_with(compared::CSV_FORMAT) {
        return Ok(compared::runs(compared::from_csv(text)?));
    }
    if !text.trim_start().starts_with('{') {
        let listings = Listing::parse(text).map_err(Error::Listing)?;
        return Ok(listings
            .into_iter()
            .map(|listing| original::run(name, listing))
            .collect());
    }
    let Head { format, version } = serde_json::from_str(text).map_err(Error::Json)?;
    let known: &[u32] = match format.as_str() {
        BENCH => &[1, crate::report::VERSION],
        COMPARED => &[2],
        _ => return Err(Error::Format(format)),
    };
    if !known.contains(&version) {
        return Err(Error::Version(format, version));
    }
    if format == BENCH {
        let record = serde_json::from_str(text).map_err(Error::Json)?;
        Ok([bench::run(name, record)].into())
    } else {
        let record = serde_json::from_str(text).map_err(Error::Json)?;
        Ok(compared::runs(record))
    }
}

/// The format of `oxmpi bench --json`.
const BENCH: &str = "oxmpi-bench";
/// The format of `cargo xtask compare --publish`.
const COMPARED: &str = "oxmpi-compare";

/// The first fields of each of our JSON formats.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    format: String,
    #[serde(default)]
    version: u32,
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is no JSON, or fields are missing or of another type.
    #[error("{0}")]
    Json(serde_json::Error),
    /// A line of a comparison as comma-separated values is damaged.
    #[error("{0}")]
    Csv(csv::Error),
    /// The file is neither JSON nor a listing.
    #[error("{0}")]
    Listing(listing::ListingError),
    /// The file is JSON of another format, named here.
    #[error("its format is '{0}'; {BENCH}, {COMPARED} and listings can be read")]
    Format(String),
    /// The file has an unknown version of this format.
    #[error("version {1} of {0} is not known to this oxmpi; a newer one may read it")]
    Version(String, u32),
}
