//! How much memory a device can register, where its driver has a table of limited size (mlx4, mthca).
//!
//! Source: Open MPI's FAQ on InfiniBand, "Open MPI is warning me about limited registered memory; what does this mean?".

use std::fmt;

use oxmpi_os::adapter::driver_parameter;

/// The size of a driver's table of pages, by its module's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranslationTable {
    /// `log_num_mtt`, of newer drivers.
    LogSegments(u32),
    /// `num_mtt`, of older ones.
    Segments(u64),
}

/// The bytes that can be registered: segments, by 2^`log_mtts_per_seg` pages, by the size of a page. `None`: more than
/// 2^64.
#[must_use]
pub fn registrable_bytes(table: TranslationTable, log_mtts_per_seg: u32, page: u64) -> Option<u64> {
    let segments = match table {
        TranslationTable::LogSegments(log) => 1_u64.checked_shl(log)?,
        TranslationTable::Segments(segments) => segments,
    };
    let pages = segments.checked_mul(1_u64.checked_shl(log_mtts_per_seg)?)?;
    pages.checked_mul(page)
}

/// The `log_num_mtt` with which twice the memory can be registered: the driver needs more than the memory itself.
#[must_use]
pub fn recommended_log_num_mtt(memory: u64, log_mtts_per_seg: u32, page: u64) -> u32 {
    let enough = |log: &u32| {
        let table = TranslationTable::LogSegments(*log);
        let bytes = registrable_bytes(table, log_mtts_per_seg, page);
        bytes.is_none_or(|bytes| bytes >= memory.saturating_mul(2))
    };
    (0..64).find(enough).unwrap_or(63)
}

/// A device can register less than the memory of its host: jobs may fail later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrableWarning {
    /// The host.
    pub host: String,
    /// The device.
    pub device: String,
    /// Bytes that can be registered.
    pub registrable: u64,
    /// Bytes of the host's memory.
    pub memory: u64,
    /// What to set `log_num_mtt` to.
    pub log_num_mtt: u32,
}

impl RegistrableWarning {
    /// A warning about a device of this host, if its driver has a table and it is too small.
    ///
    /// # Cost
    /// Reads some small files.
    #[must_use]
    pub fn of_device(device: &str) -> Option<Self> {
        let number = |name| driver_parameter(device, name);
        let log = number("log_num_mtt").and_then(|log| u32::try_from(log).ok());
        // 0 leaves it to the driver.
        let table = match (log, number("num_mtt")) {
            (Some(log), _) if log > 0 => TranslationTable::LogSegments(log),
            (_, Some(segments)) if segments > 0 => TranslationTable::Segments(segments),
            _ => return None,
        };
        let log_mtts_per_seg = u32::try_from(number("log_mtts_per_seg")?).ok()?;
        let (host, page) = (oxmpi_os::host::name(), oxmpi_os::page_size());
        let memory = oxmpi_os::limit::of_machine()?;
        Self::of(&host, device, table, log_mtts_per_seg, page, memory)
    }

    /// A warning, if it is one.
    #[must_use]
    pub fn of(
        host: &str,
        device: &str,
        table: TranslationTable,
        log_mtts_per_seg: u32,
        page: u64,
        memory: u64,
    ) -> Option<Self> {
        let registrable = registrable_bytes(table, log_mtts_per_seg, page)?;
        (registrable < memory).then(|| Self {
            host: host.to_owned(),
            device: device.to_owned(),
            registrable,
            memory,
            log_num_mtt: recommended_log_num_mtt(memory, log_mtts_per_seg, page),
        })
    }
}

impl fmt::Display for RegistrableWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            host,
            device,
            registrable,
            memory,
            log_num_mtt,
        } = self;
        write!(
            f,
            "host {host}: {device} can register {} MiB of the {} MiB of memory, so that a job which registers more fails \
             or goes by copies; set the module parameter log_num_mtt of its driver to {log_num_mtt} (twice the memory, \
             as its vendor advises), in /etc/modprobe.d, and load the driver again",
            registrable >> 20,
            memory >> 20
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1 << 30;

    #[test]
    fn the_numbers_of_the_faq() {
        let newer = TranslationTable::LogSegments(24);
        assert_eq!(registrable_bytes(newer, 1, 4096), Some(128 * GB));
        let older = TranslationTable::Segments(1 << 18);
        assert_eq!(registrable_bytes(older, 1, 4096), Some(2 * GB));
        assert_eq!(recommended_log_num_mtt(64 * GB, 1, 4096), 24);
        // On a machine with other pages and segments.
        assert_eq!(recommended_log_num_mtt(64 * GB, 3, 4096), 22);
        assert_eq!(recommended_log_num_mtt(64 * GB, 0, 65536), 21);
        assert_eq!(
            registrable_bytes(TranslationTable::LogSegments(64), 0, 4096),
            None
        );
        assert_eq!(
            registrable_bytes(TranslationTable::Segments(u64::MAX), 1, 4096),
            None
        );
    }

    #[test]
    fn too_little_warns_with_the_remedy() {
        let memory = 65476 << 20;
        let of = |log| {
            let table = TranslationTable::LogSegments(log);
            RegistrableWarning::of("node02", "mlx4_0", table, 3, 4096, memory)
        };
        let text = of(20).expect("32 GiB of 64").to_string();
        assert!(
            text.starts_with("host node02: mlx4_0 can register 32768 MiB of the 65476 MiB"),
            "{text}"
        );
        assert!(text.contains("log_num_mtt of its driver to 22"), "{text}");
        assert_eq!(of(21), None, "as much as there is");
    }
}
