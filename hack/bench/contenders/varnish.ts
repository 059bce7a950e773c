import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePorts } from '../../../test/support/free-ports.js';
import { PinnedProcess, PROXY_CORE } from '../pinned-process.js';
import type { Contender, Setup } from './contender.js';

/** For cache hits. */
export async function startVarnish({ directory, origin }: Setup): Promise<Contender> {
  const [http = 0] = await freePorts(1);
  const file = path.join(directory, 'varnish.vcl');
  writeFileSync(
    file,
    `vcl 4.1;
backend origin { .host = "127.0.0.1"; .port = "${origin}"; }
sub vcl_recv {
  if (req.url !~ "^/c/") { return (pass); }
  return (hash);
}
`,
  );
  const process = await PinnedProcess.start({
    name: 'varnish',
    core: PROXY_CORE,
    command: [
      ...['varnishd', '-F', '-n', path.join(directory, 'varnish'), '-f', file],
      ...['-a', `127.0.0.1:${http}`, '-s', 'malloc,512m', '-T', 'none'],
      ...['-p', 'thread_pools=1', '-p', 'thread_pool_min=100'],
    ],
    port: http,
  });
  return { name: 'varnish', wire: null, origin, http, https: 0, process };
}
