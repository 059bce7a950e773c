import { expect } from 'chai';
import { parseProxyHeader } from '../../../../src/engine/proxy-protocol/parse-proxy-header.js';

const SIGNATURE = '\r\n\r\n\0\r\nQUIT\n';
const v2 = (command: number, family: number, payload: string): Buffer => {
  const head = Buffer.from([command, family, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([Buffer.from(SIGNATURE, 'latin1'), head, Buffer.from(payload, 'latin1')]);
};
const V4 = '\x0a\0\0\x01\x0a\0\0\x02\x1f\x90\x00\x50';
const V6 = `\x20\x01\x0d\xb8${'\0'.repeat(11)}\x01${'\0'.repeat(15)}\x01\x1f\x90\x00\x50`;

const named: readonly (readonly [string, Buffer, string, string])[] = [
  ['v1 IPv4', Buffer.from('PROXY TCP4 10.0.0.1 10.0.0.2 8080 80\r\nrest'), '10.0.0.1:8080', '10.0.0.2:80'],
  ['v1 IPv6', Buffer.from('PROXY TCP6 2001:db8::1 ::1 8080 80\r\nrest'), '2001:db8::1:8080', '::1:80'],
  ['v1 unknown', Buffer.from('PROXY UNKNOWN\r\nrest'), '-', '-'],
  ['v2 IPv4', Buffer.concat([v2(0x21, 0x11, V4), Buffer.from('rest')]), '10.0.0.1:8080', '10.0.0.2:80'],
  ['v2 IPv4 with more behind', Buffer.concat([v2(0x21, 0x11, V4 + '\x03\0\x04abcd'), Buffer.from('rest')]), '10.0.0.1:8080', '10.0.0.2:80'],
  ['v2 IPv6', Buffer.concat([v2(0x21, 0x21, V6), Buffer.from('rest')]), '2001:db8::1:8080', '::1:80'],
  ['v2 local', Buffer.concat([v2(0x20, 0x11, V4), Buffer.from('rest')]), '-', '-'],
  ['v2 of another family', Buffer.concat([v2(0x21, 0x31, 'x'.repeat(216)), Buffer.from('rest')]), '-', '-'],
]; // prettier-ignore

const refused: readonly (readonly [string, Buffer])[] = [
  ['no header', Buffer.from('GET / HTTP/1.1\r\n')],
  ['v1 with a bad address', Buffer.from('PROXY TCP4 10.0.0 10.0.0.2 1 2\r\n')],
  ['v1 with the other family', Buffer.from('PROXY TCP4 ::1 ::1 1 2\r\n')],
  ['v1 with a bad port', Buffer.from('PROXY TCP4 1.1.1.1 1.1.1.1 1 70000\r\n')],
  ['v1 too long', Buffer.from('PROXY TCP4 ' + '1'.repeat(200))],
  ['v1 malformed', Buffer.from('PROXY TCP4 1.1.1.1\r\n')],
  ['v2 of version 3', v2(0x31, 0x11, V4)],
  ['v2 too short', v2(0x21, 0x11, V4.slice(0, 8))],
  ['v2 too long', v2(0x21, 0x11, 'x'.repeat(5000))],
];

describe('parseProxyHeader', () => {
  const text = (address: { address: string; port: number } | undefined): string =>
    address ? `${address.address}:${String(address.port)}` : '-';

  for (const [name, bytes, source, destination] of named) {
    it(`${name}, however it is cut`, () => {
      const header = parseProxyHeader(bytes);
      if ('state' in header) throw new Error(JSON.stringify(header));
      expect(bytes.toString('latin1', header.length)).to.equal('rest');
      expect([text(header.source), text(header.destination)]).to.deep.equal([source, destination]);
      for (let end = 1; end < header.length; end++) {
        expect(parseProxyHeader(bytes.subarray(0, end))).to.deep.equal({ state: 'incomplete' });
      }
    });
  }

  for (const [name, bytes] of refused) {
    it(`${name} is refused`, () => {
      expect(parseProxyHeader(bytes)).to.include({ state: 'refused' });
    });
  }
});
