/* Messages of one word, whose sends and receives are inlined: wrong ranks and tags, wildcards, nobody, this rank itself, too
   much and too little room, and order. The argument names the thread level. */
#include "check.h"
#include <limits.h>
#include <stdint.h>

/* Checks the class of a call's error. */
#define CLASS(call, expected)                                                  \
    do {                                                                       \
        int class_ = -1;                                                       \
        MPI_Error_class((call), &class_);                                      \
        CHECK(class_ == (expected));                                           \
    } while (0)

enum { UNTOUCHED = -77 };

static const int64_t fill = 0x1122334455667788;

/* A word that names its sender and its tag. */
static int64_t word_of(int from, int tag)
{
    return (int64_t)(from + 1) << 40 | (unsigned)tag;
}

/* Sends a word in one of four ways. */
static void put(int way, int to, int tag, MPI_Comm comm)
{
    int me;
    int64_t word;
    MPI_Request request;
    OK(MPI_Comm_rank(comm, &me));
    word = word_of(me, tag);
    switch (way % 4) {
    case 0: OK(MPI_Send(&word, 1, MPI_INT64_T, to, tag, comm)); return;
    case 1: OK(MPI_Send(&word, 8, MPI_BYTE, to, tag, comm)); return;
    case 2: OK(MPI_Isend(&word, 2, MPI_INT32_T, to, tag, comm, &request)); break;
    default: OK(MPI_Isend_c(&word, 1, MPI_INT64_T, to, tag, comm, &request));
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Receives a word that rank `from` has sent with `tag`, as the arguments name them, in one of four ways. */
static void get(int way, int source, int named_tag, int from, int tag, MPI_Comm comm)
{
    char memory[24] = {0};
    int64_t word = 0;
    int bytes;
    MPI_Request request;
    MPI_Status status;
    status.MPI_ERROR = UNTOUCHED;
    switch (way % 4) {
    case 0: OK(MPI_Recv(&word, 1, MPI_INT64_T, source, named_tag, comm, &status)); break;
    case 1:
        /* Not aligned, and with more room than is used. */
        OK(MPI_Recv(memory + 1, 16, MPI_BYTE, source, named_tag, comm, &status));
        memcpy(&word, memory + 1, sizeof word);
        CHECK(memory[0] == 0 && memory[9] == 0);
        break;
    case 2:
        OK(MPI_Irecv(&word, 2, MPI_INT32_T, source, named_tag, comm, &request));
        OK(MPI_Wait(&request, &status));
        CHECK(request == MPI_REQUEST_NULL);
        break;
    default:
        OK(MPI_Irecv_c(&word, 1, MPI_INT64_T, source, named_tag, comm, &request));
        OK(MPI_Waitall(1, &request, &status));
        CHECK(request == MPI_REQUEST_NULL);
        status.MPI_ERROR = UNTOUCHED;
    }
    OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
    CHECK(word == word_of(from, tag) && bytes == 8);
    CHECK(status.MPI_SOURCE == from && status.MPI_TAG == tag && status.MPI_ERROR == UNTOUCHED);
}

/* What names no rank of the communicator, or is no tag. */
static void wrong(MPI_Comm comm)
{
    int ranks[] = {0, INT_MAX, -7, INT_MIN, MPI_ROOT}, tags[] = {-7, INT_MIN}, i, others;
    int self, sent;
    int64_t word = fill;
    MPI_Request request = MPI_REQUEST_NULL;
    OK(MPI_Comm_rank(comm, &self));
    OK(MPI_Comm_size(comm, &others));
    ranks[0] = others;
    for (i = 0; i < (int)(sizeof ranks / sizeof *ranks); i++) {
        CLASS(MPI_Send(&word, 1, MPI_INT64_T, ranks[i], 0, comm), MPI_ERR_RANK);
        CLASS(MPI_Isend(&word, 1, MPI_INT64_T, ranks[i], 0, comm, &request), MPI_ERR_RANK);
        CLASS(MPI_Recv(&word, 1, MPI_INT64_T, ranks[i], 0, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK);
        CLASS(MPI_Irecv(&word, 1, MPI_INT64_T, ranks[i], 0, comm, &request), MPI_ERR_RANK);
        CLASS(MPI_Isendrecv(&fill, 1, MPI_INT64_T, self, 0, &word, 1, MPI_INT64_T, ranks[i], 0, comm, &request),
              MPI_ERR_RANK);
    }
    OK(MPI_Iprobe(self, 0, comm, &sent, MPI_STATUS_IGNORE));
    CHECK(!sent);
    CLASS(MPI_Send(&word, 1, MPI_INT64_T, MPI_ANY_SOURCE, 0, comm), MPI_ERR_RANK);
    CLASS(MPI_Isend(&word, 1, MPI_INT64_T, MPI_ANY_SOURCE, 0, comm, &request), MPI_ERR_RANK);
    for (i = 0; i < (int)(sizeof tags / sizeof *tags); i++) {
        CLASS(MPI_Send(&word, 1, MPI_INT64_T, 0, tags[i], comm), MPI_ERR_TAG);
        CLASS(MPI_Isend(&word, 1, MPI_INT64_T, 0, tags[i], comm, &request), MPI_ERR_TAG);
        CLASS(MPI_Recv(&word, 1, MPI_INT64_T, 0, tags[i], comm, MPI_STATUS_IGNORE), MPI_ERR_TAG);
        CLASS(MPI_Irecv(&word, 1, MPI_INT64_T, MPI_ANY_SOURCE, tags[i], comm, &request), MPI_ERR_TAG);
    }
    CLASS(MPI_Send(&word, 1, MPI_INT64_T, 0, MPI_ANY_TAG, comm), MPI_ERR_TAG);
    CLASS(MPI_Isend(&word, 1, MPI_INT64_T, 0, MPI_ANY_TAG, comm, &request), MPI_ERR_TAG);
    CLASS(MPI_Send(NULL, 1, MPI_INT64_T, 0, 0, comm), MPI_ERR_BUFFER);
    CLASS(MPI_Send(MPI_IN_PLACE, 1, MPI_INT64_T, 0, 0, comm), MPI_ERR_BUFFER);
    CLASS(MPI_Recv(NULL, 1, MPI_INT64_T, 0, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    CHECK(word == fill && request == MPI_REQUEST_NULL);
}

static void nobody(MPI_Comm comm)
{
    int64_t word = fill;
    int how, bytes;
    MPI_Request request;
    for (how = 0; how < 4; how++) {
        int tag = how % 2 ? MPI_ANY_TAG : 3;
        MPI_Status status = {.MPI_SOURCE = 99, .MPI_TAG = 99, .MPI_ERROR = UNTOUCHED};
        OK(MPI_Send(&word, 1, MPI_INT64_T, MPI_PROC_NULL, 3, comm));
        OK(MPI_Isend(&word, 1, MPI_INT64_T, MPI_PROC_NULL, 3, comm, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (how < 2) {
            OK(MPI_Recv(&word, 1, MPI_INT64_T, MPI_PROC_NULL, tag, comm, &status));
        } else {
            OK(MPI_Irecv(&word, 1, MPI_INT64_T, MPI_PROC_NULL, tag, comm, &request));
            OK(MPI_Wait(&request, &status));
        }
        OK(MPI_Get_count(&status, MPI_INT64_T, &bytes));
        CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && bytes == 0);
        CHECK(word == fill && status.MPI_ERROR == UNTOUCHED);
    }
}

/* Messages to this rank, unexpected and expected, by name and by wildcard. */
static void to_itself(MPI_Comm comm)
{
    int me, way, named;
    OK(MPI_Comm_rank(comm, &me));
    for (way = 0; way < 16; way++) {
        int64_t word = 0;
        MPI_Request request;
        MPI_Status status;
        named = way / 4;
        put(way, me, 5, comm);
        get(way / 2, named % 2 ? MPI_ANY_SOURCE : me, named / 2 ? MPI_ANY_TAG : 5, me, 5, comm);
        OK(MPI_Irecv(&word, 1, MPI_INT64_T, named % 2 ? MPI_ANY_SOURCE : me, named / 2 ? MPI_ANY_TAG : 6, comm, &request));
        put(way, me, 6, comm);
        OK(MPI_Wait(&request, &status));
        CHECK(word == word_of(me, 6) && status.MPI_SOURCE == me && status.MPI_TAG == 6);
    }
}

/* A message of two words has no room in one, nor one of a word in half of it; what has room is there. */
static void truncated(MPI_Comm comm)
{
    int me, how, bytes;
    int64_t pair[2] = {3, 4}, into[2];
    OK(MPI_Comm_rank(comm, &me));
    for (how = 0; how < 4; how++) {
        MPI_Status status;
        MPI_Request request;
        int room = how % 2 ? 8 : 4;
        into[0] = into[1] = 0;
        OK(MPI_Isend(pair, 2 * room, MPI_BYTE, me, 7, comm, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (how < 2) {
            CLASS(MPI_Recv(into, room, MPI_BYTE, me, 7, comm, &status), MPI_ERR_TRUNCATE);
        } else {
            OK(MPI_Irecv(into, room, MPI_BYTE, me, 7, comm, &request));
            CLASS(MPI_Wait(&request, &status), MPI_ERR_TRUNCATE);
            CHECK(request == MPI_REQUEST_NULL);
        }
        OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
        CHECK(status.MPI_SOURCE == me && status.MPI_TAG == 7 && bytes == room);
        CHECK(into[0] == 3 && into[1] == 0);
    }
    /* The next message is whole. */
    put(0, me, 8, comm);
    get(0, me, 8, me, 8, comm);
}

/* A ring: unexpected messages, received in another order than they were sent in; then one of each way, as it comes. */
static void between(MPI_Comm comm)
{
    int me, others, right, left, way, tag;
    MPI_Status status;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &others));
    right = (me + 1) % others;
    left = (me + others - 1) % others;
    for (tag = 10; tag < 14; tag++)
        put(tag, right, tag, comm);
    OK(MPI_Probe(left, 13, comm, &status));
    CHECK(status.MPI_SOURCE == left && status.MPI_TAG == 13);
    for (tag = 13; tag >= 10; tag--)
        get(tag, left, tag, left, tag, comm);
    OK(MPI_Barrier(comm));
    for (way = 0; way < 64; way++) {
        int source = way / 16 % 2 ? MPI_ANY_SOURCE : left, named = way / 32 ? MPI_ANY_TAG : way;
        put(way, right, way, comm);
        get(way / 4, source, named, left, way, comm);
    }
    /* Of messages with one tag the first is the first. */
    for (way = 0; way < 8; way++) {
        int64_t word = way;
        OK(MPI_Send(&word, 1, MPI_INT64_T, right, 9, comm));
    }
    for (way = 0; way < 8; way++) {
        int64_t word = -1;
        OK(MPI_Recv(&word, 1, MPI_INT64_T, left, way % 2 ? MPI_ANY_TAG : 9, comm, MPI_STATUS_IGNORE));
        CHECK(word == way);
    }
    OK(MPI_Barrier(comm));
}

/* A window of receives and sends, completed at once, in the order of the requests and against it. */
static void windows(MPI_Comm comm)
{
    enum { WINDOW = 64 };
    int me, others, i, round;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &others));
    for (round = 0; round < 8; round++) {
        int64_t in[WINDOW], out[WINDOW];
        MPI_Request requests[2 * WINDOW];
        MPI_Status statuses[2 * WINDOW];
        int right = (me + 1) % others, left = (me + others - 1) % others;
        for (i = 0; i < WINDOW; i++) {
            int place = round % 2 ? WINDOW - 1 - i : i;
            out[i] = word_of(me, i);
            in[i] = 0;
            OK(MPI_Irecv(&in[i], 1, MPI_INT64_T, round % 4 / 2 ? MPI_ANY_SOURCE : left, i, comm, &requests[place]));
        }
        for (i = 0; i < WINDOW; i++)
            OK(MPI_Isend(&out[i], 1, MPI_INT64_T, right, i, comm, &requests[WINDOW + i]));
        OK(MPI_Waitall(2 * WINDOW, requests, round / 4 ? MPI_STATUSES_IGNORE : statuses));
        for (i = 0; i < WINDOW; i++) {
            int place = round % 2 ? WINDOW - 1 - i : i;
            CHECK(in[i] == word_of(left, i));
            CHECK(requests[i] == MPI_REQUEST_NULL && requests[WINDOW + i] == MPI_REQUEST_NULL);
            CHECK(round / 4 || (statuses[place].MPI_SOURCE == left && statuses[place].MPI_TAG == i));
        }
        OK(MPI_Barrier(comm));
    }
}

/* More words than a ring holds, so that some wait at rank 0; rank 1 receives them late. */
enum { MANY = 20000 };

static void hold_back(void)
{
    static int64_t words[MANY];
    MPI_Request request;
    int i;
    for (i = 0; i < MANY; i++) {
        words[i] = i;
        OK(MPI_Isend(&words[i], 1, MPI_INT64_T, 1, 20, MPI_COMM_WORLD, &request));
        OK(MPI_Request_free(&request));
    }
}

static void take_held_back(void)
{
    int i;
    for (i = 0; i < MANY; i++) {
        int64_t word = -1;
        OK(MPI_Recv(&word, 1, MPI_INT64_T, 0, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(word == i);
    }
}

/* Words that wait go while their rank waits by another communicator. */
static void by_another(void)
{
    MPI_Comm other;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    if (size > 1 && rank == 0) {
        hold_back();
        get(0, 1, 21, 1, 21, other);
    } else if (rank == 1) {
        take_held_back();
        put(0, 0, 21, other);
    }
    OK(MPI_Comm_free(&other));
}

static void all(MPI_Comm comm)
{
    wrong(comm);
    nobody(comm);
    to_itself(comm);
    truncated(comm);
    /* No rank's messages come before the wildcards of another are done. */
    OK(MPI_Barrier(comm));
    between(comm);
    windows(comm);
}

int main(int argc, char **argv)
{
    int provided, wanted = argc > 1 && !strcmp(argv[1], "multiple") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Comm made;
    OK(MPI_Init_thread(NULL, NULL, wanted, &provided));
    CHECK(provided == wanted);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    all(MPI_COMM_WORLD);
    all(MPI_COMM_SELF);
    /* Ranks in another order. */
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made));
    all(made);
    OK(MPI_Comm_free(&made));
    by_another();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    /* Nor are words lost that wait when their rank ends. */
    if (size > 1 && rank == 0)
        hold_back();
    else if (rank == 1)
        take_held_back();
    OK(MPI_Finalize());
    return 0;
}
