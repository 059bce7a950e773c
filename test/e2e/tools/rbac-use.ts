/**
 * rbac-use AUDIT-LOG NAMESPACE SERVICE-ACCOUNT: compares what a service account asked for with what its roles
 * allow. Exits 1 when a request was refused, or when something is allowed that was never asked for.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly requestURI: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly apiGroup?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Binding {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly {
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
  }[];
}

const [log = '', namespace = '', account = ''] = process.argv.slice(2);

function kubectl(...args: string[]): unknown {
  return JSON.parse(
    execFileSync('kubectl', [...args, '-o', 'json'], { encoding: 'utf8', maxBuffer: 1 << 28 }),
  );
}

/** All rules that are bound to the service account. */
function boundRules(): Rule[] {
  const bindings = ['clusterrolebindings', 'rolebindings'].flatMap(
    (kind) => (kubectl('-n', namespace, 'get', kind) as { items: Binding[] }).items,
  );
  const ours = bindings.filter((binding) =>
    binding.subjects?.some(
      (s) => s.kind === 'ServiceAccount' && s.name === account && s.namespace === namespace,
    ),
  );
  return ours.flatMap(
    ({ roleRef }) =>
      (kubectl('-n', namespace, 'get', roleRef.kind.toLowerCase(), roleRef.name) as { rules: Rule[] }).rules,
  );
}

function requests(): AuditEvent[] {
  const user = `system:serviceaccount:${namespace}:${account}`;
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter((event) => event.user.username === user);
}

/** A server-side apply that makes the object needs both verbs, but is logged as one request. */
function signatures(event: AuditEvent): string[] {
  const creates = event.verb === 'patch' && event.responseStatus?.code === 201;
  return [event.verb, ...(creates ? ['create'] : [])].map((verb) => signature(verb, event));
}

/** Other reasons for 403 are admission's: nothing can be made in a namespace that goes away. */
function isForbidden(event: AuditEvent): boolean {
  return event.annotations?.['authorization.k8s.io/decision'] === 'forbid';
}

function signature(verb: string, event: AuditEvent): string {
  const { apiGroup = '', resource = '', subresource } = event.objectRef ?? {};
  return `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`} (${apiGroup || 'core'})`;
}

function allowed(rules: readonly Rule[]): Set<string> {
  const all = rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource} (${group || 'core'})`)),
    ),
  );
  return new Set(all);
}

const events = requests();
const refused = new Set(events.filter(isForbidden).flatMap(signatures));
const asked = new Set(events.flatMap(signatures));
const permitted = allowed(boundRules());
const unused = [...permitted].filter((entry) => !asked.has(entry));
console.log(`${events.length} requests of ${asked.size} kinds, ${permitted.size} kinds permitted`);
for (const entry of refused) console.log(`refused: ${entry}`);
for (const entry of unused) console.log(`never used: ${entry}`);
process.exitCode = events.length === 0 || refused.size > 0 || unused.length > 0 ? 1 : 0;
