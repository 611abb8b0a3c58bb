//! What stands before each line of output: the time, and the rank.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use time::OffsetDateTime;

/// The labels that the options ask for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LabelOptions {
    /// How a label names the rank; `None`: it does not.
    pub(crate) style: Option<LabelStyle>,
    /// Whether a label has the time.
    pub(crate) timestamp: bool,
}

/// How a label names the rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelStyle {
    /// `[3] `, as MPICH does.
    Rank,
    /// `[1,3]<stdout>:`, as Open MPI does. The first number is that of the job.
    Tag,
}

/// An output stream of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamName {
    Stdout,
    Stderr,
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        })
    }
}

/// The label of the lines of one stream.
#[derive(Debug, Default)]
pub(super) struct Label {
    text: String,
    /// The time since 1970 at the start of the job, if the label has the time.
    epoch: Option<Duration>,
}

impl Label {
    /// The label of a stream of `rank` in a job that started at `epoch`, the time since 1970.
    pub(super) fn new(
        options: LabelOptions,
        rank: u32,
        stream: StreamName,
        epoch: Duration,
    ) -> Self {
        let text = match options.style {
            None => String::new(),
            Some(LabelStyle::Rank) => format!("[{rank}] "),
            Some(LabelStyle::Tag) => format!("[1,{rank}]<{stream}>:"),
        };
        Self {
            text,
            epoch: options.timestamp.then_some(epoch),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.epoch.is_none()
    }

    /// The label of a line that begins `now` after the start of the job.
    pub(super) fn at(&self, now: Duration) -> Cow<'_, str> {
        match self.epoch {
            None => Cow::Borrowed(&self.text),
            Some(epoch) => Cow::Owned(timestamp(epoch + now) + " " + &self.text),
        }
    }
}

/// A time since 1970 as UTC with milliseconds, after ISO 8601: `2026-11-28T07:22:23.123Z`.
fn timestamp(since_1970: Duration) -> String {
    let nanoseconds = i128::try_from(since_1970.as_nanos()).unwrap_or(0);
    let time = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds);
    let time = time.unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let (date, [hour, minute, second]) = (time.date(), [time.hour(), time.minute(), time.second()]);
    let millisecond = time.millisecond();
    format!("{date}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_forms_of_the_field() {
        let epoch = Duration::from_secs(1_795_850_543);
        let label = |style, timestamp, stream| {
            let options = LabelOptions { style, timestamp };
            let label = Label::new(options, 3, stream, epoch);
            label.at(Duration::from_millis(123)).into_owned()
        };
        let (stdout, stderr) = (StreamName::Stdout, StreamName::Stderr);
        let cases = [
            (label(None, false, stdout), ""),
            (label(Some(LabelStyle::Rank), false, stderr), "[3] "),
            (
                label(Some(LabelStyle::Tag), false, stdout),
                "[1,3]<stdout>:",
            ),
            (label(None, true, stdout), "2026-11-28T07:22:23.123Z "),
            (
                label(Some(LabelStyle::Tag), true, stderr),
                "2026-11-28T07:22:23.123Z [1,3]<stderr>:",
            ),
        ];
        for (label, expected) in cases {
            assert_eq!(label, expected);
        }
    }
}
