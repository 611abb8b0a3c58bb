//! Parameters of devices by vendor and part: files in the format of openib's `mca-btl-openib-device-params.ini`, and
//! the one that is shipped.
//!
//! ```text
//! [Mellanox Hermon]
//! vendor_id = 0x2c9,0x5ad
//! vendor_part_id = 25408,25418,25428
//! use_eager_rdma = 1
//! mtu = 2048
//! ```
//!
//! A section has the devices whose vendor and part it names; one that names vendor 0 and part 0 has those that no other
//! section has. Of sections with the same device, the last one that names a parameter decides.
//!
//! Source: the Open MPI FAQ, "I'm using Mellanox ConnectX HCA hardware and seeing terrible latency for short messages;
//! how can I fix this?".

mod parse;

pub use parse::DeviceFileError;

use crate::objects::Mtu;
use crate::transport::{EagerRings, ReceiveQueue, VerbsOptions};

/// What is known of a device beside what it says itself. `None`: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceParameters {
    /// The longest packet that does well, `mtu`.
    pub mtu: Option<Mtu>,
    /// Whether it writes the bytes of a request in order, so that the last one shows that all have come,
    /// `use_eager_rdma`: eager rings need that.
    pub use_eager_rdma: Option<bool>,
    /// The receive queues that do well, `receive_queues`.
    pub receive_queues: Option<Vec<ReceiveQueue>>,
    /// Bytes that it takes inline, `max_inline_data`.
    pub max_inline_data: Option<InlineData>,
    /// Whether it reports a refused connection as one that failed, `rdmacm_reject_causes_connect_error`.
    pub rdmacm_reject_causes_connect_error: Option<bool>,
    /// Whether it is not to be used, `ignore_device`.
    pub ignore_device: Option<bool>,
}

/// How many bytes a device takes inline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InlineData {
    /// As many as it grants, -1 in a file.
    Granted,
    /// So many at most.
    AtMost(u32),
}

/// One section.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Section {
    vendors: Vec<u32>,
    parts: Vec<u32>,
    parameters: DeviceParameters,
}

/// Parameters of devices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceTable {
    sections: Vec<Section>,
}

impl DeviceTable {
    /// What is shipped: the devices that openib knows.
    ///
    /// # Panics
    /// Never: a test reads it.
    #[must_use]
    pub fn shipped() -> Self {
        Self::parse(include_str!("shipped.ini")).expect("what is shipped is well-formed")
    }

    /// These parameters, and those of `over`, which decide where both have some: for a file of the user.
    #[must_use]
    pub fn overridden(mut self, over: Self) -> Self {
        self.sections.extend(over.sections);
        self
    }

    /// The parameters of a device by its `vendor_id` and `vendor_part_id`, as [`DeviceLimits`] has them.
    ///
    /// [`DeviceLimits`]: crate::DeviceLimits
    #[must_use]
    pub fn find(&self, vendor: u32, part: u32) -> DeviceParameters {
        let of = |vendor, part| {
            let has = move |section: &&Section| {
                section.vendors.contains(&vendor) && section.parts.contains(&part)
            };
            self.sections.iter().filter(has)
        };
        let (vendor, part) = match of(vendor, part).next() {
            Some(_) => (vendor, part),
            None => (0, 0),
        };
        let all = of(vendor, part).map(|section| &section.parameters);
        all.fold(DeviceParameters::default(), |earlier, later| {
            later.clone().or(earlier)
        })
    }
}

