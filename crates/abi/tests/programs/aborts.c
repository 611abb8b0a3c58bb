/* Exit handlers that call the library while the job is being ended: "error" by a wrong argument, "abort" by MPI_Abort. */
#include "check.h"

static const char *how;

static void first(void)
{
    puts("the first handler runs");
}

static void second(void)
{
    int value = 0;
    /* The job is being ended already, so that the error handler has nothing to do. */
    CHECK(MPI_Bcast(&value, 1, MPI_INT, 77, MPI_COMM_WORLD) == MPI_ERR_ROOT);
    OK(MPI_Finalize());
    puts("the second handler runs");
    fflush(stdout);
    if (!strcmp(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 9);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "error";
    atexit(first);
    atexit(second);
    start();
    MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    return 0;
}
