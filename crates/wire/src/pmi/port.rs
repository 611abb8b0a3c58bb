//! The opening at `PMI_PORT`: a rank says which process it is, and is told its rank.
//!
//! ```text
//! rank: cmd=initack pmiid=3
//! manager: cmd=initack
//! manager: cmd=set size=8
//! manager: cmd=set rank=3
//! manager: cmd=set debug=0
//! ```
//!
//! From there on the stream is what a descriptor is: the conversation of [`Client`](super::Client).

use super::client::ClientError;
use super::line::{Excerpt, Line, LineReader, write_line};

/// The word of the request and of the first line of its answer.
const WORD: &str = "initack";

/// A rank's place in its job.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct JobRank {
    /// Its rank, below `size`.
    pub rank: u32,
    /// Ranks in the job, at least 1.
    pub size: u32,
}

/// A rank's side of the opening. Holds one line; allocates nothing.
#[derive(Debug, Default)]
pub struct PortHandshake {
    reader: LineReader,
    next: Next,
    place: JobRank,
}

/// Which line of the answer comes next. Their order is fixed.
#[derive(Debug, Default, Clone, Copy)]
enum Next {
    #[default]
    Agreed,
    Size,
    Rank,
    Debug,
}

impl PortHandshake {
    /// The line to write first, for the process that the manager calls `id` (`PMI_ID`). Then feed
    /// what comes back.
    #[must_use]
    pub fn line(id: u32) -> heapless::String<64> {
        let mut line = heapless::String::new();
        // The words and the longest number have fewer bytes than there is room.
        let _ = write_line(&mut line, WORD, &[("pmiid", &id)]);
        line
    }

    /// Takes bytes from the manager. `None`: the answer is not whole yet.
    ///
    /// # Errors
    /// When they are not the answer. The conversation is over then.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Option<JobRank>, ClientError> {
        let mut rest = bytes;
        while let Some(after) = self.reader.push(rest)? {
            rest = after;
            if !self.hear()? {
                continue;
            }
            return match rest {
                [] => Ok(Some(self.place)),
                more => Err(ClientError::Unasked(Excerpt::new(more))),
            };
        }
        Ok(None)
    }

    /// The error to report when the stream has ended before the answer was whole.
    #[must_use]
    pub const fn closed(&self) -> ClientError {
        ClientError::Closed(WORD)
    }

    /// Reads the whole line in the reader; says whether it was the last.
    fn hear(&mut self) -> Result<bool, ClientError> {
        let line = Line::parse(self.reader.line())?;
        let got = || Excerpt::new(line.text().as_bytes());
        let expected = match self.next {
            Next::Agreed => WORD,
            Next::Size | Next::Rank | Next::Debug => "set",
        };
        let wrong = || ClientError::Answer {
            request: WORD,
            got: got(),
            expected,
        };
        if line.command() != expected {
            return Err(wrong());
        }
        if line.value("rc").is_some_and(|rc| rc != "0") {
            return Err(ClientError::Refused {
                request: WORD,
                got: got(),
            });
        }
        let number = |key, least| {
            line.number(key)
                .filter(|number| (least..=i32::MAX.cast_unsigned()).contains(number))
                .ok_or_else(wrong)
        };
        self.next = match self.next {
            Next::Agreed => Next::Size,
            Next::Size => {
                self.place.size = number("size", 1)?;
                Next::Rank
            }
            Next::Rank => {
                self.place.rank = number("rank", 0)?;
                if self.place.rank >= self.place.size {
                    return Err(wrong());
                }
                Next::Debug
            }
            Next::Debug => {
                line.value("debug").ok_or_else(wrong)?;
                return Ok(true);
            }
        };
        Ok(false)
    }
}
