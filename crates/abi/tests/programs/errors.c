/* The classes of wrong arguments, and the handlers that get the errors. With an argument the last error is fatal. */
#include "check.h"
#include <limits.h>

static MPI_Comm handled;
static int handled_code, calls;

static void handler(MPI_Comm *comm, int *code, ...)
{
    handled = *comm;
    handled_code = *code;
    calls++;
}

/* Checks the class of a call's error. */
#define CLASS(call, expected)                                                  \
    do {                                                                       \
        int class_ = -1;                                                       \
        MPI_Error_class((call), &class_);                                      \
        CHECK(class_ == (expected));                                           \
    } while (0)

/* A prepared buffered send needs memory when it starts. */
static void buffered(int *value)
{
    MPI_Request request;
    char memory[MPI_BSEND_OVERHEAD + sizeof *value], *attached;
    int bytes;
    OK(MPI_Bsend_init(value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request));
    CLASS(MPI_Start(&request), MPI_ERR_BUFFER);
    OK(MPI_Buffer_attach(memory, sizeof memory));
    OK(MPI_Start(&request));
    OK(MPI_Recv(&bytes, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));
    OK(MPI_Buffer_detach(&attached, &bytes));
    CHECK(attached == memory);
    OK(MPI_Bsend_init(value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request));
    OK(MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));
}

/* A collective that has been started is completed, and neither cancelled nor freed. */
static void collectives(int *value)
{
    MPI_Request request;
    MPI_Comm made, failed;
    int result, pair[2] = {1, 2};
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &made, &request));
    CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Allreduce_init(value, &result, 1, MPI_INT, MPI_SUM, made, MPI_INFO_NULL, &request));
    OK(MPI_Start(&request));
    CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));
    OK(MPI_Comm_free(&made));
    /* Operations of accumulates. */
    CLASS(MPI_Allreduce(value, &result, 1, MPI_INT, MPI_REPLACE, MPI_COMM_WORLD), MPI_ERR_OP);
    CLASS(MPI_Scan(value, &result, 1, MPI_INT, MPI_NO_OP, MPI_COMM_WORLD), MPI_ERR_OP);
    /* Counts that differ. */
    OK(MPI_Comm_dup(MPI_COMM_SELF, &failed));
    CLASS(MPI_Gather(pair, 2, MPI_INT, &result, 1, MPI_INT, 0, failed), MPI_ERR_TRUNCATE);
    OK(MPI_Comm_free(&failed));
}

/* A range that does not reach its end is an error. */
static MPI_Group *ranges(MPI_Group *made)
{
    MPI_Group world;
    int forth[1][3] = {{1, 0, 1}}, back[1][3] = {{0, 0, -1}}, far[1][3] = {{0, INT_MAX, 1}};
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CLASS(MPI_Group_range_incl(world, 1, forth, made), MPI_ERR_ARG);
    CLASS(MPI_Group_range_incl(world, 1, far, made), MPI_ERR_RANK);
    OK(MPI_Group_range_incl(world, 1, back, made));
    OK(MPI_Group_free(&world));
    return made;
}

