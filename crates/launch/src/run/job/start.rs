//! The start of the ranks, and the errors of the start.

use std::io;

use super::Job;
use crate::run::input::InputForwarder;
use crate::run::output::FileError;
use crate::run::rank::RankProcess;

/// Why a job did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// A facility that every job needs.
    #[error("cannot start a job: {0}")]
    Setup(#[from] io::Error),
    /// A file of `--output-filename`.
    #[error(transparent)]
    File(#[from] FileError),
    /// A rank's program, or the command of `--wrap`.
    #[error("cannot start rank {rank}: {executed}: {}", explained(source, interpreter.as_deref()))]
    Program {
        /// The first rank that did not start.
        rank: u32,
        /// What was to be executed.
        executed: String,
        /// A sentence on its interpreter, if that is what was not found.
        interpreter: Option<String>,
        /// The error of the system.
        source: io::Error,
    },
}

fn explained(error: &io::Error, interpreter: Option<&str>) -> String {
    match (error.kind(), interpreter) {
        (io::ErrorKind::NotFound, Some(interpreter)) => interpreter.into(),
        (io::ErrorKind::NotFound, None) => "not found (looked in PATH if it has no slash)".into(),
        (io::ErrorKind::PermissionDenied, _) => "not executable for this user".into(),
        _ => error.to_string(),
    }
}

impl StartError {
    /// The exit code, as of a shell: 127 for a missing program, 126 for one that cannot be executed.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Program { source, .. } if source.kind() == io::ErrorKind::NotFound => 127,
            Self::Program { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => 126,
            _ => 1,
        }
    }
}

impl Job<'_> {
    /// Starts all ranks in order.
    pub(super) fn start(&mut self) -> Result<(), StartError> {
        for rank_plan in &self.plan.ranks {
            let stdin = self.plan.stdin.stdin(rank_plan.rank);
            let started = RankProcess::start(self.plan, rank_plan, self.guard.group(), stdin);
            let (mut rank, pipe) = started.map_err(|source| StartError::Program {
                rank: rank_plan.rank,
                executed: self.plan.executed(rank_plan),
                interpreter: self.plan.missing_interpreter(rank_plan),
                source,
            })?;
            if let Some(line) = self.plan.binding(rank_plan, rank.pid()) {
                self.output.line(&line);
            }
            if let Some(streams) = rank.take_output() {
                self.output.attach(streams)?;
            }
            if let Some(pipe) = pipe {
                let input = self
                    .input
                    .get_or_insert_with(|| InputForwarder::new(self.plan.stdin));
                input.add(pipe, rank.pid())?;
            }
            self.ranks.push(rank);
        }
        Ok(())
    }
}
