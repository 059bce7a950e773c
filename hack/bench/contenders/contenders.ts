import type { ContenderName, StartContender } from './contender.js';
import { startEnvoy } from './envoy.js';
import { startHaproxy } from './haproxy.js';
import { startNginx } from './nginx.js';
import { startBaseline, startTrickster } from './trickster.js';
import { startVarnish } from './varnish.js';

export const CONTENDERS: Readonly<Record<ContenderName, StartContender>> = {
  trickster: startTrickster,
  baseline: startBaseline,
  nginx: startNginx,
  haproxy: startHaproxy,
  varnish: startVarnish,
  envoy: startEnvoy,
};
