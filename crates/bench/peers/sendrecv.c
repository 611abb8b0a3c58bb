/* Sendrecv of the Intel MPI Benchmarks: sendrecv BYTES...
 *
 * Each rank sends to the right and receives from the left, by one call. One line for each length:
 * nanoseconds of one call.
 */
#include "blocks.h"

struct messages {
    char *out, *into;
    int bytes, left, right;
};

static void shifts(void *with, int64_t times) {
    struct messages *m = with;
    for (int64_t i = 0; i < times; i++)
        MPI_Sendrecv(m->out, m->bytes, MPI_BYTE, m->right, 1, m->into, m->bytes, MPI_BYTE, m->left,
                     1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int i = 1; i < argc; i++) {
        long bytes = atol(argv[i]);
        struct messages m = {pages(bytes), pages(bytes), bytes, (rank + size - 1) % size,
                             (rank + 1) % size};
        write_bytes(m.out, rank, bytes, 0);
        int64_t times = warm_up(shifts, &m, rank, size);
        write_bytes(m.into, m.left, bytes, 1);
        double ns[BLOCKS];
        time_blocks(shifts, &m, times, 1, ns);
        report("sendrecv", rank, size, bytes, times, ns, are_bytes(m.into, m.left, bytes));
        free(m.out);
        free(m.into);
    }
    MPI_Finalize();
    return 0;
}
