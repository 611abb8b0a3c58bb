//! The requests of PMI-1 ([`PmiRequest`]), and the words of requests and replies ([`Command`]).

/// A request of a rank to the process manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PmiRequest<'a> {
    /// Join the job. The first request.
    Init,
    /// Get the longest names, keys and values.
    Maxes,
    /// Get the number of this rank's program.
    Appnum,
    /// Get the number of ranks that the manager could start.
    UniverseSize,
    /// Get the name of the job's key-value space.
    KvsName,
    /// Store a value; other ranks can get it after a barrier.
    Put {
        /// The space's name, from [`Reply::KvsName`](super::Reply::KvsName).
        kvs: &'a str,
        /// The key.
        key: &'a str,
        /// The value.
        value: &'a str,
    },
    /// Wait until every rank of the job has entered the barrier.
    Barrier,
    /// Get a value.
    Get {
        /// The space's name, from [`Reply::KvsName`](super::Reply::KvsName).
        kvs: &'a str,
        /// The key.
        key: &'a str,
    },
    /// End the whole job. There is no reply: the manager kills the job.
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

/// A request without its arguments.
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
    /// All commands.
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

    /// The words after `cmd=` in request and reply, in the order of [`Command::ALL`].
    const WORDS: [(&str, &str); 10] = [
        ("init", "response_to_init"),
        ("get_maxes", "maxes"),
        ("get_appnum", "appnum"),
        ("get_universe_size", "universe_size"),
        ("get_my_kvsname", "my_kvsname"),
        ("put", "put_result"),
        ("barrier_in", "barrier_out"),
        ("get", "get_result"),
        ("abort", ""),
        ("finalize", "finalize_ack"),
    ];

    /// The word after `cmd=` in the request.
    #[must_use]
    pub const fn request_word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    /// The word after `cmd=` in the reply; empty for [`Command::Abort`], which has none.
    #[must_use]
    pub const fn reply_word(self) -> &'static str {
        Self::WORDS[self as usize].1
    }
}

impl core::str::FromStr for Command {
    type Err = ();

    /// Parses the word of a request.
    fn from_str(word: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|command| command.request_word() == word)
            .ok_or(())
    }
}
