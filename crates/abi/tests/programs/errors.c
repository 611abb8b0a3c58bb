/* The classes of wrong arguments, and the handlers that get the errors. With an argument the last error is fatal. */
#include "check.h"

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
    CLASS(MPI_Comm_spawn("a", NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm, NULL),
          MPI_ERR_UNSUPPORTED_OPERATION);

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
    OK(MPI_Comm_free(&comm));

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
    if (argc > 1) {
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
        MPI_Send(&value, 1, MPI_INT, -7, 0, MPI_COMM_WORLD);
    }
    return finish();
}
