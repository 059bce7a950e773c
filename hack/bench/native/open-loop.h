/*
 * Sends HTTP/1.1 requests at a fixed rate and counts each one's latency from the time it was due, not from the time a
 * connection was free for it: a proxy that stalls cannot hide it by being asked less. A connection that is closed is
 * opened again, and a request on it that got no answer yet is sent again, as browsers do.
 *
 * It runs in the event loop of the origin, so that load and origin never wait for each other's turn on their core.
 */
#pragma once
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "event-loop.h"

enum { LOOP_HEAD = 4096, LOOP_GRACE_SECONDS = 5, LOOP_REPORT = 512 };
/* In seconds: how often it is looked whether the load is over. */
#define LOOP_CHECK 0.05

struct client {
  struct watched watched;
  int fd;
  int busy;
  int good; /* the status is 200 */
  double due;
  long body_left; /* -1: the head is not complete */
  size_t head_length;
  char head[LOOP_HEAD + 1];
};

/* Takes the result, one object of JSON; times are in microseconds. */
typedef void open_loop_done(void *context, const char *report, size_t length);

static struct {
  int running;
  int port, connections, request_length;
  double rate, seconds, start, deadline;
  long total, sent, failed, answered;
  struct client *clients, **idle;
  int idle_count;
  float *latencies;
  char request[2048];
  open_loop_done *done;
  void *context;
} loop;

static int by_value(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* Answers 0 when nobody listens there. */
static int open_client(struct client *c) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(loop.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int on = 1;
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(c->fd, (void *)&address, sizeof address)) return 0;
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  watch(&c->watched, c->fd, EPOLL_CTL_ADD, EPOLLIN);
  return 1;
}

static int send_request(struct client *c) {
  return write(c->fd, loop.request, loop.request_length) == loop.request_length;
}

/* Answers the number of body bytes among `length`, or -1 while the head is not complete. */
static long read_head(struct client *c, const char *bytes, size_t length) {
  size_t before = c->head_length, room = LOOP_HEAD - before, taken = length < room ? length : room;
  memcpy(c->head + before, bytes, taken);
  c->head_length += taken;
  c->head[c->head_length] = 0;
  char *end = strstr(c->head, "\r\n\r\n");
  if (!end) return -1;
  char *declared = strcasestr(c->head, "\r\ncontent-length:");
  c->body_left = declared ? atol(declared + 17) : 0;
  c->good = !strncmp(c->head + 9, "200", 3);
  return length - (end + 4 - c->head - before);
}

static void set_idle(struct client *c) {
  c->busy = 0;
  loop.idle[loop.idle_count++] = c;
}

/* The connection is closed: opened anew, and asked again what it has not begun to answer. */
static void reopen(struct client *c) {
  int unanswered = c->busy && c->body_left < 0 && c->head_length == 0;
  close(c->fd);
  int opened = open_client(c);
  if (opened && unanswered && send_request(c)) return;
  if (!c->busy) return;
  loop.failed++;
  if (opened) set_idle(c);
}

static void client_ready(struct watched *self, uint32_t events) {
  static char bytes[262144];
  struct client *c = (struct client *)self;
  (void)events;
  double t = now();
  long n = read(c->fd, bytes, sizeof bytes);
  if (n <= 0) {
    reopen(c);
    return;
  }
  long body = c->body_left < 0 ? read_head(c, bytes, n) : n;
  if (body < 0) return;
  c->body_left -= body;
  if (c->body_left > 0) return;
  if (c->good) loop.latencies[loop.answered++] = (t - c->due) * 1e6;
  else loop.failed++;
  set_idle(c);
}

static void send_due(void) {
  double t = now();
  while (loop.idle_count && loop.sent < loop.total && loop.start + loop.sent / loop.rate <= t) {
    struct client *c = loop.idle[--loop.idle_count];
    c->due = loop.start + loop.sent++ / loop.rate;
    c->busy = 1;
    c->body_left = -1;
    c->head_length = 0;
    /* A connection that was closed meanwhile shows when it is read. */
    send_request(c);
  }
}

static void free_open_loop(void) {
  for (int i = 0; i < loop.connections; i++) close(loop.clients[i].fd);
  free(loop.clients);
  free(loop.idle);
  free(loop.latencies);
}

static void finish_open_loop(void) {
  char report[LOOP_REPORT];
  double elapsed = now() - loop.start;
  float *latencies = loop.latencies;
  long answered = loop.answered;
  loop.running = 0;
  qsort(latencies, answered, sizeof *latencies, by_value);
  int length = snprintf(report, sizeof report,
                        "{\"count\":%ld,\"failed\":%ld,\"perSecond\":%.0f,\"p50\":%.0f,\"p99\":%.0f,\"p999\":%.0f}\n",
                        answered, loop.total - answered, answered / elapsed, latencies[answered / 2],
                        latencies[(size_t)(answered * .99)], latencies[(size_t)(answered * .999)]);
  free_open_loop();
  loop.done(loop.context, report, length);
}

/*
 * Begins what "PORT/CONNECTIONS/RATE/SECONDS/PATH" describes; `done` is called at its end. Answers 0 when it is not that,
 * one runs already or nobody listens there.
 */
static int start_open_loop(const char *wanted, open_loop_done *done, void *context) {
  char path[256];
  if (loop.running) return 0;
  int read = sscanf(wanted, "%d/%d/%lf/%lf%255[^ ]", &loop.port, &loop.connections, &loop.rate, &loop.seconds, path);
  if (read != 5) return 0;
  loop.request_length = snprintf(loop.request, sizeof loop.request,
                                 "GET %s HTTP/1.1\r\nHost: bench.test\r\nUser-Agent: open-loop\r\nAccept: */*\r\n"
                                 "Accept-Encoding: gzip, deflate\r\n\r\n",
                                 path);
  loop.total = loop.rate * loop.seconds;
  loop.sent = loop.failed = loop.answered = loop.idle_count = 0;
  loop.clients = calloc(loop.connections, sizeof *loop.clients);
  loop.idle = malloc(loop.connections * sizeof *loop.idle);
  loop.latencies = calloc(loop.total + 1, sizeof *loop.latencies);
  for (int i = 0; i < loop.connections; i++) {
    struct client *c = &loop.clients[i];
    c->watched.on_ready = client_ready;
    c->fd = -1;
    if (open_client(c)) set_idle(c);
  }
  if (loop.idle_count < loop.connections) {
    free_open_loop();
    return 0;
  }
  loop.done = done;
  loop.context = context;
  loop.start = now();
  loop.deadline = loop.start + loop.seconds + LOOP_GRACE_SECONDS;
  loop.running = 1;
  return 1;
}

/* To be called before the event loop waits: sends what is due. Answers how long to wait; NULL: as long as it takes. */
static const struct timespec *turn_open_loop(void) {
  static struct timespec wait;
  if (!loop.running) return NULL;
  send_due();
  if (loop.answered + loop.failed >= loop.total || now() > loop.deadline) {
    finish_open_loop();
    return NULL;
  }
  double next = loop.sent < loop.total && loop.idle_count ? loop.start + loop.sent / loop.rate - now() : LOOP_CHECK;
  if (next > LOOP_CHECK) next = LOOP_CHECK;
  wait.tv_nsec = next > 0 ? (long)(next * 1e9) : 0;
  return &wait;
}
