/* What operations in progress keep of what the program has freed: communicators, error handlers, datatypes. */
#include "check.h"

enum { BLOCKS = 50, EXTENT = 300, PIECES = 400 };

/* Writes over memory that has been freed. */
static void overwrite(void)
{
    static void *pieces[PIECES];
    int i;
    for (i = 0; i < PIECES; i++)
        memset(pieces[i] = malloc(8 + 8 * i), 0xee, 8 + 8 * i);
    for (i = 0; i < PIECES; i++)
        free(pieces[i]);
}

/* A message that a matched probe has taken outlives its communicator. */
static void matched(int nonblocking)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {0};
    MPI_Comm comm;
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Isend(out, 4, MPI_INT, 0, 7, comm, &request));
    OK(MPI_Mprobe(0, 7, comm, &message, &status));
    OK(MPI_Comm_free(&comm));
    overwrite();
    if (nonblocking) {
        MPI_Request receive;
        OK(MPI_Imrecv(in, 4, MPI_INT, &message, &receive));
        overwrite();
        OK(MPI_Wait(&receive, &status));
    } else {
        OK(MPI_Mrecv(in, 4, MPI_INT, &message, &status));
    }
    CHECK(in[3] == 4 && status.MPI_SOURCE == 0 && status.MPI_TAG == 7);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static int calls, code_seen;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    calls++;
    code_seen = *code;
}

/* An error goes to the handler of the communicator, which the program has freed. */
static void failed(int all)
{
    int out[4] = {1, 2, 3, 4}, in, code;
    MPI_Comm comm;
    MPI_Errhandler made;
    MPI_Request request, send;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_create_errhandler(handler, &made));
    OK(MPI_Comm_set_errhandler(comm, made));
    OK(MPI_Errhandler_free(&made));
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, 7, comm, &request));
    OK(MPI_Isend(out, 4, MPI_INT, 0, 7, comm, &send));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&comm));
    overwrite();
    calls = 0;
    code = all ? MPI_Waitall(1, &request, MPI_STATUSES_IGNORE) : MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(code == (all ? MPI_ERR_IN_STATUS : MPI_ERR_TRUNCATE) && calls == 1 && code_seen == code);
    CHECK(request == MPI_REQUEST_NULL);
}

static MPI_Datatype gaps(void)
{
    int lengths[BLOCKS], places[BLOCKS], i;
    MPI_Datatype indexed, made;
    for (i = 0; i < BLOCKS; i++)
        lengths[i] = 1 + i % 3, places[i] = 5 * i;
    OK(MPI_Type_indexed(BLOCKS, lengths, places, MPI_INT, &indexed));
    OK(MPI_Type_create_resized(indexed, 0, EXTENT * sizeof(int), &made));
    OK(MPI_Type_commit(&made));
    OK(MPI_Type_free(&indexed));
    return made;
}

/* Both datatypes of a collective live until it has completed. */
static void both_datatypes(void)
{
    enum { GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, KINDS };
    int *out = malloc(EXTENT * size * sizeof(int)), *in = malloc(EXTENT * size * sizeof(int));
    int *counts = malloc(size * sizeof(int)), *places = malloc(size * sizeof(int)), kind, i, k, from;
    for (i = 0; i < size; i++)
        counts[i] = 1, places[i] = i;
    for (kind = 0; kind < KINDS; kind++) {
        MPI_Datatype a = gaps(), b = gaps();
        MPI_Request request;
        int everywhere = kind >= ALLGATHER, scatters = kind == SCATTER || kind == SCATTERV;
        for (i = 0; i < EXTENT * size; i++)
            out[i] = 1 + i + 10000 * rank, in[i] = 0;
        switch (kind) {
        case GATHER: OK(MPI_Igather(out, 1, a, in, 1, b, 0, MPI_COMM_WORLD, &request)); break;
        case GATHERV: OK(MPI_Igatherv(out, 1, a, in, counts, places, b, 0, MPI_COMM_WORLD, &request)); break;
        case SCATTER: OK(MPI_Iscatter(out, 1, a, in, 1, b, 0, MPI_COMM_WORLD, &request)); break;
        case SCATTERV: OK(MPI_Iscatterv(out, counts, places, a, in, 1, b, 0, MPI_COMM_WORLD, &request)); break;
        case ALLGATHER: OK(MPI_Iallgather(out, 1, a, in, 1, b, MPI_COMM_WORLD, &request)); break;
        case ALLGATHERV: OK(MPI_Iallgatherv(out, 1, a, in, counts, places, b, MPI_COMM_WORLD, &request)); break;
        default: OK(MPI_Ialltoall(out, 1, a, in, 1, b, MPI_COMM_WORLD, &request));
        }
        OK(MPI_Type_free(&a));
        OK(MPI_Type_free(&b));
        overwrite();
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (from = 0; from < (scatters ? 1 : size) && (everywhere || scatters || rank == 0); from++)
            for (i = 0; i < BLOCKS; i++)
                for (k = 0; k < 1 + i % 3; k++) {
                    int place = 5 * i + k, block = scatters || kind == ALLTOALL ? rank : 0;
                    CHECK(in[EXTENT * from + place] == 1 + place + EXTENT * block + 10000 * from);
                }
    }
    free(out), free(in), free(counts), free(places);
}

static MPI_Datatype given;
static int wrong;

static void add(void *from, void *into, int *count, MPI_Datatype *datatype)
{
    int bytes = 0, i;
    if (*datatype != given || MPI_Type_size(*datatype, &bytes) != MPI_SUCCESS || bytes != 2 * sizeof(int))
        wrong++;
    for (i = 0; i < 2 * *count; i++)
        ((int *)into)[i] += ((int *)from)[i];
}

/* The function of a reduction gets the datatype, also once the program has freed it. */
static void reduced(void)
{
    int out[2] = {rank, 1}, in[2], bytes;
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Request request;
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Op_create(add, 1, &op));
    given = pair;
    OK(MPI_Iallreduce(out, in, 1, pair, op, MPI_COMM_WORLD, &request));
    OK(MPI_Type_free(&pair));
    OK(MPI_Op_free(&op));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(!wrong && in[0] == size * (size - 1) / 2 && in[1] == size);
    /* The handle is stale once nothing needs it any more. */
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK(MPI_Type_size(given, &bytes) == MPI_ERR_TYPE);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

int main(void)
{
    start();
    matched(0), matched(1);
    failed(0), failed(1);
    both_datatypes();
    reduced();
    return finish();
}
