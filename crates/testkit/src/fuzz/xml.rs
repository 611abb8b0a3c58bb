//! Fuzz body of hwloc's XML: a text is refused with a line number, or gives a machine whose XML gives an
//! equal one.

use oxmpi_topo::Machine;

/// Parses `data` as hwloc's XML, writes the machine and parses it again.
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
