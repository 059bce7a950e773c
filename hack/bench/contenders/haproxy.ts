import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePorts } from '../../../test/support/free-ports.js';
import { PinnedProcess, PROXY_CORE } from '../pinned-process.js';
import { hostName, PREFIXES, type Contender, type Setup } from './contender.js';

/** One thread. */
export async function startHaproxy(setup: Setup): Promise<Contender> {
  const [http = 0, https = 0] = await freePorts(2);
  const file = path.join(setup.directory, 'haproxy.cfg');
  const body = setup.traffic === 'grpc' ? grpcFrontend(setup, http) : httpFrontend(setup, http, https);
  writeFileSync(file, frame(body));
  const process = await PinnedProcess.start({
    name: 'haproxy',
    core: PROXY_CORE,
    command: ['haproxy', '-db', '-f', file],
    port: http,
  });
  return { name: 'haproxy', wire: null, origin: setup.origin, http, https, process };
}

function frame(sections: string): string {
  return `
global
  nbthread 1
  maxconn 8000
  tune.ssl.default-dh-param 2048
  tune.h2.max-concurrent-streams 256
cache c
  total-max-size 64
  max-object-size 300000
  max-age 3600
defaults
  mode http
  option http-keep-alive
  http-reuse always
  timeout client 300s
  timeout server 300s
  timeout tunnel 300s
  timeout connect 5s
${sections}
`;
}

function httpFrontend({ directory, origin, certificate, hosts }: Setup, http: number, https: number): string {
  return `
frontend f
  bind 127.0.0.1:${http}
  bind 127.0.0.1:${https} ssl crt ${certificate.bothFile} alpn h2,http/1.1
  option forwardfor
  http-request cache-use c if { path_beg /c/ }
  http-response cache-store c
  ${hosts > 0 ? `use_backend %[base,map_beg(${writeMap(directory, hosts)},origin)]` : ''}
  default_backend origin
backend origin
  server s1 127.0.0.1:${origin}`;
}

function writeMap(directory: string, hosts: number): string {
  const file = path.join(directory, 'hosts.map');
  const lines = Array.from({ length: hosts }, (_, index) =>
    PREFIXES.map((prefix) => `${hostName(index)}${prefix} origin\n`).join(''),
  );
  writeFileSync(file, lines.join(''));
  return file;
}

function grpcFrontend({ origin }: Setup, http: number): string {
  return `
frontend f
  bind 127.0.0.1:${http} proto h2
  default_backend origin
backend origin
  server s1 127.0.0.1:${origin} proto h2`;
}
