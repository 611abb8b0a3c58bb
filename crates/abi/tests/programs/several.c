/* Many requests at once: MPI_Waitany, MPI_Testany, MPI_Waitsome and MPI_Testsome, of messages to oneself. */
#include "check.h"

#define MANY 2000

static int numbers[MANY], places[MANY];
static MPI_Request requests[MANY];
static MPI_Status statuses[MANY];

static void send(int number) { MPI_Send(&number, 1, MPI_INT, 0, number, MPI_COMM_SELF); }

int main(void) {
    int place, flag, count, ended;
    start();
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&numbers[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);

    MPI_Testany(MANY, requests, &place, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag && place == MPI_UNDEFINED);
    MPI_Testsome(MANY, requests, &count, places, MPI_STATUSES_IGNORE);
    CHECK(count == 0);

    send(5);
    MPI_Waitany(MANY, requests, &place, statuses);
    CHECK(place == 5 && numbers[5] == 5 && statuses[0].MPI_TAG == 5);
    CHECK(requests[5] == MPI_REQUEST_NULL);
    send(MANY - 1);
    MPI_Testany(MANY, requests, &place, &flag, statuses);
    CHECK(flag && place == MANY - 1 && numbers[place] == place);

    for (int i = 10; i < 20; i++)
        send(i);
    MPI_Waitsome(MANY, requests, &count, places, statuses);
    CHECK(count >= 1);
    for (ended = 0; ended < 10; MPI_Testsome(MANY, requests, &count, places, statuses)) {
        for (int i = 0; i < count; i++)
            CHECK(numbers[places[i]] == places[i] && statuses[i].MPI_TAG == places[i]);
        ended += count;
    }
    CHECK(ended == 10 && count == 0);

    for (int i = 0; i < MANY; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            MPI_Cancel(&requests[i]);
    for (ended = 0;;) {
        MPI_Waitsome(MANY, requests, &count, places, statuses);
        if (count == MPI_UNDEFINED)
            break;
        for (int i = 0; i < count; i++) {
            MPI_Test_cancelled(&statuses[i], &flag);
            CHECK(flag);
        }
        ended += count;
    }
    CHECK(ended == MANY - 12);

    MPI_Waitany(MANY, requests, &place, statuses);
    CHECK(place == MPI_UNDEFINED);
    MPI_Testany(MANY, requests, &place, &flag, statuses);
    CHECK(flag && place == MPI_UNDEFINED);
    MPI_Testsome(MANY, requests, &count, places, statuses);
    CHECK(count == MPI_UNDEFINED);

    /* A send that was complete when it was started. */
    MPI_Isend(&numbers[3], 1, MPI_INT, 0, 3, MPI_COMM_SELF, &requests[1]);
    MPI_Waitany(2, requests, &place, statuses);
    CHECK(place == 1 && requests[1] == MPI_REQUEST_NULL);
    MPI_Recv(&numbers[0], 1, MPI_INT, 0, 3, MPI_COMM_SELF, statuses);
    return finish();
}
