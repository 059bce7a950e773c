import { readFileSync } from 'node:fs';

import { messageOf, OperatorError } from '../util/errors.js';
import { parseOptions } from './options/load-options.js';
import type { RawOptions } from './options/schema.js';

/** The configuration file, or the defaults without one. Throws ERR_CONFIG_INVALID. */
export function readOptions(file: string | undefined): RawOptions {
  if (file === undefined) return parseOptions('', 'the default configuration');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new OperatorError('ERR_CONFIG_INVALID', `${file} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return parseOptions(text, file);
}
