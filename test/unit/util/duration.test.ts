import { expect } from 'chai';
import fc from 'fast-check';

import { formatDuration, parseDuration } from '../../../src/util/duration.js';
import { nearest } from '../../../src/util/nearest.js';

describe('parseDuration', () => {
  for (const [text, milliseconds] of [
    ['0s', 0],
    ['250ms', 250],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['1d', 86_400_000],
    ['10', undefined],
    ['', undefined],
    ['-1s', undefined],
    ['1 s', undefined],
    ['1x', undefined],
  ] as const) {
    it(`reads ${text === '' ? 'nothing' : text}`, () => {
      expect(parseDuration(text)).to.equal(milliseconds);
    });
  }

  it('reads back what formatDuration writes', () => {
    fc.assert(
      fc.property(fc.nat(), (milliseconds) => parseDuration(formatDuration(milliseconds)) === milliseconds),
    );
  });
});

describe('nearest', () => {
  it('finds the word that was meant', () => {
    expect(nearest('replcas', ['replicas', 'selector'])).to.equal('replicas');
    expect(nearest('hostName', ['hostname'])).to.equal('hostname');
  });

  it('finds none among words that are not alike', () => {
    expect(nearest('colour', ['kubernetes', 'caches'])).to.equal(undefined);
  });
});
