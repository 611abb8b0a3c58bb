//! Which values of settings are accepted and which are refused.

use oxmpi_pin::intel::{Domain, Layout, Order, Shape, Size};
use oxmpi_pin::openmpi::BindTo;
use oxmpi_pin::{Compat, SETTINGS, Settings};

#[test]
fn domains() {
    for (text, domain) in [
        ("core", Domain::Shape(Shape::Core)),
        ("sock", Domain::Shape(Shape::Socket)),
        ("socket", Domain::Shape(Shape::Socket)),
        ("numa", Domain::Shape(Shape::Numa)),
        ("node", Domain::Shape(Shape::Node)),
        ("auto", Domain::default()),
        ("auto:compact", Domain::default()),
        ("1", Domain::Size(Size::Number(1), Layout::Compact)),
        (
            "12:compact",
            Domain::Size(Size::Number(12), Layout::Compact),
        ),
    ] {
        assert_eq!(text.parse().as_ref(), Ok(&domain), "{text}");
        assert_eq!(domain.to_string().parse(), Ok(domain), "{text}");
    }
}

#[test]
fn rules_of_two_kinds() {
    assert_eq!("documented".parse(), Ok(Compat::Documented));
    assert_eq!("intel-2021".parse(), Ok(Compat::Intel2021));
    let refused = "intel"
        .parse::<Compat>()
        .map_err(|why| why.show("intel").to_string());
    let shown = refused.expect_err("no such rules");
    assert!(
        shown.contains("documented") && shown.contains("intel-2021"),
        "{shown}"
    );
}

#[test]
fn what_is_not_known_is_answered_with_what_is() {
    let shapes = "expected core, socket, sock, numa, node, cache1, cache2, cache3, cache, omp, auto, a number of \
                  processors or [masks in hexadecimal], found ";
    for (text, shown) in [
        ("sokcet", format!("{shapes}`sokcet`; did you mean `socket`?\n  sokcet\n  ^^^^^^")),
        ("cache4", format!("{shapes}`cache4`; did you mean `cache1`?\n  cache4\n  ^^^^^^")),
        (
            "[55,ag]",
            "expected a mask in hexadecimal with at least one bit, such as 55 or 0x3, found `ag`\n  [55,ag]\n      ^^".into(),
        ),
        ("[55", "expected `]` at the end of the masks, found the end\n  [55\n     ^".into()),
        ("", format!("{shapes}the end\n  \n  ^")),
        ("0", "expected a number of processors from 1 to 4294967295, found `0`\n  0\n  ^".into()),
        ("2x", "expected a number of processors from 1 to 4294967295, found `2x`\n  2x\n  ^^".into()),
        (
            "auto:scater",
            "expected platform, compact or scatter, found `scater`; did you mean `scatter`?\n  auto:scater\n       ^^^^^^".into(),
        ),
        (
            "core:compact",
            "expected nothing behind a shape: only a size takes a layout, found `:compact`\n  core:compact\n      ^^^^^^^^"
                .into(),
        ),
        ("2:", "expected platform, compact or scatter, found the end\n  2:\n    ^".into()),
    ] {
        assert_eq!(text.parse::<Domain>().unwrap_err().show(text).to_string(), shown);
    }
    let order = "scater".parse::<Order>().unwrap_err();
    assert_eq!(
        order.show("scater").to_string(),
        "expected range, scatter, compact, spread or bunch, found `scater`; did you mean `scatter`?\n  scater\n  ^^^^^^"
    );
    assert_eq!(
        "hwtread".parse::<BindTo>().unwrap_err().suggestion,
        Some("hwthread")
    );
}

#[test]
fn rows_accept_their_defaults_which_are_the_defaults() {
    let default = |name| {
        SETTINGS
            .iter()
            .find(|row| row.name == name)
            .unwrap()
            .default
    };
    SETTINGS
        .iter()
        .for_each(|row| assert!((row.check)(row.default).is_ok(), "{}", row.name));
    assert_eq!(default("pin_domain").parse(), Ok(Domain::default()));
    assert_eq!(default("pin_order").parse(), Ok(Settings::default().order));
    assert_eq!(
        oxmpi_text::switch(default("pin")),
        Ok(Settings::default().pin)
    );
}
