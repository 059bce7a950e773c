import { inspect } from 'node:util';

/** Holds secret text. Every way of printing it says `redacted`; only {@link SecretBytes.reveal} gives it away. */
export class SecretBytes {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  equals(other: SecretBytes): boolean {
    return this.#text === other.#text;
  }

  toString(): string {
    return 'redacted';
  }

  toJSON(): string {
    return 'redacted';
  }

  [inspect.custom](): string {
    return 'redacted';
  }
}
