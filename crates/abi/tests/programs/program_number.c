/* The number of a program in its job: the argument; without one the program is started by hand. */
#include "check.h"

int main(int argc, char **argv)
{
    int *number, found;
    start();
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found));
    CHECK(found == (argc > 1));
    if (found)
        CHECK(*number == atoi(argv[1]));
    return finish();
}
