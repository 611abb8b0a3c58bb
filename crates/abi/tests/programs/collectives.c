/* Every collective: blocking, nonblocking, persistent, in place, and between two groups. */
#include "check.h"

enum { MOST = 16 };

static int sum_to(int n) { return n * (n - 1) / 2; }

static void whole(MPI_Comm comm)
{
    int me, n, i, out[MOST], in[MOST], counts[MOST], starts[MOST], value, root;
    MPI_Request request;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &n));
    for (root = 0; root < n; root++) {
        value = me == root ? 7 + root : -1;
        OK(MPI_Bcast(&value, 1, MPI_INT, root, comm));
        CHECK(value == 7 + root);
        OK(MPI_Gather(&me, 1, MPI_INT, in, 1, MPI_INT, root, comm));
        for (i = 0; i < n && me == root; i++)
            CHECK(in[i] == i);
        for (i = 0; i < n; i++)
            out[i] = 10 * i, counts[i] = 1, starts[i] = n - 1 - i;
        OK(MPI_Scatter(out, 1, MPI_INT, &value, 1, MPI_INT, root, comm));
        CHECK(value == 10 * me);
        OK(MPI_Gatherv(&me, 1, MPI_INT, in, counts, starts, MPI_INT, root, comm));
        for (i = 0; i < n && me == root; i++)
            CHECK(in[n - 1 - i] == i);
        OK(MPI_Scatterv(out, counts, starts, MPI_INT, &value, 1, MPI_INT, root, comm));
        CHECK(value == 10 * (n - 1 - me));
        OK(MPI_Reduce(&me, &value, 1, MPI_INT, MPI_SUM, root, comm));
        CHECK(me != root || value == sum_to(n));
        value = me;
        OK(MPI_Reduce(me == root ? MPI_IN_PLACE : &value, &value, 1, MPI_INT, MPI_MAX, root, comm));
        CHECK(me != root || value == n - 1);
    }
    OK(MPI_Allgather(&me, 1, MPI_INT, in, 1, MPI_INT, comm));
    for (i = 0; i < n; i++)
        CHECK(in[i] == i);
    memset(in, -1, sizeof in);
    in[n - 1 - me] = me;
    OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, starts, MPI_INT, comm));
    for (i = 0; i < n; i++)
        CHECK(in[n - 1 - i] == i);
    for (i = 0; i < n; i++)
        out[i] = 100 * me + i;
    OK(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm));
    for (i = 0; i < n; i++)
        CHECK(in[i] == 100 * i + me);
    OK(MPI_Alltoallv(out, counts, starts, MPI_INT, in, counts, starts, MPI_INT, comm));
    for (i = 0; i < n; i++)
        CHECK(in[n - 1 - i] == 100 * i + n - 1 - me);
    OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm));
    for (i = 0; i < n; i++)
        CHECK(out[i] == 100 * i + me);
    value = me + 1;
    OK(MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_PROD, comm, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (i = 1, root = 1; i <= n; i++)
        root *= i;
    CHECK(value == root);
    OK(MPI_Scan(&me, &value, 1, MPI_INT, MPI_SUM, comm));
    CHECK(value == sum_to(me + 1));
    value = -1;
    OK(MPI_Exscan(&me, &value, 1, MPI_INT, MPI_SUM, comm));
    CHECK(value == (me ? sum_to(me) : -1));
    for (i = 0; i < n; i++)
        out[i] = i;
    OK(MPI_Reduce_scatter_block(out, &value, 1, MPI_INT, MPI_SUM, comm));
    CHECK(value == n * me);
    OK(MPI_Reduce_scatter(out, &value, counts, MPI_INT, MPI_SUM, comm));
    CHECK(value == n * me);
    OK(MPI_Allreduce_init(&me, &value, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
    for (i = 0; i < 3; i++) {
        value = 0;
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(value == sum_to(n));
    }
    OK(MPI_Request_free(&request));
    OK(MPI_Ibarrier(comm, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(comm));
}

/* Equal addresses are not in place: both buffers begin at MPI_BOTTOM. */
static void absolute(void)
{
    int out = rank, in = -1, length = 1;
    MPI_Aint from, to;
    MPI_Datatype out_type, in_type;
    OK(MPI_Get_address(&out, &from));
    OK(MPI_Get_address(&in, &to));
    OK(MPI_Type_create_hindexed(1, &length, &from, MPI_INT, &out_type));
    OK(MPI_Type_create_hindexed(1, &length, &to, MPI_INT, &in_type));
    OK(MPI_Type_commit(&out_type));
    OK(MPI_Type_commit(&in_type));
    if (size == 1) {
        OK(MPI_Allgather(MPI_BOTTOM, 1, out_type, MPI_BOTTOM, 1, in_type, MPI_COMM_WORLD));
        CHECK(in == 0);
    }
    OK(MPI_Type_free(&out_type));
    OK(MPI_Type_free(&in_type));
}

static void between_groups(void)
{
    MPI_Comm half, inter, merged;
    int me, n, others, i, value, flag, in[MOST], odd = rank % 2, root;
    MPI_Group group;
    MPI_Request request;
    OK(MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 3, &inter));
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_test_inter(inter, &flag));
    CHECK(flag);
    OK(MPI_Comm_rank(inter, &me));
    OK(MPI_Comm_size(inter, &n));
    OK(MPI_Comm_remote_size(inter, &others));
    CHECK(n + others == size && me == rank / 2);
    OK(MPI_Comm_remote_group(inter, &group));
    OK(MPI_Group_size(group, &value));
    CHECK(value == others);
    OK(MPI_Group_free(&group));
    OK(MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, inter));
    for (i = 0; i < others; i++)
        CHECK(in[i] == 2 * i + 1 - odd);
    root = odd ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    value = odd && me == 0 ? 42 : -1;
    OK(MPI_Bcast(&value, 1, MPI_INT, root, inter));
    CHECK(odd || value == 42);
    OK(MPI_Ibarrier(inter, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    value = 1;
    OK(MPI_Iallreduce(&value, &in[0], 1, MPI_INT, MPI_SUM, inter, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in[0] == others);
    if (me < others && me < n) {
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, me, 1, &value, 1, MPI_INT, me, 1, inter, MPI_STATUS_IGNORE));
        CHECK(value == (rank ^ 1));
    }
    /* A part of each group: all ranks in reverse order, then the first rank of each group. */
    OK(MPI_Comm_split(inter, 1, -rank, &half));
    OK(MPI_Comm_rank(half, &value));
    CHECK(value == n - 1 - me);
    OK(MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, half));
    for (i = 0; i < others; i++)
        CHECK(in[i] == 2 * (others - 1 - i) + 1 - odd);
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_group(inter, &group));
    value = 0;
    MPI_Group first;
    OK(MPI_Group_incl(group, 1, &value, &first));
    OK(MPI_Comm_create(inter, first, &half));
    CHECK((half == MPI_COMM_NULL) == (me > 0));
    if (half != MPI_COMM_NULL) {
        OK(MPI_Comm_remote_size(half, &value));
        CHECK(value == 1);
        OK(MPI_Comm_free(&half));
    }
    OK(MPI_Group_free(&first));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_dup(inter, &half));
    OK(MPI_Barrier(half));
    OK(MPI_Comm_compare(inter, half, &value));
    CHECK(value == MPI_CONGRUENT);
    OK(MPI_Comm_free(&half));
    OK(MPI_Intercomm_merge(inter, odd, &merged));
    OK(MPI_Comm_size(merged, &value));
    CHECK(value == size);
    whole(merged);
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_free(&inter));
}

int main(void)
{
    MPI_Comm copy;
    start();
    whole(MPI_COMM_WORLD);
    whole(MPI_COMM_SELF);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    whole(copy);
    OK(MPI_Comm_free(&copy));
    absolute();
    if (size > 1)
        between_groups();
    return finish();
}
