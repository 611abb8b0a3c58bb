//! Tests of `oxmpi settings`: selection, forms and wrong options.

use oxmpi_settings::{Sources, TABLE, resolve};

use super::*;

fn values() -> Values {
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let environment = vec![
        set("OXMPI_PIN_DOMAIN", "core"),
        set("I_MPI_PIN_ORDER", "compact"),
    ];
    let sources = Sources {
        environment,
        ..Sources::default()
    };
    resolve(TABLE, &sources).unwrap()
}

fn options(words: &[&str]) -> Options {
    let words: Vec<_> = words.iter().map(Into::into).collect();
    parse(&words).unwrap().expect("options")
}

#[test]
fn levels_and_patterns_select() {
    OPTIONS.assert_sound();
    let values = values();
    let names = |words: &[&str]| -> Vec<&str> {
        let shown = select(&values, &options(words)).unwrap();
        shown.iter().map(|value| value.setting.name).collect()
    };
    let basic = [
        "pin",
        "pin_domain",
        "rma_check",
        "handle_leaks",
        "kill_timeout",
        "job_timeout",
        "transports",
        "network_devices",
        "tcp_include",
        "tcp_exclude",
        "tcp_host_timeout",
    ];
    assert_eq!(names(&["--level", "1"]), basic);
    assert_eq!(names(&["--level=3"]).len(), values.all.len());
    assert!(names(&[]).len() < values.all.len());
    assert_eq!(names(&["pin"]), ["pin"], "the whole name of one");
    let of_pin = names(&["pin_"]);
    assert!(of_pin.len() > 2 && of_pin.iter().all(|name| name.contains("pin_")));
    assert!(!of_pin.contains(&"pin"), "what a pattern matches");
    assert_eq!(names(&["I_MPI_PIN_ORDER"]), ["pin_order"]);
    assert_eq!(names(&["spin"]), ["spin"], "of every level");
    let none = select(&values, &options(&["pin_domian"])).unwrap_err();
    assert_eq!(
        none,
        "no setting matches `pin_domian`; did you mean `pin_domain`?"
    );
    for wrong in [&["--level", "4"][..], &["--jsn"], &["a", "b"], &["--level"]] {
        assert!(
            parse(&wrong.iter().map(Into::into).collect::<Vec<_>>()).is_err(),
            "{wrong:?}"
        );
    }
}

#[test]
fn tables_are_aligned_and_say_where_values_come_from() {
    let values = values();
    let shown = ["pin_domain", "pin_order"].map(|name| values.get(name));
    let expected = "\
name        value    from              default  type    meaning
pin_domain  core     OXMPI_PIN_DOMAIN  auto     domain  the processors that one rank gets
pin_order   compact  I_MPI_PIN_ORDER   bunch    order   which rank gets which domain
";
    assert!(show::table(&shown, values.all.len()).starts_with(expected));
    let line = "pin_order\tcompact\tI_MPI_PIN_ORDER\tbunch\torder\t2\n";
    assert!(show::parsable(&shown).ends_with(line));
}

#[test]
fn names_of_open_mpi_say_what_they_are_here() {
    let text = |pattern: &str| shown(&options(&[pattern])).unwrap();
    let openib = text("btl_openib");
    for line in [
        "btl_openib_eager_limit                   verbs_eager_limit = 12KiB\n",
        "btl_openib_if_include                    network_devices = auto\n",
        "btl_openib_allow_ib                      no setting: InfiniBand ports are used",
    ] {
        assert!(openib.contains(line), "{openib}");
    }
    let pml = text("pml_ob1");
    assert!(pml.starts_with("Open MPI's parameter"), "{pml}");
    assert!(!text("pin_domain").contains("Open MPI's parameter"));
}

#[test]
fn json_has_format_and_version() {
    let values = values();
    let shown: Vec<&SettingValue> = values.all.iter().collect();
    let read: serde_json::Value =
        serde_json::from_str(&show::json(&shown, &values.warnings)).unwrap();
    assert_eq!(
        (&read["format"], &read["version"]),
        (&"oxmpi-settings".into(), &1.into())
    );
    let settings = read["settings"].as_array().unwrap();
    assert_eq!(settings.len(), values.all.len());
    let domain = settings.iter().find(|s| s["name"] == "pin_domain").unwrap();
    assert_eq!(domain["origin"], "environment");
    assert_eq!(domain["aliases"][0]["variable"], "I_MPI_PIN_DOMAIN");
}

#[test]
fn one_setting_has_a_page() {
    let page = show::page(values().get("pin_domain"));
    for part in [
        "pin_domain: the processors",
        "(from: OXMPI_PIN_DOMAIN)",
        "I_MPI_PIN_DOMAIN (Intel MPI)",
    ] {
        assert!(page.contains(part), "{page}");
    }
    assert!(
        page.lines().all(|line| line.chars().count() <= 80),
        "{page}"
    );
}

#[test]
fn conflicting_options_are_errors() {
    for (words, part) in [
        (&["--output", "x"][..], "go with --tune"),
        (&["--force"], "go with --tune"),
        (&["--rounds", "3", "eager"], "go with --tune"),
        (&["--tune", "eager"], "print no settings"),
        (&["--tune", "--parsable"], "print no settings"),
        (&["--tune", "--rounds", "0"], "from 1 to 99"),
        (
            &["--on", "0,1"],
            "--on and --back-to-back go with --measure",
        ),
        (&["--tune", "--in-a-row"], "--on and --back-to-back go with"),
        (
            &["--measure", "8", "--on", "a"],
            "the numbers of processors",
        ),
        (&["--measure", "2G"], "lengths up to 1G"),
        (&["--collectives"], "go with --tune"),
        (&["--tune", "--collectives", "--json"], "is JSON"),
        (&["--tune", "--collective", "bcast"], "goes with --measure"),
        (
            &["--measure", "8", "--collective", "scan"],
            "one of barrier, bcast",
        ),
        (
            &["--measure", "8", "--collective", "bcast", "--on", "0"],
            "are for messages",
        ),
    ] {
        let arguments: Vec<_> = words.iter().map(Into::into).collect();
        let why = parse(&arguments).err().expect("refused");
        assert!(why.contains(part), "{words:?}: {why}");
    }
    assert_eq!(options(&["--tune"]).rounds, ROUNDS);
    let measure = options(&["--measure", "8,64K", "--on", "0,3"]);
    assert!(measure.task == Task::Measure(vec![8, 64 << 10]));
    assert_eq!(measure.processors, [0, 3]);
}
