//! The rank's side of PMI-1 ([`Client`]), as a state machine without IO.
//!
//! ```text
//!          request(Init)            reply
//!   Fresh ---------------> asked ----------> Joined
//!   Joined --request(..)--> asked --reply--> Joined
//!   Joined --request(Finalize)--> asked --reply--> Left
//!   Joined --request(Abort)--> Left, also while a reply is awaited
//!   any error in the server's bytes --> Left
//! ```

use core::fmt::Display;

use super::command::{Command, PmiRequest};
use super::line::{
    BadText, Excerpt, Line, LineError, LineReader, check_text, unescape, write_line,
};
use super::{KEY_MAX, KVS_NAME_MAX, LINE_MAX, VALUE_MAX};

/// Longest texts that the server accepts, in bytes, without the final zero that servers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextLimits {
    /// Name of a key-value space.
    pub kvs_name: usize,
    /// A key.
    pub key: usize,
    /// A value.
    pub value: usize,
}

/// A reply of the process manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply<'a> {
    /// This rank has joined; the manager's version of the protocol.
    Init {
        /// Always 1.
        version: u32,
        /// 1 or above.
        subversion: u32,
    },
    /// The longest texts. The client checks later requests against them.
    Maxes(TextLimits),
    /// The number of this rank's program, from 0; `None` if the manager does not know.
    Appnum(Option<u32>),
    /// The number of ranks that could be started; `None` if the manager does not know.
    UniverseSize(Option<u32>),
    /// The name of the job's key-value space.
    KvsName(&'a str),
    /// The value is stored.
    Put,
    /// Every rank has entered the barrier.
    Barrier,
    /// The value; `None` if no rank has put this key.
    Value(Option<&'a str>),
    /// This rank has left.
    Finalize,
}

/// Why a request cannot be made, or why a reply is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// A request before `init`.
    #[error("PMI request `{0}` before `init`")]
    NotJoined(&'static str),
    /// A second `init`.
    #[error("PMI request `init` a second time")]
    Joined,
    /// A request after `finalize`, `abort` or an error.
    #[error("PMI request `{0}` after this rank left the job")]
    Left(&'static str),
    /// A request while another one waits for its reply.
    #[error("PMI request `{request}` while `{waiting}` waits for its reply")]
    Busy {
        /// The request made.
        request: &'static str,
        /// The request under way.
        waiting: &'static str,
    },
    /// An argument that the field of a line cannot contain.
    #[error("the PMI {field} {text} {why}")]
    Text {
        /// Which argument.
        field: &'static str,
        /// Its beginning.
        text: Excerpt,
        /// What is wrong with it.
        why: BadText,
    },
    /// The server's bytes are not a line.
    #[error("from the process manager: {0}")]
    Line(#[from] LineError),
    /// Bytes from the server without a request.
    #[error("the process manager sent {0} without a request")]
    Unasked(Excerpt),
    /// A line that does not answer the request.
    #[error(
        "the process manager answered `{request}` by {got}, expected `cmd={expected}` with its fields"
    )]
    Answer {
        /// The request.
        request: &'static str,
        /// The beginning of the line.
        got: Excerpt,
        /// The expected word.
        expected: &'static str,
    },
    /// The server refused the request.
    #[error("the process manager refused `{request}`: {got}")]
    Refused {
        /// The request.
        request: &'static str,
        /// The beginning of the line.
        got: Excerpt,
    },
    /// The server closed the connection.
    #[error("the process manager closed the connection while `{0}` waited for its reply")]
    Closed(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Fresh,
    Joined,
    Left,
}

/// The rank's side of the protocol. Buffers one line in each direction; allocates nothing.
#[derive(Debug)]
pub struct Client {
    state: State,
    waiting: Option<Command>,
    limits: TextLimits,
    reader: LineReader,
    /// The request's line; after the reply, the reply's text without escapes.
    text: heapless::String<LINE_MAX>,
}

impl Default for Client {
    fn default() -> Self {
        Self::new()
    }
}

impl Client {
    /// A client that has not joined.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            state: State::Fresh,
            waiting: None,
            limits: TextLimits {
                kvs_name: KVS_NAME_MAX - 1,
                key: KEY_MAX - 1,
                value: VALUE_MAX - 1,
            },
            reader: LineReader::new(),
            text: heapless::String::new(),
        }
    }

    /// Returns the line to write to the server. Then feed its bytes until there is a reply.
    ///
    /// # Errors
    /// If the request is not allowed now, or an argument does not fit a line. The state does not change.
    pub fn request(&mut self, request: PmiRequest<'_>) -> Result<&str, ClientError> {
        let command = request.command();
        self.check_order(command)?;
        let code;
        let fields: &[(&str, &dyn Display)] = match &request {
            PmiRequest::Init => &[("pmi_version", &1), ("pmi_subversion", &1)],
            PmiRequest::Put { kvs, key, value } => {
                check("key-value space", kvs, self.limits.kvs_name)?;
                check("key", key, self.limits.key)?;
                check("value", value, self.limits.value)?;
                &[("kvsname", kvs), ("key", key), ("value", value)]
            }
            PmiRequest::Get { kvs, key } => {
                check("key-value space", kvs, self.limits.kvs_name)?;
                check("key", key, self.limits.key)?;
                &[("kvsname", kvs), ("key", key)]
            }
            PmiRequest::Abort { code: given } => {
                code = *given;
                &[("exitcode", &code)]
            }
            _ => &[],
        };
        self.text.clear();
        if write_line(&mut self.text, command.request_word(), fields).is_err() {
            return Err(LineError::TooLong(Excerpt::new(self.text.as_bytes())).into());
        }
        if command == Command::Abort {
            self.state = State::Left;
        } else {
            self.waiting = Some(command);
        }
        Ok(&self.text)
    }

    /// Takes in bytes from the server. `None`: the reply is not complete yet.
    ///
    /// # Errors
    /// If they are not the reply to the request. Then the client has left.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Option<Reply<'_>>, ClientError> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let Some(command) = self.waiting else {
            self.state = State::Left;
            return Err(ClientError::Unasked(Excerpt::new(bytes)));
        };
        let after = match self.reader.push(bytes) {
            Ok(None) => return Ok(None),
            Ok(Some([])) => self.answered(command),
            Ok(Some(rest)) => Err(ClientError::Unasked(Excerpt::new(rest))),
            Err(error) => Err(error.into()),
        };
        self.waiting = None;
        self.state = match (&after, command) {
            (Err(_), _) | (Ok(_), Command::Finalize) => State::Left,
            (Ok(_), _) => State::Joined,
        };
        let reply = after?;
        if let Reply::Maxes(limits) = reply {
            self.limits = limits;
        }
        Ok(Some(match reply {
            Reply::KvsName(_) => Reply::KvsName(&self.text),
            Reply::Value(Some(_)) => Reply::Value(Some(&self.text)),
            reply => reply,
        }))
    }

    /// Records that the server closed the connection, and returns the error; `None` if no request was under
    /// way.
    pub fn closed(&mut self) -> Option<ClientError> {
        self.state = State::Left;
        self.waiting
            .take()
            .map(|command| ClientError::Closed(command.request_word()))
    }

    fn check_order(&self, command: Command) -> Result<(), ClientError> {
        let request = command.request_word();
        if command == Command::Abort && self.state == State::Joined {
            return Ok(());
        }
        if let Some(waiting) = self.waiting {
            return Err(ClientError::Busy {
                request,
                waiting: waiting.request_word(),
            });
        }
        match (self.state, command) {
            (State::Fresh, Command::Init) => Ok(()),
            (State::Fresh, _) => Err(ClientError::NotJoined(request)),
            (State::Joined, Command::Init) => Err(ClientError::Joined),
            (State::Joined, _) => Ok(()),
            (State::Left, _) => Err(ClientError::Left(request)),
        }
    }

    /// Parses the complete line in `reader` as the reply to `command`. A text in it goes to `self.text`, and
    /// is empty in the reply.
    fn answered(&mut self, command: Command) -> Result<Reply<'static>, ClientError> {
        let line = Line::parse(self.reader.line())?;
        let request = command.request_word();
        let expected = command.reply_word();
        let got = || Excerpt::new(line.text().as_bytes());
        let wrong = || ClientError::Answer {
            request,
            got: got(),
            expected,
        };
        let refused = || ClientError::Refused {
            request,
            got: got(),
        };
        if line.command() != expected {
            return Err(wrong());
        }
        // A reply without rc is one that cannot fail.
        let agreed = line.value("rc").is_none_or(|rc| rc == "0");
        let mut keep = |value: &str| {
            self.text.clear();
            // An unescaped text is never longer than its line, which fits.
            unescape(value).for_each(|letter| self.text.push(letter).unwrap_or(()));
        };
        match command {
            Command::Get => {
                let absent = !agreed || line.value("found") == Some("FALSE");
                if !absent {
                    keep(line.value("value").ok_or_else(wrong)?);
                }
                Ok(Reply::Value((!absent).then_some("")))
            }
            _ if !agreed => Err(refused()),
            Command::Init => {
                let version = line.number("pmi_version").ok_or_else(wrong)?;
                let subversion = line.number("pmi_subversion").ok_or_else(wrong)?;
                if version == 1 {
                    Ok(Reply::Init {
                        version,
                        subversion,
                    })
                } else {
                    Err(refused())
                }
            }
            Command::Maxes => {
                let longest = |key| {
                    line.number::<usize>(key)
                        .and_then(|max| max.checked_sub(1))
                        .ok_or_else(wrong)
                };
                Ok(Reply::Maxes(TextLimits {
                    kvs_name: longest("kvsname_max")?,
                    key: longest("keylen_max")?,
                    value: longest("vallen_max")?,
                }))
            }
            Command::Appnum => {
                let number: i64 = line.number("appnum").ok_or_else(wrong)?;
                Ok(Reply::Appnum(u32::try_from(number).ok()))
            }
            Command::UniverseSize => {
                let size: i64 = line.number("size").ok_or_else(wrong)?;
                Ok(Reply::UniverseSize(
                    u32::try_from(size).ok().filter(|size| *size > 0),
                ))
            }
            Command::KvsName => {
                keep(line.value("kvsname").ok_or_else(wrong)?);
                Ok(Reply::KvsName(""))
            }
            Command::Put => Ok(Reply::Put),
            Command::Barrier => Ok(Reply::Barrier),
            Command::Finalize => Ok(Reply::Finalize),
            Command::Abort => Err(wrong()),
        }
    }
}

fn check(field: &'static str, text: &str, max: usize) -> Result<(), ClientError> {
    check_text(text, max).map_err(|why| ClientError::Text {
        field,
        text: Excerpt::new(text.as_bytes()),
        why,
    })
}
