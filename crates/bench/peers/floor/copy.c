/* The whole message copied into shared memory, a flag, and copied out again. */
#include "copies.h"

ALWAYS_INLINE char *place(struct pair *p, int from) {
    return p->area[p->how.in_turn ? 0 : from];
}

ALWAYS_INLINE void send_copy(struct pair *p) {
    char *area = place(p, p->side);
    copy_in(p->how.copy, area + p->how.gap, p->out + p->at, p->bytes);
    publish((struct word *)area, p->turn);
}

ALWAYS_INLINE void receive_copy(struct pair *p) {
    char *area = place(p, 1 - p->side);
    await(p, (struct word *)area, p->turn);
    copy_bytes(p->how.copy, p->into + p->at, area + p->how.gap, p->bytes);
}

static void round_trips(struct pair *p, int64_t times) {
    trips(p, times, send_copy, receive_copy);
}

int copy_choices(const struct pair *p, struct choice *list) {
    int count = 0;
    for (int copy = CALL; copy <= WORDS; copy++)
        for (int more = 0; more < 8; more++) {
            struct choice choice = {round_trips, .pause = more & 1, .in_turn = more >> 1 & 1,
                                    .copy = copy, .gap = more & 4 ? 64 : 8};
            if (copy == WORDS && (p->bytes > 1024 || p->bytes % 8))
                continue;
            if (p->bytes > 65536 && !choice.pause) /* PAUSE matters for short messages only */
                continue;
            snprintf(choice.name, sizeof choice.name, "%s%s%s, flag %ld B before",
                     copy_names[copy], choice.in_turn ? ", in turn" : "",
                     choice.pause ? ", pause" : "", choice.gap);
            list[count++] = choice;
        }
    return count;
}

/* Side 0 writes shared memory, again and again the same. */
static void copied_puts(struct pair *p, int64_t times) {
    for (int64_t i = 0; i < times && p->side == 0; i++) {
        copy_bytes(p->how.copy, p->into, p->out, p->bytes);
        __asm__ volatile("" : : : "memory");
    }
}

int put_choices(struct choice *list) {
    *list = (struct choice){copied_puts, .copy = CALL, .parts = 1, .one_sided = 1};
    snprintf(list->name, sizeof list->name, "%s", copy_names[CALL]);
    return 1;
}
