/* Collectives of the Intel MPI Benchmarks: collectives OPERATION,.. BYTES...
 *
 * The root changes from call to call. A repetition is a call for each root, as the time of a call may depend on
 * the root. Reductions add floats. Bytes are those of one rank's block in
 * allgather, alltoall, gather and scatter, else of the whole vector; reduce_scatter_block cuts it to
 * blocks of at least one element. One line for each operation and length: nanoseconds of one call on
 * the rank that is slowest in each block (t_max). A barrier is measured once, of no bytes.
 */
#include "blocks.h"
#include <string.h>

struct vectors {
    float *input, *output;
    int count, rank, size, root;
};

/* The element at place `at` of the data of `rank`: sums over many ranks are exact. */
static float element_of(int rank, long at) {
    return (float)(rank * 3 + at % 1021);
}

/* One element of a result: that of one rank, or the sum over all. */
struct source {
    int rank;
    long at;
};

enum { ALL = -1, UNTOUCHED = -2 };

/* One collective, as the command line names it. */
struct operation {
    const char *name;
    void (*call)(struct vectors *v);
    /* Whether input and output have a block for each rank, and whether the bytes are of all blocks. */
    int many_in, many_out, divided;
    /* The origin of element `at` of the output after a call with `root`. */
    struct source (*source)(const struct vectors *v, long at);
};

static void barrier(struct vectors *v) {
    (void)v;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(struct vectors *v) {
    MPI_Bcast(v->rank == v->root ? v->input : v->output, v->count, MPI_FLOAT, v->root,
              MPI_COMM_WORLD);
}

static void reduce(struct vectors *v) {
    MPI_Reduce(v->input, v->output, v->count, MPI_FLOAT, MPI_SUM, v->root, MPI_COMM_WORLD);
}

static void allreduce(struct vectors *v) {
    MPI_Allreduce(v->input, v->output, v->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void allgather(struct vectors *v) {
    MPI_Allgather(v->input, v->count, MPI_FLOAT, v->output, v->count, MPI_FLOAT, MPI_COMM_WORLD);
}

static void alltoall(struct vectors *v) {
    MPI_Alltoall(v->input, v->count, MPI_FLOAT, v->output, v->count, MPI_FLOAT, MPI_COMM_WORLD);
}

static void gather(struct vectors *v) {
    MPI_Gather(v->input, v->count, MPI_FLOAT, v->output, v->count, MPI_FLOAT, v->root,
               MPI_COMM_WORLD);
}

static void scatter(struct vectors *v) {
    MPI_Scatter(v->input, v->count, MPI_FLOAT, v->output, v->count, MPI_FLOAT, v->root,
                MPI_COMM_WORLD);
}

static void reduce_scatter_block(struct vectors *v) {
    MPI_Reduce_scatter_block(v->input, v->output, v->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static struct source nowhere(const struct vectors *v, long at) {
    (void)v;
    return (struct source){UNTOUCHED, at};
}

static struct source of_root(const struct vectors *v, long at) {
    return (struct source){v->rank == v->root ? UNTOUCHED : v->root, at};
}

static struct source all_at_root(const struct vectors *v, long at) {
    return (struct source){v->rank == v->root ? ALL : UNTOUCHED, at};
}

static struct source all(const struct vectors *v, long at) {
    (void)v;
    return (struct source){ALL, at};
}

static struct source block_of_each(const struct vectors *v, long at) {
    return (struct source){at / v->count, at % v->count};
}

static struct source mine_of_each(const struct vectors *v, long at) {
    return (struct source){at / v->count, (long)v->rank * v->count + at % v->count};
}

static struct source each_at_root(const struct vectors *v, long at) {
    return v->rank == v->root ? block_of_each(v, at) : nowhere(v, at);
}

static struct source mine_of_root(const struct vectors *v, long at) {
    return (struct source){v->root, (long)v->rank * v->count + at};
}

static struct source mine_of_all(const struct vectors *v, long at) {
    return (struct source){ALL, (long)v->rank * v->count + at};
}

static const struct operation operations[] = {
    {"barrier", barrier, 0, 0, 0, nowhere},
    {"bcast", bcast, 0, 0, 0, of_root},
    {"reduce", reduce, 0, 0, 0, all_at_root},
    {"allreduce", allreduce, 0, 0, 0, all},
    {"allgather", allgather, 0, 1, 0, block_of_each},
    {"alltoall", alltoall, 1, 1, 0, mine_of_each},
    {"gather", gather, 0, 1, 0, each_at_root},
    {"scatter", scatter, 1, 0, 0, mine_of_root},
    {"reduce_scatter_block", reduce_scatter_block, 1, 0, 1, mine_of_all},
};

struct work {
    const struct operation *operation;
    struct vectors vectors;
};

/* All ranks are the root equally often. */
static void calls(void *with, int64_t times) {
    struct work *w = with;
    for (int64_t i = 0; i < times * w->vectors.size; i++) {
        w->vectors.root = (w->vectors.root + 1) % w->vectors.size;
        w->operation->call(&w->vectors);
    }
}

/* Whether the output is right after the last call. */
static int is_right(const struct work *w, long length) {
    const struct vectors *v = &w->vectors;
    int right = 1;
    for (long at = 0; at < length; at++) {
        struct source from = w->operation->source(v, at);
        float expected = 0;
        if (from.rank == UNTOUCHED)
            continue;
        if (from.rank == ALL)
            for (int rank = 0; rank < v->size; rank++)
                expected += element_of(rank, from.at);
        else
            expected = element_of(from.rank, from.at);
        right &= v->output[at] == expected;
    }
    return right;
}

static void measure(const struct operation *operation, long bytes, int rank, int size) {
    long count = bytes / (long)sizeof(float);
    if (operation->divided)
        count = count / size > 0 ? count / size : 1;
    long given = operation->many_in ? size * count : count;
    long got = operation->many_out ? size * count : count;
    struct work w = {operation,
                     {(float *)pages(given * sizeof(float)), (float *)pages(got * sizeof(float)),
                      count, rank, size, 0}};
    for (long at = 0; at < given; at++)
        w.vectors.input[at] = element_of(rank, at);
    for (long at = 0; at < got; at++)
        w.vectors.output[at] = -1;
    int64_t times = warm_up(calls, &w, rank, size);
    for (long at = 0; at < got; at++)
        w.vectors.output[at] = -1;
    double ns[BLOCKS], slowest[BLOCKS];
    time_blocks(calls, &w, times, size, ns);
    MPI_Allreduce(ns, slowest, BLOCKS, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    int right = is_right(&w, got), all_right;
    MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    report(operation->name, rank, size, bytes, times, slowest, all_right);
    free(w.vectors.input);
    free(w.vectors.output);
}

/* Whether `name` is in the comma-separated `list`. */
static int is_listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *word = list; word; word = strchr(word, ',')) {
        word += *word == ',';
        if (!strncmp(word, name, length) && (!word[length] || word[length] == ','))
            return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (size_t o = 0; argc > 1 && o < sizeof operations / sizeof operations[0]; o++) {
        const struct operation *operation = &operations[o];
        if (!is_listed(argv[1], operation->name))
            continue;
        if (operation->call == barrier)
            measure(operation, 0, rank, size);
        else
            for (int i = 2; i < argc; i++)
                measure(operation, atol(argv[i]), rank, size);
    }
    MPI_Finalize();
    return 0;
}
