/* Prints what the ABI defines and what messages bring; the same on every library. */
#include <mpi.h>
#include <stdio.h>

static void longest(void *in, void *inout, int *count, MPI_Datatype *type) {
    int size, *one = in, *other = inout;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *count * (size / (int)sizeof(int)); i++)
        if (one[i] > other[i]) other[i] = one[i];
}

int main(int argc, char **argv) {
    int rank, size, length, flag, version, subversion, values[4], sums[4], class;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Status status;
    MPI_Request request;
    MPI_Datatype column;
    MPI_Comm other;
    MPI_Op op;
    void *bound;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_version(&version, &subversion);
    if (rank == 0) {
        printf("MPI %d.%d, %d ranks, status of %d bytes\n", version, subversion, size, (int)sizeof status);
        MPI_Type_get_name(MPI_DOUBLE, text, &length);
        printf("%s of %d characters, world is %d\n", text, length, MPI_Comm_toint(MPI_COMM_WORLD));
    }
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
    if (rank == 0) printf("a largest tag: %d, of 32767 and more: %d\n", flag, *(int *)bound >= 32767);

    /* Every other integer of eight, to the next rank. */
    int field[8] = {rank, 1, 2, 3, 4, 5, 6, 7};
    MPI_Type_vector(4, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Irecv(values, 4, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
    MPI_Send(field, 1, column, (rank + 1) % size, 7, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &length);
    MPI_Type_free(&column);
    if (rank == 0)
        printf("%d integers from %d with tag %d: %d %d %d %d\n", length, status.MPI_SOURCE, status.MPI_TAG, values[0],
               values[1], values[2], values[3]);

    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &other);
    MPI_Comm_rank(other, &flag);
    MPI_Allreduce(values, sums, 4, MPI_INT, MPI_SUM, other);
    if (rank == 0) printf("rank %d there, sums %d %d %d %d\n", flag, sums[0], sums[1], sums[2], sums[3]);
    MPI_Op_create(longest, 1, &op);
    MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_INT, op, other);
    MPI_Op_free(&op);
    if (rank == 0) printf("largest %d %d %d %d\n", values[0], values[1], values[2], values[3]);
    MPI_Comm_free(&other);

    MPI_Error_class(MPI_ERR_RANK, &class);
    if (rank == 0) printf("a wrong rank is of class %d\n", class);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0) puts("end");
    return 0;
}
