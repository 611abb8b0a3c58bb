/* Windows of every kind: what their accesses leave, what they tell, and what is wrong with calls. */
#include "check.h"

#define WORDS 3000

static int right, left;

static void is_class(int code, int wanted)
{
    int class;
    OK(MPI_Error_class(code, &class));
    if (class != wanted)
        fprintf(stderr, "rank %d: class %d, not %d\n", rank, class, wanted);
    CHECK(class == wanted);
}

/* Every access, in epochs of fences and of locks, to the memory of the right neighbour. */
static void accesses(MPI_Win win, int *memory)
{
    int out[WORDS], in[WORDS], i, old, one = 1, next, flag;
    MPI_Request requests[4];
    MPI_Status status;
    MPI_Datatype odd;
    OK(MPI_Type_vector(WORDS / 2, 1, 2, MPI_INT, &odd));
    OK(MPI_Type_commit(&odd));
    for (i = 0; i < WORDS; i++)
        out[i] = 10 * i + rank, in[i] = -1;
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    OK(MPI_Put(out, WORDS, MPI_INT, right, 0, WORDS, MPI_INT, win));
    OK(MPI_Put_c(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get(in, 1, odd, right, 0, WORDS / 2, MPI_INT, win));
    OK(MPI_Accumulate(out, WORDS / 2, MPI_INT, right, 0, 1, odd, MPI_SUM, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (i = 0; i < WORDS; i++) {
        CHECK(in[i] == -1 || i % 2 == 0);
        CHECK(memory[i] == 10 * i + left + (i % 2 ? 0 : 10 * (i / 2) + left));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));

    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
    OK(MPI_Put(out, WORDS, MPI_INT, right, 0, WORDS, MPI_INT, win));
    OK(MPI_Win_flush(right, win));
    OK(MPI_Get(in, WORDS, MPI_INT, right, 0, WORDS, MPI_INT, win));
    OK(MPI_Win_flush_local(right, win));
    CHECK(memcmp(in, out, sizeof in) == 0);
    next = 77;
    OK(MPI_Fetch_and_op(&next, &old, MPI_INT, right, 5, MPI_REPLACE, win));
    OK(MPI_Win_flush(right, win));
    CHECK(old == out[5]);
    OK(MPI_Compare_and_swap(&one, &next, &old, MPI_INT, right, 5, win));
    OK(MPI_Win_flush(right, win));
    CHECK(old == 77);
    OK(MPI_Fetch_and_op(NULL, &old, MPI_INT, right, 5, MPI_NO_OP, win));
    OK(MPI_Win_flush_all(win));
    CHECK(old == 1);
    OK(MPI_Win_unlock(right, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));

    OK(MPI_Win_lock_all(0, win));
    for (i = 0; i < WORDS; i++)
        in[i] = -1;
    OK(MPI_Rput(out, WORDS, MPI_INT, right, 0, WORDS, MPI_INT, win, &requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(right, win));
    OK(MPI_Rget(in, 1, odd, right, 0, 1, odd, win, &requests[0]));
    OK(MPI_Raccumulate(&one, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_MAX, win, &requests[1]));
    OK(MPI_Rget_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, right, 2, 1, MPI_INT, MPI_SUM, win, &requests[2]));
    OK(MPI_Rget(&next, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &requests[3]));
    OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    CHECK(requests[0] == MPI_REQUEST_NULL && old == out[2] && in[4] == out[4] && in[5] == -1);
    OK(MPI_Rget(&old, 1, MPI_INT, right, 2, 1, MPI_INT, win, &requests[0]));
    do
        OK(MPI_Test(&requests[0], &flag, &status));
    while (!flag);
    CHECK(old == out[2] + 1);
    OK(MPI_Win_flush_local_all(win));
    OK(MPI_Win_sync(win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Type_free(&odd));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Epochs of post and start, around the ring. */
static void exchange(MPI_Win win, int *memory)
{
    MPI_Group all, to, from;
    int flag, value = 1000 + rank;
    OK(MPI_Win_get_group(win, &all));
    OK(MPI_Group_incl(all, 1, &right, &to));
    OK(MPI_Group_incl(all, 1, &left, &from));
    OK(MPI_Win_post(from, 0, win));
    OK(MPI_Win_start(to, 0, win));
    OK(MPI_Put(&value, 1, MPI_INT, right, 9, 1, MPI_INT, win));
    OK(MPI_Win_complete(win));
    do
        OK(MPI_Win_test(win, &flag));
    while (!flag);
    CHECK(memory[9] == 1000 + left);
    OK(MPI_Win_post(from, MPI_MODE_NOPUT, win));
    OK(MPI_Win_start(to, 0, win));
    OK(MPI_Win_complete(win));
    OK(MPI_Win_wait(win));
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&to));
    OK(MPI_Group_free(&from));
}

/* What a window tells of itself. */
static void tells(MPI_Win win, const void *base, MPI_Aint bytes, int flavor)
{
    void *value;
    int flag, len;
    char name[MPI_MAX_OBJECT_NAME], text[64];
    MPI_Info info;
    OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag));
    CHECK(flag && value == base);
    OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag));
    CHECK(flag && *(MPI_Aint *)value == bytes);
    OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag));
    CHECK(flag && *(int *)value == (flavor == MPI_WIN_FLAVOR_DYNAMIC ? 1 : 4));
    OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag));
    CHECK(flag && *(int *)value == flavor);
    OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag));
    CHECK(flag && *(int *)value == MPI_WIN_UNIFIED);
    OK(MPI_Win_get_name(win, name, &len));
    CHECK(len == 0);
    OK(MPI_Win_set_name(win, "field"));
    OK(MPI_Win_get_name(win, name, &len));
    CHECK(len == 5 && strcmp(name, "field") == 0);
    OK(MPI_Win_get_info(win, &info));
    len = sizeof text;
    OK(MPI_Info_get_string(info, "accumulate_ops", &len, text, &flag));
    CHECK(flag && strcmp(text, "same_op_no_op") == 0);
    OK(MPI_Info_free(&info));
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
}

