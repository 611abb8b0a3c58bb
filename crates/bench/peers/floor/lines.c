/* A cache line from one processor to the other: one that both write in turn, or one for each. */
#include "pair.h"

ALWAYS_INLINE void send_line(struct pair *p) {
    publish(&p->flag[p->how.in_turn ? 0 : p->side], p->turn);
}

ALWAYS_INLINE void receive_line(struct pair *p) {
    await(p, &p->flag[p->how.in_turn ? 0 : 1 - p->side], p->turn);
}

static void round_trips(struct pair *p, int64_t times) {
    trips(p, times, send_line, receive_line);
}

int line_choices(struct choice *list, int lines) {
    for (int pause = 0; pause < 2; pause++) {
        list[pause] = (struct choice){round_trips, .pause = pause, .in_turn = lines == 1};
        snprintf(list[pause].name, sizeof list[pause].name, "%s", pause ? "pause" : "plain");
    }
    return 2;
}
