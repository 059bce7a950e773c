import type { Secret } from '../apis/core/secret.js';
import type { CertificateNode } from './certificate.js';
import type { Libraries } from './libraries.js';
import type { GraphLookup } from './rows.js';
import type { GraphSettings } from './settings.js';

/** What every computation of the graph may use besides objects. The same object for all passes. */
export interface GraphContext {
  readonly settings: GraphSettings;
  readonly libraries: Libraries;
  /** What a Secret holds; `key` is its `namespace/name`, and the Secret may be missing. */
  readonly certificateOf: (key: string, secret: Secret | undefined) => CertificateNode;
}

/** The context with the lookup of one computation. */
export interface Scope extends GraphContext {
  readonly lookup: GraphLookup;
}
