import { messageOf, OperatorError } from '../util/errors.js';

/** The JSON that a running process answers at its management port. Rejects with ERR_ENVIRONMENT when none does. */
export async function askManagement(mgmt: string, path: string): Promise<unknown> {
  const url = new URL(path, mgmt);
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`it answered ${String(response.status)}: ${await response.text()}`);
    return await response.json();
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw new OperatorError(
      'ERR_ENVIRONMENT',
      `no running trickster-gateway answers at ${url.origin}: ${messageOf(cause)}`,
      { cause: error },
    );
  }
}
