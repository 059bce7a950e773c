import { expect } from 'chai';
import { FieldList } from '../../../src/engine/exchange/fields.js';
import { PlainResponseHead } from '../../../src/engine/exchange/heads.js';
import { ANSWERED, CONTINUE, SUSPENDED } from '../../../src/engine/exchange/route-entry.js';
import type { RequestStep, ResponseStep } from '../../../src/engine/exchange/route-entry.js';
import { labSuite } from '../../support/engine/lab-suite.js';
import { ok } from '../../support/engine/raw-origin.js';
import { until } from '../../support/until.js';

labSuite('HTTP/1.1 fields and steps', ({ answering, start, startLab }) => {
  describe('fields', () => {
    it('H-05 CVE-2024-45410 replaces what an untrusted client says of itself', async () => {
      const lab = await startLab({ forwarded: 'both' });
      const origin = await answering(() => ok('x'));
      lab.route('/', [origin.port]);
      const client = await lab.client();
      await client.get(
        '/',
        'app.test',
        'Connection: X-Forwarded-For, X-Forwarded-Proto, Authorization\r\nX-Forwarded-For: 6.6.6.6\r\n' +
          'X_Forwarded_Host: evil\r\nForwarded: for=6.6.6.6\r\nX-Real-IP: 6.6.6.6\r\nAuthorization: y\r\nVia: 1.0 before\r\n',
      );
      expect(origin.received).not.to.match(/6\.6\.6\.6|evil|authorization/i);
      expect(origin.received).to.contain('x-forwarded-for: 127.0.0.1\r\n');
      expect(origin.received).to.contain('x-forwarded-host: app.test\r\n');
      expect(origin.received).to.contain('forwarded: for=127.0.0.1;host="app.test";proto=http\r\n');
      expect(origin.received).to.contain('Via: 1.0 before\r\n');
      expect(origin.received).to.contain('via: 1.1 trickster-gateway\r\n');
      client.destroy();
    });

    it('names the host of each request, whatever was asked before on the connection', async () => {
      const lab = await startLab();
      const origin = await answering(() => ok('x'));
      lab.route('/', [origin.port]);
      const client = await lab.client();
      for (const host of ['a.test', 'a.test', 'a.test', 'b.test', 'a.test', 'b.test', 'b.test']) {
        await client.get('/', host);
        const last = origin.received.slice(origin.received.lastIndexOf('GET '));
        expect(last).to.contain(`x-forwarded-host: ${host}\r\n`);
        expect(last.match(/x-forwarded-/g)).to.have.length(3);
      }
      client.destroy();
    });

    it('continues what a trusted proxy says', async () => {
      const lab = await startLab({ settings: { trustedProxies: ['127.0.0.0/8'] } });
      const origin = await answering(() => ok('x'));
      lab.route('/', [origin.port]);
      const client = await lab.client();
      await client.get('/', 'app.test', 'X-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Proto: https\r\n');
      expect(origin.received).to.contain('x-forwarded-for: 9.9.9.9, 127.0.0.1\r\n');
      expect(origin.received).to.match(/X-Forwarded-Proto: https\r\n/i);
      expect(origin.received).not.to.contain('proto: http\r\n');
      client.destroy();
    });

    it('H-06 hop-by-hop fields of responses stay here', async () => {
      const lab = await startLab();
      const origin = await answering(() =>
        ok(
          'x',
          'Connection: keep-alive, X-Hop\r\nKeep-Alive: timeout=9\r\nX-Hop: 1\r\nProxy-Authenticate: a\r\nTrailer: b\r\nX-Keep: 1\r\n',
        ),
      );
      lab.route('/', [origin.port]);
      const client = await lab.client();
      const { head } = await client.get('/');
      expect(head).to.match(/x-keep/i);
      expect(head).not.to.match(/x-hop|keep-alive|proxy-auth|trailer/i);
      client.destroy();
    });

    it('F-05 a changed authority is the one Host', async () => {
      const lab = await startLab();
      const origin = await answering(() => ok('x'));
      const rename: RequestStep = {
        run: ({ request }) => {
          request.authority = 'x.test';
          request.path = '/new' + request.path;
          request.fields.set('x-added', '1');
          return CONTINUE;
        },
      };
      lab.route('/', [origin.port], { requestSteps: [rename] });
      const client = await lab.client();
      await client.get('/old?q=1');
      expect(origin.received).to.match(/^GET \/new\/old\?q=1 HTTP\/1\.1\r\nhost: x\.test\r\n/);
      expect(origin.received.match(/host:/gi)).to.have.length(2);
      expect(origin.received).to.contain('x-forwarded-host: app.test\r\n');
      expect(origin.received).to.contain('x-added: 1\r\n');
      client.destroy();
    });

    it('M-08 absolute form: a new Host is made', async () => {
      const lab = await startLab();
      const origin = await answering(() => ok('x'));
      lab.route('/', [origin.port]);
      const client = await lab.client();
      client.send('GET http://other.test/a HTTP/1.1\r\nHost: app.test\r\n\r\n');
      await client.response();
      expect(origin.received).to.match(/^GET \/a HTTP\/1\.1\r\nhost: other\.test\r\n/);
      expect(origin.received).not.to.contain('Host: app.test');
      client.destroy();
    });

    for (const [path, forwarded] of [
      ['/a:b', '/a:b'],
      ['/x/..;p=1/admin', '/x/..;p=1/admin'],
      ['/x/..%2fadmin', '/x/..%2fadmin'],
      ['/x/../admin', '/admin'],
      ['/x/%2e%2E/admin', '/admin'],
      ['/%61dmin', '/admin'],
      ['//admin', '//admin'],
      ['/admin;v=1', '/admin;v=1'],
      ['/a/./b/..', '/a/'],
      ['/../../a?x=/../y', '/a?x=/../y'],
    ] as const) {
      it(`M-07 ${path} is matched and forwarded as ${forwarded}`, async () => {
        const lab = await startLab();
        const origin = await answering((head) => ok(head.split(' ')[1]!));
        const admin = await answering(() => ok('admin'));
        lab.route('/', [origin.port]);
        lab.route('/admin', [admin.port]);
        const client = await lab.client();
        const { body } = await client.get(path);
        expect(body).to.equal(forwarded.startsWith('/admin') ? 'admin' : forwarded);
        client.destroy();
      });
    }
  });

  describe('steps', () => {
    it('answer, suspend, and change responses', async () => {
      const lab = await startLab();
      const origin = await answering(() => ok('secret', 'X-Old: 1\r\n'));
      const deny: RequestStep = {
        run: (exchange) => {
          exchange.answer(new PlainResponseHead(302, new FieldList(['location', '/there'])));
          return ANSWERED;
        },
      };
      const wait: RequestStep = {
        run: (exchange) => {
          setImmediate(() => {
            exchange.proceed();
          });
          return SUSPENDED;
        },
      };
      const change: ResponseStep = {
        run: (_exchange, head) => {
          head.fields.remove('x-old');
          head.fields.set('x-new', '2');
          head.fields.set('content-length', '1');
        },
      };
      lab.route('/deny', [origin.port], { requestSteps: [deny] });
      lab.route('/wait', [origin.port], { requestSteps: [wait, wait], responseSteps: [change] });
      const client = await lab.client();
      const redirect = await client.get('/deny');
      expect([redirect.status, redirect.field('location'), redirect.body]).to.deep.equal([302, '/there', '']);
      const response = await client.get('/wait');
      expect(response.body).to.equal('secret');
      expect(response.field('x-old')).to.equal(undefined);
      expect(response.field('x-new')).to.equal('2');
      expect(response.fields('content-length')).to.deep.equal(['6']);
      client.destroy();
    });

    it('collect the body, and it still reaches the backend', async () => {
      const lab = await startLab();
      const origin = await start((connection) => {
        connection.socket.on('data', () => {
          if (connection.received.endsWith('world')) connection.send(ok('done'));
        });
      });
      const bodies: (string | undefined)[] = [];
      const tapped: string[] = [];
      const look = (limit: number): RequestStep => ({
        run: (exchange) => {
          exchange.tapBody({
            onBody: (piece) => tapped.push(piece.copy().toString() + (piece.last ? '|' : '')),
            onBodyAbort: () => tapped.push('abort'),
          });
          exchange.collectBody(limit, (body) => {
            bodies.push(body?.toString());
            exchange.proceed();
          });
          return SUSPENDED;
        },
      });
      lab.route('/small', [origin.port], { requestSteps: [look(100)] });
      lab.route('/limit', [origin.port], { requestSteps: [look(7)] });
      for (const path of ['/small', '/limit']) {
        const client = await lab.client();
        client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello`);
        await until(() => tapped.at(-1) === 'hello');
        client.send('world');
        expect((await client.response()).body).to.equal('done');
        client.destroy();
      }
      expect(bodies).to.deep.equal(['helloworld', undefined]);
      expect(tapped).to.deep.equal(['hello', 'world|', 'hello', 'world|']);
      expect(origin.received.match(/helloworld/g)).to.have.length(2);
    });
  });
});
