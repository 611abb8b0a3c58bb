/* One-sided communication: rma [far] BYTES...
 *
 * Rank 0 accesses memory of rank 1, which waits in a barrier: put, get, accumulate and get_accumulate (sums of doubles),
 * fetch_and_op and compare_and_swap (of 8 B), with a flush after each; of the name _many, 8 B with one after 100. Windows have
 * memory that MPI allocates, in private_put memory of the program. Then both take part: fence_put is a put of rank 0 and a
 * fence; window makes a window, puts 8 B to oneself between two fences, and frees it; put_pingpong puts 8 B, for which the
 * other rank polls its memory, one way. Of more than two ranks there are window, all_put_all, in which each rank puts 8 B to
 * all others and flushes once, and exchange_put, in which it puts to its right and left neighbour and flushes each.
 *
 * With `far`, for ranks that talk by TCP on one host, all memory is of the program, as libraries share what they allocate;
 * private_put and put_pingpong are left out, the latter as libraries without a progress thread do not write memory while its
 * owner makes no calls. One line for each kernel and length: nanoseconds of one access on rank 0.
 */
#include "blocks.h"
#include <string.h>

#define MANY 100

struct access {
    MPI_Win win;
    char *memory; /* of this rank's window */
    char *origin, *result;
    double *ones;
    int64_t one, zero;
    long bytes;
    int rank, size;
    pattern_fn *run;
    int accesses;  /* in a repetition of it */
    int64_t total; /* accesses so far */
};

/* Runs the kernel, and counts its accesses. */
static void counted(void *with, int64_t times) {
    struct access *a = with;
    a->run(a, times);
    a->total += times * a->accesses;
}

static void put(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        for (int k = 0; k < a->accesses; k++)
            MPI_Put(a->origin, a->bytes, MPI_BYTE, 1, 0, a->bytes, MPI_BYTE, a->win);
        MPI_Win_flush(1, a->win);
    }
}

static void get(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        for (int k = 0; k < a->accesses; k++)
            MPI_Get(a->result, a->bytes, MPI_BYTE, 1, 0, a->bytes, MPI_BYTE, a->win);
        MPI_Win_flush(1, a->win);
    }
}

static void accumulate(void *with, int64_t times) {
    struct access *a = with;
    int count = a->bytes / 8;
    for (int64_t i = 0; i < times; i++) {
        MPI_Accumulate(a->ones, count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, MPI_SUM, a->win);
        MPI_Win_flush(1, a->win);
    }
}

static void get_accumulate(void *with, int64_t times) {
    struct access *a = with;
    int count = a->bytes / 8;
    for (int64_t i = 0; i < times; i++) {
        MPI_Get_accumulate(a->ones, count, MPI_DOUBLE, a->result, count, MPI_DOUBLE, 1, 0, count,
                           MPI_DOUBLE, MPI_SUM, a->win);
        MPI_Win_flush(1, a->win);
    }
}

static void fetch_and_op(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        for (int k = 0; k < a->accesses; k++)
            MPI_Fetch_and_op(&a->one, a->result, MPI_INT64_T, 1, 0, MPI_SUM, a->win);
        MPI_Win_flush(1, a->win);
    }
}

static void compare_and_swap(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        for (int k = 0; k < a->accesses; k++)
            MPI_Compare_and_swap(&a->zero, &a->zero, a->result, MPI_INT64_T, 1, 0, a->win);
        MPI_Win_flush(1, a->win);
    }
}

static void fence_put(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        if (a->rank == 0)
            MPI_Put(a->origin, a->bytes, MPI_BYTE, 1, 0, a->bytes, MPI_BYTE, a->win);
        MPI_Win_fence(0, a->win);
    }
}

static void window(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        MPI_Win win;
        MPI_Win_create(a->result, a->bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_fence(0, win);
        MPI_Put(a->origin, a->bytes, MPI_BYTE, a->rank, 0, a->bytes, MPI_BYTE, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        MPI_Win_free(&win);
    }
}

/* Each rank puts the number of the round to the other one, which polls for it. */
static void put_pingpong(void *with, int64_t times) {
    struct access *a = with;
    const volatile int64_t *mine = (const volatile int64_t *)a->memory;
    for (int64_t i = 0; i < times; i++) {
        int64_t next = a->total / 2 + i + 1;
        for (int sender = 0; sender < 2; sender++) {
            if (sender == a->rank) {
                MPI_Put(&next, 8, MPI_BYTE, 1 - sender, 0, 8, MPI_BYTE, a->win);
                MPI_Win_flush(1 - sender, a->win);
            } else {
                while (*mine != next)
                    ;
            }
        }
    }
}

/* Puts to the slot of this rank in the memory of another one. */
static void put_to(const struct access *a, int other) {
    MPI_Put(a->origin, a->bytes, MPI_BYTE, other, a->bytes * a->rank, a->bytes, MPI_BYTE, a->win);
}

static void all_put_all(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        for (int k = 1; k < a->size; k++)
            put_to(a, (a->rank + k) % a->size);
        MPI_Win_flush_all(a->win);
    }
}

static void exchange_put(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++)
        for (int k = 1; k < a->size; k += a->size - 2) {
            int other = (a->rank + k) % a->size;
            put_to(a, other);
            MPI_Win_flush(other, a->win);
        }
}

/* Whether the data is right on this rank, after all accesses. */
static int is_put(const struct access *a) {
    return a->rank == 0 || are_bytes(a->memory, 0, a->bytes);
}

static int is_got(const struct access *a) {
    return a->rank == 1 || are_bytes(a->result, 1, a->bytes);
}

