/* Exchange of the Intel MPI Benchmarks: exchange BYTES...
 *
 * Each rank starts a send to both neighbours, receives from both, and waits for its sends. One line
 * for each length: nanoseconds of one round.
 */
#include "blocks.h"

struct messages {
    char *out, *from_left, *from_right;
    int bytes, left, right;
};

static void exchanges(void *with, int64_t times) {
    struct messages *m = with;
    for (int64_t i = 0; i < times; i++) {
        MPI_Request sends[2];
        MPI_Isend(m->out, m->bytes, MPI_BYTE, m->right, 1, MPI_COMM_WORLD, &sends[0]);
        MPI_Isend(m->out, m->bytes, MPI_BYTE, m->left, 1, MPI_COMM_WORLD, &sends[1]);
        MPI_Recv(m->from_left, m->bytes, MPI_BYTE, m->left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(m->from_right, m->bytes, MPI_BYTE, m->right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int i = 1; i < argc; i++) {
        long bytes = atol(argv[i]);
        struct messages m = {pages(bytes), pages(bytes), pages(bytes), bytes,
                             (rank + size - 1) % size, (rank + 1) % size};
        write_bytes(m.out, rank, bytes, 0);
        int64_t times = warm_up(exchanges, &m, rank, size);
        write_bytes(m.from_left, m.left, bytes, 1);
        write_bytes(m.from_right, m.right, bytes, 1);
        double ns[BLOCKS];
        time_blocks(exchanges, &m, times, 1, ns);
        int right = are_bytes(m.from_left, m.left, bytes) && are_bytes(m.from_right, m.right, bytes);
        report("exchange", rank, size, bytes, times, ns, right);
        free(m.out);
        free(m.from_left);
        free(m.from_right);
    }
    MPI_Finalize();
    return 0;
}
