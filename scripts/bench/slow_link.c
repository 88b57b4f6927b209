/* A switch with a slow link to each host: the hosts' ends are tap devices.
 *
 * slow_link RATE DELAY TAP...: bits a second of each direction of a link, and microseconds
 * from host to host. A frame takes its time on the way to the switch, and again from there
 * (bit by bit, so only a frame that meets another one waits); then the delay. A host whose
 * link is busy keeps what it has to send. Ends with the process that started it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { PORTS = 8, FRAME = 1600, QUEUE = 4096, AROUND = 24 }; /* preamble, CRC, gap */

typedef struct {
    int64_t due; /* nanoseconds */
    int bytes;
    unsigned char data[FRAME];
} frame_t;

typedef struct {
    int tap;
    unsigned char address[6]; /* of the host, as its frames tell */
    int64_t sent, received;   /* until when the link is busy, in each direction */
    frame_t *queue;           /* what is under way to the host */
    unsigned first, last;
} port_t;

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int open_tap(const char *name) {
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    const int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    if (tap < 0 || ioctl(tap, TUNSETIFF, &request)) {
        perror(name);
        exit(1);
    }
    return tap;
}

int main(int argc, char **argv) {
    static port_t ports[PORTS];
    const int number = argc - 3;
    if (number < 2 || number > PORTS) return 2;
    const double second = 1e9, rate = atof(argv[1]);
    const int64_t delay = atoll(argv[2]) * 1000;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    /* The hosts share this machine's cores, and must not keep the switch waiting. */
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 10});
    for (int p = 0; p < number; p++) {
        ports[p].tap = open_tap(argv[3 + p]);
        ports[p].queue = calloc(QUEUE, sizeof(frame_t));
    }
    puts("ready");
    fflush(stdout);
    for (;;) {
        int64_t time = now(), next = time + INT64_C(1000000000);
        struct pollfd asked[PORTS];
        for (int p = 0; p < number; p++) {
            port_t *to = &ports[p];
            for (; to->first != to->last; to->first++) {
                const frame_t *frame = &to->queue[to->first % QUEUE];
                if (frame->due > time) {
                    if (frame->due < next) next = frame->due;
                    break;
                }
                if (write(to->tap, frame->data, frame->bytes) < 0) continue; /* lost */
            }
            const int free = to->sent <= time;
            if (!free && to->sent < next) next = to->sent;
            asked[p] = (struct pollfd){.fd = free ? to->tap : -1, .events = POLLIN};
        }
        time = now();
        const int64_t left = next > time ? next - time : 0;
        ppoll(asked, number, &(struct timespec){left / 1000000000, left % 1000000000},
              NULL);
        time = now();
        for (int p = 0; p < number; p++) {
            port_t *from = &ports[p];
            if (!(asked[p].revents & POLLIN)) continue;
            unsigned char data[FRAME];
            const int bytes = read(from->tap, data, sizeof data);
            if (bytes < 14) continue;
            memcpy(from->address, data + 6, 6);
            const int64_t takes = (bytes + AROUND) * 8 * second / rate;
            /* A switch that was late does not make the link slower. */
            const int64_t late = from->sent > time - 200000 ? from->sent : time;
            from->sent = late + takes;
            int known = -1;
            for (int q = 0; q < number; q++)
                if (memcmp(ports[q].address, data, 6) == 0) known = q;
            for (int q = 0; q < number; q++) {
                port_t *to = &ports[q];
                if (q == p || (known >= 0 && q != known)) continue;
                if (to->last - to->first == QUEUE) continue; /* lost */
                if (to->received < from->sent - takes) to->received = from->sent - takes;
                to->received += takes;
                frame_t *frame = &to->queue[to->last++ % QUEUE];
                frame->due = to->received + delay;
                frame->bytes = bytes;
                memcpy(frame->data, data, bytes);
            }
        }
    }
}
