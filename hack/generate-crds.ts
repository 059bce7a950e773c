import { writeFileSync } from 'node:fs';

import { customResourceDefinitions } from './crds/custom-resource-definitions.js';

/** Writes the CRDs of our own kinds, from their schemas in src/apis, to crds/. */
for (const [name, text] of customResourceDefinitions())
  writeFileSync(new URL(`../crds/${name}`, import.meta.url), text);
