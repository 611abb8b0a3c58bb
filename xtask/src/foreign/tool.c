/* Calls each function as often as tool.rs expects. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, one = 1, other, both[64];
    MPI_Comm comm;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(&other, 1, MPI_INT, (rank + size - 1) % size, 0, comm, &request);
    MPI_Send(&one, 1, MPI_INT, (rank + 1) % size, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&one, 1, MPI_INT, (rank + 1) % size, 1, &other, 1, MPI_INT, (rank + size - 1) % size, 1, comm,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; i++) MPI_Allreduce(&one, &other, 1, MPI_INT, MPI_SUM, comm);
    MPI_Allgather(&one, 1, MPI_INT, both, 1, MPI_INT, comm);
    MPI_Bcast(&one, 1, MPI_INT, 0, comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    return MPI_Finalize();
}
