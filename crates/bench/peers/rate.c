/* Rate of messages from rank 0 to rank 1: rate BYTES...
 *
 * A window of 64 sends and 64 receives, or as many as WINDOW is defined as, each with a place of its own, then an answer of one byte. One
 * line for each length: nanoseconds of one message.
 */
#include "blocks.h"

#ifndef WINDOW
#define WINDOW 64
#endif

struct messages {
    char *at;
    int bytes, rank;
};

static void windows(void *with, int64_t times) {
    struct messages *m = with;
    char answer = 0;
    for (int64_t i = 0; i < times; i++) {
        MPI_Request requests[WINDOW];
        if (m->rank == 0) {
            for (int k = 0; k < WINDOW; k++)
                MPI_Isend(m->at + (long)k * m->bytes, m->bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD,
                          &requests[k]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(&answer, 1, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            for (int k = 0; k < WINDOW; k++)
                MPI_Irecv(m->at + (long)k * m->bytes, m->bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
                          &requests[k]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Send(&answer, 1, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    need_ranks(size, 2, 2);

    for (int i = 1; i < argc; i++) {
        long bytes = atol(argv[i]), all = WINDOW * bytes;
        struct messages m = {pages(all), bytes, rank};
        write_bytes(m.at, 0, all, rank);
        int64_t times = warm_up(windows, &m, rank, size);
        write_bytes(m.at, 0, all, rank);
        double ns[BLOCKS];
        time_blocks(windows, &m, times, WINDOW, ns);
        int right = are_bytes(m.at, 0, all);
        /* What arrived is seen by rank 1, the line is printed by rank 0. */
        if (rank == 1)
            MPI_Send(&right, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        else
            MPI_Recv(&right, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        report("rate", rank, size, bytes, times, ns, right);
        free(m.at);
    }
    MPI_Finalize();
    return 0;
}
