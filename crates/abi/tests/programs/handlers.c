/* How long error handlers live: as long as the program has a handle of them, or an object holds them. */
#include "check.h"
#include <pthread.h>

enum { ROUNDS = 2000 };

static int calls, others;

/* Checks the class of a call's error. */
#define CLASS(call, expected)                                                  \
    do {                                                                       \
        int class_ = -1;                                                       \
        MPI_Error_class((call), &class_);                                      \
        CHECK(class_ == (expected));                                           \
    } while (0)

static void count(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    calls++;
}

static void count_others(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    others++;
}

/* The handler that `replace` sets, and the one that it frees. */
static MPI_Errhandler next = MPI_ERRHANDLER_NULL, own = MPI_ERRHANDLER_NULL;

/* Frees its own handler, of which the communicator then has the last, and sets another one. */
static void replace(MPI_Comm *comm, int *code, ...)
{
    calls++;
    OK(MPI_Errhandler_free(&own));
    OK(MPI_Comm_set_errhandler(*comm, next));
    OK(MPI_Errhandler_free(&next));
    CHECK(*code == MPI_ERR_RANK);
}

/* An error on a communicator. */
static void fail(MPI_Comm comm)
{
    int value = 0;
    CLASS(MPI_Send(&value, 1, MPI_INT, -7, 0, comm), MPI_ERR_RANK);
}

/* A handle is freed once, and the communicator keeps its handler. */
static void freed(MPI_Comm comm)
{
    MPI_Errhandler made, stale, got;
    calls = 0;
    OK(MPI_Comm_create_errhandler(count, &made));
    stale = made;
    OK(MPI_Comm_set_errhandler(comm, made));
    OK(MPI_Errhandler_free(&made));
    CLASS(MPI_Errhandler_free(&stale), MPI_ERR_ERRHANDLER);
    CLASS(MPI_Comm_set_errhandler(MPI_COMM_SELF, stale), MPI_ERR_ERRHANDLER);
    fail(comm);
    CHECK(calls == 1);
    /* The program gets a handle once more, and with it the right to free it. */
    OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == stale);
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(comm, got));
    OK(MPI_Errhandler_free(&got));
    fail(comm);
    CHECK(calls == 2);
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    fail(comm);
    CHECK(calls == 2);
}

static void from_within(MPI_Comm comm)
{
    calls = others = 0;
    OK(MPI_Comm_create_errhandler(replace, &own));
    OK(MPI_Comm_create_errhandler(count_others, &next));
    OK(MPI_Comm_set_errhandler(comm, own));
    fail(comm);
    CHECK(calls == 1 && others == 0 && own == MPI_ERRHANDLER_NULL && next == MPI_ERRHANDLER_NULL);
    fail(comm);
    CHECK(calls == 1 && others == 1);
}

/* A duplicate has the handler that the original had when the duplication began. */
static void duplicated(MPI_Comm comm)
{
    MPI_Errhandler made;
    MPI_Request request;
    MPI_Comm copy;
    calls = 0;
    OK(MPI_Comm_create_errhandler(count, &made));
    OK(MPI_Comm_set_errhandler(comm, made));
    OK(MPI_Errhandler_free(&made));
    OK(MPI_Comm_idup(comm, &copy, &request));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    fail(copy);
    CHECK(calls == 1);
    OK(MPI_Comm_free(&copy));
}

/* An operation keeps its communicator, which keeps its handler. */
static void pending(void)
{
    MPI_Errhandler made;
    MPI_Request receive, send;
    MPI_Comm comm;
    int in, out[2] = {1, 2};
    calls = 0;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_create_errhandler(count, &made));
    OK(MPI_Comm_set_errhandler(comm, made));
    OK(MPI_Errhandler_free(&made));
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, 0, comm, &receive));
    OK(MPI_Isend(out, 2, MPI_INT, 0, 0, comm, &send));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CLASS(MPI_Wait(&receive, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK(calls == 1 && in == 1);
}

static void *set(void *comm)
{
    int round;
    for (round = 0; round < ROUNDS; round++) {
        MPI_Errhandler made;
        OK(MPI_Comm_create_errhandler(count, &made));
        OK(MPI_Comm_set_errhandler(*(MPI_Comm *)comm, made));
        OK(MPI_Errhandler_free(&made));
    }
    return NULL;
}

/* Every error reaches a handler, while another thread replaces it. */
static void at_once(MPI_Comm comm)
{
    MPI_Errhandler made;
    pthread_t thread;
    int round;
    calls = 0;
    OK(MPI_Comm_create_errhandler(count, &made));
    OK(MPI_Comm_set_errhandler(comm, made));
    OK(MPI_Errhandler_free(&made));
    CHECK(!pthread_create(&thread, NULL, set, &comm));
    for (round = 0; round < ROUNDS; round++)
        fail(comm);
    CHECK(!pthread_join(thread, NULL));
    CHECK(calls == ROUNDS);
}

int main(void)
{
    MPI_Comm comm;
    int provided;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    freed(comm);
    from_within(comm);
    duplicated(comm);
    pending();
    at_once(comm);
    OK(MPI_Comm_free(&comm));
    return finish();
}
