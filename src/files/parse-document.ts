import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type Document,
  type Node,
} from 'yaml';

/** A document as YAML reads it. */
export interface ParsedDocument {
  readonly value: unknown;
  /** Why it is no YAML, with the line from 1 within the document's text. */
  readonly errors: readonly { readonly line: number; readonly message: string }[];
  /** Line from 1, within the document's text, of the field that a path leads to or of the nearest before it. */
  readonly lineOf: (path: string) => number;
}

/**
 * Keys are texts, as in JSON. No message shows a piece of the text, and none is written to the console by the
 * library: it may be of a Secret.
 */
const OPTIONS = { merge: true, stringKeys: true, prettyErrors: false, logLevel: 'error' } as const;

/** Reads the YAML (or JSON) documents in a text. Documents without content are left out. */
export function parseDocuments(text: string): readonly ParsedDocument[] {
  const { documents, lines } = parseTree(text);
  const places = new Places(text);
  return documents.map((document, index) => ({
    ...contentOf(document, lines),
    lineOf: places.ofDocument(index),
  }));
}

/** A text as the library reads it. */
interface Tree {
  readonly documents: readonly Document.Parsed[];
  readonly lines: LineCounter;
}

function parseTree(text: string): Tree {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { ...OPTIONS, lineCounter: lines });
  if (!Array.isArray(documents)) return { documents: [], lines };
  const present = documents.filter(({ contents, errors }) => !isEmpty(contents) || errors.length > 0);
  return { documents: present, lines };
}

/**
 * Finds lines. A tree is many times as large as its text and hardly ever asked: it is made again for who asks, and
 * stays while there is memory. (A reference to the first one, even a weak one, would keep those of all files until all
 * of them are read.)
 */
class Places {
  readonly #text: string;
  #tree: WeakRef<Tree> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Refers to nothing but this: a closure made where the tree is at hand would keep it. */
  ofDocument(index: number): (path: string) => number {
    return (path) => this.#lineOf(index, path);
  }

  #lineOf(index: number, path: string): number {
    const { documents, lines } = this.#remember();
    const document = documents[index];
    return document ? lines.linePos(offsetOf(document, path)).line : 1;
  }

  #remember(): Tree {
    const known = this.#tree?.deref();
    if (known) return known;
    const tree = parseTree(this.#text);
    this.#tree = new WeakRef(tree);
    return tree;
  }
}

/** Nothing, or nothing between two `---`. */
function isEmpty(contents: Document.Parsed['contents']): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}

function contentOf(document: Document.Parsed, lines: LineCounter): Pick<ParsedDocument, 'value' | 'errors'> {
  const errors = document.errors.map(({ pos, message }) => ({
    line: lines.linePos(pos[0]).line,
    message: withoutSource(message),
  }));
  return errors.length > 0 ? { value: undefined, errors } : valueOf(document, lines);
}

/** The library quotes what it did not expect, and that may be of a Secret. */
function withoutSource(message: string): string {
  return message.replace(/(: | ")[^]*$/, '');
}

/** Aliases may multiply (the "billion laughs"): the library bounds them by throwing. */
function valueOf(document: Document.Parsed, lines: LineCounter): Pick<ParsedDocument, 'value' | 'errors'> {
  try {
    const value: unknown = document.toJS();
    return { value, errors: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { value: undefined, errors: [{ line: lines.linePos(document.range[0]).line, message }] };
  }
}

/** Where the last part of the path that is there begins: the key for a field, the element for an index. */
function offsetOf(document: Document.Parsed, path: string): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range[0] ?? document.range[0];
  for (const segment of segmentsOf(path)) {
    if (isAlias(node)) node = node.resolve(document);
    const step = isSeq(node)
      ? element(node.items, segment)
      : isMap(node)
        ? field(node.items, segment)
        : undefined;
    if (step === undefined) break;
    [offset, node] = [step.offset ?? offset, step.node];
  }
  return offset;
}

interface Step {
  readonly offset: number | undefined;
  readonly node: unknown;
}

function element(items: readonly unknown[], segment: string | number): Step | undefined {
  const node = items[Number(segment)];
  return node === undefined ? undefined : { offset: startOf(node), node };
}

function field(
  items: readonly { readonly key: unknown; readonly value: unknown }[],
  segment: string | number,
): Step | undefined {
  const pair = items.find(({ key }) => isScalar(key) && String(key.value) === String(segment));
  return pair && { offset: startOf(pair.key), node: pair.value };
}

function startOf(node: unknown): number | undefined {
  return hasRange(node) ? node.range?.[0] : undefined;
}

function hasRange(node: unknown): node is Pick<Node, 'range'> {
  return typeof node === 'object' && node !== null && 'range' in node;
}

/** `spec.rules[0]["a/b"]` → spec, rules, 0, a/b. */
function segmentsOf(path: string): readonly (string | number)[] {
  const parts = path.matchAll(/([A-Za-z_$][\w$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g);
  return [...parts].map(([, name, index, quoted]) => {
    if (name !== undefined) return name;
    return index === undefined ? unquote(quoted ?? '""') : Number(index);
  });
}

function unquote(quoted: string): string {
  const text: unknown = JSON.parse(quoted);
  return typeof text === 'string' ? text : '';
}
