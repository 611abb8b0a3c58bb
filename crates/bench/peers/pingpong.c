/* PingPong between two ranks: pingpong BYTES...
 *
 * One line for each length: nanoseconds one way, half the round trip, over blocks of 1 to 2 ms.
 */
#include "blocks.h"

/* The byte at place `at` of what `rank` sends in messages of `bytes`. */
static unsigned char pattern(int rank, long bytes, long at) {
    return (unsigned char)(at * 31 + rank * 101 + bytes);
}

static void round_trips(int rank, char *out, char *into, int bytes, int64_t times) {
    if (rank == 0)
        for (int64_t i = 0; i < times; i++) {
            MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(into, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    else
        for (int64_t i = 0; i < times; i++) {
            MPI_Recv(into, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long largest = 0;
    for (int i = 1; i < argc; i++)
        largest = atol(argv[i]) > largest ? atol(argv[i]) : largest;
    size_t room = (largest + PAGE) / PAGE * PAGE;
    char *out = aligned_alloc(PAGE, room), *into = aligned_alloc(PAGE, room);
    if (size != 2 || !out || !into) {
        fprintf(stderr, "pingpong: two ranks, and memory for %ld bytes twice\n", largest);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }

    for (int i = 1; i < argc; i++) {
        long bytes = atol(argv[i]);
        for (long at = 0; at < bytes; at++)
            out[at] = pattern(rank, bytes, at);
        int64_t times = 1; /* the search for it is the warm-up */
        for (int streak = 0; streak < 2;) {
            int64_t start = now_ns();
            round_trips(rank, out, into, bytes, times);
            if (long_enough(start, rank, size)) {
                streak++;
            } else {
                streak = 0;
                times *= 2;
            }
        }
        for (long at = 0; at < bytes; at++)
            into[at] = ~pattern(1 - rank, bytes, at);

        double ns[BLOCKS];
        for (int block = 0; block < BLOCKS; block++) {
            int64_t begin = now_ns();
            round_trips(rank, out, into, bytes, times);
            ns[block] = (double)(now_ns() - begin) / times / 2;
        }

        int right = 1;
        for (long at = 0; at < bytes; at++)
            right &= (unsigned char)into[at] == pattern(1 - rank, bytes, at);
        if (rank == 0)
            print_blocks("pingpong", size, bytes, times, ns, right);
        else if (!right)
            fprintf(stderr, "pingpong: wrong data at %ld bytes\n", bytes);
    }
    MPI_Finalize();
    return 0;
}
