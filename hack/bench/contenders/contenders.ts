import type { ContenderName, StartContender } from './contender.js';
import { startEnvoy } from './envoy.js';
import { startHaproxy } from './haproxy.js';
import { startNginx } from './nginx.js';
import { startTrickster } from './trickster.js';
import { startVarnish } from './varnish.js';

export const CONTENDERS: Readonly<Record<ContenderName, StartContender>> = {
  trickster: startTrickster,
  nginx: startNginx,
  haproxy: startHaproxy,
  varnish: startVarnish,
  envoy: startEnvoy,
};
