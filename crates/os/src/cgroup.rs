//! The directories of the control groups that this process is in.
//!
//! Source: cgroups(7), "/proc files".

use std::path::{Path, PathBuf};

/// Where control groups are mounted.
const MOUNT: &str = "/sys/fs/cgroup";

/// The directories of the groups that bound `controller` for a process whose
/// `/proc/self/cgroup` is `own`: the innermost first, up to the mount point.
pub(crate) fn dirs(own: &str, controller: &str) -> Vec<PathBuf> {
    dirs_under(Path::new(MOUNT), own, controller)
}

/// As [`dirs`], with the groups mounted at `mount`.
pub(crate) fn dirs_under(mount: &Path, own: &str, controller: &str) -> Vec<PathBuf> {
    let mut dirs = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(names), Some(path)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let root = if names.is_empty() {
            mount.to_path_buf()
        } else if names.split(',').any(|name| name == controller) {
            mount.join(controller)
        } else {
            continue;
        };
        let relative = Path::new(path.trim_start_matches('/'));
        let inside = relative.components().all(|c| c.as_os_str() != "..");
        let innermost = if inside {
            root.join(relative).components().collect()
        } else {
            root.clone()
        };
        dirs.extend(
            innermost
                .ancestors()
                .take_while(|dir| dir.starts_with(&root))
                .map(Path::to_path_buf),
        );
    }
    dirs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions() {
        let shown = |own: &str, controller: &str| -> Vec<String> {
            dirs(own, controller)
                .iter()
                .map(|d| d.display().to_string())
                .collect()
        };
        assert_eq!(
            shown("0::/a/b\n", "memory"),
            ["/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup"]
        );
        let v1 = "5:cpu,cpuacct:/x\n4:memory:/\n1:name=systemd:/y\n";
        assert_eq!(shown(v1, "memory"), ["/sys/fs/cgroup/memory"]);
        assert_eq!(
            shown(v1, "cpu"),
            ["/sys/fs/cgroup/cpu/x", "/sys/fs/cgroup/cpu"]
        );
        assert_eq!(shown("0::/../up\n", "cpu"), ["/sys/fs/cgroup"]);
        assert!(shown("rubbish", "cpu").is_empty());
    }
}
