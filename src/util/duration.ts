const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
  y: 365 * 86_400_000,
};

const COMPOUND = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d|w|y))+$/;
const PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d|w|y)/g;

/**
 * Milliseconds of a duration such as `1h30m`, `250ms` or `0s`: Trickster's format, of which GEP-2257's is a subset.
 * Undefined when it is none; a number without a unit is none.
 */
export function parseDuration(text: string): number | undefined {
  if (!COMPOUND.test(text)) return undefined;
  let total = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(PART))
    total += Number(amount) * (UNIT_MS[unit] ?? 0);
  return total;
}

/** The shortest text that {@link parseDuration} reads back; whole milliseconds. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds === 0) return '0s';
  let rest = milliseconds;
  let text = '';
  for (const unit of ['h', 'm', 's', 'ms']) {
    const size = UNIT_MS[unit] ?? 1;
    const amount = Math.floor(rest / size);
    if (amount > 0) text += `${String(amount)}${unit}`;
    rest -= amount * size;
  }
  return text;
}
