import { expect } from 'chai';
import { DEFAULT_LISTENER_SETTINGS } from '../../../../src/ir/listener.js';
import {
  ConnectionContext,
  TrustedProxies,
  type ForwardedForm,
} from '../../../../src/engine/exchange/connection-context.js';
import { FieldList } from '../../../../src/engine/exchange/fields.js';
import { hostnameOf, PlainRequestHead, PlainResponseHead } from '../../../../src/engine/exchange/heads.js';
import { addRequestFields, addResponseFields } from '../../../../src/engine/exchange/own-fields.js';

const context = (forwarded: ForwardedForm, extra: Partial<ConnectionContext> = {}): ConnectionContext =>
  new ConnectionContext({
    listener: 'l',
    settings: DEFAULT_LISTENER_SETTINGS,
    secure: true,
    sniServer: '',
    remoteAddress: '::ffff:10.0.0.1',
    remotePort: 1,
    localAddress: '10.0.0.2',
    localPort: 443,
    trusted: false,
    ...extra,
    forwarded,
  });

const request = (flat: string[] = []): PlainRequestHead =>
  new PlainRequestHead({
    method: 'GET',
    scheme: 'https',
    authority: 'a.test',
    path: '/',
    fields: new FieldList(flat),
    protocol: '2.0',
  });

function added(
  forwarded: ForwardedForm,
  extra: Partial<ConnectionContext> = {},
  flat: string[] = [],
): string[] {
  const head = request(flat);
  addRequestFields(head, context(forwarded, extra));
  return head.fields.toList().toFlat();
}

describe('own fields', () => {
  const via = ['via', '2.0 trickster-gateway'];

  it('say where a request came from in the form that is wanted', () => {
    const x = ['x-forwarded-for', '10.0.0.1', 'x-forwarded-proto', 'https', 'x-forwarded-host', 'a.test'];
    const standard = ['forwarded', 'for=10.0.0.1;host="a.test";proto=https'];
    expect(added('x')).to.deep.equal([...x, ...via]);
    expect(added('standard')).to.deep.equal([...standard, ...via]);
    expect(added('both')).to.deep.equal([...x, ...standard, ...via]);
    expect(added('none')).to.deep.equal(via);
    expect(added('standard', { remoteAddress: '2001:db8::1' })[1]).to.match(/^for="\[2001:db8::1\]";/);
  });

  it('continue what a trusted proxy said', () => {
    const flat = ['x-forwarded-for', '1.1.1.1', 'x-forwarded-for', '2.2.2.2', 'x-forwarded-proto', 'http'];
    expect(added('x', { trusted: true }, flat)).to.deep.equal([
      'x-forwarded-proto', 'http', 'x-forwarded-for', '1.1.1.1, 2.2.2.2, 10.0.0.1', 'x-forwarded-host', 'a.test', ...via,
    ]); // prettier-ignore
  });

  it('give a response its date when it has none', () => {
    const dated = new PlainResponseHead(200, new FieldList(['date', 'x']));
    addResponseFields(dated);
    expect(dated.fields.toList().toFlat()).to.deep.equal(['date', 'x', 'via', '1.1 trickster-gateway']);
    const undated = new PlainResponseHead(200);
    addResponseFields(undated);
    expect(undated.fields.get('date')).to.match(/ GMT$/);
  });
});

describe('TrustedProxies', () => {
  it('knows addresses and ranges of both families; nonsense trusts nobody', () => {
    const proxies = new TrustedProxies([
      '10.0.0.0/8',
      '2001:db8::/32',
      '192.0.2.1',
      'nonsense',
      '1.2.3.4/99',
    ]);
    const trusted = ['10.1.2.3', '2001:db8::5', '192.0.2.1', '192.0.2.2', '1.2.3.4', '::1'].filter(
      (address) => proxies.has(address),
    );
    expect(trusted).to.deep.equal(['10.1.2.3', '2001:db8::5', '192.0.2.1']);
    expect(new TrustedProxies([]).has('10.0.0.1')).to.equal(false);
  });
});

describe('hostnameOf', () => {
  for (const [authority, want] of [
    ['A.Test', 'a.test'],
    ['a.test:80', 'a.test'],
    ['a.test.', 'a.test'],
    ['a.test.:80', 'a.test'],
    ['[::1]', '[::1]'],
    ['[::1]:80', '[::1]'],
    ['', ''],
  ] as const) {
    it(`A-08 ${authority} → ${want}`, () => {
      expect(hostnameOf(authority)).to.equal(want);
    });
  }
});
