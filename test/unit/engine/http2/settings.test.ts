import { expect } from 'chai';
import { PeerSettings } from '../../../../src/engine/http2/settings.js';

const PROTOCOL = 1;
const FLOW_CONTROL = 3;

describe('settings of an HTTP/2 peer', () => {
  for (const [title, id, value, fromServer, error] of [
    ['a client turns push on', 2, 1, false, 0],
    ['a server turns push on', 2, 1, true, PROTOCOL],
    ['a server turns push off', 2, 0, true, 0],
    ['push is neither on nor off', 2, 2, false, PROTOCOL],
    ['a window too large', 4, 0x8000_0000, false, FLOW_CONTROL],
    ['frames too small', 5, 16_383, false, PROTOCOL],
    ['frames too large', 5, 0x100_0000, false, PROTOCOL],
    ['the largest frames', 5, 0xff_ffff, false, 0],
    ['extended CONNECT is neither on nor off', 8, 2, true, PROTOCOL],
    ['unknown', 0xbeef, 7, false, 0],
  ] as const) {
    it(title, () => {
      const settings = new PeerSettings();
      expect(settings.apply(id, value, fromServer)).to.equal(error);
      expect(settings).to.deep.equal(new PeerSettings());
    });
  }

  it('are kept', () => {
    const settings = new PeerSettings();
    for (const [id, value] of [
      [1, 0],
      [3, 7],
      [4, 1],
      [8, 1],
    ] as const)
      expect(settings.apply(id, value, true)).to.equal(0);
    expect(settings).to.deep.include({
      headerTableSize: 0,
      maxConcurrentStreams: 7,
      initialWindow: 1,
      connectProtocol: true,
    });
  });

  it('extended CONNECT stays once it is on', () => {
    const settings = new PeerSettings();
    settings.apply(8, 1, true);
    expect(settings.apply(8, 0, true)).to.equal(PROTOCOL);
    expect(settings.connectProtocol).to.equal(true);
  });
});
