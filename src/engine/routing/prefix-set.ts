/** Up to so many prefixes are compared one by one: fewer memory accesses than a trie, and most hosts have a few. */
const MOST_COMPARED = 8;

/** Position of a prefix that is not there. */
const NONE = -1;

/**
 * Path prefixes, which match element by element: `/abc` matches `/abc`, `/abc/` and `/abc/d`, not `/abcd`. They are
 * named by position; what one leads to is its user's, so that virtual hosts with equal prefixes can share a set.
 * Immutable once built.
 */
export class PrefixSet {
  /** Longest first. */
  readonly #prefixes: readonly string[];
  /** Parallel to the prefixes. */
  readonly #shorter: readonly number[];
  /** Absent when the prefixes are compared. */
  readonly #trie: Node | undefined;

  /** Prefixes without a trailing slash, each once, longest first; `''` is every path. */
  constructor(prefixes: readonly string[]) {
    const { root, shorter } = buildTrie(prefixes);
    this.#prefixes = prefixes;
    this.#shorter = shorter;
    this.#trie = prefixes.length > MOST_COMPARED ? root : undefined;
  }

  longest(path: string): number {
    if (path.charCodeAt(0) !== SLASH) return NONE;
    if (this.#trie) return longestInTrie(this.#trie, path);
    for (let i = 0; i < this.#prefixes.length; i++) if (isPrefix(this.#prefixes[i] ?? '', path)) return i;
    return NONE;
  }

  /** The next shorter one that matches whatever the one at the position matches. */
  shorter(position: number): number {
    return this.#shorter[position] ?? NONE;
  }
}

const MOST_KEPT = 1024;

/**
 * Gives equal prefixes the same set: what thousands of virtual hosts share stays in the processor's cache. It forgets
 * when there are many, which costs memory and nothing else.
 */
export class PrefixSets {
  readonly #kept = new Map<string, PrefixSet>();

  /** Prefixes as {@link PrefixSet} takes them. */
  of(prefixes: readonly string[]): PrefixSet {
    const key = JSON.stringify(prefixes);
    let set = this.#kept.get(key);
    if (!set) {
      if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
      set = new PrefixSet(prefixes);
      this.#kept.set(key, set);
    }
    return set;
  }
}

const SLASH = 47;

function isPrefix(prefix: string, path: string): boolean {
  return (
    path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === SLASH)
  );
}

interface Node {
  /** The longest prefix at or above this node. */
  found: number;
  readonly children: Map<string, Node>;
}

function buildTrie(longestFirst: readonly string[]): { root: Node; shorter: readonly number[] } {
  const root: Node = { found: NONE, children: new Map() };
  const shorter = longestFirst.map(() => NONE);
  // Shorter ones first, so that each finds what is above it.
  for (const [position, prefix] of [...longestFirst.entries()].reverse()) {
    const node = nodeOf(root, prefix);
    shorter[position] = node.found;
    node.found = position;
  }
  return { root, shorter };
}

function nodeOf(root: Node, prefix: string): Node {
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
function longestInTrie(root: Node, path: string): number {
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
