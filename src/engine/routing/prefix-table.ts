/** A prefix that was found, with the next shorter one that matches as well. */
interface FoundPrefix<T> {
  readonly value: T;
  readonly shorter: FoundPrefix<T> | undefined;
}

/** Up to so many prefixes are compared one by one: fewer memory accesses than a trie, and most hosts have a few. */
const MOST_COMPARED = 8;

/**
 * Values by path prefix, element by element: `/abc` matches `/abc`, `/abc/` and `/abc/d`, not `/abcd`.
 * Immutable once built.
 */
export class PrefixTable<T> {
  /** Longest first. */
  readonly #prefixes: readonly string[] = [];
  /** Parallel to the prefixes. */
  readonly #found: readonly FoundPrefix<T>[] = [];
  readonly #trie: Node<T> | undefined;

  /** Prefixes without a trailing slash, each once; `''` is every path. */
  constructor(entries: ReadonlyMap<string, T>) {
    // Shorter ones first, so that each finds what is above it.
    const sorted = [...entries].sort(([a], [b]) => a.length - b.length);
    if (sorted.length > MOST_COMPARED) {
      this.#trie = buildTrie(sorted);
    } else {
      this.#prefixes = sorted.map(([prefix]) => prefix).reverse();
      this.#found = chain(sorted);
    }
  }

  longest(path: string): FoundPrefix<T> | undefined {
    if (path.charCodeAt(0) !== SLASH) return undefined;
    if (this.#trie) return longestInTrie(this.#trie, path);
    for (let i = 0; i < this.#prefixes.length; i++) {
      if (isPrefix(this.#prefixes[i] ?? '', path)) return this.#found[i];
    }
    return undefined;
  }
}

const SLASH = 47;

/** Longest first. */
function chain<T>(shorterFirst: readonly (readonly [string, T])[]): readonly FoundPrefix<T>[] {
  const found: FoundPrefix<T>[] = [];
  for (const [prefix, value] of shorterFirst) {
    const above = shorterFirst.slice(0, found.length).findLastIndex(([shorter]) => isPrefix(shorter, prefix));
    found.push({ value, shorter: found[above] });
  }
  return found.reverse();
}

function isPrefix(prefix: string, path: string): boolean {
  return (
    path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === SLASH)
  );
}

interface Node<T> {
  /** The longest prefix at or above this node. */
  found: FoundPrefix<T> | undefined;
  readonly children: Map<string, Node<T>>;
}

function buildTrie<T>(shorterFirst: readonly (readonly [string, T])[]): Node<T> {
  const root: Node<T> = { found: undefined, children: new Map() };
  for (const [prefix, value] of shorterFirst) {
    const node = nodeOf(root, prefix);
    node.found = { value, shorter: node.found };
  }
  return root;
}

function nodeOf<T>(root: Node<T>, prefix: string): Node<T> {
  let node = root;
  for (const element of prefix.split('/').slice(1)) {
    let child = node.children.get(element);
    if (!child) {
      child = { found: node.found, children: new Map() };
      node.children.set(element, child);
    }
    node = child;
  }
  return node;
}

/** One map access for each element that some prefix shares with the path. */
function longestInTrie<T>(root: Node<T>, path: string): FoundPrefix<T> | undefined {
  let node = root;
  for (let start = 1; start <= path.length;) {
    const slash = path.indexOf('/', start);
    const end = slash < 0 ? path.length : slash;
    const child = node.children.get(path.slice(start, end));
    if (!child) break;
    node = child;
    start = end + 1;
  }
  return node.found;
}
