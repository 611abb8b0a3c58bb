//! One trial: a job of two ranks, started as a user starts it.

use std::process::{Command, Stdio};

use oxmpi_text::EnvName;

use super::plan::{Timing, TrialJob};

/// Runs `job` on two processors. Returns the nanoseconds for each length of its group.
///
/// # Errors
/// A sentence with the error of the job.
pub(super) fn run(job: &TrialJob, processors: &[usize; 2]) -> Result<Vec<f64>, String> {
    let program = std::env::current_exe()
        .map_err(|why| format!("cannot find this program's own file: {why}"))?;
    let lengths = listed(job.group.lengths);
    let mut command = Command::new(&program);
    command
        .args(["run", "-n", "2", "--bind-to", "none"])
        .arg(&program)
        .args(["settings", "--measure", &lengths, "--on"])
        .arg(listed(processors))
        .args((job.group.timing == Timing::BackToBack).then_some("--back-to-back"))
        .envs(
            job.settings()
                .map(|(name, value)| (EnvName(name).to_string(), value)),
        )
        .stdin(Stdio::null());
    let failed = |why: &str| {
        format!(
            "measuring {} = {} failed: {why}",
            job.group.setting, job.value
        )
    };
    let output = command.output().map_err(|why| failed(&why.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim_end()));
    }
    let output = String::from_utf8_lossy(&output.stdout);
    read(&output, job.group.lengths).ok_or_else(|| failed(&format!("unexpected output {output:?}")))
}

/// Numbers with commas between them.
pub(super) fn listed(numbers: &[impl ToString]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    numbers.join(",")
}

/// The times in the output of a job: a line `BYTES NANOSECONDS` for each of `lengths`, in their order.
pub(super) fn read(output: &str, lengths: &[u64]) -> Option<Vec<f64>> {
    let mut lines = output.lines();
    let times: Option<Vec<f64>> = lengths
        .iter()
        .map(|length| {
            let (bytes, time) = lines.next()?.split_once(' ')?;
            let time: f64 = time.parse().ok()?;
            (bytes.parse() == Ok(*length) && time.is_finite() && time > 0.0).then_some(time)
        })
        .collect();
    times.filter(|_| lines.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn the_output_has_a_line_for_each_length() {
        assert_eq!(read("8 50.5\n64 70\n", &[8, 64]), Some(vec![50.5, 70.0]));
        for bad in [
            "",
            "8 50\n",
            "64 70\n8 50\n",
            "8 50\n64 x\n",
            "8 50\n64 inf\n",
            "8 5\n64 7\n9 9\n",
        ] {
            assert_eq!(read(bad, &[8, 64]), None, "{bad:?}");
        }
    }
}
