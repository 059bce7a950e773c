/**
 * The Huffman code of RFC 7541 §5.2 and appendix B. The code is canonical: codes of equal length are consecutive
 * in the order of their symbols, so the lengths alone define it.
 */
const EOS = 256;
const LENGTHS = Uint8Array.from([
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28,
  28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7,
  8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19,
  13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13,
  28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21,
  22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23,
  22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
  19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25,
  25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
]);
const CODES = canonicalCodes();

/** A transition: next state in bits 0–8, symbol in bits 9–16, and flags. Four bits can complete at most one symbol. */
const EMITS = 1 << 17;
const FAILS = 1 << 18;
/** The input may end in this state: what follows the last symbol is at most 7 bits, all ones (§5.2). */
const ACCEPTS = 1 << 19;
const TRANSITIONS = buildTransitions();

function canonicalCodes(): Uint32Array {
  const symbols = [...LENGTHS.keys()].sort((a, b) => lengthOf(a) - lengthOf(b) || a - b);
  const codes = new Uint32Array(LENGTHS.length);
  let code = 0;
  let previous = 0;
  for (const symbol of symbols) {
    code *= 2 ** (lengthOf(symbol) - previous);
    previous = lengthOf(symbol);
    codes[symbol] = code;
    code++;
  }
  return codes;
}

function lengthOf(symbol: number): number {
  return LENGTHS[symbol] ?? 0;
}

/** The code's tree: children of node `n` at `[2n]` and `[2n + 1]`; `-1 - symbol` is a leaf, 0 is no child. */
function buildTree(): number[] {
  const tree = [0, 0];
  for (let symbol = 0; symbol <= EOS; symbol++) {
    const code = CODES[symbol] ?? 0;
    let node = 0;
    for (let bit = lengthOf(symbol) - 1; bit >= 0; bit--) {
      const slot = node * 2 + (Math.floor(code / 2 ** bit) & 1);
      if (bit === 0) tree[slot] = -1 - symbol;
      else if (tree[slot] === 0) {
        tree[slot] = tree.length / 2;
        tree.push(0, 0);
      }
      node = tree[slot] ?? 0;
    }
  }
  return tree;
}

function buildTransitions(): Uint32Array {
  const tree = buildTree();
  const accepting = new Set<number>();
  for (let node = 0, depth = 0; depth <= 7; depth++) {
    accepting.add(node);
    node = tree[node * 2 + 1] ?? 0;
  }
  const states = tree.length / 2;
  const transitions = new Uint32Array(states * 16);
  for (let state = 0; state < states; state++) {
    for (let nibble = 0; nibble < 16; nibble++)
      transitions[state * 16 + nibble] = step(tree, accepting, state, nibble);
  }
  return transitions;
}

function step(
  tree: readonly number[],
  accepting: ReadonlySet<number>,
  state: number,
  nibble: number,
): number {
  let node = state;
  let emitted = 0;
  for (let bit = 3; bit >= 0; bit--) {
    const next = tree[node * 2 + ((nibble >> bit) & 1)] ?? 0;
    if (next >= 0) node = next;
    else if (next === -1 - EOS) return FAILS;
    else {
      emitted = EMITS | ((-1 - next) << 9);
      node = 0;
    }
  }
  return node | emitted | (accepting.has(node) ? ACCEPTS : 0);
}

/**
 * Decodes `[start, end)` to the start of `target`, which must have room for 8/5 of the input.
 * @returns the number of bytes, or -1 when the input holds EOS or bad padding (RFC 7541 §5.2: a decoding error).
 */
export function decodeHuffman(source: Uint8Array, start: number, end: number, target: Uint8Array): number {
  let written = 0;
  let entry = ACCEPTS;
  for (let i = start; i < end; i++) {
    const byte = source[i] ?? 0;
    entry = TRANSITIONS[((entry & 0x1ff) << 4) | (byte >> 4)] ?? FAILS;
    if (entry & EMITS) target[written++] = entry >> 9;
    if (entry & FAILS) return -1;
    entry = TRANSITIONS[((entry & 0x1ff) << 4) | (byte & 15)] ?? FAILS;
    if (entry & EMITS) target[written++] = entry >> 9;
    if (entry & FAILS) return -1;
  }
  return entry & ACCEPTS ? written : -1;
}

/** Length of the bytes `[start, end)` when encoded. */
export function huffmanLength(source: Uint8Array, start: number, end: number): number {
  let bits = 0;
  for (let i = start; i < end; i++) bits += LENGTHS[source[i] ?? 0] ?? 0;
  return (bits + 7) >>> 3;
}

/** Encodes `[start, end)` into `target`, whose last length is known to be enough. @returns the offset after it. */
export function encodeHuffman(
  source: Uint8Array,
  start: number,
  end: number,
  { target, offset }: { readonly target: Uint8Array; readonly offset: number },
): number {
  let at = offset;
  // At most 7 bits wait between symbols and a code has at most 30: too many for one 32-bit word, hence two parts.
  let waiting = 0;
  let count = 0;
  for (let i = start; i < end; i++) {
    const symbol = source[i] ?? 0;
    let length = LENGTHS[symbol] ?? 0;
    const code = CODES[symbol] ?? 0;
    if (length > 16) {
      length -= 16;
      waiting = (waiting << length) | (code >>> 16);
      count += length;
      while (count >= 8) target[at++] = waiting >>> (count -= 8);
      waiting &= 0xff;
      length = 16;
    }
    waiting = (waiting << length) | (code & 0xffff & ((1 << length) - 1));
    count += length;
    while (count >= 8) target[at++] = waiting >>> (count -= 8);
    waiting &= 0xff;
  }
  if (count > 0) target[at++] = (waiting << (8 - count)) | (0xff >>> count);
  return at;
}
