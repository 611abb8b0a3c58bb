//! The table of PMI-1: each request, its word and the word of its reply.

/// What a rank asks the process manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PmiRequest<'a> {
    /// Join the job. The first request.
    Init,
    /// How long names, keys and values may be.
    Maxes,
    /// Which of several programs this rank runs.
    Appnum,
    /// How many ranks the manager could start.
    UniverseSize,
    /// The name of the job's key-value space.
    KvsName,
    /// Store a value for the others, visible to them after a barrier.
    Put {
        /// The space's name, from [`Reply::KvsName`](super::Reply::KvsName).
        kvs: &'a str,
        /// The key.
        key: &'a str,
        /// The value.
        value: &'a str,
    },
    /// Wait until every rank of the job has come here.
    Barrier,
    /// Read a value.
    Get {
        /// The space's name, from [`Reply::KvsName`](super::Reply::KvsName).
        kvs: &'a str,
        /// The key.
        key: &'a str,
    },
    /// End the whole job. No reply comes: the manager kills the job.
    Abort {
        /// The exit code for the job.
        code: i32,
    },
    /// Leave the job in order. The last request.
    Finalize,
}

impl PmiRequest<'_> {
    /// The request without its arguments.
    #[must_use]
    pub fn command(&self) -> Command {
        match self {
            Self::Init => Command::Init,
            Self::Maxes => Command::Maxes,
            Self::Appnum => Command::Appnum,
            Self::UniverseSize => Command::UniverseSize,
            Self::KvsName => Command::KvsName,
            Self::Put { .. } => Command::Put,
            Self::Barrier => Command::Barrier,
            Self::Get { .. } => Command::Get,
            Self::Abort { .. } => Command::Abort,
            Self::Finalize => Command::Finalize,
        }
    }
}

/// A request without its arguments: the rows of the protocol's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `init`
    Init,
    /// `get_maxes`
    Maxes,
    /// `get_appnum`
    Appnum,
    /// `get_universe_size`
    UniverseSize,
    /// `get_my_kvsname`
    KvsName,
    /// `put`
    Put,
    /// `barrier_in`
    Barrier,
    /// `get`
    Get,
    /// `abort`
    Abort,
    /// `finalize`
    Finalize,
}

impl Command {
    /// All commands, in the order of the table.
    pub const ALL: [Self; 10] = [
        Self::Init,
        Self::Maxes,
        Self::Appnum,
        Self::UniverseSize,
        Self::KvsName,
        Self::Put,
        Self::Barrier,
        Self::Get,
        Self::Abort,
        Self::Finalize,
    ];

    /// The word after `cmd=` in the request.
    #[must_use]
    pub const fn request_word(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Maxes => "get_maxes",
            Self::Appnum => "get_appnum",
            Self::UniverseSize => "get_universe_size",
            Self::KvsName => "get_my_kvsname",
            Self::Put => "put",
            Self::Barrier => "barrier_in",
            Self::Get => "get",
            Self::Abort => "abort",
            Self::Finalize => "finalize",
        }
    }

    /// The word after `cmd=` in the reply; empty for [`Command::Abort`], which has none.
    #[must_use]
    pub const fn reply_word(self) -> &'static str {
        match self {
            Self::Init => "response_to_init",
            Self::Maxes => "maxes",
            Self::Appnum => "appnum",
            Self::UniverseSize => "universe_size",
            Self::KvsName => "my_kvsname",
            Self::Put => "put_result",
            Self::Barrier => "barrier_out",
            Self::Get => "get_result",
            Self::Abort => "",
            Self::Finalize => "finalize_ack",
        }
    }
}

impl core::str::FromStr for Command {
    type Err = ();

    /// Finds the command of a request's word.
    fn from_str(word: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|command| command.request_word() == word)
            .ok_or(())
    }
}
