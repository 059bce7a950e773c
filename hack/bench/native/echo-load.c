/*
 * WebSocket round trips: every connection upgrades, then sends one masked binary message of 1 KiB at a time and waits
 * until as many bytes have come back, each of which is compared.
 *
 * Usage: echo-load PORT CONNECTIONS SECONDS. Prints one object of JSON; times are in microseconds.
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

enum { PAYLOAD = 1024, MESSAGE = 8 + PAYLOAD, EVENTS = 256, SAMPLES = 1 << 22 };

struct connection {
  int fd;
  size_t received;
  double sent_at;
};

static unsigned char message[MESSAGE];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static void fail(const char *what) {
  fprintf(stderr, "echo-load: %s\n", what);
  exit(1);
}

static int upgrade(int port) {
  static const char request[] = "GET /echo HTTP/1.1\r\nHost: bench.test\r\nUpgrade: websocket\r\n"
                                "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  if (connect(fd, (void *)&address, sizeof address)) fail("cannot connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (write(fd, request, sizeof request - 1) < 0) fail("cannot write");
  char head[4096];
  size_t length = 0;
  while (length < sizeof head - 1) {
    ssize_t n = read(fd, head + length, 1);
    if (n <= 0) fail("closed during the upgrade");
    length += n;
    head[length] = 0;
    if (length >= 4 && !memcmp(head + length - 4, "\r\n\r\n", 4)) break;
  }
  if (strncmp(head, "HTTP/1.1 101", 12)) fail(head);
  return fd;
}

static void send_message(struct connection *c) {
  c->received = 0;
  c->sent_at = now();
  if (write(c->fd, message, MESSAGE) != MESSAGE) fail("a message was not taken as a whole");
}

int main(int count, char **arguments) {
  if (count != 4) {
    fprintf(stderr, "usage: echo-load PORT CONNECTIONS SECONDS\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  int port = atoi(arguments[1]), connections = atoi(arguments[2]), poller = epoll_create1(0);
  double seconds = atof(arguments[3]);
  /* Binary, final, masked, 16 bits of length; the mask is zero. */
  memcpy(message, "\x82\xfe\x04\x00\0\0\0\0", 8);
  for (int i = 8; i < MESSAGE; i++) message[i] = i * 7;
  float *latencies = malloc(SAMPLES * sizeof *latencies);
  struct connection *all = calloc(connections, sizeof *all);
  for (int i = 0; i < connections; i++) {
    all[i].fd = upgrade(port);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
    epoll_ctl(poller, EPOLL_CTL_ADD, all[i].fd, &event);
  }
  double start = now();
  size_t trips = 0;
  for (int i = 0; i < connections; i++) send_message(&all[i]);
  struct epoll_event events[EVENTS];
  while (now() - start < seconds) {
    int ready = epoll_wait(poller, events, EVENTS, 100);
    double t = now();
    for (int i = 0; i < ready; i++) {
      struct connection *c = events[i].data.ptr;
      unsigned char bytes[MESSAGE];
      ssize_t n = read(c->fd, bytes, MESSAGE - c->received);
      if (n <= 0) fail("a connection was closed");
      if (memcmp(bytes, message + c->received, n)) fail("wrong bytes came back");
      c->received += n;
      if (c->received < MESSAGE) continue;
      if (trips < SAMPLES) latencies[trips] = (t - c->sent_at) * 1e6;
      trips++;
      send_message(c);
    }
  }
  double elapsed = now() - start;
  size_t samples = trips < SAMPLES ? trips : SAMPLES;
  if (samples == 0) fail("nothing came back");
  qsort(latencies, samples, sizeof *latencies, by_value);
  printf("{\"count\":%zu,\"failed\":0,\"perSecond\":%.0f,\"p50\":%.0f,\"p99\":%.0f}\n", trips, trips / elapsed,
         latencies[samples / 2], latencies[(size_t)(samples * .99)]);
}
