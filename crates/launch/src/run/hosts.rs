//! Hosts on the command line: ranks start on this machine only; other hosts need a process manager.

use std::ffi::OsStr;
use std::fs;

/// The hosts of a comma-separated list, without `:slots`.
pub(crate) fn in_list(list: &str) -> Vec<String> {
    list.split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .map(without_slots)
        .collect()
}

/// The hosts of a file: the first word of each line; `#` begins a comment.
///
/// # Errors
/// If the file cannot be read, with its name.
pub(crate) fn in_file(path: &OsStr) -> Result<Vec<String>, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.to_string_lossy()))?;
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default());
    Ok(lines
        .filter_map(|line| line.split_whitespace().next())
        .map(without_slots)
        .collect())
}

fn without_slots(entry: &str) -> String {
    entry.split(':').next().unwrap_or(entry).to_owned()
}

/// Checks that all hosts are this machine, whose name is `here`.
///
/// # Errors
/// A sentence with the first other host, and a command for each process manager that reaches it.
pub(crate) fn require_local(hosts: &[String], here: &str, command: &str) -> Result<(), String> {
    let short = |host: &str| host.split('.').next().unwrap_or(host).to_owned();
    let is_here = |host: &String| {
        host == "localhost" || host.starts_with("127.") || short(host) == short(here)
    };
    let Some(other) = hosts.iter().find(|host| !is_here(host)) else {
        return Ok(());
    };
    let list = hosts.join(",");
    Err(format!(
        "host `{other}` is another machine than this one ({here}); `oxmpi run` starts ranks on this machine \
         only.\nOn other machines the process manager of the site starts oxmpi programs:\n\
         \x20 Slurm:    srun --mpi=pmi2 -w {list} {command}\n\
         \x20 Hydra:    mpiexec.hydra -hosts {list} {command}"
    ))
}

#[cfg(test)]
mod tests {
    use oxmpi_testkit::folder::Folder;

    use super::*;

    #[test]
    fn this_machine_has_several_names() {
        let hosts = in_list("localhost, node1:4,127.0.0.1,node1.cluster");
        assert_eq!(hosts, ["localhost", "node1", "127.0.0.1", "node1.cluster"]);
        assert_eq!(require_local(&hosts, "node1", ""), Ok(()));
        assert_eq!(require_local(&[], "node1", ""), Ok(()));
    }

    #[test]
    fn other_machines_are_answered_by_the_process_managers() {
        let hosts = in_list("node1,node2");
        let answer =
            require_local(&hosts, "node1", "-n 2 ./a.out").expect_err("node2 is elsewhere");
        assert!(
            answer.starts_with("host `node2` is another machine"),
            "{answer}"
        );
        for line in [
            "srun --mpi=pmi2 -w node1,node2 -n 2 ./a.out",
            "mpiexec.hydra -hosts node1,node2 -n 2 ./a.out",
        ] {
            assert!(answer.contains(line), "{answer}");
        }
    }

    #[test]
    fn a_host_file_names_one_host_a_line() {
        let folder = Folder::fresh();
        let text = "# two of them\nnode1 slots=4\n\n  node2:8 # the other\n";
        let hosts = in_file(OsStr::new(&folder.write("hosts", text)));
        assert_eq!(hosts, Ok(vec!["node1".to_owned(), "node2".to_owned()]));
    }

    #[test]
    fn a_missing_host_file_is_named() {
        let error = in_file(OsStr::new("no-such-file")).expect_err("it does not exist");
        assert!(error.starts_with("cannot read no-such-file:"), "{error}");
    }
}
