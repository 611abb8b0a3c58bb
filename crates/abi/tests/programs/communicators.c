/* Groups, communicators, attributes, error handlers, info objects and topologies. */
#include "check.h"

/* Under a tool that needs it the ranks use TCP alone, and none shares memory with another one. */
static int shares_memory(void)
{
    return getenv("OXMPI_TRANSPORTS") == NULL;
}

static int copies, deletions[8], deleted;
static MPI_Comm seen;

static int copy_attribute(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag)
{
    (void)key;
    seen = comm;
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = state == NULL;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *state)
{
    (void)key, (void)state;
    seen = comm;
    deletions[deleted++] = *(char *)value;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    char values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    MPI_Comm comm, copy;
    int key, other, flag;
    void *value;
    int *bound;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag));
    CHECK(flag && *bound >= 32767);
    OK(MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &other, NULL));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    CHECK(!flag);
    OK(MPI_Comm_set_attr(comm, key, &values[1]));
    OK(MPI_Comm_set_attr(comm, other, &values[2]));
    OK(MPI_Comm_set_attr(comm, key, &values[3]));
    CHECK(deleted == 1 && deletions[0] == 1 && seen == comm);
    OK(MPI_Comm_dup(comm, &copy));
    CHECK(copies == 1 && seen == comm);
    OK(MPI_Comm_get_attr(copy, key, &value, &flag));
    CHECK(flag && value == &values[4]);
    OK(MPI_Comm_get_attr(copy, other, &value, &flag));
    CHECK(!flag);
    OK(MPI_Comm_free_keyval(&key));
    CHECK(key == MPI_KEYVAL_INVALID);
    OK(MPI_Comm_free(&copy));
    CHECK(deleted == 2 && deletions[1] == 4);
    OK(MPI_Comm_free(&comm));
    CHECK(deleted == 4 && deletions[2] + deletions[3] == 5 && comm == MPI_COMM_NULL);
    /* Those of MPI_COMM_SELF go at the end, the last that was set first. */
    OK(MPI_Comm_free_keyval(&other));
}

static void groups(void)
{
    MPI_Group world, part, rest, all;
    MPI_Comm comm, same;
    int ranges[1][3] = {{0, 0, 2}}, n, me, result, ranks[2] = {0, MPI_PROC_NULL}, there[2];
    ranges[0][1] = size - 1;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_range_incl(world, 1, ranges, &part));
    OK(MPI_Group_range_excl(world, 1, ranges, &rest));
    OK(MPI_Group_size(part, &n));
    CHECK(n == (size + 1) / 2);
    OK(MPI_Group_rank(part, &me));
    CHECK(me == (rank % 2 ? MPI_UNDEFINED : rank / 2));
    OK(MPI_Group_union(part, rest, &all));
    OK(MPI_Group_compare(all, world, &result));
    CHECK(result == (size > 2 ? MPI_SIMILAR : MPI_IDENT));
    OK(MPI_Group_translate_ranks(part, 2, ranks, world, there));
    CHECK(there[0] == 0 && there[1] == MPI_PROC_NULL);
    OK(MPI_Group_translate_ranks(part, 1, ranks, rest, there));
    CHECK(there[0] == MPI_UNDEFINED);
    OK(MPI_Comm_create(MPI_COMM_WORLD, part, &comm));
    CHECK((comm == MPI_COMM_NULL) == (rank % 2));
    if (comm != MPI_COMM_NULL) {
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, part, 5, &same));
        OK(MPI_Comm_compare(comm, same, &result));
        CHECK(result == MPI_CONGRUENT);
        OK(MPI_Comm_compare(comm, comm, &result));
        CHECK(result == MPI_IDENT);
        OK(MPI_Comm_free(&same));
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    OK(MPI_Comm_size(comm, &n));
    CHECK(n == (shares_memory() ? size : 1));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &comm));
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&part));
    OK(MPI_Group_free(&rest));
    OK(MPI_Group_free(&all));
    CHECK(world == MPI_GROUP_NULL);
}

/* Duplicates complete in any order, and nobody waits for another rank before. */
static void duplicates(void)
{
    MPI_Comm one, other;
    MPI_Request requests[2];
    int value, right = (rank + 1) % size, left = (rank + size - 1) % size;
    /* The last rank starts its duplicates before rank 0 starts any. */
    if (rank == 0 && size > 1)
        OK(MPI_Recv(&value, 1, MPI_INT, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &one, &requests[0]));
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &other, &requests[1]));
    if (right == 0 && size > 1)
        OK(MPI_Send(&rank, 1, MPI_INT, 0, 6, MPI_COMM_WORLD));
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 1, &value, 1, MPI_INT, left, 1, other, MPI_STATUS_IGNORE));
    CHECK(value == left);
    OK(MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, one));
    CHECK(value == size * (size - 1) / 2);
    OK(MPI_Barrier(one));
    OK(MPI_Comm_free(&one));
    /* Also where another call has seen before that it is complete. */
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &one, &requests[0]));
    do
        OK(MPI_Request_get_status(requests[0], &value, MPI_STATUS_IGNORE));
    while (!value);
    one = MPI_COMM_NULL;
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Comm_size(one, &value));
    CHECK(value == size);
    OK(MPI_Comm_free(&one));
    OK(MPI_Comm_free(&other));
}

