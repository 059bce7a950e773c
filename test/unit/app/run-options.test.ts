import { expect } from 'chai';

import { parseOptions } from '../../../src/app/options/load-options.js';
import { dataPlaneOptions } from '../../../src/app/run-options.js';
import { translationSettings } from '../../../src/app/translation-settings.js';
import { SessionTokens } from '../../../src/engine/filters/session-token.js';
import { TemporaryDirectory } from '../../support/temporary-directory.js';

describe('the key of session persistence', () => {
  let directory: TemporaryDirectory;

  beforeEach(() => {
    directory = new TemporaryDirectory();
  });

  afterEach(() => {
    directory.remove();
  });

  const withFile = (file: string) =>
    parseOptions(`kubernetes: {defaults: {sticky_secret_file: ${JSON.stringify(file)}}}`, 'test');

  it('is new for each process without a file', () => {
    const raw = parseOptions('', 'test');
    expect(dataPlaneOptions(raw).sessionKey).to.match(/^[0-9a-f]{64}$/);
    expect(dataPlaneOptions(raw).sessionKey).to.not.equal(dataPlaneOptions(raw).sessionKey);
  });

  it('comes from the file, so that a restart and other replicas understand the tokens', () => {
    const raw = withFile(directory.write('good', 's'.repeat(32)));
    expect(() => translationSettings(raw)).to.not.throw();
    const [first, second] = [dataPlaneOptions(raw), dataPlaneOptions(raw)].map(
      ({ sessionKey }) => new SessionTokens(Buffer.from(sessionKey, 'hex')),
    );
    const session = { rule: 'r', upstream: 'u', endpoint: '10.0.0.1:80', createdAtMs: 1000, usedAtMs: 2000 };
    expect(second?.open(first?.seal(session) ?? '', 'r')).to.deep.equal(session);
    const other = dataPlaneOptions(withFile(directory.write('other', 't'.repeat(32))));
    const foreign = new SessionTokens(Buffer.from(other.sessionKey, 'hex'));
    expect(foreign.open(first?.seal(session) ?? '', 'r')).to.equal(undefined);
    expect(dataPlaneOptions(raw).sessionKey, 'never the secret itself').to.not.contain(
      Buffer.from('s'.repeat(32)).toString('hex'),
    );
  });

  it('is refused when it is short or not there', () => {
    const short = withFile(directory.write('short', 'x'.repeat(31)));
    expect(() => dataPlaneOptions(short)).to.throw(/sticky_secret_file: .*short holds 31 bytes, at least 32/);
    const absent = withFile(directory.at('absent'));
    expect(() => dataPlaneOptions(absent)).to.throw(/sticky_secret_file: .*absent cannot be read/);
  });
});
