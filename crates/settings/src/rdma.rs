//! Values of the settings of RDMA as the type of the crate that owns their rows.

use oxmpi_os::file::{HANDWRITTEN_MAX, read_text};
use oxmpi_text::{Error, size, switch};
use oxmpi_verbs::settings as verbs;
use oxmpi_verbs::{
    ConnectionOptions, DeviceTable, EagerRings, LongMessages, PinnedSetting, PinnedSettings,
    RdmaPreference, RegistrationCaps, SettingOrigin,
};

use crate::{BadSetting, Origin, Values};

impl Values {
    /// How RDMA ports are used.
    ///
    /// # Errors
    /// A file of `verbs_device_files` cannot be read or is malformed; `verbs_leave_pinned` or
    /// `verbs_leave_pinned_pipeline` is set in a file.
    pub fn rdma(&self) -> Result<RdmaPreference, BadSetting> {
        let eager_limit = self.parse("verbs_eager_limit", verbs::bytes);
        Ok(RdmaPreference {
            receive_queues: self.unless_auto("verbs_receive_queues", verbs::receive_queues),
            inline: self.unless_auto("verbs_inline", verbs::bytes),
            eager_limit,
            long: LongMessages {
                flags: self.parse("verbs_transfers", verbs::transfers),
                fragment: self.parse("verbs_fragment", verbs::fragment),
                min_rdma_size: self.parse("verbs_min_rdma", verbs::bytes),
                first: self.unless_auto("verbs_pipeline_first", verbs::bytes),
                last: self.parse("verbs_pipeline_last", verbs::bytes),
            },
            use_rings: self.unless_auto("verbs_rings", verbs::rings),
            rings: EagerRings {
                threshold: self.parse("verbs_ring_threshold", verbs::count),
                peers: self.parse("verbs_ring_peers", verbs::count),
                slots: self.parse("verbs_ring_slots", verbs::count),
                size: eager_limit,
            },
            pinned: self.pinned()?,
            caps: RegistrationCaps {
                ranges: self.parse("verbs_cache_ranges", verbs::count) as usize,
                bytes: self.parse("verbs_cache_bytes", size),
            },
            want_fork_support: self.parse("verbs_fork", verbs::signed),
            gid_index: self.unless_auto("verbs_gid_index", verbs::gid_index),
            rails: self.parse("verbs_rails", verbs::rails),
            warn_default_prefix: self.parse("verbs_warn_default_prefix", switch),
            connection: ConnectionOptions {
                service_level: self.parse("verbs_service_level", verbs::service_level),
                pkey_index: self.parse("verbs_pkey_index", verbs::pkey_index),
                timeout: self.parse("verbs_timeout", verbs::timeout),
                retry_count: self.parse("verbs_retry_count", verbs::retries),
            },
            devices: self.device_table()?,
        })
    }

    fn unless_auto<T>(&self, name: &str, read: fn(&str) -> Result<T, Error>) -> Option<T> {
        self.parse(name, |text| verbs::auto_or(text, read))
    }

    /// What is to stay registered, and where that was said.
    fn pinned(&self) -> Result<PinnedSettings, BadSetting> {
        const NAMES: [&str; 2] = ["verbs_leave_pinned", "verbs_leave_pinned_pipeline"];
        let [direct, pipeline] = NAMES.map(|name| {
            let value = self.unless_auto(name, verbs::signed)?;
            let origin = match &self.get(name).origin {
                Origin::File { path, line } => {
                    SettingOrigin::File(format!("{}:{line}", path.display()))
                }
                _ => SettingOrigin::Said,
            };
            Some(PinnedSetting { value, origin })
        });
        let settings = PinnedSettings { direct, pipeline };
        // Whether there is a device changes nothing about files.
        let checked = settings.decide(true, None).map_err(|why| {
            let is_file = |name: &&&str| matches!(self.get(name).origin, Origin::File { .. });
            let name = NAMES.iter().find(is_file).unwrap_or(&NAMES[0]);
            BadSetting {
                origin: self.get(name).origin.clone(),
                why: why.to_string(),
            }
        });
        checked.map(|_| settings)
    }

    /// The parameters of devices in the files that somebody has named.
    fn device_table(&self) -> Result<DeviceTable, BadSetting> {
        let value = self.get("verbs_device_files");
        let mut paths = value.text.split(':').filter(|path| !path.is_empty());
        paths.try_fold(DeviceTable::default(), |table, path| {
            let bad = |why: String| BadSetting {
                origin: value.origin.clone(),
                why: format!("{path}: {why}"),
            };
            let text = read_text(path, HANDWRITTEN_MAX).map_err(|why| bad(why.to_string()))?;
            let read = DeviceTable::parse(&text).map_err(|why| bad(why.to_string()))?;
            Ok(table.overridden(read))
        })
    }
}
