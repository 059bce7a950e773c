import { expect } from 'chai';
import { Http1Lab, WIRES, type LabOptions } from './http1-lab.js';
import { RawOrigin, type OriginScript } from './raw-origin.js';

/** What a suite over the engine works with; everything is stopped behind each test. */
export interface LabSuite {
  readonly startLab: (options?: Omit<LabOptions, 'wire'>) => Promise<Http1Lab>;
  readonly start: (script: OriginScript) => Promise<RawOrigin>;
  readonly answering: (answer: Parameters<typeof RawOrigin.answering>[0]) => Promise<RawOrigin>;
}

/** Declares the suite once for each wire: the engine must not notice which it has. */
export function labSuite(title: string, define: (suite: LabSuite) => void): void {
  for (const { name, make } of WIRES) {
    describe(`${title} over the ${name} wire`, () => {
      const labs: Http1Lab[] = [];
      const origins: RawOrigin[] = [];
      const faults: unknown[] = [];

      afterEach(async () => {
        for (const lab of labs.splice(0)) await lab.stop();
        for (const origin of origins.splice(0)) await origin.stop();
        expect(faults.splice(0)).to.deep.equal([]);
      });

      const start = async (script: OriginScript): Promise<RawOrigin> => {
        const origin = await RawOrigin.start(script);
        origins.push(origin);
        return origin;
      };

      define({
        start,
        startLab: async (options = {}) => {
          const lab = await Http1Lab.start({ ...options, wire: make((fault) => faults.push(fault)) });
          labs.push(lab);
          return lab;
        },
        answering: (answer) =>
          start((connection) => {
            connection.onRequest((head, index) => {
              connection.send(answer(head, index, connection));
            });
          }),
      });
    });
  }
}
