/* Receives from a rank that has left the job are cancelled. */
#include "check.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

int main(void)
{
    int pid = getpid(), value, flag, i;
    MPI_Request request;
    MPI_Status status;
    start();
    OK(MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (rank > 0) {
        OK(MPI_Irecv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &request));
        OK(MPI_Send(&rank, 1, MPI_INT, 0, 6, MPI_COMM_WORLD));
        while (kill(pid, 0) == 0 || errno != ESRCH)
            sched_yield();
        for (i = 0; i < 100000; i++)
            OK(MPI_Iprobe(rank, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        OK(MPI_Cancel(&request));
        OK(MPI_Wait(&request, &status));
        OK(MPI_Test_cancelled(&status, &flag));
        CHECK(flag);
        /* A receive from it is an error. */
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        MPI_Error_class(MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &flag);
        CHECK(flag == MPI_ERR_PROC_ABORTED);
    }
    for (i = 1; i < size && rank == 0; i++)
        OK(MPI_Recv(&value, 1, MPI_INT, i, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Finalize());
    return 0;
}
