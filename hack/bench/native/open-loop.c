/*
 * Sends HTTP/1.1 requests at a fixed rate and counts each one's latency from the time it was due, not from the time a
 * connection was free for it: a proxy that stalls cannot hide it by being asked less. A connection that is closed is
 * opened again, and a request on it that got no answer yet is sent again, as browsers do.
 *
 * Usage: open-loop PORT PATH CONNECTIONS RATE SECONDS. Prints one object of JSON; times are in microseconds.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD = 4096, EVENTS = 512, GRACE_SECONDS = 5 };

struct connection {
  int fd;
  int busy;
  double due;
  long body_left; /* -1: the head is not complete */
  size_t head_length;
  char head[HEAD + 1];
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static int open_connection(int port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  if (connect(fd, (void *)&address, sizeof address)) {
    perror("open-loop");
    exit(1);
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

/* Opens a closed connection anew; answers whether a request was waiting on it without a byte of its answer. */
static int reopen(struct connection *c, int poller, int port) {
  close(c->fd);
  c->fd = open_connection(port);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
  epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event);
  return c->busy && c->body_left < 0 && c->head_length == 0;
}

/* Answers the number of body bytes among `length`, or -1 while the head is not complete. */
static long read_head(struct connection *c, const char *bytes, size_t length, long *failed) {
  size_t before = c->head_length, room = HEAD - before, taken = length < room ? length : room;
  memcpy(c->head + before, bytes, taken);
  c->head_length += taken;
  c->head[c->head_length] = 0;
  char *end = strstr(c->head, "\r\n\r\n");
  if (!end) return -1;
  char *declared = strcasestr(c->head, "\r\ncontent-length:");
  c->body_left = declared ? atol(declared + 17) : 0;
  if (strncmp(c->head + 9, "200", 3)) ++*failed;
  return length - (end + 4 - c->head - before);
}

int main(int count, char **arguments) {
  if (count != 6) {
    fprintf(stderr, "usage: open-loop PORT PATH CONNECTIONS RATE SECONDS\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  int port = atoi(arguments[1]), connections = atoi(arguments[3]);
  double rate = atof(arguments[4]), seconds = atof(arguments[5]);
  long total = rate * seconds, sent = 0, failed = 0, answered = 0;
  char request[2048];
  int request_length = snprintf(request, sizeof request,
                                "GET %s HTTP/1.1\r\nHost: bench.test\r\nUser-Agent: open-loop\r\nAccept: */*\r\n"
                                "Accept-Encoding: gzip, deflate\r\n\r\n",
                                arguments[2]);
  struct connection *all = calloc(connections, sizeof *all), **idle = malloc(connections * sizeof *idle);
  float *latencies = malloc((total + 1) * sizeof *latencies);
  int idle_count = 0, poller = epoll_create1(0);
  for (int i = 0; i < connections; i++) {
    all[i].fd = open_connection(port);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
    epoll_ctl(poller, EPOLL_CTL_ADD, all[i].fd, &event);
    idle[idle_count++] = &all[i];
  }
  static char bytes[262144];
  static struct epoll_event events[EVENTS];
  double start = now(), deadline = start + seconds + GRACE_SECONDS;
  while (answered + failed < total && now() < deadline) {
    double t = now();
    while (idle_count && sent < total && start + sent / rate <= t) {
      struct connection *c = idle[--idle_count];
      c->due = start + sent++ / rate;
      c->busy = 1;
      c->body_left = -1;
      c->head_length = 0;
      /* A connection that was closed meanwhile shows when it is read. */
      if (write(c->fd, request, request_length) < 0) continue;
    }
    double wait = sent < total && idle_count ? start + sent / rate - now() : 0.05;
    struct timespec timeout = {0, wait > 0 ? (long)(wait * 1e9) : 0};
    int ready = epoll_pwait2(poller, events, EVENTS, &timeout, NULL);
    t = now();
    for (int i = 0; i < ready; i++) {
      struct connection *c = events[i].data.ptr;
      long n = read(c->fd, bytes, sizeof bytes);
      if (n <= 0) {
        int waits = reopen(c, poller, port);
        if (waits && write(c->fd, request, request_length) == request_length) continue;
        if (!c->busy) continue;
        failed++;
        c->busy = 0;
        idle[idle_count++] = c;
        continue;
      }
      long body = c->body_left < 0 ? read_head(c, bytes, n, &failed) : n;
      if (body < 0) continue;
      c->body_left -= body;
      if (c->body_left > 0) continue;
      latencies[answered++] = (t - c->due) * 1e6;
      c->busy = 0;
      idle[idle_count++] = c;
    }
  }
  double elapsed = now() - start;
  if (answered == 0) latencies[0] = 0;
  qsort(latencies, answered, sizeof *latencies, by_value);
  printf("{\"count\":%ld,\"failed\":%ld,\"perSecond\":%.0f,\"p50\":%.0f,\"p99\":%.0f,\"p999\":%.0f}\n", answered,
         failed + (total - answered - failed), answered / elapsed, latencies[answered / 2],
         latencies[(size_t)(answered * .99)], latencies[(size_t)(answered * .999)]);
}
