/* PingPong between two ranks: pingpong [rewritten|cold] BYTES...
 *
 * One line for each length: nanoseconds one way, half the round trip, over blocks of 1 to 2 ms.
 * `rewritten`: the sender writes the whole message before each send, which is timed too.
 * `cold`: each message has another place, in buffers that are much larger than the caches.
 */
#include "blocks.h"
#include <string.h>

#define COLD (256l << 20) /* bytes of each of the two buffers of a rank, for `cold` */

struct messages {
    char *out, *into;
    long bytes, step, room; /* a message lies `step` bytes behind the last one, within `room` */
    int rank, rewrite;
    long at;             /* where the next message lies */
    unsigned char value; /* what the last one was filled with */
};

static void ping(struct messages *m) {
    if (m->rewrite)
        memset(m->out + m->at, m->value + m->rank, m->bytes);
    MPI_Send(m->out + m->at, m->bytes, MPI_BYTE, 1 - m->rank, 1, MPI_COMM_WORLD);
}

static void pong(struct messages *m) {
    MPI_Recv(m->into + m->at, m->bytes, MPI_BYTE, 1 - m->rank, 1, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void next(struct messages *m) {
    m->value += 2;
    m->at += m->step;
    if (m->at + m->bytes > m->room)
        m->at = 0;
}

static void round_trips(void *with, int64_t times) {
    struct messages *m = with;
    if (m->rank == 0)
        for (int64_t i = 0; i < times; i++) {
            next(m);
            ping(m);
            pong(m);
        }
    else
        for (int64_t i = 0; i < times; i++) {
            next(m);
            pong(m);
            ping(m);
        }
}

/* Writes what is sent, or with `wrong` what must not stay, at every place of a message. */
static void write_all(const struct messages *m, char *to, int rank, int wrong) {
    long at = 0;
    do {
        write_bytes(to + at, rank, m->bytes, wrong);
        at += m->step;
    } while (m->step && at + m->bytes <= m->room);
}

/* Whether the last message arrived. */
static int arrived(const struct messages *m) {
    if (!m->rewrite)
        return are_bytes(m->into + m->at, 1 - m->rank, m->bytes);
    int right = 1;
    for (long at = 0; at < m->bytes; at++)
        right &= (unsigned char)m->into[at] == (unsigned char)(m->value + 1 - m->rank);
    return right;
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    need_ranks(size, 2, 2);
    int rewrite = argc > 1 && !strcmp(argv[1], "rewritten");
    int cold = argc > 1 && !strcmp(argv[1], "cold");
    const char *kernel = rewrite ? "rewritten" : cold ? "cold" : "pingpong";
    int first = 1 + (rewrite || cold);
    long largest = cold ? COLD : 0;
    for (int i = first; i < argc; i++)
        largest = atol(argv[i]) > largest ? atol(argv[i]) : largest;
    char *out = pages(largest), *into = pages(largest);

    for (int i = first; i < argc; i++) {
        long bytes = atol(argv[i]);
        struct messages m = {.out = out, .into = into, .bytes = bytes, .rank = rank,
                             .rewrite = rewrite, .step = cold ? bytes : 0,
                             .room = cold ? largest : bytes};
        write_all(&m, out, rank, 0);
        int64_t times = warm_up(round_trips, &m, rank, size);
        write_all(&m, into, 1 - rank, 1);
        double ns[BLOCKS];
        time_blocks(round_trips, &m, times, 2, ns);
        report(kernel, rank, size, bytes, times, ns, arrived(&m));
    }
    MPI_Finalize();
    return 0;
}
