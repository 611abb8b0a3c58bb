//! What `oxmpi topo --help` prints.

pub(super) const TEXT: &str = "\
Usage: oxmpi topo [OPTIONS] [FILE]

Shows a machine: packages, NUMA nodes, caches, cores, processors and devices. Without options that
is this machine as text. FILE gets it in the format that its ending names (.txt, .svg, .xml, .json,
.synthetic); `-` is standard output.

  oxmpi topo                                  this machine
  oxmpi topo machine.svg                      a picture of it
  oxmpi topo --only core                      its cores, a line each
  oxmpi topo -i other.xml --restrict 0-7      a part of a machine that hwloc described
  oxmpi topo -i 'package:2 l3:1 core:4 pu:2'  a machine that is only thought of
  oxmpi topo --record DIR                     what a bug report needs; `-i DIR` reads it back

Which machine:
  -i, --input X        a directory with recorded /proc and /sys, or with cpuid dumps (pu0, pu1 ...);
                       an hwloc XML file (version 2 or 3); a /proc/cpuinfo file; a recording in one
                       text; a synthetic string; or `-`, such a text on standard input. They are
                       told apart by what is there; what is no file or directory is a synthetic
                       string.
      --source S       who is asked about this machine: linux, its /proc and /sys (usual); cpuid,
                       that instruction on every processor; cpuid-local, on one, all others taken
                       to be alike; cpuinfo, /proc/cpuinfo; flat, nobody; hwloc, where it is built
                       in; probe, the first of cpuid, cpuid-local, cpuinfo and flat that answers
      --record DIR     write the files that this machine is read from into DIR, new or empty

How it is shown:
      --format F       text, svg, xml (hwloc's, version 2), json (docs/formats.md) or synthetic;
                       also --of, --output-format
  -f, --force          overwrite FILE if it exists
  -l, --logical        logical numbers only, as L#0
  -p, --physical       the operating system's numbers only, as P#0
      --no-collapse    a line for each PCI function, also where several are alike
      --only KIND      only objects of this kind, a line each: package, core, l3, numa, pu ...
      --distances      only matrices of distances
      --cpukinds       only kinds of cores

What of it:
      --restrict SET   only these processors: a list `0-3,8`, a mask `0xff`, or `binding` for those
                       that this command, or the one that made a recording, may run on
      --no-io          no devices
      --whole-io       all devices, also those that say little, such as bridges of a board
      --merge          only levels that add structure
      --disallowed     also what the control groups keep this process from using
      --all            all there is: every level, every device, what is disallowed

  -h, --help           this text
  -V, --version        the version

The exit code is 0; 1 when something cannot be read or written; 2 for a wrong command line.
";
