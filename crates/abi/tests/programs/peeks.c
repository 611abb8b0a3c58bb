/* MPI_Request_get_status and its kind leave requests as they are. */
#include "check.h"
#include <pthread.h>

/* Checks the class of a call's error. */
#define CLASS(call, expected)                                                  \
    do {                                                                       \
        int class_ = -1;                                                       \
        MPI_Error_class((call), &class_);                                      \
        CHECK(class_ == (expected));                                           \
    } while (0)

static int queries, frees;

static int query(void *state, MPI_Status *status)
{
    (void)state;
    queries++;
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    OK(MPI_Status_set_elements(status, MPI_INT, 5));
    OK(MPI_Status_set_cancelled(status, 0));
    return MPI_SUCCESS;
}

static int end(void *state)
{
    (void)state;
    frees++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

/* Looks at a request by each of the calls, until all say that it is complete; its handle stays. */
static void look(MPI_Request request, MPI_Status *status)
{
    MPI_Request before = request;
    int flag = 0, index, count, which;
    while (!flag)
        OK(MPI_Request_get_status(request, &flag, status));
    OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    OK(MPI_Request_get_status_any(1, &request, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(flag && index == 0);
    OK(MPI_Request_get_status_some(1, &request, &count, &which, MPI_STATUSES_IGNORE));
    CHECK(count == 1 && which == 0);
    OK(MPI_Request_get_status_all(1, &request, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag && request == before);
}

static void messages(void)
{
    int value = -1, out = 8, count, flag;
    MPI_Request request, send;
    MPI_Status status;
    OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &request));
    OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Isend(&out, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &send));
    look(request, &status);
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 9 && count == 1 && value == 8);
    /* The wait tells the same. */
    status.MPI_SOURCE = status.MPI_TAG = -99;
    OK(MPI_Wait(&request, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 9 && count == 1 && request == MPI_REQUEST_NULL);
    look(send, MPI_STATUS_IGNORE);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    /* A request that has been looked at may be freed, and cancelled in vain. */
    OK(MPI_Irecv(&value, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request));
    OK(MPI_Send(&out, 1, MPI_INT, 0, 9, MPI_COMM_SELF));
    look(request, &status);
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(!flag && status.MPI_TAG == 9);
    OK(MPI_Irecv(&value, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request));
    OK(MPI_Send(&out, 1, MPI_INT, 0, 9, MPI_COMM_SELF));
    look(request, &status);
    OK(MPI_Request_free(&request));
}

/* The error of an operation is that of the wait. */
static void errors(void)
{
    int value, pair[2] = {1, 2}, flag;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
    OK(MPI_Request_get_status(request, &flag, &status));
    OK(MPI_Send(pair, 2, MPI_INT, 0, 1, MPI_COMM_SELF));
    look(request, &status);
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 1);
    CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK(request == MPI_REQUEST_NULL);
}

static void persistent(void)
{
    int value = 0, out, flag, round;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Recv_init(&value, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &request));
    for (round = 0; round < 3; round++) {
        status.MPI_SOURCE = 99;
        OK(MPI_Request_get_status(request, &flag, &status));
        CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE);
        OK(MPI_Start(&request));
        OK(MPI_Request_get_status(request, &flag, &status));
        CHECK(!flag);
        out = 10 + round;
        OK(MPI_Send(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF));
        look(request, &status);
        CHECK(status.MPI_SOURCE == 0 && value == out);
        /* It is active until a wait has seen its end. */
        CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&request));
}

static void partitioned(void)
{
    int in[2] = {0, 0}, out[2] = {5, 6}, flag, round;
    MPI_Request requests[2];
    OK(MPI_Precv_init(in, 2, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]));
    OK(MPI_Psend_init(out, 2, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]));
    for (round = 0; round < 2; round++) {
        OK(MPI_Startall(2, requests));
        OK(MPI_Pready(0, requests[1]));
        OK(MPI_Request_get_status_all(2, requests, &flag, MPI_STATUSES_IGNORE));
        CHECK(!flag);
        OK(MPI_Pready(1, requests[1]));
        look(requests[0], MPI_STATUS_IGNORE);
        look(requests[1], MPI_STATUS_IGNORE);
        OK(MPI_Parrived(requests[0], 1, &flag));
        CHECK(flag && in[0] == 5 && in[1] == 6);
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

static void generalized(void)
{
    MPI_Request request;
    MPI_Status status;
    int flag, count;
    OK(MPI_Grequest_start(query, end, cancel, NULL, &request));
    OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(!flag && queries == 0);
    OK(MPI_Grequest_complete(request));
    look(request, &status);
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(status.MPI_SOURCE == 3 && status.MPI_TAG == 4 && count == 5);
    CHECK(queries == 5 && frees == 0);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(queries == 6 && frees == 1);
}

static void others(void)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int flag = 0, index = 5, count = 5, indices[3], value;
    OK(MPI_Request_get_status_any(0, NULL, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(flag && index == MPI_UNDEFINED);
    OK(MPI_Request_get_status_some(0, NULL, &count, NULL, MPI_STATUSES_IGNORE));
    CHECK(count == MPI_UNDEFINED);
    OK(MPI_Request_get_status_all(0, NULL, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    CLASS(MPI_Request_get_status_all(-1, requests, &flag, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]));
    look(requests[1], MPI_STATUS_IGNORE);
    OK(MPI_Irecv(&value, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &requests[2]));
    OK(MPI_Request_get_status_any(3, requests, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(flag && index == 1);
    OK(MPI_Request_get_status_some(3, requests, &count, indices, MPI_STATUSES_IGNORE));
    CHECK(count == 1 && indices[0] == 1);
    OK(MPI_Request_get_status_all(3, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(!flag);
    OK(MPI_Cancel(&requests[2]));
    OK(MPI_Request_get_status_all(3, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    CLASS(MPI_Request_get_status((MPI_Request)MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
}

static void *watch(void *request)
{
    MPI_Status status;
    int flag = 0;
    while (!flag)
        OK(MPI_Request_get_status(*(MPI_Request *)request, &flag, &status));
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 5);
    return NULL;
}

/* Several threads look at one request. */
static void at_once(void)
{
    enum { THREADS = 4, ROUNDS = 50 };
    pthread_t threads[THREADS];
    int value, out = 1, i, round;
    for (round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        OK(MPI_Irecv(&value, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &request));
        for (i = 0; i < THREADS; i++)
            CHECK(!pthread_create(&threads[i], NULL, watch, &request));
        OK(MPI_Send(&out, 1, MPI_INT, 0, 5, MPI_COMM_SELF));
        for (i = 0; i < THREADS; i++)
            CHECK(!pthread_join(threads[i], NULL));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

int main(void)
{
    int provided;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    messages();
    errors();
    persistent();
    partitioned();
    generalized();
    others();
    at_once();
    return finish();
}
