import { readdirSync, readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import { dirname, extname, join, normalize } from 'node:path';

import { messageOf } from '../util/errors.js';
import { shareStructure } from '../util/share-structure.js';
import { joinDocuments, unreadableFile, type FileReading, type PlacedDocument } from './file-reading.js';
import { readDocument, type DocumentReading } from './read-document.js';
import { splitDocuments } from './split-documents.js';

export interface ReaderOptions {
  /** Called before a directory is listed: what changes from then on must be noticed. */
  readonly onDirectory?: (directory: string) => void;
  /** Ms since 1970. */
  readonly now?: () => number;
  /** For how long an emptied or vanished file is believed to be in the middle of being written. */
  readonly graceMs?: number;
}

/** What lies under some paths. The same map while nothing has changed. */
export interface Contents {
  readonly files: ReadonlyMap<string, FileReading>;
  readonly directories: ReadonlySet<string>;
  /** A root that is not there. What was read under it before is still in `files`. */
  readonly missing: boolean;
  /** Files to look at again soon: they have been emptied, or are gone. */
  readonly unsettled: readonly string[];
}

interface KnownFile {
  /** Changes when the file was written or replaced. */
  readonly stamp: string;
  readonly reading: FileReading;
  readonly documents: readonly PlacedDocument[];
  readonly byText: ReadonlyMap<string, DocumentReading>;
  /** Since when it has been empty or gone; its last reading still stands. */
  readonly leavingSince?: number;
}

const NOTHING_KNOWN = { stamp: '', documents: [], byText: new Map<string, DocumentReading>() };

const EXTENSIONS = new Set(['.yaml', '.yml', '.json']);

/**
 * Reads the YAML and JSON files under some paths again and again, each document only when its text changed. It
 * blocks: for thousands of small files that is ten times cheaper, and the threads that serve requests are others.
 */
export class FileReader {
  readonly #roots: readonly string[];
  readonly #options: Required<ReaderOptions>;
  #known: ReadonlyMap<string, KnownFile> = new Map();
  #contents: Contents = { files: new Map(), directories: new Set(), missing: false, unsettled: [] };

  constructor(roots: readonly string[], options: ReaderOptions = {}) {
    this.#roots = roots.map((root) => normalize(root));
    this.#options = { onDirectory: () => undefined, now: Date.now, graceMs: 250, ...options };
  }

  /** `hints` are paths that may have changed; with one that is no known file, everything is looked at. */
  read(hints: readonly (string | undefined)[] = [undefined]): Contents {
    const paths = hints.flatMap((hint) => (hint !== undefined && this.#known.has(hint) ? [hint] : []));
    const walk = paths.length < hints.length ? this.#walk() : undefined;
    // Under a root that is missing everything stays as it was.
    const next = new Map(walk?.missing === false ? [] : this.#known);
    for (const file of walk?.files ?? paths) {
      const known = this.#readFile(file, paths.includes(file)) ?? this.#leaving(file);
      if (known) next.set(file, known);
      else next.delete(file);
    }
    if (walk) this.#keepLeaving(next);
    return this.#settle(next, walk);
  }

  /** The files that were not found any more. */
  #keepLeaving(next: Map<string, KnownFile>): void {
    for (const file of this.#known.keys()) {
      const known = next.has(file) ? undefined : this.#leaving(file);
      if (known) next.set(file, known);
    }
  }

  #settle(next: ReadonlyMap<string, KnownFile>, walk: Walk | undefined): Contents {
    const { directories, missing: wasMissing } = this.#contents;
    const missing = walk?.missing ?? wasMissing;
    const changed =
      missing !== wasMissing ||
      next.size !== this.#known.size ||
      [...next].some(([file, { reading }]) => this.#known.get(file)?.reading !== reading);
    this.#known = next;
    this.#contents = {
      files: changed ? this.#readings(walk?.absent ?? []) : this.#contents.files,
      directories: walk?.directories ?? directories,
      missing,
      unsettled: [...next].flatMap(([file, { leavingSince }]) => (leavingSince === undefined ? [] : [file])),
    };
    return this.#contents;
  }

  #readings(absent: readonly string[]): ReadonlyMap<string, FileReading> {
    const readings = new Map<string, FileReading>();
    for (const [file, { reading }] of this.#known) readings.set(file, reading);
    for (const root of absent)
      readings.set(root, unreadableFile(root, 'does not exist: create it or correct the path'));
    return readings;
  }

  #walk(): Walk {
    const walk: Walk = { files: [], directories: new Set(), seen: new Set(), absent: [], missing: false };
    for (const root of this.#roots) {
      const stats = statOf(root);
      if (stats?.isFile()) {
        this.#options.onDirectory(dirname(root));
        walk.directories.add(dirname(root));
        walk.files.push(root);
      } else if (stats?.isDirectory()) this.#list(root, walk);
      else {
        walk.missing = true;
        walk.absent.push(root);
      }
    }
    return walk;
  }

  #list(directory: string, walk: Walk): void {
    // A link to a directory above would never end.
    const real = realPathOf(directory);
    if (real === undefined || walk.seen.has(real)) return;
    walk.seen.add(real);
    walk.directories.add(directory);
    this.#options.onDirectory(directory);
    for (const name of namesIn(directory)) {
      if (name.startsWith('.') || name === 'node_modules') continue;
      const path = join(directory, name);
      if (EXTENSIONS.has(extname(name).toLowerCase())) walk.files.push(path);
      else if (extname(name) === '' && statOf(path)?.isDirectory()) this.#list(path, walk);
    }
  }

  /** Undefined when there is no such file. */
  #readFile(file: string, isHinted: boolean): KnownFile | undefined {
    const known = this.#known.get(file);
    const stats = statOf(file);
    if (!stats?.isFile()) return undefined;
    const stamp = [stats.mtimeMs, stats.ctimeMs, stats.size, stats.ino].join(' ');
    if (known?.stamp === stamp && !isHinted && known.leavingSince === undefined) return known;
    try {
      return this.#interpret(file, stamp, known);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      const reading = unreadableFile(file, `cannot be read: ${messageOf(error)}`);
      return { ...NOTHING_KNOWN, reading: shareStructure(known?.reading, reading) };
    }
  }

  #interpret(file: string, stamp: string, known: KnownFile | undefined): KnownFile {
    const text = readFileSync(file, 'utf8');
    const leaving = text === '' ? this.#leavingOf(known) : undefined;
    if (leaving) return leaving;
    const byText = new Map<string, DocumentReading>();
    const documents = splitDocuments(text).map(({ text: part, firstLine }): PlacedDocument => {
      const reading = byText.get(part) ?? known?.byText.get(part) ?? readDocument(part);
      byText.set(part, reading);
      return { firstLine, reading };
    });
    const same = known?.leavingSince === undefined && known && isSame(known.documents, documents);
    const reading = same ? known.reading : joinDocuments(file, documents, known?.reading.objects);
    return { stamp, documents, byText, reading };
  }

  #leaving(file: string): KnownFile | undefined {
    return this.#leavingOf(this.#known.get(file));
  }

  /**
   * Writing a file in place empties it first, and editors put a new file where they have taken the old one away: to
   * take that for the removal of its objects would lose requests. Undefined when it is time to believe it.
   */
  #leavingOf(known: KnownFile | undefined): KnownFile | undefined {
    if (!known || known.reading.objects.length === 0) return undefined;
    const leavingSince = known.leavingSince ?? this.#options.now();
    if (this.#options.now() - leavingSince >= this.#options.graceMs) return undefined;
    const reading = known.reading.leaving ? known.reading : { ...known.reading, leaving: true };
    return { ...known, stamp: '', reading, leavingSince };
  }
}

interface Walk {
  readonly files: string[];
  readonly directories: Set<string>;
  /** Real paths of directories. */
  readonly seen: Set<string>;
  readonly absent: string[];
  missing: boolean;
}

function isSame(a: readonly PlacedDocument[], b: readonly PlacedDocument[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ firstLine, reading }, index) => {
      const other = b[index];
      return firstLine === other?.firstLine && reading === other.reading;
    })
  );
}

/** Of what a link leads to; undefined when there is nothing or it may not be seen. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Undefined for a directory that has gone meanwhile. */
function realPathOf(directory: string): string | undefined {
  try {
    return realpathSync(directory);
  } catch {
    return undefined;
  }
}

/** Empty for a directory that is gone or not ours to read. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
