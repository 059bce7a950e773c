import { createWriteStream } from 'node:fs';
import { glob, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parseAllDocuments, stringify } from 'yaml';

import { repository, type Cluster } from '../e2e/runner/cluster.js';
import { eventually, launch } from '../e2e/runner/command.js';

export const gatewayClass = 'trickster';

const overlay = join(repository, 'config', 'overlays', 'conformance');
const namespace = 'trickster-gateway';
const acceptTimeout = 120_000;
const workloads = ['Deployment', 'Service', 'PodDisruptionBudget'];

interface KubernetesObject {
  readonly kind?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** Deploys the product as its users do, or starts it from the source tree; returns when its class is accepted. */
export async function startProduct(cluster: Cluster, local: boolean, folder: string): Promise<void> {
  const text = await cluster.kubectl(['kustomize', overlay]);
  await apply(cluster, local ? withoutWorkloads(text) : text);
  if (local) await launchLocally(cluster, text, folder);
  await cluster.kubectl([
    'wait',
    '--for=condition=Accepted',
    `gatewayclass/${gatewayClass}`,
    `--timeout=${acceptTimeout / 1000}s`,
  ]);
}

/** What the GatewayClass says is supported. */
export async function supportedFeatures(cluster: Cluster): Promise<string[]> {
  const text = await cluster.kubectl([
    'get',
    'gatewayclass',
    gatewayClass,
    '-o',
    'jsonpath={.status.supportedFeatures[*].name}',
  ]);
  return text.split(' ').filter((name) => name !== '');
}

/** Applies in two steps what holds both kinds and objects of these kinds. */
async function apply(cluster: Cluster, text: string): Promise<void> {
  await eventually(
    () => cluster.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input: text }),
    30_000,
    500,
  );
}

function objects(text: string): KubernetesObject[] {
  return parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
}

function withoutWorkloads(text: string): string {
  return objects(text)
    .filter(({ kind }) => kind !== undefined && !workloads.includes(kind))
    .map((object) => stringify(object))
    .join('---\n');
}

async function launchLocally(cluster: Cluster, text: string, folder: string): Promise<void> {
  const configuration = objects(text).find(
    (o) => o.kind === 'ConfigMap' && o.data?.['trickster-gateway.yaml'],
  );
  const file = join(folder, 'trickster-gateway.yaml');
  await writeFile(file, configuration?.data?.['trickster-gateway.yaml'] ?? '');
  const main = join(repository, 'dist', 'src', 'main.js');
  const child = launch(
    cluster.inside([
      process.execPath,
      '--enable-source-maps',
      main,
      'run',
      '--kubeconfig',
      cluster.kubeconfig(true),
      '--config',
      file,
    ]),
    {
      env: {
        ...process.env,
        POD_NAME: 'local',
        POD_NAMESPACE: namespace,
        KUBECONFIG: cluster.kubeconfig(true),
      },
    },
  );
  const log = createWriteStream(localLog(folder));
  const stamp = (chunk: string): void => {
    const time = new Date().toISOString();
    for (const line of chunk.split('\n')) if (line !== '') log.write(`${time} ${line}\n`);
  };
  child.stdout?.setEncoding('utf8').on('data', stamp);
  child.stderr?.setEncoding('utf8').on('data', stamp);
  child.once('close', (code) => {
    stamp(`the product ended with ${String(code)}\n`);
  });
}

function localLog(folder: string): string {
  return join(folder, 'product.log');
}

/** What the product logged between two times, which are milliseconds since the epoch. */
export async function productLog(
  cluster: Cluster,
  folder: string,
  begin: number,
  end: number,
): Promise<string[]> {
  const files = [localLog(folder)];
  for await (const file of glob(join(cluster.state, 'pods', `${namespace}_*`, '*.log'))) files.push(file);
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return texts
    .flatMap((text) => text.split('\n'))
    .filter((line) => {
      const time = Date.parse(line.slice(0, line.indexOf(' ')));
      return time >= begin - 1000 && time <= end + 1000;
    });
}
