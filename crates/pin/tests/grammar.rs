//! What is read and what is refused.

use oxmpi_pin::intel::{Domain, Order, Shape};
use oxmpi_pin::openmpi::BindTo;
use oxmpi_pin::{SETTINGS, Settings};

#[test]
fn domains() {
    for (text, domain) in [
        ("core", Domain::Shape(Shape::Core)),
        ("sock", Domain::Shape(Shape::Socket)),
        ("socket", Domain::Shape(Shape::Socket)),
        ("numa", Domain::Shape(Shape::Numa)),
        ("node", Domain::Shape(Shape::Node)),
        ("auto", Domain::Auto),
        ("auto:compact", Domain::Auto),
        ("1", Domain::Size(1)),
        ("12:compact", Domain::Size(12)),
    ] {
        assert_eq!(text.parse(), Ok(domain), "{text}");
        assert_eq!(domain.to_string().parse(), Ok(domain), "{text}");
    }
}

#[test]
fn what_is_not_known_is_answered_with_what_is() {
    let shapes = "expected core, socket, sock, numa, node, auto or a number of processors, found ";
    for (text, shown) in [
        ("sokcet", format!("{shapes}`sokcet`; did you mean `socket`?\n  sokcet\n  ^^^^^^")),
        ("cache2", format!("{shapes}`cache2`\n  cache2\n  ^^^^^^")),
        ("[55,aa]", format!("{shapes}`[55,aa]`\n  [55,aa]\n  ^^^^^^^")),
        ("", format!("{shapes}the end\n  \n  ^")),
        ("0", "expected a number of processors from 1 to 4294967295, found `0`\n  0\n  ^".into()),
        ("2x", "expected a number of processors from 1 to 4294967295, found `2x`\n  2x\n  ^^".into()),
        ("auto:scatter", "expected compact, found `scatter`\n  auto:scatter\n       ^^^^^^^".into()),
        (
            "core:compact",
            "expected nothing behind a shape: only a size takes a layout, found `:compact`\n  core:compact\n      ^^^^^^^^"
                .into(),
        ),
        ("2:", "expected compact, found the end\n  2:\n    ^".into()),
    ] {
        assert_eq!(text.parse::<Domain>().unwrap_err().show(text).to_string(), shown);
    }
    let order = "scatter".parse::<Order>().unwrap_err();
    assert_eq!(
        order.show("scatter").to_string(),
        "expected bunch or compact, found `scatter`\n  scatter\n  ^^^^^^^"
    );
    assert_eq!(
        "hwtread".parse::<BindTo>().unwrap_err().suggestion,
        Some("hwthread")
    );
}

#[test]
fn bind_to_is_a_domain_in_the_order_of_the_machine() {
    for (text, domain) in [
        ("hwthread", "1"),
        ("core", "core"),
        ("socket", "socket"),
        ("package", "socket"),
        ("numa", "numa"),
    ] {
        let settings = Settings::from(text.parse::<BindTo>().unwrap());
        assert_eq!(
            (settings.domain.to_string().as_str(), settings.order),
            (domain, Order::Compact)
        );
        assert!(settings.pin);
    }
    assert!(!Settings::from("none".parse::<BindTo>().unwrap()).pin);
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
    assert_eq!(
        default("pin_domain").parse(),
        Ok(Settings::default().domain)
    );
    assert_eq!(default("pin_order").parse(), Ok(Settings::default().order));
    assert_eq!(
        oxmpi_text::switch(default("pin")),
        Ok(Settings::default().pin)
    );
}
