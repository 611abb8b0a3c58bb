/* MPI_Finalize from an exit handler or from a destructor of the program, as the argument says. */
#include "check.h"

static int in_destructor;

static void end(void)
{
    int flag;
    OK(MPI_Finalize());
    OK(MPI_Finalized(&flag));
    if (flag)
        puts("finalized");
    fflush(stdout);
}

__attribute__((destructor)) static void destructor(void)
{
    if (in_destructor)
        end();
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *state)
{
    int running;
    (void)key, (void)state;
    OK(MPI_Initialized(&running));
    if (running && comm == MPI_COMM_SELF)
        printf("deleted %s\n", (const char *)value);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int key, value, left, right;
    start();
    left = (rank + size - 1) % size, right = (rank + 1) % size;
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &value, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &key, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, "first"));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &key, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, "second"));
    if (argc > 1 && !strcmp(argv[1], "destructor"))
        in_destructor = 1;
    else
        atexit(end);
    return 0;
}
