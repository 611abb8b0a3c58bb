//! The format of device parameters.

use super::{DeviceParameters, DeviceTable, InlineData, Section};
use crate::objects::Mtu;
use crate::transport::ReceiveQueue;

/// What is wrong with a file of device parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct DeviceFileError {
    /// The line, from 1 on.
    pub line: usize,
    what: String,
}

/// What a line may say, for errors.
const FIELDS: &str = "vendor_id, vendor_part_id, mtu, use_eager_rdma, receive_queues, max_inline_data, \
                      rdmacm_reject_causes_connect_error or ignore_device";

/// A section whose lines are read.
struct Open {
    line: usize,
    name: String,
    section: Section,
}

impl DeviceTable {
    /// The parameters of a file: sections `[name]`, lines `field = value`, comments from `#` on.
    ///
    /// # Errors
    /// The first line that is wrong: a field that is none, a value that is none of the field's, a section without
    /// devices.
    pub fn parse(text: &str) -> Result<Self, DeviceFileError> {
        let mut table = Self::default();
        let mut open: Option<Open> = None;
        for (line, text) in (1..).zip(text.lines()) {
            let at = |what| DeviceFileError { line, what };
            let text = text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            if let Some(rest) = text.strip_prefix('[') {
                let name = rest.strip_suffix(']').map(str::trim);
                let name = name.filter(|name| !name.is_empty());
                let name =
                    name.ok_or_else(|| at(format!("{text:?}, expected [name of a device]")))?;
                table.close(open.take())?;
                open = Some(Open {
                    line,
                    name: name.to_owned(),
                    section: Section {
                        vendors: Vec::new(),
                        parts: Vec::new(),
                        parameters: DeviceParameters::default(),
                    },
                });
                continue;
            }
            let Some((field, value)) = text.split_once('=') else {
                return Err(at(format!(
                    "{text:?}, expected [name of a device] or field = value"
                )));
            };
            let Some(open) = &mut open else {
                return Err(at(format!("{text:?} before the first [name of a device]")));
            };
            set(&mut open.section, field.trim(), value.trim()).map_err(at)?;
        }
        table.close(open)?;
        Ok(table)
    }

    fn close(&mut self, open: Option<Open>) -> Result<(), DeviceFileError> {
        let Some(Open {
            line,
            name,
            section,
        }) = open
        else {
            return Ok(());
        };
        if section.vendors.is_empty() || section.parts.is_empty() {
            let what = format!("[{name}] names no devices: it needs vendor_id and vendor_part_id");
            return Err(DeviceFileError { line, what });
        }
        self.sections.push(section);
        Ok(())
    }
}

/// Sets what a line says.
fn set(section: &mut Section, field: &str, value: &str) -> Result<(), String> {
    let wrong = |expected: &str| format!("{field} = {value:?}, expected {expected}");
    let switch = || match number(value) {
        Some(number) => Ok(Some(number != 0)),
        None => Err(wrong("0 for no or 1 for yes")),
    };
    let ids = || {
        let ids: Option<Vec<u32>> = value.split(',').map(|id| number(id.trim())).collect();
        ids.ok_or_else(|| wrong("numbers as 713 or 0x2c9, with `,` between them"))
    };
    let parameters = &mut section.parameters;
    match field {
        "vendor_id" => section.vendors = ids()?,
        "vendor_part_id" => section.parts = ids()?,
        "mtu" => {
            let mtu = number(value).and_then(Mtu::new);
            parameters.mtu = Some(mtu.ok_or_else(|| wrong("256, 512, 1024, 2048 or 4096"))?);
        }
        "use_eager_rdma" => parameters.use_eager_rdma = switch()?,
        "receive_queues" => {
            let queues = ReceiveQueue::parse_all(value).map_err(|why| why.to_string())?;
            ReceiveQueue::check_all(&queues).map_err(|why| why.to_string())?;
            parameters.receive_queues = Some(queues);
        }
        "max_inline_data" => {
            parameters.max_inline_data = Some(match (value, number(value)) {
                ("-1", _) => InlineData::Granted,
                (_, Some(bytes)) => InlineData::AtMost(bytes),
                _ => return Err(wrong("bytes, or -1 for as many as the device grants")),
            });
        }
        "rdmacm_reject_causes_connect_error" => {
            parameters.rdmacm_reject_causes_connect_error = switch()?;
        }
        "ignore_device" => parameters.ignore_device = switch()?,
        _ => return Err(format!("no field {field:?}, expected {FIELDS}")),
    }
    Ok(())
}

/// A number in decimal, or in hexadecimal after `0x`.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_line_is_named_with_the_reason() {
        for (text, line, why) in [
            ("mtu = 1", 1, "before the first [name of a device]"),
            ("\n[a\n", 2, "\"[a\", expected [name of a device]"),
            ("[]", 1, "expected [name of a device]"),
            (
                "[a]\nmtu",
                2,
                "expected [name of a device] or field = value",
            ),
            (
                "[a]\nmtu = 1500",
                2,
                "mtu = \"1500\", expected 256, 512, 1024",
            ),
            (
                "[a]\n# b\nvendor_id = 1,x",
                3,
                "expected numbers as 713 or 0x2c9",
            ),
            (
                "[a]\nuse_eager_rdma = yes",
                2,
                "expected 0 for no or 1 for yes",
            ),
            ("[a]\nmax_inline_data = -2", 2, "expected bytes, or -1"),
            (
                "[a]\nreceive_queues = Q,1",
                2,
                "kind \"Q\", expected P, S or X",
            ),
            (
                "[a]\nreceive_queues = P,1",
                2,
                "no buffers of 128 B or more",
            ),
            ("[a]\nmtus = 1", 2, "no field \"mtus\", expected vendor_id"),
            ("[a]\nvendor_id = 1\n\n[b]", 1, "[a] names no devices"),
            (
                "[a]\nvendor_id = 1\nvendor_part_id = 1\n[b]",
                4,
                "[b] names no devices",
            ),
        ] {
            let error = DeviceTable::parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text:?}: {error}");
            assert!(error.to_string().starts_with(&format!("line {line}: ")));
            assert!(error.to_string().contains(why), "{error}");
        }
    }

    #[test]
    fn all_fields_are_read() {
        let text = "[ a ] # the name\nvendor_id=0x0a, 11\nvendor_part_id = 0\nmax_inline_data = -1\n\
                    rdmacm_reject_causes_connect_error = 1\nignore_device = 0\nreceive_queues = S,1024";
        let table = DeviceTable::parse(text).unwrap();
        let expected = DeviceParameters {
            receive_queues: Some(ReceiveQueue::parse_all("S,1024").unwrap()),
            max_inline_data: Some(InlineData::Granted),
            rdmacm_reject_causes_connect_error: Some(true),
            ignore_device: Some(false),
            ..DeviceParameters::default()
        };
        assert_eq!(table.find(10, 0), expected);
        assert_eq!(table.find(11, 0), expected);
    }
}
