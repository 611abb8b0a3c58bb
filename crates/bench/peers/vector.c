/* PingPong of vectors between two ranks: vector [both] BYTES...
 *
 * A message is MPI_Type_vector of blocks of 8 bytes at distances of 16; it is received without gaps, or with
 * `both` into such a vector. One line for each length, gaps not counted: nanoseconds one way, half the round
 * trip.
 */
#include "blocks.h"
#include <string.h>

#define BLOCK 8
#define STRIDE 16

struct messages {
    char *out, *into;
    int rank, bytes; /* of `into`, if it has no gaps */
    MPI_Datatype vector;
    int both;
};

static void ping(struct messages *m) {
    MPI_Send(m->out, 1, m->vector, 1 - m->rank, 1, MPI_COMM_WORLD);
}

static void pong(struct messages *m) {
    if (m->both)
        MPI_Recv(m->into, 1, m->vector, 1 - m->rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Recv(m->into, m->bytes, MPI_BYTE, 1 - m->rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void round_trips(void *with, int64_t times) {
    struct messages *m = with;
    for (int64_t i = 0; i < times; i++) {
        if (m->rank == 0)
            ping(m);
        pong(m);
        if (m->rank == 1)
            ping(m);
    }
}

/* Whether the blocks at distances of `stride` from `from` on are those of a message of `rank`. */
static int are_blocks(const char *from, long stride, int rank, long bytes) {
    int right = 1;
    for (long at = 0; at < bytes; at++) {
        long place = at / BLOCK * STRIDE + at % BLOCK; /* in the sender's memory */
        unsigned char byte = from[at / BLOCK * stride + at % BLOCK];
        right &= byte == byte_of(rank, bytes / BLOCK * STRIDE, place);
    }
    return right;
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    need_ranks(size, 2, 2);
    int both = argc > 1 && !strcmp(argv[1], "both");

    for (int i = 1 + both; i < argc; i++) {
        long bytes = atol(argv[i]), all = bytes / BLOCK * STRIDE;
        struct messages m = {.out = pages(all), .into = pages(all), .rank = rank,
                             .bytes = bytes, .both = both};
        MPI_Type_vector(bytes / BLOCK, BLOCK, STRIDE, MPI_BYTE, &m.vector);
        MPI_Type_commit(&m.vector);
        write_bytes(m.out, rank, all, 0);
        int64_t times = warm_up(round_trips, &m, rank, size);
        write_bytes(m.into, 1 - rank, all, 1);
        double ns[BLOCKS];
        time_blocks(round_trips, &m, times, 2, ns);
        int right = are_blocks(m.into, both ? STRIDE : BLOCK, 1 - rank, bytes);
        report(both ? "vectors" : "vector", rank, size, bytes, times, ns, right);
        MPI_Type_free(&m.vector);
        free(m.out);
        free(m.into);
    }
    MPI_Finalize();
    return 0;
}
