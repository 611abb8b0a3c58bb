/* Every error class that functions raise, under MPI_ERRORS_RETURN and under a handler of the program, which sees the right
   handle. With "list": a line for each, "CLASS FUNCTION TEXT", where TEXT names what is wrong. With "fatal" or "abort" and a
   number: the error of that line, which ends the job. */
#include "check.h"

static MPI_Comm own;

/* Which object the error is raised on. */
enum Object { OWN, SELF };

static int buffer(void) { return MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, own); }
static int count(void) { return MPI_Send(&rank, -1, MPI_INT, 0, 0, own); }
static int count_of_block(void)
{
    int counts[1] = {-2}, at[1] = {0}, value;
    return MPI_Allgatherv(&rank, 1, MPI_INT, &value, counts, at, MPI_INT, own);
}
static int type_of_block(void)
{
    int counts[1] = {1}, at[1] = {0}, value;
    MPI_Datatype types[1] = {MPI_DATATYPE_NULL};
    return MPI_Alltoallw(&rank, counts, at, types, &value, counts, at, types, own);
}
static int type(void) { return MPI_Send(&rank, 1, MPI_DATATYPE_NULL, 0, 0, own); }
static int tag(void) { return MPI_Send(&rank, 1, MPI_INT, 0, -5, own); }
static int comm(void) { int value; return MPI_Comm_size(MPI_COMM_NULL, &value); }
static int wrong_rank(void) { int value; return MPI_Recv(&value, 1, MPI_INT, 77, 0, own, MPI_STATUS_IGNORE); }
static int request(void) { MPI_Request null = MPI_REQUEST_NULL; return MPI_Start(&null); }
static int root(void) { int value; return MPI_Bcast(&value, 1, MPI_INT, 88, own); }
static int group(void) { MPI_Comm made; return MPI_Comm_create(own, MPI_GROUP_NULL, &made); }
static int op(void) { int value; return MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_OP_NULL, own); }
static int topology(void) { int at[1]; return MPI_Cart_coords(own, 0, 1, at); }
static int dims(void) { int at[2] = {3, 0}; return MPI_Dims_create(4, 2, at); }
static int arg(void) { MPI_Comm made; return MPI_Comm_split(own, -3, 0, &made); }
static int truncate(void)
{
    int pair[2] = {1, 2}, value, code;
    MPI_Request send;
    OK(MPI_Isend(pair, 2, MPI_INT, 0, 9, own, &send));
    code = MPI_Recv(&value, 1, MPI_INT, 0, 9, own, MPI_STATUS_IGNORE);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    return code;
}
static int in_status(void)
{
    int pair[2] = {1, 2}, value;
    MPI_Request both[2];
    MPI_Status statuses[2];
    OK(MPI_Irecv(&value, 1, MPI_INT, 0, 9, own, &both[0]));
    OK(MPI_Isend(pair, 2, MPI_INT, 0, 9, own, &both[1]));
    return MPI_Waitall(2, both, statuses);
}
static int other(void) { return MPI_Init(NULL, NULL); }
static int info(void) { int keys; return MPI_Info_get_nkeys(MPI_INFO_NULL, &keys); }
static int with_info(const char *key, const char *value, int deletes)
{
    int code;
    MPI_Info made;
    OK(MPI_Info_create(&made));
    code = deletes ? MPI_Info_delete(made, key) : MPI_Info_set(made, key, value);
    OK(MPI_Info_free(&made));
    return code;
}
static int info_key(void) { return with_info("", "value", 0); }
static int info_value(void)
{
    static char value[2 * MPI_MAX_INFO_VAL];
    memset(value, 'v', sizeof value - 1);
    return with_info("key", value, 0);
}
static int info_nokey(void) { return with_info("absent", "", 1); }
static int keyval(void) { return MPI_Comm_set_attr(own, MPI_KEYVAL_INVALID, NULL); }
static int no_mem(void) { void *memory; return MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &memory); }
static int session(void) { int sets; return MPI_Session_get_num_psets(MPI_SESSION_NULL, MPI_INFO_NULL, &sets); }
static int errhandler(void) { return MPI_Comm_set_errhandler(own, MPI_ERRHANDLER_NULL); }
static int unsupported(void) { return MPI_Close_port("port"); }

