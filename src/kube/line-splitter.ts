import { StringDecoder } from 'node:string_decoder';

/** Cuts a byte stream into lines; a character or a line may be spread over chunks. */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  readonly #maxLength: number;
  #rest = '';

  /** `maxLength` in characters: a longer line can be no API object and would only fill the memory. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Throws a RangeError when a line grows past the limit. */
  push(chunk: Buffer): readonly string[] {
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > this.#maxLength)
      throw new RangeError(`a line has more than ${this.#maxLength} characters`);
    return lines.filter((line) => line.trim() !== '');
  }

  /** What came after the last line end. */
  end(): readonly string[] {
    const rest = this.#rest + this.#decoder.end();
    this.#rest = '';
    return rest.trim() === '' ? [] : [rest];
  }
}