static int deleted;

static int count_deleted(MPI_Win win, int key, void *value, void *state)
{
    (void)win, (void)key, (void)state;
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

static int handled;

static void count_errors(MPI_Win *win, int *code, ...)
{
    is_class(*code, MPI_ERR_RMA_SYNC);
    CHECK(*win != MPI_WIN_NULL);
    handled++;
}

/* Wrong calls are errors on the window, and change nothing. */
static void wrong(MPI_Win win)
{
    int word = 5, old;
    MPI_Request request;
    MPI_Errhandler handler, before;
    MPI_Op own;
    MPI_Aint far = WORDS;
    OK(MPI_Win_get_errhandler(win, &before));
    CHECK(before == MPI_ERRORS_ARE_FATAL);
    OK(MPI_Win_create_errhandler(count_errors, &handler));
    OK(MPI_Win_set_errhandler(win, handler));
    is_class(MPI_Put(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    is_class(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_call_errhandler(win, MPI_ERR_RMA_SYNC));
    CHECK(handled == 3);
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    is_class(MPI_Win_lock(7, 0, 0, win), MPI_ERR_LOCKTYPE);
    is_class(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
    is_class(MPI_Win_fence(MPI_MODE_NOCHECK, win), MPI_ERR_ASSERT);
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    is_class(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    is_class(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    is_class(MPI_Put(&word, 1, MPI_INT, -7, 0, 1, MPI_INT, win), MPI_ERR_RANK);
    is_class(MPI_Put(&word, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP);
    is_class(MPI_Put(&word, -1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
    is_class(MPI_Put(&word, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
    is_class(MPI_Put(&word, 1, MPI_INT, 0, far, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
    is_class(MPI_Get(&word, 1, MPI_INT, 0, 0, 2, MPI_INT, win), MPI_ERR_COUNT);
    is_class(MPI_Rget(&word, 1, MPI_INT, 0, far, 1, MPI_INT, win, &request), MPI_ERR_RMA_RANGE);
    OK(MPI_Op_create((MPI_User_function *)abort, 1, &own));
    is_class(MPI_Accumulate(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, own, win), MPI_ERR_OP);
    OK(MPI_Op_free(&own));
    is_class(MPI_Accumulate(&word, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win), MPI_ERR_OP);
    is_class(MPI_Compare_and_swap(&word, &word, &old, MPI_FLOAT, 0, 0, win), MPI_ERR_OP);
    is_class(MPI_Win_attach(win, &word, 4), MPI_ERR_RMA_FLAVOR);
    OK(MPI_Win_unlock_all(win));
    is_class(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A window with an attribute, to its end. */
static void whole(MPI_Win win, int *memory, int flavor)
{
    int key, one = 1;
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    deleted = handled = 0;
    tells(win, memory, WORDS * sizeof *memory, flavor);
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deleted, &key, NULL));
    OK(MPI_Win_set_attr(win, key, &one));
    accesses(win, memory);
    exchange(win, memory);
    wrong(win);
    OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL && deleted == 1);
    OK(MPI_Win_free_keyval(&key));
}

static void created(int *memory)
{
    MPI_Win win;
    OK(MPI_Win_create(memory, WORDS * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    whole(win, memory, MPI_WIN_FLAVOR_CREATE);
}

static void shared(void)
{
    int *memory, *first, *found, unit, noncontiguous;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Info info;
    for (noncontiguous = 0; noncontiguous < 2; noncontiguous++) {
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "alloc_shared_noncontig", noncontiguous ? "true" : "false"));
        OK(MPI_Win_allocate_shared(WORDS * sizeof *memory, sizeof *memory, info, MPI_COMM_WORLD, &memory, &win));
        OK(MPI_Info_free(&info));
        OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first));
        CHECK(bytes == WORDS * 4 && unit == 4);
        OK(MPI_Win_shared_query(win, rank, &bytes, &unit, &found));
        CHECK(found == memory && (noncontiguous || found == first + rank * WORDS));
        whole(win, memory, MPI_WIN_FLAVOR_SHARED);
    }
}

static void dynamic(void)
{
    int memory[8] = {0}, value = 40 + rank;
    MPI_Aint here, there;
    MPI_Win win;
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    tells(win, NULL, 0, MPI_WIN_FLAVOR_DYNAMIC);
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_attach(win, memory, sizeof memory));
    is_class(MPI_Win_attach(win, memory + 2, 4), MPI_ERR_RMA_ATTACH);
    is_class(MPI_Win_detach(win, memory + 2), MPI_ERR_RMA_ATTACH);
    OK(MPI_Get_address(memory, &here));
    OK(MPI_Sendrecv(&here, 1, MPI_AINT, left, 1, &there, 1, MPI_AINT, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Put(&value, 1, MPI_INT, right, MPI_Aint_add(there, 12), 1, MPI_INT, win));
    OK(MPI_Accumulate(&value, 1, MPI_INT, right, MPI_Aint_add(there, 16), 1, MPI_INT, MPI_SUM, win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(memory[3] == 40 + left && memory[4] == 40 + left);
    OK(MPI_Win_detach(win, memory));
    OK(MPI_Win_free(&win));
}

/* A window whose hint says that nobody locks it. */
static void unlocked(void)
{
    MPI_Info info;
    MPI_Win win;
    int word = 0;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "no_locks", "true"));
    OK(MPI_Win_create(&word, 4, 4, info, MPI_COMM_WORLD, &win));
    OK(MPI_Info_free(&info));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    is_class(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    is_class(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    is_class(MPI_Win_create(&word, -4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    is_class(MPI_Win_create(&word, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(void)
{
    int *memory, private[WORDS] = {0};
    MPI_Win win;
    start();
    created(private);
    OK(MPI_Alloc_mem(sizeof private, MPI_INFO_NULL, &memory));
    created(memory);
    OK(MPI_Free_mem(memory));
    OK(MPI_Win_allocate(sizeof private, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    whole(win, memory, MPI_WIN_FLAVOR_ALLOCATE);
    shared();
    dynamic();
    unlocked();
    return finish();
}