static const struct Row {
    const char *name, *function, *text;
    int class;
    enum Object on;
    int (*raise)(void);
} rows[] = {
#define ROW(name, function, text, on, raise) {#name, function, text, name, on, raise}
    ROW(MPI_ERR_BUFFER, "MPI_Bcast", "MPI_IN_PLACE", OWN, buffer),
    ROW(MPI_ERR_COUNT, "MPI_Send", "the count is -1", OWN, count),
    ROW(MPI_ERR_COUNT, "MPI_Allgatherv", "in block 0: the count is -2", OWN, count_of_block),
    ROW(MPI_ERR_TYPE, "MPI_Alltoallw", "in block 0: the datatype is MPI_DATATYPE_NULL", OWN, type_of_block),
    ROW(MPI_ERR_TYPE, "MPI_Send", "the datatype is MPI_DATATYPE_NULL", OWN, type),
    ROW(MPI_ERR_TAG, "MPI_Send", "tag -5", OWN, tag),
    ROW(MPI_ERR_COMM, "MPI_Comm_size", "the communicator is MPI_COMM_NULL", SELF, comm),
    ROW(MPI_ERR_RANK, "MPI_Recv", "named rank 77", OWN, wrong_rank),
    ROW(MPI_ERR_REQUEST, "MPI_Start", "the request is MPI_REQUEST_NULL", SELF, request),
    ROW(MPI_ERR_ROOT, "MPI_Bcast", "the root is 88", OWN, root),
    ROW(MPI_ERR_GROUP, "MPI_Comm_create", "the group is MPI_GROUP_NULL", OWN, group),
    ROW(MPI_ERR_OP, "MPI_Allreduce", "the operation is MPI_OP_NULL", OWN, op),
    ROW(MPI_ERR_TOPOLOGY, "MPI_Cart_coords", "topology", OWN, topology),
    ROW(MPI_ERR_DIMS, "MPI_Dims_create", "4", SELF, dims),
    ROW(MPI_ERR_ARG, "MPI_Comm_split", "the color is -3", OWN, arg),
    ROW(MPI_ERR_TRUNCATE, "MPI_Recv", "tag 9", OWN, truncate),
    ROW(MPI_ERR_IN_STATUS, "MPI_Waitall", "tag 9", OWN, in_status),
    ROW(MPI_ERR_OTHER, "MPI_Init", "before", SELF, other),
    ROW(MPI_ERR_INFO, "MPI_Info_get_nkeys", "is MPI_INFO_NULL", SELF, info),
    ROW(MPI_ERR_INFO_KEY, "MPI_Info_set", "the key is empty", SELF, info_key),
    ROW(MPI_ERR_INFO_VALUE, "MPI_Info_set", "value", SELF, info_value),
    ROW(MPI_ERR_INFO_NOKEY, "MPI_Info_delete", "absent", SELF, info_nokey),
    ROW(MPI_ERR_KEYVAL, "MPI_Comm_set_attr", "key", OWN, keyval),
    ROW(MPI_ERR_NO_MEM, "MPI_Alloc_mem", "1152921504606846976 bytes", SELF, no_mem),
    ROW(MPI_ERR_SESSION, "MPI_Session_get_num_psets", "the session is MPI_SESSION_NULL", SELF, session),
    ROW(MPI_ERR_ERRHANDLER, "MPI_Comm_set_errhandler", "the error handler is MPI_ERRHANDLER_NULL", OWN, errhandler),
    ROW(MPI_ERR_UNSUPPORTED_OPERATION, "MPI_Close_port", "not implemented", SELF, unsupported),
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static MPI_Comm seen;
static int calls, seen_code;

static void handler(MPI_Comm *on, int *code, ...)
{
    seen = *on;
    seen_code = *code;
    calls++;
}

static MPI_Session seen_session;

static void session_handler(MPI_Session *on, int *code, ...)
{
    seen_session = *on;
    seen_code = *code;
    calls++;
}

static void set(MPI_Errhandler to)
{
    OK(MPI_Comm_set_errhandler(own, to));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, to));
}

static int class_of(int code)
{
    int class = -1;
    OK(MPI_Error_class(code, &class));
    return class;
}

/* The handler of a session gets its errors, that of a session to be made those of making it. */
static void sessions(void)
{
    MPI_Session made, none;
    MPI_Errhandler errors;
    MPI_Info hints;
    int length = 0;
    OK(MPI_Session_create_errhandler(session_handler, &errors));
    OK(MPI_Session_init(MPI_INFO_NULL, errors, &made));
    calls = 0;
    CHECK(MPI_Session_get_nth_pset(made, MPI_INFO_NULL, 99, &length, NULL) == MPI_ERR_ARG);
    CHECK(calls == 1 && seen_session == made && seen_code == MPI_ERR_ARG);
    OK(MPI_Session_finalize(&made));
    OK(MPI_Info_create(&hints));
    OK(MPI_Info_set(hints, "thread_level", "MPI_THREAD_SOME"));
    CHECK(MPI_Session_init(hints, errors, &none) == MPI_ERR_ARG);
    CHECK(calls == 2 && seen_session == MPI_SESSION_NULL);
    OK(MPI_Errhandler_free(&errors));
    CHECK(MPI_Session_init(hints, MPI_ERRORS_RETURN, &none) == MPI_ERR_ARG);
    OK(MPI_Info_free(&hints));
}

int main(int argc, char **argv)
{
    MPI_Errhandler made;
    int row;
    start();
    OK(MPI_Comm_dup(MPI_COMM_SELF, &own));
    OK(MPI_Comm_set_name(own, "own"));
    for (row = 0; argc == 2 && row < ROWS; row++)
        printf("%s %s %s\n", rows[row].name, rows[row].function, rows[row].text);
    if (argc > 2) {
        set(!strcmp(argv[1], "abort") ? MPI_ERRORS_ABORT : MPI_ERRORS_ARE_FATAL);
        rows[atoi(argv[2])].raise();
        CHECK(!"the error has not ended the job");
    }
    set(MPI_ERRORS_RETURN);
    for (row = 0; row < ROWS; row++)
        if (class_of(rows[row].raise()) != rows[row].class)
            CHECK(!fprintf(stderr, "%s is not raised\n", rows[row].name));
    OK(MPI_Comm_create_errhandler(handler, &made));
    set(made);
    for (row = 0; row < ROWS; row++) {
        MPI_Comm expected = rows[row].on == OWN ? own : MPI_COMM_SELF;
        int code;
        calls = 0;
        code = rows[row].raise();
        if (calls != 1 || seen != expected || seen_code != code || class_of(code) != rows[row].class)
            CHECK(!fprintf(stderr, "the handler does not see %s\n", rows[row].name));
    }
    OK(MPI_Errhandler_free(&made));
    set(MPI_ERRORS_RETURN);
    sessions();
    OK(MPI_Comm_free(&own));
    return finish();
}
