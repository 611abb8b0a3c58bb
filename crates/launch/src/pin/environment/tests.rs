//! Whose names count, and which goes first.

use oxmpi_pin::Compat;

use super::Environment;

fn read(variables: &[(&str, &str)]) -> Result<Environment, String> {
    let variables = variables.iter();
    Environment::read(variables.map(|(name, value)| (name.into(), value.into())))
}

#[test]
fn our_names_go_before_those_of_others() {
    let both = [("OXMPI_PIN_DOMAIN", "core"), ("I_MPI_PIN_DOMAIN", "numa")];
    for variables in [both, [both[1], both[0]]] {
        let read = read(&variables).unwrap();
        assert_eq!(read.variables["I_MPI_PIN_DOMAIN"], "core");
        assert_eq!(read.variables.len(), 1);
    }
    let theirs = read(&[("OMP_PLACES", "cores"), ("HOME", "/")]).unwrap();
    assert_eq!(theirs.variables["OMP_PLACES"], "cores");
    assert_eq!((theirs.variables.len(), theirs.notes.len()), (1, 0));
}

#[test]
fn rules_are_read_and_mistyped_names_are_told() {
    let rules = read(&[("OXMPI_PIN_COMPAT", "intel-2021")]).unwrap();
    assert_eq!(rules.compat, Some(Compat::Intel2021));
    let wrong = read(&[("OXMPI_PIN_COMPAT", "intel-2012")]).unwrap_err();
    assert!(
        wrong.starts_with("OXMPI_PIN_COMPAT: expected documented or intel-2021"),
        "{wrong}"
    );
    let notes = read(&[("OXMPI_PIN_ODER", "x"), ("I_MPI_PIN_DOMIAN", "x")])
        .unwrap()
        .notes;
    assert_eq!(
        notes,
        [
            "ignored: unknown variable `OXMPI_PIN_ODER`; did you mean `OXMPI_PIN_ORDER`?",
            "ignored: unknown variable `I_MPI_PIN_DOMIAN`; did you mean `I_MPI_PIN_DOMAIN`?",
        ]
    );
}
