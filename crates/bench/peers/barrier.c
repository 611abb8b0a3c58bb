/* Barrier of all ranks. Prints one line: nanoseconds of a barrier, over blocks of 1 to 2 ms, measured by
 * rank 0.
 */
#include "blocks.h"

static void barriers(void *with, int64_t times) {
    (void)with;
    for (int64_t i = 0; i < times; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    int64_t times = warm_up(barriers, NULL, rank, size);
    double ns[BLOCKS];
    time_blocks(barriers, NULL, times, 1, ns);
    report("barrier", rank, size, 0, times, ns, 1);
    MPI_Finalize();
    return 0;
}