static void topologies(void)
{
    MPI_Comm grid, row, graph;
    int sizes[2] = {0, 0}, periods[2] = {1, 0}, place[2], got[2], source, to, kind, kept[2] = {0, 1}, me, n;
    int around[2], in[4] = {-1, -1, -1, -1}, both[2], out[2], ins, outs, weighted;
    OK(MPI_Dims_create(size, 2, sizes));
    CHECK(sizes[0] * sizes[1] == size && sizes[0] >= sizes[1]);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid));
    OK(MPI_Topo_test(grid, &kind));
    CHECK(kind == MPI_CART);
    OK(MPI_Cart_coords(grid, rank, 2, place));
    CHECK(place[0] == rank / sizes[1] && place[1] == rank % sizes[1]);
    OK(MPI_Cart_rank(grid, place, &me));
    CHECK(me == rank);
    OK(MPI_Cart_get(grid, 2, both, got, place));
    CHECK(both[0] == sizes[0] && got[0] && !got[1]);
    OK(MPI_Cart_shift(grid, 1, 1, &source, &to));
    CHECK(to == (place[1] + 1 < sizes[1] ? rank + 1 : MPI_PROC_NULL));
    OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, grid));
    CHECK(in[0] == (rank + size - sizes[1]) % size && in[1] == (rank + sizes[1]) % size);
    OK(MPI_Cart_sub(grid, kept, &row));
    OK(MPI_Comm_rank(row, &me));
    OK(MPI_Comm_size(row, &n));
    CHECK(n == sizes[1] && me == place[1]);
    OK(MPI_Comm_free(&row));
    OK(MPI_Comm_free(&grid));
    /* No rank belongs to a grid with a dimension of size 0. */
    sizes[0] = 2, sizes[1] = 0;
    OK(MPI_Cart_map(MPI_COMM_WORLD, 2, sizes, periods, &me));
    CHECK(me == MPI_UNDEFINED);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid));
    CHECK(grid == MPI_COMM_NULL);
    around[0] = (rank + size - 1) % size, around[1] = (rank + 1) % size;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &around[0], MPI_UNWEIGHTED, 1, &around[1], MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &graph));
    OK(MPI_Neighbor_alltoall(&rank, 1, MPI_INT, in, 1, MPI_INT, graph));
    CHECK(in[0] == around[0]);
    OK(MPI_Dist_graph_neighbors_count(graph, &ins, &outs, &weighted));
    CHECK(ins == 1 && outs == 1 && !weighted);
    OK(MPI_Comm_free(&graph));
    /* Each rank gives the edge of the rank before it. */
    n = 1, to = rank, kind = 100 + rank;
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &around[0], &n, &to, &kind, MPI_INFO_NULL, 0, &graph));
    OK(MPI_Dist_graph_neighbors(graph, 1, in, got, 1, out, both));
    CHECK(in[0] == around[0] && got[0] == 100 + rank && out[0] == around[1] && both[0] == 100 + around[1]);
    OK(MPI_Comm_free(&graph));
}

static void infos(void)
{
    MPI_Info info, copy;
    char value[MPI_MAX_INFO_VAL], key[MPI_MAX_INFO_KEY];
    int flag, length, n;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "one", "1"));
    OK(MPI_Info_set(info, "two", "a longer value"));
    OK(MPI_Info_set(info, "one", "first"));
    OK(MPI_Info_dup(info, &copy));
    OK(MPI_Info_delete(info, "one"));
    OK(MPI_Info_get_nkeys(info, &n));
    CHECK(n == 1);
    OK(MPI_Info_get_nthkey(copy, 1, key));
    CHECK(!strcmp(key, "two"));
    length = 5;
    OK(MPI_Info_get_string(copy, "two", &length, value, &flag));
    CHECK(flag && length == 15 && !strcmp(value, "a lo"));
    OK(MPI_Info_get_string(info, "one", &length, value, &flag));
    CHECK(!flag);
    /* Spaces are part of keys and values, and a value may be empty. */
    OK(MPI_Info_set(copy, " k ", ""));
    OK(MPI_Info_get_string(copy, "k", &length, value, &flag));
    CHECK(!flag);
    OK(MPI_Info_get_string(copy, " k ", &length, value, &flag));
    CHECK(flag && length == 1);
    OK(MPI_Info_set(copy, "k", " v "));
    length = MPI_MAX_INFO_VAL;
    OK(MPI_Info_get_string(copy, "k", &length, value, &flag));
    CHECK(flag && length == 4 && !strcmp(value, " v "));
    OK(MPI_Info_free(&info));
    OK(MPI_Info_free(&copy));
    CHECK(info == MPI_INFO_NULL);
}

