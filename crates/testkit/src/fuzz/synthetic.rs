//! Fuzz body of synthetic machines: a text is refused with a span in it, or gives a machine whose string
//! gives an equal one.

use oxmpi_topo::Machine;

/// Parses `data` as a synthetic string, writes the machine and parses it again.
///
/// # Panics
/// On a finding.
pub fn synthetic(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match Machine::from_synthetic(text) {
        Ok(machine) => {
            let written = machine.to_synthetic().expect("regular by construction");
            let again = Machine::from_synthetic(&written).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again, machine, "{written}");
        }
        Err(error) => {
            let span = error.cause().span;
            assert!(text.get(span.start..span.end).is_some(), "{error}");
        }
    }
}
