/** Resolves when a condition holds; fails with a text when it does not within five seconds. */
export async function untilTrue(condition: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`${what} did not happen in time`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
