import { expect } from 'chai';
import fc from 'fast-check';
import { CacheHarness } from '../../../support/engine/cache-harness.js';
import type { FakeExchange } from '../../../support/engine/fake-exchange.js';

const PATHS = ['/a', '/a?x', '/b'];
const LANGUAGES = ['en', 'de'];

interface AskStep {
  readonly do: 'ask';
  readonly path: string;
  readonly language: string;
  readonly condition: boolean;
}

type Step =
  | AskStep
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'change'; readonly path: string }
  | { readonly do: 'write'; readonly path: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      path: fc.constantFrom(...PATHS),
      language: fc.constantFrom(...LANGUAGES),
      condition: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 4_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.oneof(
      fc.record({ do: fc.constant('change' as const), path: fc.constantFrom(...PATHS) }),
      fc.record({ do: fc.constant('write' as const), path: fc.constantFrom(...PATHS) }),
    ),
  },
);

interface Version {
  readonly number: number;
  /** When the next one took its place. */
  replacedAtMs: number;
}

/** An origin whose resources change; every answer names path, language and version. */
class Origin {
  readonly #versions = new Map<string, Version[]>();
  readonly cacheControl: string;

  constructor(cacheControl: string) {
    this.cacheControl = cacheControl;
  }

  of(path: string): Version[] {
    let versions = this.#versions.get(path);
    if (!versions) this.#versions.set(path, (versions = [{ number: 0, replacedAtMs: Infinity }]));
    return versions;
  }

  change(path: string, nowMs: number): void {
    const versions = this.of(path);
    versions.at(-1)!.replacedAtMs = nowMs;
    versions.push({ number: versions.length, replacedAtMs: Infinity });
  }

  answer(harness: CacheHarness): void {
    while (harness.pending.length > 0) {
      const { asked } = harness.pending[0]!;
      const body = `${asked.path} ${asked.fields.get('accept-language') ?? ''} ${String(this.of(asked.path).at(-1)!.number)}`;
      const etag = `"${body}"`;
      const headers = { 'cache-control': this.cacheControl, etag, vary: 'Accept-Language' };
      const isCurrent = asked.fields.get('if-none-match') === etag;
      harness.reply(isCurrent ? { status: 304, headers } : { headers, body });
    }
  }
}

describe('ObjectCache against a model', () => {
  const policies: readonly (readonly [cacheControl: string, staleMs: number])[] = [
    ['max-age=3', 3_000],
    ['no-cache', 0],
    ['s-maxage=2, max-age=9', 2_000],
    ['max-age=1, stale-while-revalidate=3', 4_000],
    ['no-store', 0],
  ];
  for (const [cacheControl, staleMs] of policies) {
    it(`'${cacheControl}': answers are the right resource and never older than allowed`, () => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
          const harness = new CacheHarness();
          const origin = new Origin(cacheControl);
          const written = new Map<string, number>();
          for (const each of steps) {
            if (each.do === 'pass') harness.pass(each.ms);
            else if (each.do === 'change') origin.change(each.path, harness.nowMs);
            else if (each.do === 'write') {
              origin.change(each.path, harness.nowMs);
              written.set(each.path, origin.of(each.path).at(-1)!.number);
              harness.send({ method: 'POST', target: each.path });
              harness.reply({ status: 204 });
            } else ask(each);
          }

          function ask({ path, language, condition }: AskStep): void {
            const known = `"${path} ${language} ${String(origin.of(path).at(-1)!.number)}"`;
            const headers = { 'accept-language': language, ...(condition && { 'if-none-match': known }) };
            const exchange = harness.send({ target: path, headers });
            origin.answer(harness);
            expect(exchange.ended, 'an answer').to.equal(true);
            check(exchange, path, language);
          }

          function check(exchange: FakeExchange, path: string, language: string): void {
            const text = exchange.status === 304 ? exchange.sent['etag']!.slice(1, -1) : exchange.body;
            const [servedPath, servedLanguage, number] = text.split(' ');
            expect([servedPath, servedLanguage]).to.deep.equal([path, language]);
            const version = origin.of(path)[Number(number)]!;
            expect(version.number, 'not from before a write').to.be.at.least(written.get(path) ?? 0);
            expect(harness.nowMs - version.replacedAtMs, 'not too old').to.be.below(staleMs + 1);
          }
        }),
        { numRuns: 150 },
      );
    });
  }
});
