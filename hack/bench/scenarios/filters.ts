import { wrk } from '../load/wrk.js';
import type { Lane, Scenario } from '../scenario.js';

const lane = (name: string, path: string): Lane => ({
  name,
  contender: 'trickster',
  load: ({ http }, seconds) =>
    wrk({ url: `http://127.0.0.1:${http}${path}`, connections: 64, seconds, headers: ['X-Bench: yes'] }),
});

/** What a header match, header modifiers of request and response and a retry rule cost. */
export const filters: Scenario = {
  name: 'filters',
  title: 'header match + modifiers + retry rule against none, 1 KB h1→h1',
  measure: 'cpu',
  traffic: 'http',
  lanes: [lane('trickster', '/1k'), lane('trickster with filters', '/filtered/1k')],
  subject: 'trickster with filters',
  targets: [],
  surcharge: { over: 'trickster', micros: 1.5 },
};
