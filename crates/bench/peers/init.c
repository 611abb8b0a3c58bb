/* Measures MPI_Init and MPI_Finalize: each rank prints one line, in nanoseconds. */
#include "blocks.h"

int main(int argc, char **argv) {
    int rank, size;
    int64_t start = now_ns();
    MPI_Init(&argc, &argv);
    int64_t joined = now_ns();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t leaving = now_ns();
    MPI_Finalize();
    int64_t left = now_ns();
    printf("{\"kernel\":\"init\",\"ranks\":%d,\"rank\":%d,\"init_ns\":%lld,\"finalize_ns\":%lld}\n",
           size, rank, (long long)(joined - start), (long long)(left - leaving));
    return 0;
}
