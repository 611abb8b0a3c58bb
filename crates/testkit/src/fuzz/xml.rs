//! hwloc's XML: any text is refused with the number of a line, or makes a machine whose own XML makes an equal one.

use oxmpi_topo::Machine;

/// Reads `data` as hwloc's XML, writes the machine and reads it again.
///
/// # Panics
/// On a finding.
pub fn xml(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match Machine::from_xml(text) {
        Ok(machine) => {
            let written = machine.to_xml();
            let again = Machine::from_xml(&written).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again, machine, "{written}");
        }
        Err(error) => {
            let (line, span) = (error.line().expect("a line"), error.cause().span);
            assert!(line <= text.matches('\n').count() + 1, "{error}");
            assert!(error.text().get(span.start..span.end).is_some(), "{error}");
        }
    }
}
