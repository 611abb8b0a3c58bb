//! Whose names count, and which goes first.

use oxmpi_pin::Compat;
use oxmpi_settings::{File, Sources, TABLE, Values, resolve};

use super::PinEnvironment;

fn read(variables: &[(&str, &str)]) -> Result<PinEnvironment, String> {
    read_with("", variables)
}

/// With a settings file of this content.
fn read_with(content: &str, variables: &[(&str, &str)]) -> Result<PinEnvironment, String> {
    let file = File {
        path: "file".into(),
        content: content.into(),
    };
    let sources = Sources {
        files: vec![file],
        ..Sources::default()
    };
    let files: Values = resolve(TABLE, &sources).expect("good settings");
    let variables = variables.iter();
    PinEnvironment::read(
        &files,
        variables.map(|(name, value)| (name.into(), value.into())),
    )
}

#[test]
fn files_count_where_no_variable_does() {
    let content = r#"pin_domain = "numa"
pin_order = "scatter"
pin_compat = "intel-2021"
pin_oder = 1
"#;
    let read = read_with(content, &[("I_MPI_PIN_DOMAIN", "core")]).unwrap();
    assert_eq!(read.variables["I_MPI_PIN_DOMAIN"], "core");
    assert_eq!(read.variables["I_MPI_PIN_ORDER"], "scatter");
    assert_eq!(
        (read.variables.len(), read.compat),
        (2, Some(Compat::Intel2021))
    );
    assert_eq!(
        read.notes,
        ["ignored: file:4: `pin_oder` names no setting; did you mean `pin_order`?"]
    );
    let rules = read_with(content, &[("OXMPI_PIN_COMPAT", "documented")]).unwrap();
    assert_eq!(rules.compat, Some(Compat::Documented));
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
fn rules_are_read_and_mistyped_names_are_reported() {
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
