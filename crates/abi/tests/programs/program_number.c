/* The number of a program in its job. The argument says which it is, or "none" where the program is started by hand; without one any
   start will do. */
#include "check.h"

int main(int argc, char **argv)
{
    int *number, found;
    start();
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &found));
    if (argc > 1)
        CHECK(found == !!strcmp(argv[1], "none"));
    if (found)
        CHECK(argc > 1 ? *number == atoi(argv[1]) : *number >= 0);
    return finish();
}
