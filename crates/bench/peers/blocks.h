/* Timing in blocks, shared by the C programs of this folder.
 *
 * The Rust twins in crates/runtime/examples/peers do the same, step by step: the same clock, warm-up,
 * number and length of blocks, and the same line of output.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCKS 21          /* blocks per measurement */
#define BLOCK_NS 1000000   /* a block lasts from so long to about twice as long */
#define PAGE 4096          /* alignment of buffers */

static inline int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Whether rank 0 has repeated for BLOCK_NS since its `start`, on all ranks, by plain messages. */
static inline int long_enough(int64_t start, int rank, int size) {
    char enough = now_ns() - start >= BLOCK_NS;
    if (rank == 0)
        for (int to = 1; to < size; to++)
            MPI_Send(&enough, 1, MPI_BYTE, to, 9, MPI_COMM_WORLD);
    else
        MPI_Recv(&enough, 1, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return enough;
}

static inline int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints one measurement: `ns` holds the average of each block. */
static inline void print_blocks(const char *kernel, int ranks, long bytes, int64_t repetitions,
                                double ns[BLOCKS], int right) {
    qsort(ns, BLOCKS, sizeof ns[0], by_value);
    printf("{\"kernel\":\"%s\",\"ranks\":%d,\"bytes\":%ld,\"blocks\":%d,\"repetitions\":%lld,"
           "\"min_ns\":%.1f,\"median_ns\":%.1f,\"p99_ns\":%.1f,\"right\":%s}\n",
           kernel, ranks, bytes, BLOCKS, (long long)repetitions, ns[0], ns[BLOCKS / 2],
           ns[BLOCKS - 1], right ? "true" : "false");
    fflush(stdout);
}

#endif
