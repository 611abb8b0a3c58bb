/* Timed blocks and their line of output, shared by all C programs of this folder. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCKS 21          /* blocks per measurement */
#define BLOCK_NS 1000000   /* a block lasts this long to about twice as long, or one repetition */
#define PAGE 4096          /* alignment of buffers */

static inline int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints one measurement: `ns` holds the average of each block; `more` are further fields, each with
 * a comma behind it. */
static inline void print_blocks(const char *kernel, const char *more, int ranks, long bytes,
                                int64_t repetitions, double ns[BLOCKS], int right) {
    qsort(ns, BLOCKS, sizeof ns[0], by_value);
    printf("{\"kernel\":\"%s\",%s\"ranks\":%d,\"bytes\":%ld,\"blocks\":%d,"
           "\"repetitions\":%lld,\"min_ns\":%.1f,\"median_ns\":%.1f,\"p99_ns\":%.1f,\"right\":%s}\n",
           kernel, more, ranks, bytes, BLOCKS, (long long)repetitions, ns[0], ns[BLOCKS / 2],
           ns[BLOCKS - 1], right ? "true" : "false");
    fflush(stdout);
}

#endif
