import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { parseAllDocuments } from 'yaml';

/** An object as steps name it. */
export interface ObjectDocument {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [key: string]: unknown;
}

/** One command of a step. */
export interface CommandDocument {
  /** Shell text; it runs in the case's folder with the tools of test/e2e/tools on its path. */
  readonly run: string;
  /** Seconds; for a command that is retried, the time of all attempts together. */
  readonly timeout?: number;
  /** Try until it succeeds. */
  readonly retry?: boolean;
  /** Regular expressions that its output has to match. */
  readonly expect?: readonly string[];
  /** Regular expressions that its output must not match. */
  readonly reject?: readonly string[];
  /** Leaves the command running under this name; a later `stop` ends it and takes its verdict. */
  readonly background?: string;
}

export type Step = { readonly file: string; readonly timeout: number } & (
  | { readonly kind: 'apply'; readonly text: string }
  | { readonly kind: 'assert' | 'error'; readonly objects: readonly ObjectDocument[] }
  | { readonly kind: 'command'; readonly commands: readonly CommandDocument[] }
);

/** A folder of test/e2e/cases. */
export interface Case {
  readonly name: string;
  readonly folder: string;
  readonly files: readonly string[];
}

const stepFile = /^(\d\d)-(?:[\w-]+-)?(apply|assert|error|command)\.yaml$/;
const defaultTimeout = 60;

export async function readCases(folder: string, wanted: readonly string[]): Promise<Case[]> {
  const names = (await readdir(folder, { withFileTypes: true }))
    .filter((e) => e.isDirectory())
    .map((e) => e.name);
  const chosen = names.filter((name) => wanted.length === 0 || wanted.some((word) => name.includes(word)));
  return Promise.all(
    chosen.sort().map(async (name) => {
      const path = join(folder, name);
      return { name, folder: path, files: await readSteps(path) };
    }),
  );
}

/** The files of a folder that are steps, in their order. */
export async function readSteps(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => stepFile.test(file)).sort();
  return files.map((file) => join(folder, file));
}

/** Reads a step; `${NAME}` stands for a variable of the case. */
export async function readStep(path: string, variables: ReadonlyMap<string, string>): Promise<Step> {
  const file = basename(path);
  const kind = stepFile.exec(file)?.[2];
  const text = substitute(await readFile(path, 'utf8'), variables);
  const all = parseAllDocuments(text).map((document) => {
    if (document.errors[0]) throw new Error(`${file}: ${document.errors[0].message}`);
    return document.toJS() as Record<string, unknown> | null;
  });
  const documents = all.filter((document) => document !== null);
  const options = documents.find((document) => document['kind'] === 'TestAssert');
  const timeout = typeof options?.['timeout'] === 'number' ? options['timeout'] : defaultTimeout;
  switch (kind) {
    case 'apply':
      return { kind, file, timeout, text };
    case 'assert':
    case 'error':
      return {
        kind,
        file,
        timeout,
        objects: documents.filter((d) => d !== options) as unknown as ObjectDocument[],
      };
    default: {
      const commands = documents.flatMap((d) => (d['commands'] ?? []) as CommandDocument[]);
      return { kind: 'command', file, timeout, commands };
    }
  }
}

export function substitute(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\{([A-Z_]+)\}/g, (whole, name: string) => variables.get(name) ?? whole);
}
