/** Layers, lowest first. A layer may import itself, `util`, and what is listed. */
const may = {
  util: [],
  apis: [],
  ir: [],
  telemetry: [],
  kube: ['apis', 'telemetry'],
  files: ['apis', 'kube', 'telemetry'],
  graph: ['apis'],
  translation: ['apis', 'graph', 'ir'],
  status: ['apis', 'graph', 'ir', 'kube', 'telemetry'],
  engine: ['ir', 'telemetry'],
  aggregation: ['apis', 'graph', 'translation', 'ir', 'status', 'kube', 'telemetry', 'tokens'],
  management: ['ir', 'status', 'telemetry'],
  cli: [
    'apis',
    'files',
    'graph',
    'translation',
    'ir',
    'status',
    'telemetry',
    'app',
    'aggregation',
    'management',
  ],
};
const layerRules = Object.entries(may).map(([layer, allowed]) => ({
  name: `layer-${layer}`,
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: {
    path: '^(src|controllers)/',
    pathNot: `^src/(${[layer, 'util', ...allowed].join('|')})[/.]`,
  },
}));

module.exports = {
  forbidden: [
    ...layerRules,
    {
      name: 'controllers-through-ports',
      severity: 'error',
      from: { path: '^controllers/' },
      to: { path: '^src/(engine|translation|aggregation|app|main)' },
    },
    {
      name: 'controllers-only-from-app',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/app/' },
      to: { path: '^controllers/' },
    },
    {
      name: 'di-only-at-the-edge',
      severity: 'error',
      from: { path: '^src/(util|apis|ir|graph|translation|engine|kube|files|status|cli)/' },
      to: { path: 'node_modules/(inversify|reflect-metadata)' },
    },
    {
      name: 'pure-core',
      severity: 'error',
      from: { path: '^src/(graph|translation|ir)/' },
      to: { dependencyTypes: ['core', 'npm'] },
    },
    {
      name: 'apis-only-describe',
      severity: 'error',
      from: { path: '^src/apis/' },
      to: { dependencyTypes: ['core', 'npm'], pathNot: 'node_modules/@sinclair/typebox' },
    },
    {
      name: 'kube-client-only-in-kube',
      severity: 'error',
      from: { pathNot: '^(src/kube|src/app|test|hack)/' },
      to: { path: 'node_modules/@kubernetes/client-node' },
    },
    {
      // Types that speak of each other are no cycle of modules: nothing of them is left at run time.
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-test-code-in-product',
      severity: 'error',
      from: { path: '^(src|controllers)/' },
      to: { path: '^test/' },
    },
    {
      name: 'no-dev-dependency-in-product',
      severity: 'error',
      from: { path: '^(src|controllers)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
