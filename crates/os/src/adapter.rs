//! The RDMA adapters (InfiniBand, RoCE, iWARP) of this host, from sysfs.
//!
//! Source: the kernel's documentation `ABI/stable/sysfs-class-infiniband`.

use std::fs;
use std::path::Path;

/// A port of an RDMA adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterPort {
    /// The adapter's name, such as `mlx5_0`.
    pub device: String,
    /// The port's number, from 1.
    pub port: u8,
    /// Whether the port is active.
    pub up: bool,
    /// Its speed, if the kernel reports it.
    pub megabits_per_second: Option<u32>,
    /// The network interfaces of this port, such as `ib0`.
    pub interfaces: Vec<String>,
}

/// Lists all ports of all adapters, sorted by name and number. Empty if the kernel lists none.
#[must_use]
pub fn list() -> Vec<AdapterPort> {
    list_under(Path::new("/sys/class/infiniband"))
}

/// A parameter of the module of an adapter's driver, such as `log_num_mtt`. `None` if there is no such one, or it is no
/// number.
#[must_use]
pub fn driver_parameter(device: &str, name: &str) -> Option<u64> {
    parameter_under(Path::new("/sys/class/infiniband"), device, name)
}

fn parameter_under(root: &Path, device: &str, name: &str) -> Option<u64> {
    let module = root.join(device).join("device/driver/module/parameters");
    let text = fs::read_to_string(module.join(name)).ok()?;
    text.trim().parse().ok()
}

/// Whether some of `processors`, a [mask](crate::affinity), are on the NUMA node of an adapter. True where the kernel does
/// not say.
#[must_use]
pub fn is_near(device: &str, processors: &[u64]) -> bool {
    is_near_under(Path::new("/sys/class/infiniband"), device, processors)
}

fn is_near_under(root: &Path, device: &str, processors: &[u64]) -> bool {
    let text = fs::read_to_string(root.join(device).join("device/local_cpus"));
    let Some(near) = text.ok().and_then(|text| mask(text.trim())) else {
        return true;
    };
    near.iter().zip(processors).any(|(a, b)| a & b != 0)
}

/// A mask of processors as the kernel writes it: words of 32 bits in hexadecimal digits, the last ones first.
fn mask(text: &str) -> Option<Vec<u64>> {
    let words = text.rsplit(',').map(|word| u32::from_str_radix(word, 16));
    let words: Vec<u32> = words.collect::<Result<_, _>>().ok()?;
    let pairs = words.chunks(2);
    Some(
        pairs
            .map(|pair| {
                pair.iter()
                    .rev()
                    .fold(0, |mask, word| mask << 32 | u64::from(*word))
            })
            .collect(),
    )
}

fn list_under(root: &Path) -> Vec<AdapterPort> {
    let mut ports = Vec::new();
    for device in names(root) {
        let all = root.join(&device).join("ports");
        for name in names(&all) {
            let Ok(port) = name.parse() else {
                continue;
            };
            let at = all.join(&name);
            let read = |file: &str| fs::read_to_string(at.join(file)).unwrap_or_default();
            let mut interfaces: Vec<String> = names(&at.join("gid_attrs/ndevs"))
                .iter()
                .map(|index| read(&format!("gid_attrs/ndevs/{index}")).trim().to_owned())
                .filter(|name| !name.is_empty())
                .collect();
            interfaces.sort();
            interfaces.dedup();
            ports.push(AdapterPort {
                device: device.clone(),
                port,
                up: read("state").contains("ACTIVE"),
                megabits_per_second: gigabits(&read("rate"))
                    .map(|gigabits| (gigabits * 1000.0) as u32),
                interfaces,
            });
        }
    }
    ports.sort_by(|a, b| (&a.device, a.port).cmp(&(&b.device, b.port)));
    ports
}

/// The leading number of a rate such as `100 Gb/sec (4X EDR)`.
fn gigabits(rate: &str) -> Option<f64> {
    rate.split_whitespace().next()?.parse().ok()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use oxmpi_testkit::folder::Folder;

    use super::*;

    #[test]
    fn ports_with_their_interfaces() {
        let root = Folder::fresh();
        let write = |file: &str, text: &str| drop(root.write(file, text));
        write("mlx5_1/ports/2/state", "1: DOWN\n");
        write("mlx5_0/ports/1/state", "4: ACTIVE\n");
        write("mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n");
        write("mlx5_0/ports/1/gid_attrs/ndevs/0", "ib0\n");
        write("mlx5_0/ports/1/gid_attrs/ndevs/1", "ib0\n");
        let found = list_under(root.path());
        let port = |device: &str, port, up, megabits_per_second, interfaces: &[&str]| AdapterPort {
            device: device.into(),
            port,
            up,
            megabits_per_second,
            interfaces: interfaces.iter().map(|name| (*name).into()).collect(),
        };
        let expected = [
            port("mlx5_0", 1, true, Some(100_000), &["ib0"]),
            port("mlx5_1", 2, false, None, &[]),
        ];
        assert_eq!(found, expected);
        assert!(list_under(Path::new("/nowhere")).is_empty());
    }

    #[test]
    fn adapters_near_processors() {
        let root = Folder::fresh();
        drop(root.write("mlx5_0/device/local_cpus", "0000000f,00000000,80000000\n"));
        for (processors, is_near) in [
            (&[1 << 31][..], true),
            (&[1 << 32], false),
            (&[0, 1 << 3], true),
            (&[0, 1 << 4], false),
        ] {
            assert_eq!(
                is_near_under(root.path(), "mlx5_0", processors),
                is_near,
                "{processors:?}"
            );
        }
        assert!(is_near_under(root.path(), "rxe0", &[1]));
    }

    #[test]
    fn parameters_of_a_driver() {
        let root = Folder::fresh();
        let file = "mlx4_0/device/driver/module/parameters/log_num_mtt";
        drop(root.write(file, "20\n"));
        let of = |device, name| parameter_under(root.path(), device, name);
        assert_eq!(of("mlx4_0", "log_num_mtt"), Some(20));
        assert_eq!(of("mlx4_0", "num_mtt"), None);
        assert_eq!(of("rxe0", "log_num_mtt"), None);
    }
}
