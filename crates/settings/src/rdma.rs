//! Values of the settings of RDMA as the type of the crate that owns their rows.

use std::net::IpAddr;
use std::time::Duration;

use oxmpi_os::file::{HANDWRITTEN_MAX, read_text};
use oxmpi_os::interface;
use oxmpi_tcp::InterfaceFilter;
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
    /// `verbs_leave_pinned_pipeline` is set in a file; `verbs_include` or `verbs_exclude` is no list of interfaces.
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
            addresses: self.rdma_addresses()?,
            connects: self.unless_auto("verbs_connection", verbs::connects),
            resolve_timeout: Duration::from_nanos(
                self.parse("verbs_resolve_timeout", verbs::resolve_timeout),
            ),
            crosses_subnets: self.parse("verbs_different_subnets", verbs::different_subnets),
            connection: ConnectionOptions {
                by_path_record: self.parse("verbs_path_record_service_level", verbs::path_record),
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

    /// The addresses of this host by which RDMA ports may be used; `None`: all.
    fn rdma_addresses(&self) -> Result<Option<Vec<IpAddr>>, BadSetting> {
        let lists = ["verbs_include", "verbs_exclude"].map(|name| self.get(name));
        if lists.iter().all(|list| list.text.is_empty()) {
            return Ok(None);
        }
        for list in lists {
            InterfaceFilter::new(&list.text, "").map_err(|why| BadSetting {
                origin: list.origin.clone(),
                why: why.show(&list.text).to_string(),
            })?;
        }
        let [include, exclude] = lists;
        let filter = InterfaceFilter::new(&include.text, &exclude.text);
        let filter = filter.expect("each list was checked");
        let interfaces = interface::list().map_err(|why| BadSetting {
            origin: include.origin.clone(),
            why: format!("the interfaces of this host cannot be listed: {why}"),
        })?;
        let allowed = interfaces.iter().filter(|of| filter.allows(of));
        Ok(Some(allowed.map(|of| of.address.to_canonical()).collect()))
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
