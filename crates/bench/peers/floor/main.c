/* Measures two processes without MPI: floor KERNEL BYTES...
 *
 * The kernels are those of the MPI programs: pingpong, rewritten, cold, posted, sendrecv, exchange, rate,
 * network, barrier, and rma, of which put and private_put are measured. Prints one line for each length and
 * method, with the best choice of copying, chunks and waiting, found by trying all for a few blocks.
 * PingPong of any kind but cold begins with two lines more: one cache line, and two, back and forth.
 */
#include "pair.h"

static void lines_to_and_fro(struct pair *p, struct choice *choices) {
    p->bytes = 0;
    for (int lines = 1; lines <= 2; lines++) {
        int count = line_choices(choices, lines);
        for (int i = 0; i < count; i++)
            measure_best(p, lines == 1 ? "one line" : "two lines", choices[i].name, &choices[i], 1);
    }
}

static void ping_pong(struct pair *p, const char *kernel, struct choice *choices) {
    measure_best(p, kernel, "copy", choices, copy_choices(p, choices));
    if (p->bytes < 16384)
        return;
    measure_best(p, kernel, "ring", choices, ring_choices(p, choices));
    measure_best(p, kernel, "single copy", choices, single_choices(p, choices, 0));
    measure_best(p, kernel, "half each", choices, single_choices(p, choices, 1));
}

static void shift(struct pair *p, const char *kernel, int messages, struct choice *choices) {
    measure_best(p, kernel, "copy", choices, shift_choices(p, choices, messages));
    if (p->bytes >= 16384)
        measure_best(p, kernel, "single copy", choices, single_shift_choices(p, choices, messages));
}

/* A put to shared memory, and one to memory of the other process. */
static void both_puts(struct pair *p, struct choice *choices) {
    char *private = p->into;
    p->into = p->area[0];
    measure_best(p, "put", "copy", choices, put_choices(choices));
    p->into = private;
    measure_best(p, "private_put", "single copy", choices, single_put_choices(p, choices));
}

int main(int argc, char **argv) {
    const char *kernel = argc > 1 ? argv[1] : "";
    int cold = !strcmp(kernel, "cold"), rewritten = !strcmp(kernel, "rewritten");
    int line = !strcmp(kernel, "pingpong") || !strcmp(kernel, "posted") || rewritten;
    long largest = 0;
    for (int i = 2; i < argc; i++)
        largest = atol(argv[i]) > largest ? atol(argv[i]) : largest;
    if (argc < 2 || largest > AREA / 2) {
        fprintf(stderr, "floor: a kernel, and lengths up to %ld\n", AREA / 2);
        return 1;
    }
    struct pair *p = make_pair(largest, cold);
    long room = p->room;
    struct choice choices[MOST];
    if (line)
        lines_to_and_fro(p, choices);
    p->rewrite = rewritten;
    if (!strcmp(kernel, "barrier"))
        measure_best(p, kernel, "lines", choices, barrier_choices(choices));
    for (int i = 2; i < argc; i++) {
        p->bytes = atol(argv[i]);
        p->step = cold ? p->bytes : 0;
        p->room = cold ? room : p->bytes;
        if (line || cold)
            ping_pong(p, kernel, choices);
        else if (!strcmp(kernel, "sendrecv"))
            shift(p, kernel, 1, choices);
        else if (!strcmp(kernel, "exchange"))
            shift(p, kernel, 2, choices);
        else if (!strcmp(kernel, "network"))
            measure_best(p, kernel, "sockets", choices, tcp_choices(p, choices));
        else if (!strcmp(kernel, "rma"))
            both_puts(p, choices);
        else if (!strcmp(kernel, "rate"))
            measure_best(p, kernel, "lines", choices, rate_choices(choices));
    }
    return 0;
}
