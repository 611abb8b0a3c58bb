/* PingPong between two ranks with receives that were posted before: posted BYTES...
 *
 * Each receive is posted while the message before it is on its way, so that every message finds its
 * receive posted. One line for each length: nanoseconds one way, half the round trip.
 */
#include "blocks.h"

struct messages {
    char *out, *into[2];
    int bytes, rank;
};

static void post(struct messages *m, MPI_Request requests[2], int64_t i) {
    MPI_Irecv(m->into[i % 2], m->bytes, MPI_BYTE, 1 - m->rank, 1, MPI_COMM_WORLD,
              &requests[i % 2]);
}

/* An even number of round trips, so that the last message lies in the second buffer. */
static void round_trips(void *with, int64_t times) {
    struct messages *m = with;
    MPI_Request requests[2];
    post(m, requests, 0);
    post(m, requests, 1);
    if (m->rank == 0)
        MPI_Send(m->out, m->bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    for (int64_t i = 0; i < 2 * times; i++) {
        MPI_Wait(&requests[i % 2], MPI_STATUS_IGNORE);
        if (m->rank == 1 || i + 1 < 2 * times)
            MPI_Send(m->out, m->bytes, MPI_BYTE, 1 - m->rank, 1, MPI_COMM_WORLD);
        if (i + 2 < 2 * times)
            post(m, requests, i);
    }
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    need_ranks(size, 2, 2);

    for (int i = 1; i < argc; i++) {
        long bytes = atol(argv[i]);
        struct messages m = {pages(bytes), {pages(bytes), pages(bytes)}, bytes, rank};
        write_bytes(m.out, rank, bytes, 0);
        int64_t times = warm_up(round_trips, &m, rank, size);
        for (int k = 0; k < 2; k++)
            write_bytes(m.into[k], 1 - rank, bytes, 1);
        double ns[BLOCKS];
        time_blocks(round_trips, &m, times, 4, ns);
        int right = are_bytes(m.into[0], 1 - rank, bytes) && are_bytes(m.into[1], 1 - rank, bytes);
        report("posted", rank, size, bytes, times, ns, right);
        free(m.out);
        free(m.into[0]);
        free(m.into[1]);
    }
    MPI_Finalize();
    return 0;
}