/* A message stays where the receive of it has wrong arguments. */
static void matched(void)
{
    int out = 5, in = 0;
    MPI_Request request;
    MPI_Message message;
    OK(MPI_Isend(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request));
    OK(MPI_Mprobe(0, 3, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE));
    CLASS(MPI_Mrecv(&in, 1, MPI_DATATYPE_NULL, &message, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    CLASS(MPI_Mrecv(&in, -1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    OK(MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK(in == 5 && message == MPI_MESSAGE_NULL);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* The status of a message that was too long says from whom it came. */
static void truncated(void)
{
    int out[4] = {1, 2, 3, 4}, in[2], how, elements;
    MPI_Request request, receive;
    MPI_Status status[1];
    for (how = 0; how < 4; how++) {
        status->MPI_SOURCE = status->MPI_TAG = -99;
        if (how)
            OK(MPI_Irecv(in, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &receive));
        OK(MPI_Isend(out, 4, MPI_INT, 0, 7, MPI_COMM_SELF, &request));
        switch (how) {
        case 0: CLASS(MPI_Recv(in, 2, MPI_INT, 0, 7, MPI_COMM_SELF, status), MPI_ERR_TRUNCATE); break;
        case 1: CLASS(MPI_Wait(&receive, status), MPI_ERR_TRUNCATE); break;
        case 2: CLASS(MPI_Waitall(1, &receive, status), MPI_ERR_IN_STATUS); break;
        default:
            do
                OK(MPI_Request_get_status(receive, &elements, status));
            while (!elements);
            CLASS(MPI_Wait(&receive, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        }
        OK(MPI_Get_count(status, MPI_INT, &elements));
        CHECK(status->MPI_SOURCE == 0 && status->MPI_TAG == 7 && elements == 2 && in[1] == 2);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

int main(int argc, char **argv)
{
    int value = 0, counts[16], code, class_, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm comm, stale;
    MPI_Errhandler made, got;
    MPI_Request request = MPI_REQUEST_NULL, gone;
    MPI_Group group;
    (void)argv;
    start();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    /* That of MPI_COMM_SELF is the initial one, so that of MPI_COMM_WORLD counts for calls without a communicator. */
    CLASS(MPI_Type_size(MPI_DATATYPE_NULL, &value), MPI_ERR_TYPE);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CLASS(MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CLASS(MPI_Send(&value, 1, MPI_INT, -7, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CLASS(MPI_Send(&value, 1, MPI_INT, 0, -1, MPI_COMM_WORLD), MPI_ERR_TAG);
    CLASS(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    CLASS(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CLASS(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    CLASS(MPI_Recv(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CLASS(MPI_Irecv(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request), MPI_ERR_COUNT);
    CLASS(MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    CLASS(MPI_Allreduce(&value, counts, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    CLASS(MPI_Cart_coords(MPI_COMM_WORLD, 0, 1, counts), MPI_ERR_TOPOLOGY);
    CLASS(MPI_Group_size(MPI_GROUP_NULL, &value), MPI_ERR_GROUP);
    CLASS(MPI_Comm_remote_size(MPI_COMM_WORLD, &value), MPI_ERR_COMM);
    CLASS(MPI_Comm_free(&(MPI_Comm){MPI_COMM_WORLD}), MPI_ERR_COMM);
    CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
    CLASS(MPI_Info_set(MPI_INFO_NULL, "key", "value"), MPI_ERR_INFO);
    CLASS(MPI_Comm_set_attr(MPI_COMM_SELF, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL);
    CLASS(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    {
        /* Calls of tools call no error handler, and files have one that returns. */
        MPI_File file;
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
        CLASS(MPI_T_init_thread(MPI_THREAD_SINGLE, &value), MPI_ERR_UNSUPPORTED_OPERATION);
        CLASS(MPI_File_open(MPI_COMM_SELF, "a", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_UNSUPPORTED_OPERATION);
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    }
    {
        int nodes[1] = {1}, edge = 1;
        CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, nodes, &edge, 0, &comm), MPI_ERR_ARG);
    }
    CLASS(MPI_Comm_spawn("a", NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm, NULL),
          MPI_ERR_UNSUPPORTED_OPERATION);

    CLASS(MPI_Allreduce(&value, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CLASS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    counts[0] = counts[1] = 0;
    CLASS(MPI_Alltoallv(counts, counts, counts, MPI_INT, MPI_IN_PLACE, counts, counts, MPI_INT, MPI_COMM_SELF),
          MPI_ERR_BUFFER);
    {
        int from[2] = {0, 0}, degrees[2] = {-1, 2}, to[2] = {0, 0};
        CLASS(MPI_Dist_graph_create(MPI_COMM_SELF, 2, from, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
              MPI_ERR_ARG);
        degrees[0] = degrees[1] = INT_MAX;
        CLASS(MPI_Dist_graph_create(MPI_COMM_SELF, 2, from, degrees, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
              MPI_ERR_ARG);
    }
    {
        MPI_Count large = (MPI_Count)1 << 62, many[4] = {large, large, large, large};
        CLASS(MPI_Isend_c(&value, large, MPI_INT, 0, 0, MPI_COMM_SELF, &request), MPI_ERR_COUNT);
        CLASS(MPI_Bcast_c(&value, large, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_COUNT);
        CLASS(MPI_Allgather_c(&value, large, MPI_INT, counts, large, MPI_INT, MPI_COMM_SELF), MPI_ERR_COUNT);
        CLASS(MPI_Reduce_scatter_c(&value, counts, many, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
    }
    /* No program has added these. */
    CLASS(MPI_Error_string(INT_MIN, text, &length), MPI_ERR_ARG);
    CLASS(MPI_Error_class(INT_MIN, &value), MPI_ERR_ARG);
    CLASS(MPI_Comm_set_attr(MPI_COMM_SELF, INT_MIN, NULL), MPI_ERR_KEYVAL);

    /* Nothing is buffered for nobody. */
    OK(MPI_Bsend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    CLASS(MPI_Bsend(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);

    buffered(&value);
    collectives(&value);
    OK(MPI_Group_free(ranges(&group)));
    matched();
    truncated();

    /* A handle whose object is gone is an error, also once another object has its place. */
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    stale = comm;
    OK(MPI_Comm_free(&comm));
    CLASS(MPI_Comm_size(stale, &value), MPI_ERR_COMM);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CLASS(MPI_Comm_size(stale, &value), MPI_ERR_COMM);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(comm)) == comm);
    CHECK(MPI_Comm_fromint(257) == MPI_COMM_WORLD);
    OK(MPI_Send_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request));
    gone = request;
    OK(MPI_Request_free(&request));
    CLASS(MPI_Wait(&gone, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    CLASS(MPI_Comm_size((MPI_Comm)group, &value), MPI_ERR_COMM);
    OK(MPI_Group_free(&group));

    /* A handler of the program gets the handle that it knows. */
    OK(MPI_Comm_create_errhandler(handler, &made));
    OK(MPI_Comm_set_errhandler(comm, made));
    OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == made);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&made));
    CHECK(made == MPI_ERRHANDLER_NULL);
    CLASS(MPI_Send(&value, 1, MPI_INT, 5, 0, comm), MPI_ERR_RANK);
    CHECK(calls == 1 && handled == comm && handled_code == MPI_ERR_RANK);
    OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CHECK(calls == 2 && handled_code == MPI_ERR_OTHER);
    /* So do calls on a request. */
    OK(MPI_Recv_init(&value, 1, MPI_INT, 0, 0, comm, &request));
    CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    CHECK(calls == 3 && handled == comm);
    OK(MPI_Start(&request));
    CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
    CLASS(MPI_Startall(1, &request), MPI_ERR_REQUEST);
    CHECK(calls == 5 && handled == comm);
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));
    /* An error is the wait's to raise, whoever has seen before that the operation has ended. */
    OK(MPI_Irecv(&value, 1, MPI_INT, 0, 1, comm, &request));
    OK(MPI_Isend(counts, 2, MPI_INT, 0, 1, comm, &gone));
    OK(MPI_Wait(&gone, MPI_STATUS_IGNORE));
    do
        OK(MPI_Request_get_status(request, &code, MPI_STATUS_IGNORE));
    while (!code);
    OK(MPI_Request_get_status_some(1, &request, &code, &class_, MPI_STATUSES_IGNORE));
    CHECK(code == 1 && class_ == 0 && calls == 5);
    CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK(calls == 6 && handled == comm);
    OK(MPI_Comm_free(&comm));

    /* The handler of a communicator to be made gets the errors of making it. */
    OK(MPI_Comm_create_errhandler(handler, &made));
    CLASS(MPI_Comm_create_from_group(MPI_GROUP_NULL, "tag", MPI_INFO_NULL, made, &comm), MPI_ERR_GROUP);
    CHECK(calls == 7 && handled_code == MPI_ERR_GROUP);
    OK(MPI_Errhandler_free(&made));

    /* Truncation is an error of the wait, of which MPI_Waitall says which. */
    if (size > 1) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        int pair[2] = {1, 2}, other = rank ^ 1;
        if (other < size) {
            OK(MPI_Irecv(&value, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[0]));
            OK(MPI_Irecv(counts, 2, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[1]));
            OK(MPI_Send(pair, 2, MPI_INT, other, 1, MPI_COMM_WORLD));
            OK(MPI_Send(pair, 2, MPI_INT, other, 2, MPI_COMM_WORLD));
            CHECK(MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS);
            CHECK(statuses[0].MPI_ERROR == MPI_ERR_TRUNCATE && statuses[1].MPI_ERROR == MPI_SUCCESS);
        }
    }

    OK(MPI_Add_error_class(&class_));
    OK(MPI_Add_error_code(class_, &code));
    OK(MPI_Add_error_string(code, "of the program"));
    CLASS(code, class_);
    OK(MPI_Error_string(code, text, &length));
    CHECK(!strcmp(text, "of the program") && length == 14);
    OK(MPI_Error_string(MPI_ERR_TRUNCATE, text, &length));
    CHECK(!strncmp(text, "MPI_ERR_TRUNCATE", 16));
    /* What has a code or a string is removed after them. */
    CLASS(MPI_Remove_error_class(class_), MPI_ERR_ARG);
    CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG);
    OK(MPI_Remove_error_string(code));
    OK(MPI_Remove_error_code(code));
    CLASS(MPI_Remove_error_code(code), MPI_ERR_ARG);
    OK(MPI_Remove_error_class(class_));
    CLASS(MPI_Remove_error_class(MPI_ERR_OTHER), MPI_ERR_ARG);
    CLASS(MPI_Remove_error_string(MPI_ERR_OTHER), MPI_ERR_ARG);
    if (argc > 1) {
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
        MPI_Send(&value, 1, MPI_INT, -7, 0, MPI_COMM_WORLD);
    }
    return finish();
}
