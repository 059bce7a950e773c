import { handshakes } from '../load/handshakes.js';
import { lanes, type Scenario } from '../scenario.js';

const common = { measure: 'cpu', traffic: 'http' } as const;

export const tlsHandshakes: readonly Scenario[] = [
  {
    ...common,
    name: 'tls-handshake-full',
    title: 'full TLS 1.3 handshakes (ECDSA P-256)',
    lanes: lanes(['trickster', 'nginx', 'haproxy', 'envoy'], ({ https }, seconds) =>
      handshakes('full', https, seconds),
    ),
    targets: [{ against: 'nginx', must: 0.85, stretch: 0.95 }],
  },
  {
    ...common,
    name: 'tls-handshake-resumed',
    title: 'resumed TLS 1.2 handshakes',
    lanes: lanes(['trickster', 'nginx', 'haproxy', 'envoy'], ({ https }, seconds) =>
      handshakes('resumed', https, seconds),
    ),
    targets: [{ against: 'nginx', must: 0.7, stretch: 0.95 }],
  },
];
