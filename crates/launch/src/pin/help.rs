//! What `oxmpi pin --help` prints.

pub(super) const TEXT: &str = "\
Usage: oxmpi pin -n RANKS [-t THREADS] [OPTIONS] [FILE]
       oxmpi pin --batch FILE

Says where the ranks of a job, and the threads in them, would run: on this machine or on any other that
is described. Nothing is started. Settings are the variables that Intel MPI and OpenMP runtimes know,
from the environment or from options. FILE gets the answer in the format that its ending names (.txt,
.svg, .json); `-` is standard output.

  oxmpi pin -n 4                                    four ranks here, with the usual settings
  oxmpi pin -n 4 -t 2 --explain                     with two OpenMP threads each, and why
  oxmpi pin -n 2 --on 'package:2 core:4 pu:2' --domain socket ranks.svg
                                                    a picture of a machine that is only thought of
  oxmpi pin -n 8 --on other.xml --mask 0-15         on a part of a machine that hwloc described
  oxmpi pin -n 4 --compare I_MPI_PIN_ORDER=spread 'I_MPI_PIN_ORDER=compact I_MPI_PIN_DOMAIN=core'
                                                    two ways side by side

The job:
  -n, --ranks N        ranks of the job
      --ppn N          ranks on one machine, if fewer; those of the first are shown
  -t, --threads N      show N OpenMP threads in each rank, and set OMP_NUM_THREADS=N; 0: as many as
                       the runtime starts by itself
      --on X           the machine, as `oxmpi topo --input` takes it: a directory with recorded /proc
                       and /sys or with cpuid dumps, an hwloc XML file, a /proc/cpuinfo file, a synthetic
                       string; also -i, --input. Without it, this machine with this process's mask
      --mask LIST      the mask that the job inherits, such as 0-3,8

Settings, which go before those of the environment, and these before those in files. There our own
names, such as OXMPI_PIN_DOMAIN and OXMPI_PIN_COMPAT, count too:
      --set NAME=VALUE I_MPI_PIN, I_MPI_PIN_DOMAIN, I_MPI_PIN_ORDER, I_MPI_PIN_PROCESSOR_LIST,
                       I_MPI_PIN_CELL, I_MPI_PIN_PROCESSOR_EXCLUDE_LIST, I_MPI_PIN_RESPECT_CPUSET,
                       I_MPI_PIN_RESPECT_HCA; OMP_NUM_THREADS, OMP_PLACES, OMP_PROC_BIND,
                       KMP_AFFINITY, KMP_HW_SUBSET, KMP_PLACE_THREADS, GOMP_CPU_AFFINITY
      --domain V       I_MPI_PIN_DOMAIN: core, socket, numa, node, cache3, auto, omp, 4, [f0,f]
      --order V        I_MPI_PIN_ORDER: bunch, spread, compact, scatter, range
      --processor-list V
                       I_MPI_PIN_PROCESSOR_LIST: 0,2-3 or all:map=scatter
      --bind-to V      as Open MPI takes it, instead of Intel's settings: none, hwthread, core, socket
      --map-by V       the same for core, socket:PE=2 and others
      --cpu-set LIST   the same for the processors of the job, by their logical numbers
      --compat V       documented: Intel's reference; intel-2021: what its launcher does
      --levels V       documented or current: which levels the map of threads has
      --rules V        documented or runtime: whom the settings of threads follow. LLVM's runtime, and
                       libgomp under oxmpi run, go by `--levels current --rules runtime`; by OMP_PLACES
                       that you set yourself, libgomp shares out more threads than places in its own way

The answer:
      --format F       text, svg or json (docs/formats.md)
      --explain        say why, too; with KMP_AFFINITY=verbose what the OpenMP runtime reports
      --compare A B    two sets of settings, each `NAME=VALUE NAME=VALUE ...`, side by side
      --batch FILE     answer many cases, a line of JSON each (docs/formats.md); `-` is standard input
  -f, --force          overwrite FILE if it exists

  -h, --help           this text
  -V, --version        the version

`where` and `core` have logical numbers, as `oxmpi topo -l` shows them; processors and NUMA nodes have
the operating system's. The exit code is 0; 1 when something cannot be read or written; 2 for a wrong
command line or setting.
";
