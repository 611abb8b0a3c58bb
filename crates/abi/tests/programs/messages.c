/* Sends, receives and requests of every kind, around a ring of ranks. */
#include "check.h"

static int left, right;

static void modes(void)
{
    int (*const sends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {
        MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend};
    int (*const isends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
        MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Ibsend};
    int (*const inits[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
        MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};
    static char attached[1 << 17];
    static int out[20000], in[20000];
    int mode, length, bytes;
    void *back;
    OK(MPI_Buffer_attach(attached, sizeof attached));
    for (mode = 0; mode < 4; mode++)
        for (length = 1; length <= 20000; length *= 141) {
            MPI_Request requests[2];
            MPI_Status status;
            int count;
            out[0] = rank + mode, out[length - 1] = rank - length;
            OK(MPI_Irecv(in, 20000, MPI_INT, left, mode, MPI_COMM_WORLD, &requests[0]));
            OK(sends[mode](out, length, MPI_INT, right, mode, MPI_COMM_WORLD));
            OK(MPI_Wait(&requests[0], &status));
            OK(MPI_Get_count(&status, MPI_INT, &count));
            CHECK(status.MPI_SOURCE == left && status.MPI_TAG == mode && count == length);
            CHECK(in[length - 1] == left - length && (length == 1 || in[0] == left + mode));
            in[0] = in[length - 1] = -1;
            OK(MPI_Irecv(in, length, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]));
            OK(isends[mode](out, length, MPI_INT, right, 9, MPI_COMM_WORLD, &requests[1]));
            OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
            CHECK(in[length - 1] == left - length);
            in[0] = in[length - 1] = -1;
            OK(MPI_Recv_init(in, length, MPI_INT, left, 9, MPI_COMM_WORLD, &requests[0]));
            OK(inits[mode](out, length, MPI_INT, right, 9, MPI_COMM_WORLD, &requests[1]));
            for (count = 0; count < 3; count++) {
                in[length - 1] = -1;
                OK(MPI_Startall(2, requests));
                OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
                CHECK(in[length - 1] == left - length && requests[0] != MPI_REQUEST_NULL);
            }
            OK(MPI_Request_free(&requests[0]));
            OK(MPI_Request_free(&requests[1]));
        }
    OK(MPI_Buffer_detach(&back, &bytes));
    CHECK(back == attached && bytes == (int)sizeof attached);
}

/* An empty status has no error. */
static void empty(void)
{
    int value, flag, index, i;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    for (i = 0; i < 8; i++) {
        statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = 77;
        if (i == 4)
            OK(MPI_Recv_init(&value, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]));
        switch (i % 4) {
        case 0: OK(MPI_Wait(&requests[0], &statuses[0])); break;
        case 1: OK(MPI_Testany(2, requests, &index, &flag, &statuses[0])); break;
        case 2: OK(MPI_Request_get_status(requests[0], &flag, &statuses[0])); break;
        default: OK(MPI_Request_get_status_any(2, requests, &index, &flag, &statuses[0]));
        }
        CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[0].MPI_SOURCE == MPI_ANY_SOURCE);
        OK(MPI_Waitall(2, requests, statuses));
        CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[1].MPI_ERROR == MPI_SUCCESS);
        statuses[1].MPI_ERROR = 77;
        OK(MPI_Request_get_status_all(2, requests, &flag, statuses));
        CHECK(flag && statuses[1].MPI_ERROR == MPI_SUCCESS);
    }
    OK(MPI_Request_free(&requests[0]));
}

