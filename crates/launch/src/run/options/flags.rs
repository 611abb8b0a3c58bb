//! The flags of `oxmpi run` as one table: the parser and the help are made from it.

use crate::complain::unknown_text;

/// One flag.
pub(crate) struct Flag {
    /// Its names without dashes; one or two dashes are the same.
    pub(crate) names: &'static [&'static str],
    /// The names of its values.
    pub(crate) values: &'static [&'static str],
    /// What it does, in a line.
    pub(crate) help: &'static str,
    /// What it does.
    pub(crate) effect: Effect,
}

/// What a flag does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Ranks,
    RanksPerHost,
    Directory,
    Hosts,
    HostFile,
    Wrap,
    Variable,
    VariableForAll,
    Export,
    Setting,
    CpuSet,
    MapBy,
    BindTo,
    Oversubscribe,
    DisplayMap,
    ReportBindings,
    Label,
    Help,
    Version,
    /// Accepted for the sake of scripts; what it asks for happens anyway.
    Nothing,
}

/// All flags, by what they are about.
const FLAGS: &[(&str, &[Flag])] = &[
    (
        "What to start",
        &[
            Flag {
                names: &["n", "np", "c"],
                values: &["N"],
                help: "ranks of this program; without it, one for each processor",
                effect: Effect::Ranks,
            },
            Flag {
                names: &["ppn", "perhost", "npernode"],
                values: &["N"],
                help: "ranks per host; without --wrap there is one host, which gets all",
                effect: Effect::RanksPerHost,
            },
            Flag {
                names: &["wdir", "wd"],
                values: &["DIR"],
                help: "directory in which this program starts",
                effect: Effect::Directory,
            },
            Flag {
                names: &["H", "host", "hosts"],
                values: &["LIST"],
                help: "hosts to run on; another host than this is for a process manager",
                effect: Effect::Hosts,
            },
            Flag {
                names: &["hostfile", "machinefile", "f"],
                values: &["FILE"],
                help: "the same from a file, one host a line",
                effect: Effect::HostFile,
            },
            Flag {
                names: &["wrap"],
                values: &["COMMAND"],
                help: "start ranks by it, -ppn for each {node} or {host}; {rank} too",
                effect: Effect::Wrap,
            },
        ],
    ),
    (
        "Environment (that of this command is passed on)",
        &[
            Flag {
                names: &["env"],
                values: &["NAME", "VALUE"],
                help: "a variable for the ranks of this program",
                effect: Effect::Variable,
            },
            Flag {
                names: &["genv"],
                values: &["NAME", "VALUE"],
                help: "a variable for all ranks",
                effect: Effect::VariableForAll,
            },
            Flag {
                names: &["x"],
                values: &["NAME[=VALUE]"],
                help: "a variable for all ranks; without a value, that of this environment",
                effect: Effect::Export,
            },
            Flag {
                names: &["mca", "gmca"],
                values: &["NAME", "VALUE"],
                help: "a setting by its Open MPI name",
                effect: Effect::Setting,
            },
            Flag {
                names: &["genvall", "envall"],
                values: &[],
                help: "accepted; this is what always happens",
                effect: Effect::Nothing,
            },
        ],
    ),
    (
        "Processors",
        &[
            Flag {
                names: &["cpu-set"],
                values: &["LIST"],
                help: "processors of the job, by their logical numbers: 0-3,8",
                effect: Effect::CpuSet,
            },
            Flag {
                names: &["map-by"],
                values: &["WHAT"],
                help: "what ranks take in turn: slot, core, socket, numa, socket:PE=4 ...",
                effect: Effect::MapBy,
            },
            Flag {
                names: &["bind-to"],
                values: &["WHAT"],
                help: "bind each rank to a core, socket, numa, l3cache, hwthread ..., or to none",
                effect: Effect::BindTo,
            },
            Flag {
                names: &["oversubscribe"],
                values: &[],
                help: "two ranks on one processor are meant: no warning",
                effect: Effect::Oversubscribe,
            },
            Flag {
                names: &["display-map"],
                values: &[],
                help: "print which rank runs where before the job starts",
                effect: Effect::DisplayMap,
            },
            Flag {
                names: &["report-bindings"],
                values: &[],
                help: "print to what each rank is bound, as Open MPI does",
                effect: Effect::ReportBindings,
            },
        ],
    ),
    (
        "Output and the rest",
        &[
            Flag {
                names: &["l", "tag-output", "prepend-rank"],
                values: &[],
                help: "begin each line of output with its rank: `[3] ...`",
                effect: Effect::Label,
            },
            Flag {
                names: &["allow-run-as-root"],
                values: &[],
                help: "accepted; it is allowed",
                effect: Effect::Nothing,
            },
            Flag {
                names: &["h", "help"],
                values: &[],
                help: "this text",
                effect: Effect::Help,
            },
            Flag {
                names: &["V", "version"],
                values: &[],
                help: "the version",
                effect: Effect::Version,
            },
        ],
    ),
];

fn all() -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().flat_map(|(_, flags)| flags.iter())
}

/// The flag called `name`.
pub(crate) fn find(name: &str) -> Option<&'static Flag> {
    all().find(|flag| flag.names.contains(&name))
}

/// What to say of a flag that does not exist.
pub(crate) fn unknown(name: &str) -> String {
    let names = all().flat_map(|flag| flag.names).copied();
    unknown_text("option", name, names, "oxmpi run --help")
}

/// The text of `oxmpi run --help`.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "Start the ranks of a job on this machine, pinned, and stay until all have ended.\n\n\
         Usage: oxmpi run [OPTIONS] PROGRAM [ARGUMENTS] [: [OPTIONS] PROGRAM [ARGUMENTS]]...\n",
    );
    for (about, flags) in FLAGS {
        text += &format!("\n{about}:\n");
        for flag in *flags {
            let names: Vec<String> = flag.names.iter().map(|name| dashed(name)).collect();
            let head = format!("{} {}", names.join(", "), flag.values.join(" "));
            text += &format!("  {:<40} {}\n", head.trim_end(), flag.help);
        }
    }
    text += "\n\
        One dash or two are the same, and so are `-n 4` and `-n=4`.\n\
        Standard input goes to rank 0. Output comes in whole lines. Signals are passed on.\n\
        When a rank fails, it is named and the others are ended. The exit code is that of the\n\
        first rank that failed, 128 + N when signal N killed it.\n\n\
        Examples:\n\
        \x20 oxmpi run -n 4 ./heat 1000\n\
        \x20 oxmpi run -n 2 -l hostname\n\
        \x20 oxmpi run -n 1 ./master : -n 3 ./worker\n\
        \x20 oxmpi run -n 2 --bind-to core --report-bindings ./a.out\n\
        \x20 oxmpi run -n 8 -ppn 2 --wrap 'ip netns exec ns{node}' ./a.out\n";
    text
}

/// A name as the help shows it.
fn dashed(name: &str) -> String {
    if name.len() > 3 {
        format!("--{name}")
    } else {
        format!("-{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_flag() {
        let help = help();
        for name in all().flat_map(|flag| flag.names) {
            assert!(help.contains(&dashed(name)), "{name}");
        }
    }

    #[test]
    fn no_name_is_used_twice() {
        let mut names: Vec<&str> = all().flat_map(|flag| flag.names).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
