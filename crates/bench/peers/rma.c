/* One-sided communication: rma BYTES...
 *
 * Rank 0 accesses memory of rank 1, which waits in a barrier, in windows of memory that MPI allocates: put, get and accumulate
 * (sum of doubles) with a flush after each; put_many, get_many, fetch_and_op_many and compare_and_swap_many with one flush
 * after 100; get_accumulate; fetch_and_op and compare_and_swap of 8 B with a flush after each; private_put to memory that the
 * program allocates. Then all ranks together: fence_put is a put and a fence, window makes and frees a window with two fences
 * and a put of 8 B to oneself between, put_pingpong puts 8 B and polls for the answer (one way). One line for each kernel and
 * length: nanoseconds of one access on rank 0.
 */
#include "blocks.h"
#include "content.h"
#include <string.h>

#define MANY 100

struct access {
    MPI_Win win;
    char *origin, *result;
    volatile uint64_t *words; /* this rank's memory */
    uint64_t turns;
    long bytes;
    int rank, target;
};

static void put(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        MPI_Put(a->origin, a->bytes, MPI_BYTE, a->target, 0, a->bytes, MPI_BYTE, a->win);
        MPI_Win_flush(a->target, a->win);
    }
}

static void put_many(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        for (int j = 0; j < MANY; j++)
            MPI_Put(a->origin, a->bytes, MPI_BYTE, a->target, 0, a->bytes, MPI_BYTE, a->win);
        MPI_Win_flush(a->target, a->win);
    }
}

static void get(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        MPI_Get(a->result, a->bytes, MPI_BYTE, a->target, 0, a->bytes, MPI_BYTE, a->win);
        MPI_Win_flush(a->target, a->win);
    }
}

static void get_many(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        for (int j = 0; j < MANY; j++)
            MPI_Get(a->result, a->bytes, MPI_BYTE, a->target, 0, a->bytes, MPI_BYTE, a->win);
        MPI_Win_flush(a->target, a->win);
    }
}

static void accumulate(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        MPI_Accumulate(a->origin, a->bytes / 8, MPI_DOUBLE, a->target, 0, a->bytes / 8, MPI_DOUBLE, MPI_SUM,
                       a->win);
        MPI_Win_flush(a->target, a->win);
    }
}

static void get_accumulate(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        MPI_Get_accumulate(a->origin, a->bytes / 8, MPI_DOUBLE, a->result, a->bytes / 8, MPI_DOUBLE, a->target, 0,
                           a->bytes / 8, MPI_DOUBLE, MPI_SUM, a->win);
        MPI_Win_flush(a->target, a->win);
    }
}

static void fetch_and_op(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        MPI_Fetch_and_op(a->origin, a->result, MPI_INT64_T, a->target, 0, MPI_SUM, a->win);
        MPI_Win_flush(a->target, a->win);
    }
}

static void fetch_and_op_many(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        for (int j = 0; j < MANY; j++)
            MPI_Fetch_and_op(a->origin, a->result, MPI_INT64_T, a->target, 0, MPI_SUM, a->win);
        MPI_Win_flush(a->target, a->win);
    }
}

static void compare_and_swap(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        MPI_Compare_and_swap(a->origin, a->origin, a->result, MPI_INT64_T, a->target, 0, a->win);
        MPI_Win_flush(a->target, a->win);
    }
}

static void compare_and_swap_many(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        for (int j = 0; j < MANY; j++)
            MPI_Compare_and_swap(a->origin, a->origin, a->result, MPI_INT64_T, a->target, 0, a->win);
        MPI_Win_flush(a->target, a->win);
    }
}

static void fence_put(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        if (a->rank == 0)
            MPI_Put(a->origin, a->bytes, MPI_BYTE, a->target, 0, a->bytes, MPI_BYTE, a->win);
        MPI_Win_fence(0, a->win);
    }
}

