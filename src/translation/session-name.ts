/** The name of a session nobody named. Sessions are per rule and not shared, so each rule has its own (GEP-1619). */
export function sessionName(rule: string, type: 'Cookie' | 'Header'): string {
  const id = hash(rule).toString(16).padStart(8, '0');
  return type === 'Header' ? `X-Trickster-Session-${id}` : `trickster_session_${id}`;
}

/** FNV-1a, 32 bit: short and the same everywhere; it need not be secure. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
