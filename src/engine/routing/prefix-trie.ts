/** A prefix that was found, with the next shorter one that matches as well. */
export interface FoundPrefix<T> {
  readonly value: T;
  readonly shorter: FoundPrefix<T> | undefined;
}

interface Node<T> {
  /** The longest prefix at or above this node. */
  found: FoundPrefix<T> | undefined;
  children: Map<string, Node<T>> | undefined;
}

/**
 * Values by path prefix, element by element: `/abc` matches `/abc`, `/abc/` and `/abc/d`, not `/abcd`.
 * A look-up costs one map access for each element that some prefix shares with the path. Immutable once built.
 */
export class PrefixTrie<T> {
  readonly #root: Node<T> = { found: undefined, children: undefined };

  /** Prefixes without a trailing slash, each once; `''` is every path. */
  constructor(entries: Iterable<readonly [prefix: string, value: T]>) {
    // Shorter ones first, so that a new node finds what is above it.
    for (const [prefix, value] of [...entries].sort(([a], [b]) => a.length - b.length)) {
      const node = this.#nodeOf(prefix);
      node.found = { value, shorter: node.found };
    }
  }

  longest(path: string): FoundPrefix<T> | undefined {
    if (path.charCodeAt(0) !== SLASH) return undefined;
    let node = this.#root;
    let start = 1;
    while (node.children && start <= path.length) {
      const end = elementEnd(path, start);
      const child = node.children.get(path.slice(start, end));
      if (!child) break;
      node = child;
      start = end + 1;
    }
    return node.found;
  }

  #nodeOf(prefix: string): Node<T> {
    let node = this.#root;
    for (let start = 1; start <= prefix.length;) {
      const end = elementEnd(prefix, start);
      const element = prefix.slice(start, end);
      node.children ??= new Map();
      let child = node.children.get(element);
      if (!child) {
        child = { found: node.found, children: undefined };
        node.children.set(element, child);
      }
      node = child;
      start = end + 1;
    }
    return node;
  }
}

const SLASH = 47;

function elementEnd(path: string, start: number): number {
  const slash = path.indexOf('/', start);
  return slash < 0 ? path.length : slash;
}
