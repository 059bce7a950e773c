import { pino } from 'pino';

import type { KubernetesObject } from '../../../src/apis/meta.js';
import type { Decode } from '../../../src/kube/object-store.js';
import { textAt } from '../../../src/kube/json.js';

/** An object with one field that is read; everything else of it is not. */
export interface Thing extends KubernetesObject {
  readonly colour: string;
}

/** As the API server would send it. `colour: ''` is an object that cannot be read. */
export function rawThing(name: string, version: string, colour = 'red', extra: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: version, ...extra },
    spec: { colour },
    status: { noise: version },
  };
}

export const decodeThing: Decode<Thing> = (raw) => {
  const colour = textAt(raw, 'spec', 'colour') ?? '';
  if (colour === '') return { problem: 'spec.colour must not be empty' };
  const name = textAt(raw, 'metadata', 'name') ?? '';
  const uid = textAt(raw, 'metadata', 'uid') ?? '';
  return { object: { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'ns', uid }, colour } };
};

/** `ns/a=red ns/b=blue`, sorted. */
export function printThings(things: ReadonlyMap<string, Thing>): string {
  return [...things]
    .map(([key, { colour }]) => `${key}=${colour}`)
    .sort()
    .join(' ');
}

export function line(type: string, object: object): string {
  return JSON.stringify({ type, object });
}

export function bookmark(version: string): string {
  return line('BOOKMARK', { kind: 'Service', metadata: { resourceVersion: version } });
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A logger that writes into a list. */
export function recordingLogger(lines: LogLine[] = []) {
  return pino(
    { level: 'debug', base: null },
    {
      write: (text: string) => {
        // What pino writes is what LogLine describes.
        lines.push(JSON.parse(text) as LogLine);
      },
    },
  );
}

export const silentLogger = pino({ level: 'silent' });
