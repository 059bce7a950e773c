import { isJsonObject, numberAt, textAt, type JsonObject } from './json.js';
import { refusal, WatchBrokenError } from './kube-api-error.js';

export type WatchEvent =
  | { readonly type: 'added' | 'modified' | 'deleted'; readonly object: JsonObject; readonly version: string }
  | { readonly type: 'bookmark'; readonly version: string };

const TYPES: Readonly<Record<string, WatchEvent['type']>> = {
  ADDED: 'added',
  MODIFIED: 'modified',
  DELETED: 'deleted',
  BOOKMARK: 'bookmark',
};

/**
 * Reads one line of a watch stream. Throws a WatchBrokenError for what is no event, and the refusal (410 when the
 * version is too old) for an ERROR event.
 */
export function parseWatchEvent(line: string): WatchEvent {
  const event = parse(line);
  const object = event['object'];
  if (event['type'] === 'ERROR') {
    const code = numberAt(object, 'code') ?? 0;
    if (code === 410) throw refusal('watch', code, object);
    throw new WatchBrokenError(
      'error-event',
      `the watch reported: ${textAt(object, 'message') ?? `code ${code}`}`,
    );
  }

  const type = TYPES[String(event['type'])];
  const version = textAt(object, 'metadata', 'resourceVersion');
  if (type === undefined || version === undefined || !isJsonObject(object)) {
    throw new WatchBrokenError('malformed', 'the watch sent a line that is no event');
  }
  return type === 'bookmark' ? { type, version } : { type, object, version };
}

function parse(line: string): JsonObject {
  try {
    const value: unknown = JSON.parse(line);
    if (isJsonObject(value)) return value;
  } catch {
    // Said below: the line itself may hold a secret and is not repeated.
  }
  throw new WatchBrokenError('malformed', 'the watch sent a line that is no JSON object');
}
