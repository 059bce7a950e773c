import * as grpc from '@grpc/grpc-js';
import { expect } from 'chai';
import { Http2Bench } from '../../../support/engine/http2-bench.js';
import { AnsweringRunner, RelayRunner } from '../../../support/engine/relay-runner.js';

const same = {
  requestSerialize: (value: Buffer): Buffer => value,
  requestDeserialize: (bytes: Buffer): Buffer => bytes,
  responseSerialize: (value: Buffer): Buffer => value,
  responseDeserialize: (bytes: Buffer): Buffer => bytes,
};

const SERVICE = {
  unary: { path: '/test.Echo/Unary', requestStream: false, responseStream: false, ...same },
  collect: { path: '/test.Echo/Collect', requestStream: true, responseStream: false, ...same },
  spread: { path: '/test.Echo/Spread', requestStream: false, responseStream: true, ...same },
  talk: { path: '/test.Echo/Talk', requestStream: true, responseStream: true, ...same },
} as const;

const HANDLERS: grpc.UntypedServiceImplementation = {
  unary(call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>): void {
    const trailers = new grpc.Metadata();
    trailers.set('x-trailer', 'last');
    trailers.set('x-blob-bin', Buffer.from([0, 1, 254, 255]));
    if (call.metadata.get('x-fail').length > 0) {
      done({ code: grpc.status.PERMISSION_DENIED, details: 'as asked: ü', metadata: trailers });
      return;
    }
    const head = new grpc.Metadata();
    head.set('x-seen', call.metadata.get('x-ask')[0] ?? '');
    call.sendMetadata(head);
    done(null, call.request, trailers);
  },
  collect(call: grpc.ServerReadableStream<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>): void {
    const parts: Buffer[] = [];
    call.on('data', (part: Buffer) => parts.push(part));
    call.on('end', () => {
      done(null, Buffer.concat(parts));
    });
  },
  spread(call: grpc.ServerWritableStream<Buffer, Buffer>): void {
    for (const byte of call.request) call.write(Buffer.alloc(1000, byte));
    call.end();
  },
  talk(call: grpc.ServerDuplexStream<Buffer, Buffer>): void {
    call.on('data', (part: Buffer) => call.write(part));
    call.on('end', () => {
      call.end();
    });
  },
};

