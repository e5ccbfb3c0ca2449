/** Each room may know only the rooms named here (docs/architecture.md, "The rooms"). */
const ROOMS = {
  operators: [],
  model: [],
  streams: ['operators', 'model'],
  sources: ['operators', 'model'],
  runtime: ['operators', 'model', 'streams'],
  host: ['operators', 'model', 'streams'],
  server: ['model', 'streams'],
  simulation: ['operators', 'model', 'streams'],
};
const PURE = '^src/(operators|model|streams)/';

const knowsOnly = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `${room}-knows-only-${['itself', ...allowed].join('-')}`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: [room, ...allowed].map((r) => `^src/${r}/`) },
}));

export default {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    ...knowsOnly,
    { name: 'only-the-edges-touch-node', severity: 'error', from: { path: PURE }, to: { dependencyTypes: ['core'] } },
    {
      name: 'operators-and-streams-know-only-rxjs',
      severity: 'error',
      from: { path: '^src/(operators|streams)/' },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional'], pathNot: 'node_modules/rxjs/' },
    },
    {
      name: 'model-knows-no-library',
      comment: 'Types of the Kubernetes API are fine: they cost nothing at run time.',
      severity: 'error',
      from: { path: '^src/model/' },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
