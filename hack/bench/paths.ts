import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '../..');
export const BUILD = path.join(ROOT, 'build/bench');
/** Our own origins and loads, compiled. */
export const BINARIES = path.join(BUILD, 'bin');
export const ENVOY = path.join(BUILD, 'envoy/envoy/_bin/envoy');
