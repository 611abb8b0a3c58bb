//! How this process was started, from its environment variables ([`StartMethod`]).

use core::fmt;

/// The environment variables that [`StartMethod::read`] uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PmiVariables<'a> {
    /// `PMI_FD`: descriptor of the connection to the process manager.
    pub fd: Option<&'a str>,
    /// `PMI_RANK`: this process's rank.
    pub rank: Option<&'a str>,
    /// `PMI_SIZE`: number of ranks of the job.
    pub size: Option<&'a str>,
    /// `PMI_PORT`: `host:port` of the manager, if there is no descriptor.
    pub port: Option<&'a str>,
    /// `PMI_ID`: id of this process at that port.
    pub id: Option<&'a str>,
    /// `PMIX_NAMESPACE`: the job's name, for a manager with PMIx.
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
    /// Without a process manager: rank 0 of 1.
    Singleton,
    /// By a manager with PMI-1 over an open descriptor.
    Descriptor {
        /// The descriptor's number.
        fd: i32,
        /// Rank in the job, below `size`.
        rank: u32,
        /// Ranks in the job, at least 1.
        size: u32,
    },
    /// By a manager with PMI-1 that listens at an address.
    Port {
        /// `host:port`.
        address: &'a str,
        /// The id of this process for the handshake.
        id: u32,
    },
    /// By a manager with PMIx, used through libpmix.
    Pmix {
        /// The job's name.
        namespace: &'a str,
        /// Rank in the job. libpmix has the number of ranks.
        rank: u32,
    },
}

/// Why the variables of the process manager are wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A variable is set without another that it needs.
    #[error("{given} is set but {missing} is not: a process manager sets both")]
    Missing {
        /// The variable that is set.
        given: &'static str,
        /// The variable that is not.
        missing: &'static str,
    },
    /// A variable is not a whole number of its range.
    #[error("{name}={value}, expected a whole number from {least} to {}", i32::MAX)]
    Number {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: super::Excerpt,
        /// The smallest value allowed.
        least: u32,
    },
    /// The rank is not below the number of ranks.
    #[error("PMI_RANK={rank}, expected a rank below PMI_SIZE={size}")]
    Rank {
        /// The rank given.
        rank: u32,
        /// The size given.
        size: u32,
    },
}

impl<'a> StartMethod<'a> {
    /// Determines the method: a descriptor before a port before PMIx, else a singleton.
    ///
    /// PMI-1 comes before PMIx because its variables are those of the manager nearest to the process: PMIx's
    /// may come from the launcher of that manager.
    ///
    /// # Errors
    /// If a variable is missing or has a wrong value.
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

/// Displays the manager, the variable that names it, and the rank.
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

/// Parses a number from `least` to 2^31 - 1, the largest descriptor, rank or size.
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
