//! The PMIx client, through the system's libpmix.
//!
//! PMIx specifies the interface of a library; what that library sends to the manager differs from version to
//! version. So the library is loaded where the environment asks for it, and not needed otherwise. Source: the
//! PMIx Standard 4.1, chapters 6 (start), 7 (values) and 8 (fences).

mod library;

use crate::error::{Error, Result};
use library::{ANY_RANK, Library, PmixError, Proc};

/// The key of the number of ranks of a job.
const JOB_SIZE: &str = "pmix.job.size";

/// The key of the number of a rank's program.
const PROGRAM_NUMBER: &str = "pmix.appnum";

const STEP: &str = "talking to the process manager by PMIx";

/// The PMIx client of a process.
#[derive(Debug)]
pub(super) struct PmixClient {
    library: Library,
    me: Proc,
}

impl PmixClient {
    /// Joins the job, and gives the number of its ranks.
    pub(super) fn join() -> Result<(Self, u32)> {
        let library = Library::load().map_err(failed)?;
        let me = library.init().map_err(failed)?;
        let client = Self { library, me };
        let size = client
            .library
            .get_number(&client.me.with_rank(ANY_RANK), JOB_SIZE)
            .map_err(failed)?;
        if client.rank() >= size {
            let rank = client.rank();
            let why = format_args!("the manager says that this is rank {rank} of {size} ranks");
            return Err(Error::start(STEP, why));
        }
        Ok((client, size))
    }

    /// This process's rank in its job.
    pub(super) fn rank(&self) -> u32 {
        self.me.rank()
    }

    /// Publishes `value` as `key`; ranks can get it after the next fence.
    pub(super) fn put(&mut self, key: &str, value: &str) -> Result<()> {
        let stored = self.library.put(key, value);
        stored.and_then(|()| self.library.commit()).map_err(failed)
    }

    /// Waits until every rank has called it.
    pub(super) fn barrier(&mut self) -> Result<()> {
        self.library.fence().map_err(failed)
    }

    /// The value that rank `of` has published as `key`, if it has.
    pub(super) fn get(&mut self, of: u32, key: &str) -> Result<Option<String>> {
        self.library
            .get_text(&self.me.with_rank(of), key)
            .map_err(failed)
    }

    /// The number of this process's program.
    pub(super) fn program_number(&mut self) -> Result<Option<u32>> {
        let number = self.library.get_number(&self.me, PROGRAM_NUMBER);
        number.map(Some).map_err(failed)
    }

    /// Leaves the job in order.
    pub(super) fn finalize(&mut self) -> Result<()> {
        self.library.finalize().map_err(failed)
    }

    /// Asks for the end of the whole job.
    pub(super) fn abort(&mut self, code: i32) {
        // The job ends even if the manager does not agree: its ranks notice this process's death.
        let _ = self.library.abort(code);
    }
}

fn failed(why: PmixError) -> Error {
    Error::start(STEP, why)
}
