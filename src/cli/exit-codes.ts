import { OperatorError } from '../util/errors.js';

/** What a command says with its exit status. */
export const EXIT = {
  fine: 0,
  /** The input is at fault: objects, files, the configuration file. */
  input: 1,
  /** Wrong use of the command. */
  usage: 2,
  /** The environment is at fault: a port is taken, the API server cannot be reached. */
  environment: 3,
} as const;

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof OperatorError)) return EXIT.environment;
  switch (error.code) {
    case 'ERR_CONFIG_INVALID':
    case 'ERR_CONFIG_REJECTED':
      return EXIT.input;
    case 'ERR_USAGE':
      return EXIT.usage;
    default:
      return EXIT.environment;
  }
}
