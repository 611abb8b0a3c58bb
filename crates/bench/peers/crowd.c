/* PingPong of 8 B between ranks 0 and 1 while all other ranks wait in a barrier.
 *
 * One line: nanoseconds one way, half the round trip, over blocks of 1 to 2 ms.
 */
#include "blocks.h"

#define BYTES 8

struct messages {
    char out[BYTES], into[BYTES];
    int rank;
};

static void round_trips(void *with, int64_t times) {
    struct messages *m = with;
    int other = 1 - m->rank;
    for (int64_t i = 0; i < times; i++) {
        if (m->rank == 0)
            MPI_Send(m->out, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        MPI_Recv(m->into, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (m->rank == 1)
            MPI_Send(m->out, BYTES, MPI_BYTE, other, 1, MPI_COMM_WORLD);
    }
}

static void measure(int rank, int size) {
    struct messages m = {.rank = rank};
    write_bytes(m.out, rank, BYTES, 0);
    int64_t times = warm_up(round_trips, &m, rank, 2);
    write_bytes(m.into, 1 - rank, BYTES, 1);
    double ns[BLOCKS];
    time_blocks(round_trips, &m, times, 2, ns);
    report("crowd", rank, size, BYTES, times, ns, are_bytes(m.into, 1 - rank, BYTES));
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    need_ranks(size, 2, 1 << 20);
    if (rank < 2)
        measure(rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
