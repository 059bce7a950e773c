import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePorts } from '../../../test/support/free-ports.js';
import { PinnedProcess, PROXY_CORE } from '../pinned-process.js';
import { hostName, PREFIXES, type Contender, type Setup } from './contender.js';

/** 10,000 server blocks take nginx several seconds. */
const START_DEADLINE_MS = 120_000;

/** One worker. Its cache stays in the page cache and is sent with sendfile. */
export async function startNginx(setup: Setup): Promise<Contender> {
  const [http = 0, https = 0] = await freePorts(2);
  const file = path.join(setup.directory, 'nginx.conf');
  const body = setup.traffic === 'grpc' ? grpcServers(setup, http) : httpServers(setup, http, https);
  writeFileSync(file, frame(setup, body));
  const process = await PinnedProcess.start({
    name: 'nginx',
    core: PROXY_CORE,
    command: ['nginx', '-c', file, '-e', path.join(setup.directory, 'nginx.err')],
    port: http,
    deadlineMs: START_DEADLINE_MS,
  });
  return {
    name: 'nginx',
    wire: null,
    origin: setup.origin,
    http,
    https,
    process,
    change: () => {
      globalThis.process.kill(process.pid, 'SIGHUP');
    },
  };
}

function frame({ directory }: Setup, servers: string): string {
  return `
worker_processes 1;
daemon off;
user root;
pid ${directory}/nginx.pid;
error_log ${directory}/nginx.err;
worker_rlimit_nofile 40000;
events { worker_connections 20000; }
http {
  access_log off;
  server_tokens off;
  sendfile on;
  tcp_nopush on;
  tcp_nodelay on;
  keepalive_timeout 300s;
  keepalive_requests 100000000;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
${servers}
}
`;
}

function httpServers(setup: Setup, http: number, https: number): string {
  const { directory, origin, certificate, hosts } = setup;
  return `
  map $http_upgrade $connection_field { default upgrade; '' ''; }
  upstream origin { server 127.0.0.1:${origin}; keepalive 512; keepalive_requests 100000000; }
  proxy_http_version 1.1;
  proxy_set_header Host $host;
  proxy_set_header Upgrade $http_upgrade;
  proxy_set_header Connection $connection_field;
  proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
  proxy_max_temp_file_size 0;
  proxy_buffers 16 32k;
  proxy_buffer_size 32k;
  proxy_busy_buffers_size 64k;
  proxy_cache_path ${directory}/cache levels=1:2 keys_zone=c:10m max_size=512m use_temp_path=off;
  open_file_cache max=1000 inactive=600s;
  open_file_cache_valid 600s;
  ssl_certificate ${certificate.chainFile};
  ssl_certificate_key ${certificate.keyFile};
  ssl_session_cache shared:S:10m;
  ssl_protocols TLSv1.2 TLSv1.3;
  server {
    listen 127.0.0.1:${http} default_server;
    listen 127.0.0.1:${https} ssl http2 default_server;
    location / { proxy_pass http://origin; }
    # With tcp_nopush bodies of this size wait for acknowledgements on the loopback interface.
    location = /c/100k { tcp_nopush off; proxy_pass http://origin; proxy_cache c; proxy_cache_valid 200 1h; }
    location /c/ { proxy_pass http://origin; proxy_cache c; proxy_cache_valid 200 1h; }
  }
${virtualHosts(hosts, http)}`;
}

function virtualHosts(count: number, port: number): string {
  if (count === 0) return '';
  const locations = PREFIXES.map((prefix) => `location ${prefix} { proxy_pass http://origin; }`).join(' ');
  const servers = Array.from(
    { length: count },
    (_, index) => `  server { listen 127.0.0.1:${port}; server_name ${hostName(index)}; ${locations} }`,
  );
  return ['  server_names_hash_max_size 65536;', '  server_names_hash_bucket_size 128;', ...servers].join(
    '\n',
  );
}

function grpcServers({ origin }: Setup, http: number): string {
  return `
  upstream origin { server 127.0.0.1:${origin}; keepalive 512; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${http} http2;
    http2_max_concurrent_streams 256;
    location / { grpc_pass grpc://origin; grpc_set_header Host $host; }
  }`;
}
