//! What the environment of a process says about the job it was started in.

use core::fmt;

/// The variables that [`StartMethod::read`] looks at, as the environment gives them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PmiVariables<'a> {
    /// `PMI_FD`: the descriptor to the process manager.
    pub fd: Option<&'a str>,
    /// `PMI_RANK`: this process's rank.
    pub rank: Option<&'a str>,
    /// `PMI_SIZE`: how many ranks the job has.
    pub size: Option<&'a str>,
    /// `PMI_PORT`: `host:port` of the manager when there is no descriptor.
    pub port: Option<&'a str>,
    /// `PMI_ID`: what to name ourselves at that port.
    pub id: Option<&'a str>,
    /// `PMIX_NAMESPACE`: the job's name for a manager that is asked through libpmix.
    pub pmix_namespace: Option<&'a str>,
    /// `PMIX_RANK`: this process's rank in that job.
    pub pmix_rank: Option<&'a str>,
}

impl<'a> PmiVariables<'a> {
    /// The names of the variables, in the order of [`PmiVariables::new`].
    pub const NAMES: [&'static str; 7] = [
        "PMI_FD",
        "PMI_RANK",
        "PMI_SIZE",
        "PMI_PORT",
        "PMI_ID",
        "PMIX_NAMESPACE",
        "PMIX_RANK",
    ];

    /// The variables with these values, in the order of [`PmiVariables::NAMES`].
    #[must_use]
    pub const fn new(values: [Option<&'a str>; 7]) -> Self {
        let [fd, rank, size, port, id, pmix_namespace, pmix_rank] = values;
        Self {
            fd,
            rank,
            size,
            port,
            id,
            pmix_namespace,
            pmix_rank,
        }
    }
}

/// How this process was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartMethod<'a> {
    /// By hand, without a process manager: rank 0 of 1, nobody to ask.
    Singleton,
    /// By a manager that left an open descriptor.
    Descriptor {
        /// The descriptor's number.
        fd: i32,
        /// Rank in the job, below `size`.
        rank: u32,
        /// Ranks in the job, at least 1.
        size: u32,
    },
    /// By a manager that listens at an address.
    Port {
        /// `host:port`.
        address: &'a str,
        /// The name to give there.
        id: u32,
    },
    /// By a manager that is asked through libpmix.
    Pmix {
        /// The job's name.
        namespace: &'a str,
        /// Rank in the job. The library tells how many there are.
        rank: u32,
    },
}

/// A variable of the process manager that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A variable that must stand beside another is missing.
    #[error(
        "{given} is set and {missing} is not: the process manager gave half of what a rank needs"
    )]
    Missing {
        /// The variable that is set.
        given: &'static str,
        /// The variable that is not.
        missing: &'static str,
    },
    /// A variable is not a whole number in its range.
    #[error("{name}={value} is not a whole number of at least {least}")]
    Number {
        /// The variable.
        name: &'static str,
        /// What it holds.
        value: super::Excerpt,
        /// The least value allowed.
        least: u32,
    },
    /// The rank is not below the size.
    #[error("PMI_RANK={rank} is not below PMI_SIZE={size}")]
    Rank {
        /// The rank given.
        rank: u32,
        /// The size given.
        size: u32,
    },
}

impl<'a> StartMethod<'a> {
    /// Reads the variables: a descriptor before a port before PMIx; none of them means a singleton.
    ///
    /// What speaks PMI-1 is preferred because its variables are those of the manager nearest to the
    /// process: who started that manager may have left PMIx's in the environment.
    ///
    /// # Errors
    /// When one is missing beside another or is not the number it should be.
    pub fn read(of: &PmiVariables<'a>) -> Result<Self, StartError> {
        if let Some(fd) = of.fd {
            let fd = number("PMI_FD", fd, 0)?;
            let rank = number("PMI_RANK", beside("PMI_FD", "PMI_RANK", of.rank)?, 0)?;
            let size = number("PMI_SIZE", beside("PMI_FD", "PMI_SIZE", of.size)?, 1)?;
            if rank >= size {
                return Err(StartError::Rank { rank, size });
            }
            return Ok(Self::Descriptor {
                fd: fd.cast_signed(),
                rank,
                size,
            });
        }
        if let Some(address) = of.port {
            let id = number("PMI_ID", beside("PMI_PORT", "PMI_ID", of.id)?, 0)?;
            return Ok(Self::Port { address, id });
        }
        if let Some(namespace) = of.pmix_namespace {
            let rank = beside("PMIX_NAMESPACE", "PMIX_RANK", of.pmix_rank)?;
            let rank = number("PMIX_RANK", rank, 0)?;
            return Ok(Self::Pmix { namespace, rank });
        }
        Ok(Self::Singleton)
    }
}

/// Which manager it is, where it was found, and what is known of the rank.
impl fmt::Display for StartMethod<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Singleton => {
                f.write_str("none (PMI_FD, PMI_PORT and PMIX_NAMESPACE are not set)")
            }
            Self::Descriptor { fd, rank, size } => {
                write!(
                    f,
                    "PMI-1 over descriptor {fd} (PMI_FD), rank {rank} of {size}"
                )
            }
            Self::Port { address, id } => {
                write!(f, "PMI-1 at {address} (PMI_PORT), process {id}")
            }
            Self::Pmix { namespace, rank } => {
                write!(f, "PMIx (PMIX_NAMESPACE), rank {rank} of job {namespace}")
            }
        }
    }
}

fn beside<'a>(
    given: &'static str,
    missing: &'static str,
    value: Option<&'a str>,
) -> Result<&'a str, StartError> {
    value.ok_or(StartError::Missing { given, missing })
}

/// Reads a number from `least` to the largest descriptor, rank or size there can be.
fn number(name: &'static str, value: &str, least: u32) -> Result<u32, StartError> {
    match value.parse::<u32>() {
        Ok(number) if number >= least && number <= i32::MAX.cast_unsigned() => Ok(number),
        _ => Err(StartError::Number {
            name,
            value: super::Excerpt::new(value.as_bytes()),
            least,
        }),
    }
}
