/* Makes the calls whose instructions instructions.rs counts: rank 0 in `counted`, with all messages in its queue.
 * instructions single|multiple FILE, on two ranks; rank 1 makes the file once it has sent all messages. */
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define TIMES 20

__attribute__((noinline)) void counted(double *number) {
    MPI_Status status;
    int size;
    MPI_Recv(number, 1, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD, &status);
    MPI_Send(number, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_size(MPI_DOUBLE, &size);
}

int main(int argc, char **argv) {
    int rank, level = strcmp(argv[1], "single") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    double number = 1.5;
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* Both directions are in use before anything is counted. */
    for (int i = 0; i < 1000; i++)
        MPI_Sendrecv_replace(&number, 1, MPI_DOUBLE, 1 - rank, 5, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) {
        while (access(argv[2], F_OK))
            sched_yield();
        for (int i = 0; i < TIMES; i++)
            counted(&number);
    } else {
        for (int i = 0; i < TIMES; i++)
            MPI_Send(&number, 1, MPI_DOUBLE, 0, 6, MPI_COMM_WORLD);
        close(open(argv[2], O_CREAT | O_WRONLY, 0600));
        for (int i = 0; i < TIMES; i++)
            MPI_Recv(&number, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return MPI_Finalize();
}
