//! The system calls of oxmpi: memfd, futex, membarrier, affinity, pidfd, sockets.
