import { expect } from 'chai';
import { TestScheduler, type RunHelpers } from 'rxjs/testing';

/** Runs a test in virtual time; frames are milliseconds. */
export function marbles(
  body: (helpers: RunHelpers & { readonly scheduler: TestScheduler }) => void,
): () => void {
  return () => {
    const scheduler = new TestScheduler((actual, expected) => {
      expect(actual).to.deep.equal(expected);
    });
    scheduler.run((helpers) => {
      body({ ...helpers, scheduler });
    });
  };
}
