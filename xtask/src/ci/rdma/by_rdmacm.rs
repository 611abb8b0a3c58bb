//! Tests and jobs on devices whose connections rdmacm makes: soft-RoCE over three guests, and soft-iWARP, which knows no other
//! connections.

use super::guests::{Guests, LIMIT, Run};
use crate::guest::GuestMachine;
use crate::steps::StepOutcome;
use crate::tally::Tally;
use crate::{Repo, Result};
use std::time::Duration;

const ALONE: &str = include_str!("alone_by_rdmacm.sh");
const RANKS: &str = include_str!("ranks_by_rdmacm.sh");

/// What is run there.
pub(crate) struct ByRdmacm {
    /// Tests of real ranks, by parts of their names.
    pub(crate) groups: &'static [&'static str],
    /// How long they may take in seconds.
    pub(crate) limit: u32,
}

impl ByRdmacm {
    /// Runs tests on the device of one guest, and jobs over several.
    ///
    /// # Errors
    /// When programs or guests cannot be made.
    pub(crate) fn check(&self, repo: &Repo) -> Result<StepOutcome> {
        Guests::with(repo, |guests| {
            let oxmpi = guests.add_ranks()?;
            let groups = self.groups.join(" ");
            let mut tally = Tally::default();
            for (kind, nodes) in [("rxe", 3), ("siw", 1), ("siw", 2)] {
                if (kind, nodes) == ("siw", 1) {
                    guests.add_siw()?;
                }
                let script = if nodes == 1 { ALONE } else { RANKS };
                tally += guests.run(&Run {
                    name: &format!("rdma-{kind}-{nodes}"),
                    kind,
                    nodes,
                    memory: GuestMachine::NODE.memory,
                    script: format!(
                        "oxmpi={oxmpi}\ngroups='{groups}'\nlimit={}\n{script}",
                        self.limit
                    ),
                    limit: LIMIT + Duration::from_secs(self.limit.into()),
                })?;
            }
            Ok(tally)
        })
    }
}