describe('gRPC through the gateway, h2c', () => {
  let bench: Http2Bench;
  let server: grpc.Server;
  let client: grpc.Client;
  let relay: RelayRunner;

  beforeEach(async () => {
    bench = new Http2Bench();
    server = new grpc.Server();
    server.addService(SERVICE, HANDLERS);
    const backend = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
        if (error) reject(error);
        else resolve(port);
      });
    });
    relay = new RelayRunner(bench.connector(backend));
    const port = await bench.serve(relay);
    client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  });

  afterEach(async () => {
    client.close();
    server.forceShutdown();
    await bench.close();
  });

  function unary(message: Buffer, metadata = new grpc.Metadata(), options: grpc.CallOptions = {}) {
    const { path, requestSerialize, responseDeserialize } = SERVICE.unary;
    const seen: { head?: grpc.Metadata; status?: grpc.StatusObject } = {};
    const result = new Promise<{
      error: grpc.ServiceError | null;
      value: Buffer | undefined;
      seen: typeof seen;
    }>((resolve) => {
      let error: grpc.ServiceError | null = null;
      let value: Buffer | undefined;
      const call = client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        message,
        metadata,
        options,
        (failure, answer) => {
          error = failure;
          value = answer;
        },
      );
      call.on('metadata', (head: grpc.Metadata) => (seen.head = head));
      call.on('status', (status: grpc.StatusObject) => {
        seen.status = status;
        setImmediate(() => {
          resolve({ error, value, seen });
        });
      });
    });
    return result;
  }

  it('carries a unary call with its metadata and trailers', async () => {
    const metadata = new grpc.Metadata();
    metadata.set('x-ask', 'why');
    const { error, value, seen } = await unary(Buffer.from('hello'), metadata);
    expect(error).to.equal(null);
    expect(value?.toString()).to.equal('hello');
    expect(seen.head?.get('x-seen')).to.deep.equal(['why']);
    expect(seen.status?.code).to.equal(0);
    expect(seen.status?.metadata.get('x-trailer')).to.deep.equal(['last']);
    expect(seen.status?.metadata.get('x-blob-bin')).to.deep.equal([Buffer.from([0, 1, 254, 255])]);
  });

  it('carries an error that comes as trailers only', async () => {
    const metadata = new grpc.Metadata();
    metadata.set('x-fail', 'yes');
    const { error, seen } = await unary(Buffer.from('hello'), metadata);
    expect(error?.code).to.equal(grpc.status.PERMISSION_DENIED);
    expect(error?.details).to.equal('as asked: ü');
    expect(seen.status?.metadata.get('x-trailer')).to.deep.equal(['last']);
  });

  it('says that a method is not known', async () => {
    const answer = await new Promise<grpc.ServiceError | null>((resolve) => {
      client.makeUnaryRequest(
        '/test.Echo/None',
        same.requestSerialize,
        same.responseDeserialize,
        Buffer.alloc(0),
        resolve,
      );
    });
    expect(answer?.code).to.equal(grpc.status.UNIMPLEMENTED);
  });

  it('carries a large message both ways', async () => {
    const message = Buffer.alloc(3_000_000, 'abcdefg');
    const { value } = await unary(message);
    expect(value?.equals(message)).to.equal(true);
  });

  it('carries many calls at once on one connection', async () => {
    const answers = await Promise.all(Array.from({ length: 300 }, (_, i) => unary(Buffer.from(`call ${i}`))));
    for (const [i, { value }] of answers.entries()) expect(value?.toString()).to.equal(`call ${i}`);
    expect(relay.connector.active).to.equal(0);
  });

  it('carries client streaming', async () => {
    const { path, requestSerialize, responseDeserialize } = SERVICE.collect;
    const parts = Array.from({ length: 50 }, (_, i) => Buffer.alloc(i * 100, i));
    const value = await new Promise<Buffer | undefined>((resolve, reject) => {
      const call = client.makeClientStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        (error, answer) => {
          if (error) reject(error);
          else resolve(answer);
        },
      );
      for (const part of parts) call.write(part);
      call.end();
    });
    expect(value?.equals(Buffer.concat(parts))).to.equal(true);
  });

  it('carries server streaming', async () => {
    const { path, requestSerialize, responseDeserialize } = SERVICE.spread;
    const call = client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      Buffer.from('abcdef'),
    );
    const parts: Buffer[] = [];
    for await (const part of call) parts.push(part as Buffer);
    expect(Buffer.concat(parts).toString()).to.equal('abcdef'.replaceAll(/./g, (c) => c.repeat(1000)));
  });

  it('carries bidirectional streaming, message by message', async () => {
    const { path, requestSerialize, responseDeserialize } = SERVICE.talk;
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    const received: string[] = [];
    const status = new Promise<grpc.StatusObject>((resolve) => call.on('status', resolve));
    call.on('data', (part: Buffer) => {
      received.push(part.toString());
      if (received.length < 20) call.write(Buffer.from(`turn ${received.length}`));
      else call.end();
    });
    call.write(Buffer.from('turn 0'));
    expect((await status).code).to.equal(0);
    expect(received).to.deep.equal(Array.from({ length: 20 }, (_, i) => `turn ${i}`));
  });

  it('ends the call at the backend when the deadline of the client is over', async () => {
    const { path, requestSerialize, responseDeserialize } = SERVICE.talk;
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, {
      deadline: Date.now() + 100,
    });
    call.on('error', () => undefined);
    const status = await new Promise<grpc.StatusObject>((resolve) => call.on('status', resolve));
    expect(status.code).to.equal(grpc.status.DEADLINE_EXCEEDED);
  });

  it('makes a backend that is not there an error that gRPC understands', async () => {
    server.forceShutdown();
    const { error } = await unary(Buffer.from('hello'));
    expect(error?.code).to.equal(grpc.status.UNAVAILABLE);
  });
});

describe('gRPC answers of the gateway', () => {
  it('ends a call by a head with grpc-status and nothing else', async () => {
    const bench = new Http2Bench();
    const runner = new AnsweringRunner(() => ({
      status: 200,
      fields: ['content-type', 'application/grpc', 'grpc-status', '12', 'grpc-message', 'no such route'],
    }));
    const port = await bench.serve(runner);
    const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
    const error = await new Promise<grpc.ServiceError | null>((resolve) => {
      client.makeUnaryRequest(
        '/a.B/C',
        same.requestSerialize,
        same.responseDeserialize,
        Buffer.alloc(3),
        resolve,
      );
    });
    expect(error?.code).to.equal(grpc.status.UNIMPLEMENTED);
    expect(error?.details).to.equal('no such route');
    client.close();
    await bench.close();
  });
});
