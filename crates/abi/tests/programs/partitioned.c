/* Messages whose partitions become ready one by one, around a ring of ranks. */
#include "check.h"

static int left, right;

/* The receiver cuts the message into other partitions than the sender. */
static void rounds(int length, int from, int to, MPI_Comm comm)
{
    int *out = malloc(6 * length * sizeof *out), *in = malloc(6 * length * sizeof *in);
    int i, round, flag, list[2] = {5, 1}, code;
    MPI_Request requests[2];
    MPI_Status status;
    OK(MPI_Psend_init(out, 6, length, MPI_INT, to, 4, comm, MPI_INFO_NULL, &requests[0]));
    OK(MPI_Precv_init_c(in, 2, 3 * length, MPI_INT, from, 4, comm, MPI_INFO_NULL, &requests[1]));
    for (round = 0; round < 3; round++) {
        for (i = 0; i < 6 * length; i++)
            out[i] = rank + i + round, in[i] = -1;
        OK(MPI_Startall(2, requests));
        OK(MPI_Pready_list(2, list, requests[0]));
        OK(MPI_Pready_range(2, 4, requests[0]));
        OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
        OK(MPI_Error_class(MPI_Pready(3, requests[0]), &code));
        CHECK(code == MPI_ERR_ARG);
        OK(MPI_Error_class(MPI_Parrived(requests[1], 2, &flag), &code));
        CHECK(code == MPI_ERR_ARG);
        if (from == rank) {
            OK(MPI_Parrived(requests[1], 1, &flag));
            CHECK(!flag);
        }
        OK(MPI_Pready(0, requests[0]));
        do
            OK(MPI_Parrived(requests[1], 1, &flag));
        while (!flag);
        CHECK(in[6 * length - 1] == from + 6 * length - 1 + round && in[0] == from + round);
        OK(MPI_Wait(&requests[1], &status));
        CHECK(status.MPI_SOURCE == from && status.MPI_TAG == 4);
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        OK(MPI_Parrived(requests[1], 0, &flag));
        CHECK(flag && requests[1] != MPI_REQUEST_NULL);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    free(out);
    free(in);
}

/* What is prepared first matches what is prepared first, whatever is ready first, and no other message. */
static void order(void)
{
    int out[2] = {1, 2}, in[2] = {0, 0}, any = 0, i;
    MPI_Request sends[2], receives[2], plain;
    OK(MPI_Irecv(&any, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &plain));
    for (i = 0; i < 2; i++) {
        OK(MPI_Precv_init(&in[i], 1, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]));
        OK(MPI_Psend_init(&out[i], 1, 1, MPI_INT, right, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]));
    }
    OK(MPI_Startall(2, receives));
    OK(MPI_Startall(2, sends));
    OK(MPI_Pready(0, sends[1]));
    OK(MPI_Pready(0, sends[0]));
    OK(MPI_Waitall(2, receives, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
    CHECK(in[0] == 1 && in[1] == 2);
    OK(MPI_Send(&(int){3}, 1, MPI_INT, right, 7, MPI_COMM_WORLD));
    OK(MPI_Wait(&plain, MPI_STATUS_IGNORE));
    CHECK(any == 3);
    for (i = 0; i < 2; i++) {
        OK(MPI_Request_free(&sends[i]));
        OK(MPI_Request_free(&receives[i]));
    }
}

/* No partition, and nobody at the other end. */
static void nothing(void)
{
    int value = 5, flag;
    MPI_Request send, receive;
    OK(MPI_Psend_init(&value, 0, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(&value, 0, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    OK(MPI_Start(&receive));
    OK(MPI_Start(&send));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
    /* A buffer for nobody is not read: it has one value only, which AddressSanitizer would see. */
    OK(MPI_Psend_init(&value, 2, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Start(&send));
    OK(MPI_Pready_range(0, 1, send));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&send));
    OK(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
    CHECK(flag);
}

/* Errors are raised on the communicator of the request, and the most messages of one tag is one. */
static void errors(void)
{
    enum { MOST = 4 };
    int value = 5, i, class;
    MPI_Request sends[MOST], nobody[2 * MOST], more;
    MPI_Comm copy;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    for (i = 0; i < MOST; i++)
        OK(MPI_Psend_init(&value, 2, 1, MPI_INT, right, 9, copy, MPI_INFO_NULL, &sends[i]));
    OK(MPI_Error_class(MPI_Psend_init(&value, 2, 1, MPI_INT, right, 9, copy, MPI_INFO_NULL, &more), &class));
    CHECK(class == MPI_ERR_OTHER);
    for (i = 0; i < 2 * MOST; i++)
        OK(MPI_Psend_init(&value, 2, 1, MPI_INT, MPI_PROC_NULL, 9, copy, MPI_INFO_NULL, &nobody[i]));
    for (i = 0; i < 2 * MOST; i++)
        OK(MPI_Request_free(&nobody[i]));
    OK(MPI_Error_class(MPI_Pready(2, sends[0]), &class));
    CHECK(class == MPI_ERR_ARG);
    OK(MPI_Error_class(MPI_Pready_range(1, 0, sends[0]), &class));
    CHECK(class == MPI_ERR_ARG);
    OK(MPI_Error_class(MPI_Pready_list(1, &(int){-1}, sends[0]), &class));
    CHECK(class == MPI_ERR_ARG);
    for (i = 0; i < MOST; i++)
        OK(MPI_Request_free(&sends[i]));
    OK(MPI_Psend_init(&value, 2, 1, MPI_INT, right, 9, copy, MPI_INFO_NULL, &more));
    OK(MPI_Request_free(&more));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_free(&copy));
}

int main(void)
{
    MPI_Comm copy;
    int length;
    start();
    left = (rank + size - 1) % size, right = (rank + 1) % size;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    for (length = 1; length <= 100000; length *= 10) {
        rounds(length, left, right, MPI_COMM_WORLD);
        rounds(length, rank, rank, copy);
    }
    OK(MPI_Comm_free(&copy));
    order();
    nothing();
    errors();
    return finish();
}
