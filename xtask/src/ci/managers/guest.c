/* An MPI program that makes every request to a process manager that an MPI library makes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int good, const char *what) {
    if (!good) {
        fprintf(stderr, "guest: %s is wrong\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv) {
    int rank, size, sum, found;
    int *value;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    must(sum == size * (size - 1) / 2, "the sum of ranks");
    if (size > 1 && rank < 2) {
        char out[4096], in[4096];
        memset(out, 'a' + rank, sizeof out);
        for (int turn = 0; turn < 100; turn++)
            MPI_Sendrecv(out, sizeof out, MPI_CHAR, 1 - rank, 7, in, sizeof in, MPI_CHAR, 1 - rank, 7,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        must(in[4095] == 'a' + 1 - rank, "a message");
    }

    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int here;
    MPI_Comm_size(node, &here);
    must(here == size, "the number of ranks on this node");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &found);
    must(!found || *value == size, "MPI_UNIVERSE_SIZE");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &found);
    must(found && *value == 0, "MPI_APPNUM");

    if (rank == 0) {
        char port[MPI_MAX_PORT_NAME];
        must(MPI_Publish_name("guest", MPI_INFO_NULL, "a-port") == MPI_SUCCESS, "MPI_Publish_name");
        must(MPI_Lookup_name("guest", MPI_INFO_NULL, port) == MPI_SUCCESS, "MPI_Lookup_name");
        must(strcmp(port, "a-port") == 0, "the port that was looked up");
        must(MPI_Unpublish_name("guest", MPI_INFO_NULL, port) == MPI_SUCCESS, "MPI_Unpublish_name");
        must(MPI_Lookup_name("guest", MPI_INFO_NULL, port) != MPI_SUCCESS, "a name taken back");
    }
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Comm further;
    int code = MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &further,
                              MPI_ERRCODES_IGNORE);
    must(code != MPI_SUCCESS, "MPI_Comm_spawn, which is not offered,");

    if (rank == 0)
        printf("%d ranks: all is well\n", size);
    MPI_Finalize();
    return 0;
}
