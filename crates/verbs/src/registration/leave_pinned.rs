//! [`LeavePinned`]: whether memory stays registered after its use, as `mpi_leave_pinned` and
//! `mpi_leave_pinned_pipeline` say.
//!
//! Source: Open MPI's FAQ on InfiniBand, "How can I set the mpi_leave_pinned MCA parameter?".

use std::fmt;

/// Where a setting was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// On the command line, or in the environment of the launcher or the process.
    Said,
    /// In this file.
    File(String),
}

/// A value and where it was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedSetting {
    /// -1, 0 or 1; any positive number is 1, and any negative one -1.
    pub value: i32,
    /// Where.
    pub origin: SettingOrigin,
}

/// Both settings; `None` where nobody has set one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PinnedSettings {
    /// `mpi_leave_pinned`.
    pub direct: Option<PinnedSetting>,
    /// `mpi_leave_pinned_pipeline`.
    pub pipeline: Option<PinnedSetting>,
}

/// What of the user's memory stays registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeavePinned {
    /// Nothing.
    Off,
    /// All of it: long messages are one transfer.
    On,
    /// Long messages are pipelined, and their parts stay registered.
    Pipeline,
}

/// What is done, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedDecision {
    /// What stays registered.
    pub leave_pinned: LeavePinned,
    /// Why: a clause.
    pub why: String,
    /// Whether it is not what a setting asks for: a warning then.
    pub is_refusal: bool,
}

impl fmt::Display for PinnedDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.leave_pinned {
            LeavePinned::On => "memory stays registered after its use",
            LeavePinned::Pipeline => "parts of long messages stay registered after their use",
            LeavePinned::Off => {
                "no registration is cached: short memory goes through registered buffers, and other memory is registered \
                 for each message"
            }
        })?;
        write!(f, " ({})", self.why)
    }
}

/// A setting in a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name} = {value} in {file}: this setting is not read from files, because memory may be allocated before they are \
     read; set it on the command line (--mca {name} {value}) or in the environment (OMPI_MCA_{name}={value})"
)]
pub struct PinnedFromFile {
    name: &'static str,
    value: i32,
    file: String,
}

impl PinnedSettings {
    /// Decides, for a process that has a `device` or not, and for which `notifier_missing` says why there is no
    /// notifier.
    ///
    /// -1 that somebody has set turns it off; where nobody has set anything, it is on if that can be.
    ///
    /// # Errors
    /// [`PinnedFromFile`].
    pub fn decide(
        &self,
        has_device: bool,
        notifier_missing: Option<&dyn fmt::Display>,
    ) -> Result<PinnedDecision, PinnedFromFile> {
        let direct = said("mpi_leave_pinned", self.direct.as_ref())?;
        let pipeline = said("mpi_leave_pinned_pipeline", self.pipeline.as_ref())?;
        let off = |why: &str, is_refusal| PinnedDecision {
            leave_pinned: LeavePinned::Off,
            why: why.to_owned(),
            is_refusal,
        };
        let on = |leave_pinned, why: &str| PinnedDecision {
            leave_pinned,
            why: why.to_owned(),
            is_refusal: false,
        };
        let wanted = match (direct, pipeline) {
            (Some(1), _) => on(LeavePinned::On, "mpi_leave_pinned is 1"),
            (_, Some(1)) => on(LeavePinned::Pipeline, "mpi_leave_pinned_pipeline is 1"),
            (Some(-1), _) | (_, Some(-1)) => {
                return Ok(off(
                    "-1 that is set means off; leave it out for the default",
                    false,
                ));
            }
            (Some(_), _) => return Ok(off("mpi_leave_pinned is 0", false)),
            (None, _) => on(
                LeavePinned::On,
                "by default where there are a device and a notifier",
            ),
        };
        let is_asked = direct == Some(1) || pipeline == Some(1);
        Ok(match notifier_missing {
            _ if !has_device => off("there is no RDMA device", is_asked),
            Some(why) => {
                let text = format!("nothing tells this process of memory that is unmapped ({why})");
                off(&text, is_asked)
            }
            None => wanted,
        })
    }
}

/// The value of a setting, as -1, 0 or 1.
fn said(
    name: &'static str,
    setting: Option<&PinnedSetting>,
) -> Result<Option<i32>, PinnedFromFile> {
    match setting {
        None => Ok(None),
        Some(PinnedSetting { value, origin }) => match origin {
            SettingOrigin::Said => Ok(Some(value.signum())),
            SettingOrigin::File(file) => Err(PinnedFromFile {
                name,
                value: *value,
                file: file.clone(),
            }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(value: i32) -> Option<PinnedSetting> {
        Some(PinnedSetting {
            value,
            origin: SettingOrigin::Said,
        })
    }

    #[test]
    fn the_table_of_the_faq() {
        use LeavePinned::{Off, On, Pipeline};
        for (direct, pipeline, expected) in [
            (None, None, On),
            (set(1), None, On),
            (set(0), None, Off),
            (set(-1), None, Off),
            (None, set(1), Pipeline),
            (None, set(0), On),
            (None, set(-1), Off),
            (set(0), set(1), Pipeline),
            (set(1), set(1), On),
            // "a positive value" beats -1.
            (set(1), set(-1), On),
            (set(-1), set(1), Pipeline),
        ] {
            let settings = PinnedSettings { direct, pipeline };
            let decision = settings.decide(true, None).unwrap();
            assert_eq!(decision.leave_pinned, expected, "{settings:?}");
            assert!(!decision.is_refusal, "{settings:?}");
        }
    }

    #[test]
    fn without_a_device_or_a_notifier_it_is_off_and_says_why() {
        let default = PinnedSettings::default();
        let asked = PinnedSettings {
            direct: set(1),
            ..PinnedSettings::default()
        };
        for (settings, is_refusal) in [(default, false), (asked, true)] {
            let decision = settings.decide(false, None).unwrap();
            assert_eq!(
                (decision.leave_pinned, decision.is_refusal),
                (LeavePinned::Off, is_refusal)
            );
            assert_eq!(decision.why, "there is no RDMA device");
            let text = decision.to_string();
            assert!(text.starts_with("no registration is cached: "), "{text}");
            let decision = settings
                .decide(true, Some(&"userfaultfd: refused"))
                .unwrap();
            assert_eq!(
                (decision.leave_pinned, decision.is_refusal),
                (LeavePinned::Off, is_refusal)
            );
            assert!(
                decision.why.ends_with("(userfaultfd: refused)"),
                "{}",
                decision.why
            );
        }
    }

    #[test]
    fn a_file_is_refused_with_the_reason() {
        let settings = PinnedSettings {
            pipeline: Some(PinnedSetting {
                value: 1,
                origin: SettingOrigin::File("/etc/openmpi-mca-params.conf".into()),
            }),
            ..PinnedSettings::default()
        };
        let text = settings.decide(true, None).unwrap_err().to_string();
        assert!(
            text.starts_with("mpi_leave_pinned_pipeline = 1 in /etc/openmpi-mca-params.conf: "),
            "{text}"
        );
        assert!(
            text.contains("OMPI_MCA_mpi_leave_pinned_pipeline=1"),
            "{text}"
        );
    }
}
