import { stringify } from 'yaml';

import { readOptions } from '../app/read-options.js';
import { translateSnapshot } from '../app/translate-files.js';
import { formatProblem } from '../files/file-problem.js';
import { readFiles } from '../files/file-source.js';
import { OperatorError } from '../util/errors.js';
import { addMissingResources } from './missing-resources.js';

export interface TranslateOptions {
  readonly output?: string;
  readonly config?: string;
  readonly addMissingResources?: boolean;
}

/**
 * `trickster-gateway translate`: what would be served and said for some files. The same for any order of the files.
 * `problems` are those of the files; what could be read is translated all the same.
 */
export function translateCommand(
  paths: readonly string[],
  options: TranslateOptions,
): { readonly text: string; readonly problems: readonly string[] } {
  const { cluster, problems } = readFiles(paths);
  const completed = options.addMissingResources === true ? addMissingResources(cluster) : cluster;
  const { configuration, statuses, events } = translateSnapshot(readOptions(options.config), completed);
  return {
    text: print({ configuration, statuses, events }, options.output ?? 'yaml'),
    problems: problems.map(formatProblem),
  };
}

function print(value: object, output: string): string {
  // Through JSON first: that is where private keys become "redacted".
  const plain: unknown = JSON.parse(JSON.stringify(value));
  switch (output) {
    case 'json':
      return `${JSON.stringify(plain, undefined, 2)}\n`;
    case 'yaml':
      return stringify(plain, { aliasDuplicateObjects: false });
    default:
      throw new OperatorError('ERR_USAGE', `output ${output} is not one of yaml, json`);
  }
}
