import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A directory of a test's own; `remove` it afterwards. */
export class TemporaryDirectory {
  readonly path = mkdtempSync(join(tmpdir(), 'trickster-gateway-'));

  at(name: string): string {
    return join(this.path, name);
  }

  write(name: string, text: string): string {
    const path = this.at(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  remove(name = ''): void {
    rmSync(this.at(name), { recursive: true, force: true });
  }
}
