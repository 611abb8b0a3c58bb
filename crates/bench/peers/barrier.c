/* Barrier of all ranks. One line: nanoseconds for each barrier, over blocks of 1 to 2 ms, as rank 0
 * sees them.
 */
#include "blocks.h"

static void barriers(int64_t times) {
    for (int64_t i = 0; i < times; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    int64_t times = 1; /* the search for it is the warm-up */
    for (int streak = 0; streak < 2;) {
        int64_t start = now_ns();
        barriers(times);
        if (long_enough(start, rank, size)) {
            streak++;
        } else {
            streak = 0;
            times *= 2;
        }
    }

    double ns[BLOCKS];
    for (int block = 0; block < BLOCKS; block++) {
        int64_t begin = now_ns();
        barriers(times);
        ns[block] = (double)(now_ns() - begin) / times;
    }
    if (rank == 0)
        print_blocks("barrier", size, 0, times, ns, 1);
    MPI_Finalize();
    return 0;
}
