/* Timing in blocks, shared by the MPI programs of this folder.
 *
 * The Rust twins in crates/runtime/examples/peers take the same steps: the same clock, warm-up,
 * number and length of blocks, and the same line of output.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "clock.h"
#include "content.h"
#include <mpi.h>

/* The measured pattern: `times` rounds of it between the ranks; `with` points to its data. */
typedef void pattern_fn(void *with, int64_t times);

/* Whether rank 0 has repeated for BLOCK_NS since its `start`, on all `ranks`, by plain messages. */
static inline int long_enough(int64_t start, int rank, int ranks) {
    char enough = now_ns() - start >= BLOCK_NS;
    if (rank == 0)
        for (int to = 1; to < ranks; to++)
            MPI_Send(&enough, 1, MPI_BYTE, to, 9, MPI_COMM_WORLD);
    else
        MPI_Recv(&enough, 1, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return enough;
}

/* Finds the number of rounds in a block, which is the warm-up: three times in a row they must
 * last long enough, since one may be disturbed. */
static inline int64_t warm_up(pattern_fn *pattern, void *with, int rank, int ranks) {
    int64_t times = 1;
    for (int streak = 0; streak < 3;) {
        int64_t start = now_ns();
        pattern(with, times);
        if (long_enough(start, rank, ranks)) {
            streak++;
        } else {
            streak = 0;
            times *= 2;
        }
    }
    return times;
}

/* Times the blocks; the reported time is that of a round divided by `parts`. */
static inline void time_blocks(pattern_fn *pattern, void *with, int64_t times, double parts,
                               double ns[BLOCKS]) {
    for (int block = 0; block < BLOCKS; block++) {
        int64_t begin = now_ns();
        pattern(with, times);
        ns[block] = (double)(now_ns() - begin) / times / parts;
    }
}

/* Allocates `bytes` at a page; ends the job on failure. */
static inline char *pages(size_t bytes) {
    char *at = aligned_alloc(PAGE, (bytes + PAGE) / PAGE * PAGE);
    if (!at) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return at;
}

/* Ends the job unless it has this number of ranks. */
static inline void need_ranks(int ranks, int least, int most) {
    if (ranks < least || ranks > most) {
        fprintf(stderr, "%d ranks, and this takes %d to %d\n", ranks, least, most);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Rank 0 prints the measurement; other ranks report wrong data. */
static inline void report(const char *kernel, int rank, int ranks, long bytes, int64_t times,
                          double ns[BLOCKS], int right) {
    if (rank == 0)
        print_blocks(kernel, "", ranks, bytes, times, ns, right);
    else if (!right)
        fprintf(stderr, "%s: wrong data at %ld bytes\n", kernel, bytes);
}

#endif
