/* What rank 0 has started ends for the others while it is in no call. They say so by files in the folder of the second
 * argument; the first one is the thread level. */
#include "check.h"
#include <unistd.h>

enum { LENGTH = 100000 };

static const char *folder;

static void name(char *path, size_t room, int round, int of)
{
    snprintf(path, room, "%s/%d-%d", folder, round, of);
}

/* Rank 0 computes until all others have got the result of this round; they say that they have it. */
static void computed(int round)
{
    char path[4096];
    if (rank != 0) {
        name(path, sizeof path, round, rank);
        FILE *file = fopen(path, "w");
        CHECK(file != NULL);
        fclose(file);
        return;
    }
    for (int other = 1; other < size; other++) {
        name(path, sizeof path, round, other);
        while (access(path, F_OK) != 0) {
        }
    }
}

/* Ends a round: rank 0 waits for its request last, and the others first. */
static void end(int round, MPI_Request *request)
{
    if (rank == 0)
        computed(round);
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (rank != 0)
        computed(round);
}

static int sent[LENGTH], got[LENGTH], blocks[LENGTH];

int main(int argc, char **argv)
{
    int provided, required = MPI_THREAD_SINGLE;
    MPI_Request request;
    CHECK(argc == 3);
    if (strcmp(argv[1], "multiple") == 0)
        required = MPI_THREAD_MULTIPLE;
    folder = argv[2];
    OK(MPI_Init_thread(&argc, &argv, required, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));

    for (int i = 0; i < LENGTH; i++)
        sent[i] = rank + i;
    if (rank == 0)
        OK(MPI_Isend(sent, LENGTH, MPI_INT, 1, 7, MPI_COMM_WORLD, &request));
    else if (rank == 1)
        OK(MPI_Irecv(got, LENGTH, MPI_INT, 0, 7, MPI_COMM_WORLD, &request));
    else
        request = MPI_REQUEST_NULL;
    end(0, &request);
    CHECK(rank != 1 || got[99] == 99);

    if (rank == 0)
        OK(MPI_Irecv(got, LENGTH, MPI_INT, size - 1, 8, MPI_COMM_WORLD, &request));
    else if (rank == size - 1)
        OK(MPI_Issend(sent, LENGTH, MPI_INT, 0, 8, MPI_COMM_WORLD, &request));
    else
        request = MPI_REQUEST_NULL;
    end(1, &request);
    CHECK(rank != 0 || got[99] == size + 98);

    OK(MPI_Iallreduce(sent, got, LENGTH, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    end(2, &request);
    CHECK(got[99] == 99 * size + size * (size - 1) / 2);

    OK(MPI_Ialltoall(sent, LENGTH / size, MPI_INT, blocks, LENGTH / size, MPI_INT, MPI_COMM_WORLD, &request));
    end(3, &request);
    for (int from = 0; from < size; from++)
        CHECK(blocks[from * (LENGTH / size)] == from + rank * (LENGTH / size));

    OK(MPI_Ibcast(sent, LENGTH, MPI_INT, size - 1, MPI_COMM_WORLD, &request));
    end(4, &request);
    CHECK(sent[99] == size + 98);
    return finish();
}
