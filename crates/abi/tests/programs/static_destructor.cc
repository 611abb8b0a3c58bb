// MPI_Finalize from the destructor of a static object.
#include "check.h"

namespace {

struct Library {
    ~Library()
    {
        int flag;
        OK(MPI_Finalize());
        OK(MPI_Finalized(&flag));
        if (flag)
            puts("finalized");
        fflush(stdout);
    }
};

Library library;

}

int main()
{
    int value;
    start();
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &value, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return value != left;
}
