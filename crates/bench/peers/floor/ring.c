/* The message in chunks through a ring of slots: copying in and copying out overlap. */
#include "copies.h"

/* After the two words of each side: the number of chunks taken out in a direction, and its slots' flags. */
ALWAYS_INLINE struct word *taken(struct pair *p, int from) {
    return p->flag + 4 + from * (1 + SLOTS);
}

ALWAYS_INLINE struct word *filled(struct pair *p, int from, int slot) {
    return taken(p, from) + 1 + slot;
}

ALWAYS_INLINE char *slot_at(struct pair *p, int from, int slot) {
    return p->area[p->how.in_turn ? 0 : from] + slot * p->how.chunk;
}

ALWAYS_INLINE long part(const struct pair *p, long at) {
    return p->bytes - at < p->how.chunk ? p->bytes - at : p->how.chunk;
}

ALWAYS_INLINE void send_ring(struct pair *p) {
    int from = p->side;
    for (long at = 0; at < p->bytes; at += p->how.chunk) {
        int64_t number = p->chunks[from]++;
        int slot = number % p->how.slots;
        await(p, taken(p, from), number + 1 - p->how.slots);
        copy_in(p->how.copy, slot_at(p, from, slot), p->out + p->at + at, part(p, at));
        publish(filled(p, from, slot), number + 1);
    }
}

ALWAYS_INLINE void receive_ring(struct pair *p) {
    int from = 1 - p->side;
    for (long at = 0; at < p->bytes; at += p->how.chunk) {
        int64_t number = p->chunks[from]++;
        int slot = number % p->how.slots;
        await(p, filled(p, from, slot), number + 1);
        copy_bytes(p->how.copy, p->into + p->at + at, slot_at(p, from, slot), part(p, at));
        publish(taken(p, from), number + 1);
    }
}

static void round_trips(struct pair *p, int64_t times) {
    trips(p, times, send_ring, receive_ring);
}

/* Slots for the whole message help where writing into lines that the other side has just read is slow. */
int ring_choices(const struct pair *p, struct choice *list) {
    static const enum copy copies[] = {CALL, MOVSB, STREAM};
    int count = 0;
    for (long chunk = 8192; chunk <= 262144 && chunk < p->bytes; chunk *= 2) {
        long whole = (p->bytes + chunk - 1) / chunk;
        const struct { long slots; int in_turn; } shapes[] = {{2, 0}, {8, 0}, {whole, 0}, {whole, 1}};
        for (int shape = 0; shape < 4; shape++)
            /* Streaming helps only where the destination is out of cache. */
            for (int i = 0; i < 2 + (p->step > 0); i++) {
                long slots = shapes[shape].slots;
                if (slots > SLOTS || (shape < 2 && slots >= whole))
                    continue;
                struct choice choice = {round_trips, .pause = 1, .in_turn = shapes[shape].in_turn,
                                        .copy = copies[i], .chunk = chunk, .slots = slots};
                snprintf(choice.name, sizeof choice.name, "%ld of %ld KiB%s, %s", slots,
                         chunk / 1024, choice.in_turn ? ", in turn" : "", copy_names[copies[i]]);
                list[count++] = choice;
            }
    }
    return count;
}
