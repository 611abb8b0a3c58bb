/* PingPong of 8 B between ranks 0 and 1 while all other ranks wait in a barrier.
 *
 * One line: nanoseconds one way, half the round trip, over blocks of 1 to 2 ms, each of which begins
 * with a barrier of all ranks.
 */
#include "blocks.h"

#define BYTES 8

static void round_trips(int rank, char *out, char *into, int64_t times) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t i = 0; i < times; i++)
        if (rank == 0) {
            MPI_Send(out, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(into, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(into, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char out[BYTES], into[BYTES];
    if (size < 2) {
        fprintf(stderr, "crowd: at least two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int at = 0; at < BYTES; at++)
        out[at] = (char)(rank * 101 + at * 31);

    int64_t times = 1; /* the search for it is the warm-up */
    for (int streak = 0; streak < 2;) {
        int64_t start = now_ns();
        round_trips(rank, out, into, times);
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
        round_trips(rank, out, into, times);
        ns[block] = (double)(now_ns() - begin) / times / 2;
    }
    MPI_Barrier(MPI_COMM_WORLD);

    int right = 1;
    for (int at = 0; at < BYTES && rank < 2; at++)
        right &= into[at] == (char)((1 - rank) * 101 + at * 31);
    if (rank == 0)
        print_blocks("crowd", size, BYTES, times, ns, right);
    else if (!right)
        fprintf(stderr, "crowd: wrong data\n");
    MPI_Finalize();
    return 0;
}
