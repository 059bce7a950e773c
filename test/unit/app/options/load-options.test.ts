import { expect } from 'chai';

import { parseOptions } from '../../../../src/app/options/load-options.js';

describe('parseOptions', () => {
  it('gives every default for an empty file', () => {
    const options = parseOptions('', 'conf.yaml');
    expect(options.mgmt).to.deep.equal({
      listen_address: '127.0.0.1',
      listen_port: 8484,
      shutdown_delay: '0s',
      shutdown_drain_timeout: '30s',
    });
    expect(options.caches['default']?.memory.max_size_bytes).to.equal(512 * 1024 * 1024);
    expect(options.listeners['default']?.read_header_timeout).to.equal('10s');
  });

  const faults: readonly (readonly [name: string, text: string, messages: readonly string[]])[] = [
    [
      'an unknown key, with the nearest one',
      'mgmt: {listen_prt: 1}',
      ['mgmt.listen_prt', 'did you mean listen_port?'],
    ],
    ['an unknown key at the top', 'colour: red', ['colour: unknown key']],
    [
      'an unknown key below a name',
      'caches: {big: {memory: {max_size: 1}}}',
      ['caches.big.memory.max_size: unknown key'],
    ],
    [
      'a number where a duration belongs',
      'kubernetes: {resync_interval: 3}',
      ['kubernetes.resync_interval: must be a duration'],
    ],
    ['a duration without unit', 'mgmt: {shutdown_delay: "3"}', ['mgmt.shutdown_delay: must be a duration']],
    [
      'a range that is none',
      'listeners: {default: {trusted_proxies: [x]}}',
      ['trusted_proxies.0: must be an IP address or'],
    ],
    ['a word that is not offered', 'engine: {wire: quic}', ['engine.wire: must be one of auto, handle, net']],
    ['broken YAML, with the line', 'a: 1\nb: [', ['line 2']],
    ['a key given twice', 'mgmt: {}\nmgmt: {}', ['unique']],
    [
      'lease times that cannot work',
      'kubernetes: {leader_election: {renew_deadline: 20s}}',
      ['renew_deadline: must be shorter'],
    ],
    [
      'options that exclude each other',
      'kubernetes: {watch_namespaces: [a], namespace_selector: {b: c}}',
      ['exclude each other'],
    ],
    ['every fault at once', 'mgmt: {listen_port: 99999}\nfoo: 1', ['mgmt.listen_port', 'foo: unknown key']],
  ];
  for (const [name, text, messages] of faults) {
    it(`refuses ${name}`, () => {
      const parse = (): unknown => parseOptions(text, 'conf.yaml');
      expect(parse).to.throw('conf.yaml cannot be used');
      for (const message of messages) expect(parse).to.throw(message);
    });
  }
});
