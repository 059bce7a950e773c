import { expect } from 'chai';
import {
  BufferPool,
  debugBuffers,
  HEADROOM,
  READ_BYTES,
  TAILROOM,
} from '../../../../src/engine/wire/buffer-pool.js';

describe('BufferPool', () => {
  it('hands out buffers with headroom and reuses the last released', () => {
    const pool = new BufferPool({ debug: false });
    const first = pool.acquire();
    const second = pool.acquire();
    expect(first.landing).to.have.length(READ_BYTES);
    expect(first.full).to.have.length(HEADROOM + READ_BYTES + TAILROOM);
    first.full[HEADROOM] = 7;
    expect(first.landing[0]).to.equal(7);
    pool.release(first);
    pool.release(second);
    expect(pool.acquire()).to.equal(second);
    expect(pool.acquire()).to.equal(first);
    expect(pool.acquire()).to.not.equal(first);
  });

  it('never gives a buffer to two when it is released twice', () => {
    const pool = new BufferPool({ debug: false });
    const buffer = pool.acquire();
    pool.release(buffer);
    pool.release(buffer);
    expect(pool.acquire()).to.equal(buffer);
    expect(pool.acquire()).to.not.equal(buffer);
  });

  it('keeps a bounded number', () => {
    const pool = new BufferPool({ debug: false });
    const buffers = Array.from({ length: 260 }, () => pool.acquire());
    for (const buffer of buffers) pool.release(buffer);
    const again = new Set(Array.from({ length: 260 }, () => pool.acquire()));
    expect(buffers.filter((buffer) => again.has(buffer))).to.have.length(256);
  });

  it('in debug mode spoils what is released and finds late writes and double releases', () => {
    const pool = new BufferPool({ debug: true });
    const buffer = pool.acquire();
    buffer.full.fill(1);
    pool.release(buffer);
    expect(buffer.full.every((byte) => byte === 0xdb)).to.equal(true);
    expect(() => {
      pool.release(buffer);
    }).to.throw('released twice');
    buffer.full[5] = 1;
    expect(() => pool.acquire()).to.throw('written to after its release');
  });

  it('takes debug mode from the environment', () => {
    expect(debugBuffers({})).to.equal(false);
    expect(debugBuffers({ TRICKSTER_DEBUG_BUFFERS: '1' })).to.equal(true);
  });
});