static void window(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        MPI_Win win;
        MPI_Win_create(a->origin, a->bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_fence(0, win);
        MPI_Put(a->result, 8, MPI_BYTE, a->rank, 0, 8, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        MPI_Win_free(&win);
    }
}

/* Each rank puts the number of the turn to the other one, which polls for it. */
static void put_pingpong(void *with, int64_t times) {
    struct access *a = with;
    for (int64_t i = 0; i < times; i++) {
        uint64_t next = ++a->turns;
        if (a->rank == 0) {
            MPI_Put(&next, 8, MPI_BYTE, a->target, 0, 8, MPI_BYTE, a->win);
            MPI_Win_flush(a->target, a->win);
        }
        while (a->words[0] != next)
            ;
        if (a->rank == 1) {
            MPI_Put(&next, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, a->win);
            MPI_Win_flush(0, a->win);
        }
    }
}

/* Who takes part, which epoch, whose memory. */
enum { ONE_SIDE, BOTH_LOCKED, BOTH_FENCED, BOTH_FREE };

static const struct kernel {
    const char *name;
    void (*run)(void *with, int64_t times);
    int kind, single, private, accesses;
} kernels[] = {
    {"put", put, ONE_SIDE, 0, 0, 1},
    {"put_many", put_many, ONE_SIDE, 0, 0, MANY},
    {"get", get, ONE_SIDE, 0, 0, 1},
    {"get_many", get_many, ONE_SIDE, 0, 0, MANY},
    {"accumulate", accumulate, ONE_SIDE, 0, 0, 1},
    {"get_accumulate", get_accumulate, ONE_SIDE, 0, 0, 1},
    {"fetch_and_op", fetch_and_op, ONE_SIDE, 1, 0, 1},
    {"fetch_and_op_many", fetch_and_op_many, ONE_SIDE, 1, 0, MANY},
    {"compare_and_swap", compare_and_swap, ONE_SIDE, 1, 0, 1},
    {"compare_and_swap_many", compare_and_swap_many, ONE_SIDE, 1, 0, MANY},
    {"private_put", put, ONE_SIDE, 0, 1, 1},
    {"fence_put", fence_put, BOTH_FENCED, 0, 0, 1},
    {"window", window, BOTH_FREE, 1, 0, 1},
    {"put_pingpong", put_pingpong, BOTH_LOCKED, 1, 0, 2},
};

static void measure(const struct kernel *kernel, long bytes, int rank, int size) {
    struct access a = {.bytes = bytes, .rank = rank, .target = 1 % size};
    long room = bytes < 8 ? 8 : bytes;
    char *memory;
    a.origin = pages(room), a.result = pages(room);
    write_bytes(a.origin, 0, bytes, kernel->kind != ONE_SIDE);
    /* Sums of doubles stay what they are. */
    int adds = kernel->run == accumulate || kernel->run == get_accumulate;
    if (adds)
        memset(a.origin, 0, room);
    if (kernel->private) {
        memory = pages(room);
        MPI_Win_create(memory, room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &a.win);
    } else {
        MPI_Win_allocate(room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &a.win);
    }
    memset(memory, 0, room);
    write_bytes(a.result, 1, bytes, 1);
    if (kernel->run == get || kernel->run == get_many)
        write_bytes(memory, 1, bytes, 0);
    a.words = (volatile uint64_t *)memory;
    MPI_Barrier(MPI_COMM_WORLD);
    if (kernel->kind == BOTH_FENCED)
        MPI_Win_fence(0, a.win);
    else if (kernel->kind != BOTH_FREE)
        MPI_Win_lock_all(0, a.win);

    int64_t times = 0;
    double ns[BLOCKS];
    if (kernel->kind != ONE_SIDE) {
        times = warm_up(kernel->run, &a, rank, size);
        time_blocks(kernel->run, &a, times, kernel->accesses, ns);
    } else if (rank == 0) {
        /* Alone: the target does nothing but wait. */
        int64_t start = now_ns();
        for (times = 1; now_ns() - start < 20 * BLOCK_NS;)
            kernel->run(&a, 1);
        for (int64_t took = 0; took < BLOCK_NS; times *= 2) {
            start = now_ns();
            kernel->run(&a, times);
            took = now_ns() - start;
        }
        for (int block = 0; block < BLOCKS; block++) {
            start = now_ns();
            kernel->run(&a, times);
            ns[block] = (double)(now_ns() - start) / (double)(times * kernel->accesses);
        }
    }
    if (kernel->kind == BOTH_FENCED)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, a.win);
    else if (kernel->kind != BOTH_FREE)
        MPI_Win_unlock_all(a.win);
    MPI_Barrier(MPI_COMM_WORLD);

    int right = 1, all_right;
    if (rank == 1 && (kernel->run == put || kernel->run == put_many))
        right = are_bytes(memory, 0, bytes);
    if (rank == 0 && (kernel->run == get || kernel->run == get_many))
        right = are_bytes(a.result, 1, bytes);
    MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (rank == 0)
        report(kernel->name, rank, size, bytes, times, ns, all_right);
    MPI_Win_free(&a.win);
    if (kernel->private)
        free(memory);
    free(a.origin);
    free(a.result);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
        for (int i = 1; i < argc; i++)
            if (!kernels[k].single || i == 1)
                measure(&kernels[k], kernels[k].single ? 8 : atol(argv[i]), rank, size);
    MPI_Finalize();
    return 0;
}
