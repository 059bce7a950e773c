import { readFileSync } from 'node:fs';

/** The version in package.json, which lies two folders up from the sources and three from the built files. */
export function productVersion(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      const parsed: unknown = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
      if (typeof parsed === 'object' && parsed !== null && 'version' in parsed) return String(parsed.version);
    } catch {
      // the other place, then
    }
  }
  return 'unknown';
}