impl DeviceParameters {
    /// These parameters, and those of `others` where these have none.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            mtu: self.mtu.or(others.mtu),
            use_eager_rdma: self.use_eager_rdma.or(others.use_eager_rdma),
            receive_queues: self.receive_queues.or(others.receive_queues),
            max_inline_data: self.max_inline_data.or(others.max_inline_data),
            rdmacm_reject_causes_connect_error: self
                .rdmacm_reject_causes_connect_error
                .or(others.rdmacm_reject_causes_connect_error),
            ignore_device: self.ignore_device.or(others.ignore_device),
        }
    }

    /// The default options of the transport for this device.
    #[must_use]
    pub fn options(&self) -> VerbsOptions {
        let mut options = VerbsOptions::default();
        if let Some(queues) = &self.receive_queues {
            options.receive_queues.clone_from(queues);
        }
        match self.max_inline_data {
            Some(InlineData::AtMost(bytes)) => options.inline = bytes,
            Some(InlineData::Granted) => options.inline = u32::MAX,
            None => {}
        }
        if self.use_eager_rdma != Some(true) {
            options.rings = EagerRings::OFF;
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The snippet of the FAQ.
    const SNIPPET: &str = "
[Mellanox Hermon]
vendor_id = 0x2c9,0x5ad,0x66a,0x8f1,0x1708
vendor_part_id = 25408,25418,25428
use_eager_rdma = 1
mtu = 2048
";

    #[test]
    fn the_snippet_of_the_faq_is_read() {
        let table = DeviceTable::parse(SNIPPET).unwrap();
        let expected = DeviceParameters {
            mtu: Mtu::new(2048),
            use_eager_rdma: Some(true),
            ..DeviceParameters::default()
        };
        for (vendor, part) in [(0x2c9, 25408), (0x1708, 25428)] {
            assert_eq!(table.find(vendor, part), expected);
        }
        for (vendor, part) in [(0x2c9, 1), (1, 25408)] {
            assert_eq!(table.find(vendor, part), DeviceParameters::default());
        }
        assert_ne!(expected.options().rings, EagerRings::OFF);
    }

    /// Entry by entry: numbers that vendors gave to openib.
    #[test]
    fn the_shipped_table_has_the_known_devices() {
        let table = DeviceTable::shipped();
        // vendor, part, mtu, rings, inline, queues
        for (vendor, part, mtu, rings, inline, queues) in [
            (0x2c9, 23108, 1024, true, 128, None),
            (0x15b3, 4099, 2048, true, 128, None),
            (0x2c9, 4119, 4096, true, 256, None),
            (
                0x5076,
                0,
                2048,
                true,
                0,
                Some("P,128,256,192,128:P,65536,256,192,128"),
            ),
            (0x1425, 0x5410, 2048, true, 280, Some("P,65536,64")),
            (0x1175, 9456, 4096, true, 0, None),
            (0xff_ffff, 0, 4096, false, 256, None),
            // Nobody knows this one.
            (0x4242, 1, 1024, false, 128, None),
        ] {
            let found = table.find(vendor, part);
            let expected = DeviceParameters {
                mtu: Mtu::new(mtu),
                use_eager_rdma: Some(rings),
                receive_queues: queues.map(|queues| ReceiveQueue::parse_all(queues).unwrap()),
                max_inline_data: Some(InlineData::AtMost(inline)),
                ..DeviceParameters::default()
            };
            assert_eq!(found, expected, "{vendor:#x} {part}");
        }
        assert_eq!(table.find(0x8086, 0).ignore_device, Some(true));
        let default = VerbsOptions {
            rings: EagerRings::OFF,
            ..VerbsOptions::default()
        };
        assert_eq!(table.find(0x4242, 1).options(), default);
    }

    #[test]
    fn a_file_of_the_user_decides_parameter_by_parameter() {
        let over = "[mine]\nvendor_id = 713\nvendor_part_id = 4119\nmtu = 1024 # slow\n";
        let table = DeviceTable::shipped().overridden(DeviceTable::parse(over).unwrap());
        let found = table.find(0x2c9, 4119);
        assert_eq!(found.mtu, Mtu::new(1024));
        assert_eq!(found.use_eager_rdma, Some(true), "as shipped");
        assert_eq!(table.find(0x2c9, 4121).mtu, Mtu::new(4096), "another part");
    }

    proptest! {
        #[test]
        fn any_text_is_a_table_or_an_error_with_its_line(text in "(\\[?[a-z_]{0,9}[]=]? ?[0-9x,-]{0,6}\n){0,8}") {
            if let Err(error) = DeviceTable::parse(&text) {
                prop_assert!((1..=text.lines().count().max(1)).contains(&error.line), "{}", error);
            }
        }
    }
}
