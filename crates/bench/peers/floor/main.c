/* What two processes reach without MPI: floor pingpong|rewritten|cold|posted BYTES...
 *
 * The kernels are those of the MPI programs. For each length and each method one line, of the best
 * choice of copying, chunks and waiting, found by trying all for a few blocks. `pingpong` and `posted`
 * begin with two lines more: one cache line, and two, to and fro.
 */
#include "pair.h"

int main(int argc, char **argv) {
    const char *kernel = argc > 1 ? argv[1] : "";
    int cold = !strcmp(kernel, "cold");
    long largest = 0;
    for (int i = 2; i < argc; i++)
        largest = atol(argv[i]) > largest ? atol(argv[i]) : largest;
    if (argc < 3 || largest > AREA - LINE) {
        fprintf(stderr, "floor: a kernel and lengths up to %ld\n", AREA - LINE);
        return 1;
    }
    struct pair *p = make_pair(largest, cold);
    long room = p->room;
    struct choice choices[MOST];

    for (int lines = 1; lines <= 2 && !cold; lines++) {
        int count = line_choices(choices, lines);
        for (int i = 0; i < count; i++)
            measure_best(p, lines == 1 ? "one line" : "two lines", choices[i].name, &choices[i], 1);
    }
    p->rewrite = !strcmp(kernel, "rewritten");
    for (int i = 2; i < argc; i++) {
        p->bytes = atol(argv[i]);
        p->step = cold ? p->bytes : 0;
        p->room = cold ? room : p->bytes;
        measure_best(p, kernel, "copy", choices, copy_choices(p, choices));
        if (p->bytes < 16384)
            continue;
        measure_best(p, kernel, "ring", choices, ring_choices(p, choices));
        measure_best(p, kernel, "single copy", choices, single_choices(p, choices, 0));
        measure_best(p, kernel, "half each", choices, single_choices(p, choices, 1));
    }
    return 0;
}
