/** Prints one result; answers whether it is within its limit. */
export function reportLine(name: string, value: number, unit: string, limit?: number): boolean {
  const isWithin = limit === undefined || value <= limit;
  const bound = limit === undefined ? '' : `, at most ${limit}`;
  console.log(`${isWithin ? 'ok  ' : 'FAIL'} ${name}: ${round(value)} ${unit}${bound}`);
  return isWithin;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
