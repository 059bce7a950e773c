import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect } from 'chai';
import { stringify } from 'yaml';

import { GatewayProcess } from '../../../src/app/gateway-process.js';
import { parseOptions } from '../../../src/app/options/load-options.js';
import { TestAuthority } from '../../support/certificates.js';
import { echo, StreamOrigin, StreamPeer } from '../../support/engine/stream-peer.js';
import { UdpPeer } from '../../support/engine/udp-peer.js';
import { freePort } from '../../support/free-port.js';
import { until } from '../../support/until.js';

const authority = new TestAuthority();
const behind = authority.server(['through.example.test']);
const atGateway = authority.server(['ended.example.test']);
const CLIENTS = 64;

describe('GatewayProcess on files with TCPRoute, TLSRoute and UDPRoute, two workers', function () {
  this.timeout(30_000);

  let directory: string;
  let gatewayProcess: GatewayProcess;
  let ports: { readonly stream: number; readonly tls: number; readonly mgmt: number };
  const origins: { stop?: () => Promise<void>; close?: () => Promise<void> }[] = [];
  const clients: StreamPeer[] = [];

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'gateway-'));
    const [plain, secret] = [
      await StreamOrigin.echo('plain '),
      await StreamOrigin.startTls(behind, echo('secret ')),
    ];
    const udp = await UdpPeer.answering((datagram) => Buffer.concat([Buffer.from('udp '), datagram]));
    origins.push(plain, secret, udp);
    ports = { stream: await freePort(), tls: await freePort(), mgmt: await freePort() };
    const endpoints = { plain: plain.port, secret: secret.port, udp: udp.port };
    writeFileSync(join(directory, 'all.yaml'), objects(ports, endpoints));
    const raw = parseOptions(
      stringify({
        kubernetes: { defaults: { addressing: 'pool' } },
        mgmt: { listen_port: ports.mgmt },
        metrics: { listen_address: '127.0.0.1', listen_port: 0 },
        logging: { log_level: 'silent' },
        engine: { workers: 2 },
      }),
      'test',
    );
    gatewayProcess = await GatewayProcess.create(
      { input: { type: 'files', directory }, raw, version: '1.2.3' },
      () => undefined,
    );
    await gatewayProcess.start();
    const isReady = async (): Promise<boolean> =>
      (await fetch(`http://127.0.0.1:${String(ports.mgmt)}/trickster/ready`)).status === 200;
    while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  after(async () => {
    for (const { socket } of clients) socket.destroy();
    await gatewayProcess.stop(AbortSignal.abort());
    for (const origin of origins) await (origin.stop?.() ?? origin.close?.());
    rmSync(directory, { recursive: true });
  });

  const kept = (peer: StreamPeer): StreamPeer => {
    clients.push(peer);
    return peer;
  };

  it('N-02 TCP and UDP on one port', async () => {
    const one = kept(StreamPeer.connect(ports.stream));
    one.socket.write('hello');
    await one.hears('plain hello');
    const datagrams = await UdpPeer.silent();
    datagrams.send('hello', ports.stream);
    await until(() => datagrams.datagrams.length === 1);
    expect(datagrams.datagrams[0]).to.deep.equal({ bytes: Buffer.from('udp hello'), from: ports.stream });
    await datagrams.close();
  });

  it('passthrough and termination on one port', async () => {
    for (const [name, said] of [
      ['through.example.test', 'secret PING'],
      ['ended.example.test', 'plain PING'],
    ] as const) {
      const options = { ca: authority.certificate, servername: name };
      const one = kept(StreamPeer.connectTls(ports.tls, options));
      one.socket.write('PING');
      await one.hears(said);
    }
  });

  it('every datagram of a client reaches the worker that has its session', async () => {
    const udp = origins[2] as UdpPeer;
    udp.datagrams.length = 0;
    const peers = await Promise.all(Array.from({ length: CLIENTS }, () => UdpPeer.silent()));
    for (let round = 1; round <= 3; round++) {
      for (const [index, peer] of peers.entries()) peer.send(String(index), ports.stream);
      await until(() => peers.every(({ datagrams }) => datagrams.length === round));
    }
    const sessions = new Map<string, Set<number>>();
    for (const { bytes, from } of udp.datagrams) {
      const client = bytes.toString();
      sessions.set(client, (sessions.get(client) ?? new Set()).add(from));
    }
    expect([...sessions.values()].map(({ size }) => size)).to.deep.equal(Array(CLIENTS).fill(1));
    for (const peer of peers) await peer.close();
  });
});

function objects(
  ports: { readonly stream: number; readonly tls: number },
  endpoints: { readonly plain: number; readonly secret: number; readonly udp: number },
): string {
  const gateway = 'gateway.networking.k8s.io';
  const service = (name: string, port: number, protocol: string): object => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace: 'shop',
      annotations: { 'trickstercache.org/endpoint': `127.0.0.1:${String(port)}` },
    },
    spec: { ports: [{ port: 80, protocol }] },
  });
  const route = (kind: string, name: string, spec: object): object => ({
    apiVersion: `${gateway}/${kind === 'TLSRoute' ? 'v1' : 'v1alpha2'}`,
    kind,
    metadata: { name, namespace: 'shop' },
    spec,
  });
  const to = (name: string, sectionName: string): object => ({
    parentRefs: [{ name: 'gw', sectionName }],
    rules: [{ backendRefs: [{ name, port: 80 }] }],
  });
  return [
    {
      apiVersion: `${gateway}/v1`,
      kind: 'GatewayClass',
      metadata: { name: 'trickster' },
      spec: { controllerName: 'trickstercache.org/gateway-controller' },
    },
    {
      apiVersion: 'trickstercache.org/v1alpha1',
      kind: 'AddressPool',
      metadata: { name: 'loopback' },
      spec: { addresses: ['127.0.0.1'] },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'listener', namespace: 'shop' },
      type: 'kubernetes.io/tls',
      stringData: { 'tls.crt': atGateway.certificate, 'tls.key': atGateway.privateKey },
    },
    {
      apiVersion: `${gateway}/v1`,
      kind: 'Gateway',
      metadata: { name: 'gw', namespace: 'shop' },
      spec: {
        gatewayClassName: 'trickster',
        listeners: [
          { name: 'tcp', port: ports.stream, protocol: 'TCP' },
          { name: 'udp', port: ports.stream, protocol: 'UDP' },
          {
            name: 'through',
            port: ports.tls,
            protocol: 'TLS',
            hostname: 'through.example.test',
            tls: { mode: 'Passthrough' },
          },
          {
            name: 'ended',
            port: ports.tls,
            protocol: 'TLS',
            hostname: 'ended.example.test',
            tls: { mode: 'Terminate', certificateRefs: [{ name: 'listener' }] },
          },
        ],
      },
    },
    route('TCPRoute', 'tcp', to('plain', 'tcp')),
    route('UDPRoute', 'udp', to('udp', 'udp')),
    route('TLSRoute', 'through', { ...to('secret', 'through'), hostnames: ['through.example.test'] }),
    route('TLSRoute', 'ended', { ...to('plain', 'ended'), hostnames: ['ended.example.test'] }),
    service('plain', endpoints.plain, 'TCP'),
    service('secret', endpoints.secret, 'TCP'),
    service('udp', endpoints.udp, 'UDP'),
  ]
    .map((object) => stringify(object))
    .join('---\n');
}