static void completion(void)
{
    /* The left rank sends after the barrier. */
    int values[4] = {-1, -1, -1, -1}, indices[4], i, done, flag, total = 0, index;
    MPI_Request requests[4];
    MPI_Status statuses[4], status;
    for (i = 0; i < 4; i++)
        OK(MPI_Irecv(&values[i], 1, MPI_INT, left, 20 + i, MPI_COMM_WORLD, &requests[i]));
    OK(MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(!flag);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (i = 3; i >= 0; i--)
        OK(MPI_Send(&i, 1, MPI_INT, right, 20 + i, MPI_COMM_WORLD));
    statuses[0].MPI_ERROR = 77;
    OK(MPI_Waitany(4, requests, &index, &statuses[0]));
    CHECK(statuses[0].MPI_ERROR == 77 && statuses[0].MPI_TAG == 20 + index && values[index] == index);
    while (total < 3) {
        OK(MPI_Waitsome(4, requests, &done, indices, statuses));
        CHECK(done >= 1);
        for (i = 0; i < done; i++)
            CHECK(statuses[i].MPI_TAG == 20 + indices[i] && values[indices[i]] == indices[i]);
        total += done;
    }
    OK(MPI_Waitsome(4, requests, &done, indices, statuses));
    CHECK(done == MPI_UNDEFINED);
    OK(MPI_Testany(4, requests, &index, &flag, &status));
    CHECK(flag && index == MPI_UNDEFINED && status.MPI_SOURCE == MPI_ANY_SOURCE);
    OK(MPI_Wait(&requests[0], &status));
    CHECK(status.MPI_TAG == MPI_ANY_TAG);
    empty();

    OK(MPI_Irecv(&values[0], 1, MPI_INT, left, 30, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Request_get_status(requests[0], &flag, &status));
    OK(MPI_Cancel(&requests[0]));
    OK(MPI_Wait(&requests[0], &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);

    OK(MPI_Irecv(&values[0], 1, MPI_INT, left, 31, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Send(&rank, 1, MPI_INT, right, 31, MPI_COMM_WORLD));
    do
        OK(MPI_Request_get_status(requests[0], &flag, &status));
    while (!flag);
    CHECK(status.MPI_SOURCE == left && requests[0] != MPI_REQUEST_NULL && values[0] == left);
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
}

static void probes(void)
{
    int value, flag = 0, count;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    OK(MPI_Send(&rank, 1, MPI_INT, right, 40, MPI_COMM_WORLD));
    OK(MPI_Send(&rank, 1, MPI_INT, right, 40, MPI_COMM_WORLD));
    OK(MPI_Send(&rank, 1, MPI_INT, right, 41, MPI_COMM_WORLD));
    OK(MPI_Probe(left, 41, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_CHAR, &count));
    CHECK(count == sizeof value && status.MPI_TAG == 41);
    OK(MPI_Mprobe(MPI_ANY_SOURCE, 40, MPI_COMM_WORLD, &message, &status));
    while (!flag)
        OK(MPI_Iprobe(left, 40, MPI_COMM_WORLD, &flag, &status));
    OK(MPI_Recv(&value, 1, MPI_INT, left, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Imrecv(&value, 1, MPI_INT, &message, &request));
    CHECK(message == MPI_MESSAGE_NULL);
    OK(MPI_Wait(&request, &status));
    CHECK(value == left && status.MPI_TAG == 40);
    flag = 0;
    while (!flag)
        OK(MPI_Improbe(left, 40, MPI_COMM_WORLD, &flag, &message, &status));
    OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
    CHECK(value == left && message == MPI_MESSAGE_NULL);
    OK(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    OK(MPI_Iprobe(left, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
}

static void both_ways(void)
{
    int in = -1, out = rank, pair[2] = {rank, rank};
    MPI_Status status;
    MPI_Request request;
    OK(MPI_Sendrecv(&out, 1, MPI_INT, right, 50, &in, 1, MPI_INT, left, 50, MPI_COMM_WORLD, &status));
    CHECK(in == left && status.MPI_SOURCE == left);
    OK(MPI_Sendrecv_replace(pair, 2, MPI_INT, right, 51, left, 51, MPI_COMM_WORLD, &status));
    CHECK(pair[0] == left && pair[1] == left);
    OK(MPI_Isendrecv(&out, 1, MPI_INT, right, 52, &in, 1, MPI_INT, left, 52, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in == left);
    OK(MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                    &status));
    CHECK(in == left && status.MPI_SOURCE == MPI_PROC_NULL);
}

/* The end of buffering waits for buffered messages alone. */
static void buffering(void)
{
    enum { BYTES = 4 << 20 };
    static char memory[1000], large[2 * BYTES];
    int bytes, value, other = rank ^ 1;
    void *got;
    MPI_Request request, both;
    if (other >= size)
        return;
    if (rank > other) {
        OK(MPI_Recv(&value, 1, MPI_INT, other, 60, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(large, BYTES, MPI_CHAR, other, 61, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(large, BYTES, MPI_CHAR, other, 62, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Send(&value, 1, MPI_INT, other, 63, MPI_COMM_WORLD));
        return;
    }
    OK(MPI_Buffer_attach(memory, sizeof memory));
    OK(MPI_Isend(large, BYTES, MPI_CHAR, other, 61, MPI_COMM_WORLD, &request));
    OK(MPI_Request_free(&request));
    OK(MPI_Isendrecv(large, BYTES, MPI_CHAR, other, 62, &value, 1, MPI_INT, other, 63, MPI_COMM_WORLD, &both));
    OK(MPI_Buffer_flush());
    OK(MPI_Buffer_detach(&got, &bytes));
    CHECK(got == memory && bytes == sizeof memory);
    OK(MPI_Send(&rank, 1, MPI_INT, other, 60, MPI_COMM_WORLD));
    OK(MPI_Wait(&both, MPI_STATUS_IGNORE));
}

/* The end of a communicator's buffer waits for the messages of that buffer alone. */
static void own_buffers(void)
{
    enum { BYTES = 4 << 20 };
    static char memory[BYTES + 1000], own[1000], large[BYTES];
    int bytes, value = 0, other = rank ^ 1;
    void *got;
    MPI_Comm copy;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    if (other < size && rank < other) {
        OK(MPI_Buffer_attach(memory, sizeof memory));
        OK(MPI_Comm_attach_buffer(copy, own, sizeof own));
        OK(MPI_Bsend(large, BYTES, MPI_CHAR, other, 70, MPI_COMM_WORLD));
        OK(MPI_Bsend(&value, 1, MPI_INT, other, 71, copy));
        OK(MPI_Comm_flush_buffer(copy));
        OK(MPI_Comm_detach_buffer(copy, &got, &bytes));
        CHECK(got == own && bytes == sizeof own);
        OK(MPI_Send(&value, 1, MPI_INT, other, 72, MPI_COMM_WORLD));
        OK(MPI_Buffer_detach(&got, &bytes));
        CHECK(got == memory && bytes == sizeof memory);
    } else if (other < size) {
        OK(MPI_Recv(&value, 1, MPI_INT, other, 72, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(large, BYTES, MPI_CHAR, other, 70, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(&value, 1, MPI_INT, other, 71, copy, MPI_STATUS_IGNORE));
    }
    OK(MPI_Comm_free(&copy));
}

static int freed, cancelled, query_result;

static int query(void *state, MPI_Status *status)
{
    status->MPI_TAG = *(int *)state;
    MPI_Status_set_cancelled(status, cancelled);
    return query_result;
}

static int free_state(void *state)
{
    (void)state;
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    cancelled = !complete;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    int state = 5, flag;
    MPI_Request request, kept;
    MPI_Status status;
    OK(MPI_Grequest_start(query, free_state, cancel, &state, &request));
    OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag && !freed);
    OK(MPI_Cancel(&request));
    CHECK(cancelled);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(status.MPI_TAG == 5 && flag && freed == 1 && request == MPI_REQUEST_NULL);
    /* The state is freed once the request has been, and the operation is complete. */
    OK(MPI_Grequest_start(query, free_state, cancel, &state, &request));
    kept = request;
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL && freed == 1);
    OK(MPI_Grequest_complete(kept));
    CHECK(freed == 2);
    OK(MPI_Grequest_start(query, free_state, cancel, &state, &request));
    OK(MPI_Grequest_complete(request));
    CHECK(freed == 2);
    OK(MPI_Request_free(&request));
    CHECK(freed == 3);
    /* Also where the program cannot tell the status. */
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Grequest_start(query, free_state, cancel, &state, &request));
    OK(MPI_Grequest_complete(request));
    query_result = MPI_ERR_OTHER;
    CHECK(MPI_Wait(&request, &status) == MPI_ERR_OTHER && request == MPI_REQUEST_NULL && freed == 4);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

int main(void)
{
    start();
    left = (rank + size - 1) % size, right = (rank + 1) % size;
    if (size > 1)
        modes();
    completion();
    probes();
    both_ways();
    buffering();
    own_buffers();
    generalized();
    return finish();
}