static int is_summed(const struct access *a) {
    int right = 1;
    for (long at = 0; at < a->bytes / 8; at++)
        right &= a->rank == 0 || ((const double *)a->memory)[at] == (double)a->total;
    return right;
}

/* Whether the rank that is `after` places after this one has put. */
static int has_put(const struct access *a, int after) {
    int other = (a->rank + after) % a->size;
    return are_bytes(a->memory + a->bytes * other, 0, a->bytes);
}

static int is_put_by_all(const struct access *a) {
    int right = 1;
    for (int k = 1; k < a->size; k++)
        right &= has_put(a, k);
    return right;
}

static int is_exchanged(const struct access *a) {
    return has_put(a, 1) && has_put(a, a->size - 1);
}

static int is_counted(const struct access *a) {
    return a->rank == 1 || *(const int64_t *)a->result == a->total - 1;
}

static int is_zero(const struct access *a) {
    return a->rank == 1 || *(const int64_t *)a->result == 0;
}

static int is_own(const struct access *a) {
    return are_bytes(a->result, 0, a->bytes);
}

static int is_last(const struct access *a) {
    return *(const int64_t *)a->memory == a->total / 2;
}

/* The epoch in which a kernel runs: of locks, in which rank 0 is alone or both take part, of fences, or its own. */
enum epoch { ALONE, LOCKED, FENCED, OWN };

/* A kernel of 8 B only, in memory of the program, whose ranks poll their memory, or of more than two ranks, too or only. */
enum { SINGLE = 1, PRIVATE = 2, POLLED = 4, ANY = 8, CROWD = 16 };

static const struct kernel {
    const char *name;
    pattern_fn *run;
    int (*right)(const struct access *a);
    enum epoch epoch;
    int accesses, of;
} kernels[] = {
    {"put", put, is_put, ALONE, 1, 0},
    {"put_many", put, is_put, ALONE, MANY, SINGLE},
    {"get", get, is_got, ALONE, 1, 0},
    {"get_many", get, is_got, ALONE, MANY, SINGLE},
    {"accumulate", accumulate, is_summed, ALONE, 1, 0},
    {"get_accumulate", get_accumulate, is_summed, ALONE, 1, 0},
    {"fetch_and_op", fetch_and_op, is_counted, ALONE, 1, SINGLE},
    {"fetch_and_op_many", fetch_and_op, is_counted, ALONE, MANY, SINGLE},
    {"compare_and_swap", compare_and_swap, is_zero, ALONE, 1, SINGLE},
    {"compare_and_swap_many", compare_and_swap, is_zero, ALONE, MANY, SINGLE},
    {"private_put", put, is_put, ALONE, 1, PRIVATE},
    {"fence_put", fence_put, is_put, FENCED, 1, 0},
    {"window", window, is_own, OWN, 1, SINGLE | ANY},
    {"put_pingpong", put_pingpong, is_last, LOCKED, 2, SINGLE | POLLED},
    {"all_put_all", all_put_all, is_put_by_all, LOCKED, 1, SINGLE | CROWD},
    {"exchange_put", exchange_put, is_exchanged, LOCKED, 1, SINGLE | CROWD},
};

static void epoch(enum epoch epoch, int begins, MPI_Win win) {
    if (epoch == FENCED)
        MPI_Win_fence(begins ? 0 : MPI_MODE_NOSUCCEED, win);
    else if (epoch != OWN)
        (void)(begins ? MPI_Win_lock_all(0, win) : MPI_Win_unlock_all(win));
}

static void measure(const struct kernel *kernel, long bytes, int private, int rank, int size) {
    struct access a = {.origin = pages(bytes), .result = pages(bytes), .ones = (double *)pages(bytes), .one = 1,
                       .bytes = bytes, .rank = rank, .size = size, .run = kernel->run, .accesses = kernel->accesses};
    write_bytes(a.origin, 0, bytes, 0);
    write_bytes(a.result, 1, bytes, 1);
    for (long at = 0; at < bytes / 8; at++)
        a.ones[at] = 1;
    long room = kernel->of & CROWD ? bytes * size : bytes;
    if (private) {
        a.memory = pages(room);
        MPI_Win_create(a.memory, room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &a.win);
    } else {
        MPI_Win_allocate(room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &a.memory, &a.win);
    }
    memset(a.memory, 0, room);
    if (kernel->right == is_got)
        write_bytes(a.memory, rank, bytes, 0);
    MPI_Barrier(MPI_COMM_WORLD);

    int64_t times = 0;
    double ns[BLOCKS];
    epoch(kernel->epoch, 1, a.win);
    if (rank == 0 || kernel->epoch != ALONE) {
        times = warm_up(counted, &a, rank, kernel->epoch == ALONE ? 1 : size);
        time_blocks(counted, &a, times, kernel->accesses, ns);
    }
    epoch(kernel->epoch, 0, a.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&a.total, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    int right = kernel->right(&a);
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    report(kernel->name, rank, size, bytes, times, ns, right);
    MPI_Win_free(&a.win);
    if (private)
        free(a.memory);
    free(a.origin);
    free(a.result);
    free(a.ones);
}

int main(int argc, char **argv) {
    int rank, size, far = argc > 1 && !strcmp(argv[1], "far");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    need_ranks(size, 2, 64);
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        int of = kernels[k].of, crowd = of & CROWD || (size > 2 && of & ANY);
        if (crowd != (size > 2) || (far && of & (PRIVATE | POLLED)))
            continue;
        for (int i = 1 + far; i < (of & SINGLE ? 2 + far : argc); i++)
            measure(&kernels[k], of & SINGLE ? 8 : atol(argv[i]), far || of & PRIVATE, rank, size);
    }
    MPI_Finalize();
    return 0;
}
