//! The fuzz body of files of device parameters.

use oxmpi_verbs::DeviceTable;

/// Reads any text as a file: an error names one of its lines, and what is accepted has options for each device.
pub(crate) fn device_files(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match DeviceTable::parse(text) {
        Ok(table) => {
            let mine = table.find(0x2c9, 4119).or(table.find(0, 0)).options();
            assert!(!mine.receive_queues.is_empty());
            let both = DeviceTable::shipped().overridden(table);
            assert!(both.find(0x2c9, 4119).mtu.is_some(), "as shipped");
        }
        Err(why) => assert!((1..=text.lines().count()).contains(&why.line), "{why}"),
    }
}