/* Also two groups are duplicated while their first ranks wait for the others, who have started that. */
static void duplicates_of_groups(MPI_Comm between)
{
    MPI_Comm copy;
    MPI_Request request;
    int own, others, i, value, sum = -1;
    OK(MPI_Comm_rank(between, &own));
    OK(MPI_Comm_remote_size(between, &others));
    for (i = 1; i < others && own == 0; i++)
        OK(MPI_Recv(&value, 1, MPI_INT, i, 6, between, MPI_STATUS_IGNORE));
    OK(MPI_Comm_idup(between, &copy, &request));
    if (own != 0)
        OK(MPI_Ssend(&rank, 1, MPI_INT, 0, 6, between));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_test_inter(copy, &value));
    CHECK(value);
    /* A message of one is no message of the other, nor of a copy that is made of the copy. */
    OK(MPI_Isend(&rank, 1, MPI_INT, (own + 1) % others, 7, copy, &request));
    OK(MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, copy));
    CHECK(sum == others);
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 7, between, &value, MPI_STATUS_IGNORE));
    CHECK(!value);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&copy));
}

/* Two groups: the even ranks and the odd ones. */
static void halves(void)
{
    MPI_Group world, own, other;
    MPI_Comm between, part;
    int ranges[1][3] = {{0, 0, 2}}, n, kind, code, value, root, all = -1, sizes[2];
    MPI_Request request;
    if (size < 2)
        return;
    sizes[0] = (size + 1) / 2, sizes[1] = size / 2;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    ranges[0][0] = rank % 2, ranges[0][1] = size - 1;
    OK(MPI_Group_range_incl(world, 1, ranges, &own));
    ranges[0][0] = 1 - rank % 2;
    OK(MPI_Group_range_incl(world, 1, ranges, &other));
    /* The leaders' messages match none of the program's. */
    OK(MPI_Irecv(&all, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    OK(MPI_Intercomm_create_from_groups(own, sizes[rank % 2] - 1, other, sizes[1 - rank % 2] - 1, "tag",
                                        MPI_INFO_NULL, MPI_ERRORS_RETURN, &between));
    OK(MPI_Send(&rank, 1, MPI_INT, rank, 3, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(all == rank);
    OK(MPI_Comm_size(between, &n));
    CHECK(n == sizes[rank % 2]);
    OK(MPI_Comm_remote_size(between, &n));
    CHECK(n == sizes[1 - rank % 2]);
    OK(MPI_Allreduce(&(int){1}, &n, 1, MPI_INT, MPI_SUM, between));
    CHECK(n == sizes[1 - rank % 2]);
    OK(MPI_Error_class(MPI_Scan(&rank, &value, 1, MPI_INT, MPI_SUM, between), &code));
    CHECK(code == MPI_ERR_COMM);
    root = rank % 2 ? 0 : rank ? MPI_PROC_NULL : MPI_ROOT;
    if (root == MPI_PROC_NULL) {
        /* No other argument is significant. */
        OK(MPI_Reduce(NULL, NULL, -1, MPI_DATATYPE_NULL, MPI_OP_NULL, root, between));
        OK(MPI_Bcast(NULL, -1, MPI_DATATYPE_NULL, root, between));
    } else {
        OK(MPI_Reduce(&(int){1}, &n, 1, MPI_INT, MPI_SUM, root, between));
        CHECK(root != MPI_ROOT || n == sizes[1]);
        value = rank ? -1 : 7;
        OK(MPI_Bcast(&value, 1, MPI_INT, root, between));
        CHECK(value == 7);
    }
    for (kind = 0; kind < 2; kind++) {
        OK(MPI_Comm_split_type(between, kind ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
        CHECK((part == MPI_COMM_NULL) == (kind || !shares_memory()));
        if (part == MPI_COMM_NULL)
            continue;
        OK(MPI_Comm_test_inter(part, &n));
        CHECK(n);
        OK(MPI_Comm_remote_size(part, &n));
        CHECK(n == sizes[1 - rank % 2]);
        OK(MPI_Comm_free(&part));
    }
    duplicates_of_groups(between);
    OK(MPI_Comm_free(&between));
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&own));
    OK(MPI_Group_free(&other));
}

/* MPI_Comm_disconnect waits for the operations of the communicator. */
static void disconnected(void)
{
    static int out[1 << 20], in[1 << 20];
    const int length = 1 << 20, right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Comm comm;
    MPI_Request receive, send;
    int flag, i;
    for (i = 0; i < length; i++)
        out[i] = rank + i;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Irecv(in, length, MPI_INT, left, 0, comm, &receive));
    OK(MPI_Isend(out, length, MPI_INT, right, 0, comm, &send));
    OK(MPI_Request_free(&send));
    OK(MPI_Comm_disconnect(&comm));
    CHECK(comm == MPI_COMM_NULL && in[length - 1] == left + length - 1);
    memset(out, 0, sizeof out);
    OK(MPI_Request_get_status(receive, &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
}

int main(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    infos(); /* also before the start */
    start();
    infos();
    attributes();
    groups();
    duplicates();
    topologies();
    halves();
    disconnected();
    OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &length));
    CHECK(!strcmp(name, "MPI_COMM_NULL") && length == 13);
    OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK(!strcmp(name, "MPI_COMM_WORLD") && length == 14);
    OK(MPI_Comm_set_name(MPI_COMM_WORLD, "all"));
    OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK(!strcmp(name, "all"));
    return finish();
}
