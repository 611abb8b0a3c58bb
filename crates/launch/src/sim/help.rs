//! `oxmpi sim --help`.

/// The help.
pub(super) const TEXT: &str = "\
oxmpi sim: how long a collective takes on a machine that is not here

Usage: oxmpi sim COLLECTIVE SIZE -n RANKS [OPTION...]
       oxmpi sim wireup -n RANKS [OPTION...]

Runs the plans that a job would run, on simulated ranks, nodes and network, and prints when the last rank is done. A
million ranks are no problem. Two examples:

  oxmpi sim allreduce 64KiB -n 1000 --algorithm all
  oxmpi sim gatherv 8 --ranks 16..12000 --match-ns 1 --algorithm all --svg gatherv.svg

The second form says how long a job takes until its ranks know each other; `oxmpi sim wireup --help` says more.

COLLECTIVE is MPI's name in lower case. SIZE is what one rank gives: a block of gather, scatter, allgather and alltoall,
the whole vector of bcast, reduce, allreduce and scan. A barrier has none.

What is simulated:
  -n RANKS              number of ranks
  --ranks A..B          from A ranks to B, doubled each time
  --sizes A..B          from A bytes to B, doubled each time
  --algorithm NAMES     names from the catalog, with commas; all: every one that suits; classical: what other libraries
                        do by default for gatherv and scatterv, with all messages under way at once; in-network (barrier,
                        allreduce) and nic-atomic (barrier): formulas of what a network could do by itself. Left out:
                        the one that a job would choose. NAME:4 has a radix of its own, NAME+flags or NAME:4+flags has
                        flags where others have none
  --radix N             the radix of algorithms that have one, or the largest of one that takes less; left out: their own
  --machine NAME        gemini (left out), slingshot, ndr or zen4; this: as jobs here choose by, measured by
                        `oxmpi settings --tune`; or a JSON file with the costs of yours (docs/formats.md)
  --ppn N               ranks of a node; left out: as many as the machine is known for
  --placement ORDER     block (left out): a node is filled before the next; cyclic: one rank to each in turn
  --match-ns X          nanoseconds for each entry of a queue that is looked at; left out: 0, as with matching by hash
  --flags               messages of at most 8 B are flags put into the receiver's memory: no matching
  --serial-copies       a rank's processor copies what comes from its own node, one message after another; left out:
                        such copies overlap

What comes out:
  --json                JSON, described in docs/formats.md
  --svg FILE            a picture: time over ranks or over sizes
  --goal FILE           the schedule of one algorithm in GOAL, for LogGOPSim and its successors
  --force               overwrite files

A table has a line for each simulation: when the last rank was done, the mean of when ranks were done, all messages, those
between nodes and their bytes, and the entries of queues that were looked at.

The model: each rank has a processor, busy `send` with each message it sends and `recv` with each that comes; each node
has an adapter whose two ends serve one message after another, `gap` or its bytes at `byte` each; a message travels
`latency`. Longer than the eager limit, it is announced and fetched. It leaves out the network between the adapters,
noise, caches, and the limits of a node's memory.
";
