/**
 * The floors of the house and the homes of its vendor packages. `npm run check:floors` holds the sources to them;
 * `test/floors.test.ts` plants a violation of every rule, since a tool that reads nothing finds nothing.
 */

const SLICES = [
  'core',
  'commands',
  'init',
  'http',
  'mcp',
  'catalogue',
  'resources',
  'mapping',
  'snapshots',
  'upstream',
  'credentials',
  'fleet',
  'observability',
  'kernel',
  'config',
  'demo',
  'testing',
];

/** Where each vendor package may be imported. A package that is not here may be imported nowhere. */
const HOMES = {
  // Platforms, authorization servers and the collector of traces are asked through agents of its own.
  undici: ['upstream', 'credentials', 'observability/traces'],
  jose: ['credentials'],
  opossum: ['upstream'],
  'openid-client': ['credentials'],
  'lru-cache': ['kernel', 'snapshots'],
  '@jmespath-community/jmespath': ['mapping'],
  koa: ['http'],
  '@koa/router': ['http'],
  negotiator: ['http'],
  '@redis/client': ['fleet'],
  'rate-limiter-flexible': ['http'],
  '@modelcontextprotocol': ['mcp'],
  // Settings, and the documents that platforms publish of themselves.
  yaml: ['config', 'init'],
  pino: ['observability/log'],
  'pino-pretty': ['observability/log'],
  'prom-client': ['observability/metrics'],
  '@opentelemetry': ['observability/traces'],
  // The boundary schemas: settings, items, JSON-RPC. Inside, types are already true.
  zod: ['config', 'resources', 'mcp'],
};

const ROOT_FILE = '^src/[^/]+[.]ts$';
const installed = (name) => `(^|/)node_modules/${name}/`;
const slices = (names) => `^src/(${names.join('|')})/`;

const floors = [
  {
    name: 'edges-never-each-other',
    comment:
      'Each edge must work, and be switched off, without the other. What both need belongs to the catalogue or below.',
    from: { path: '^src/(http|mcp)/' },
    to: { path: '^src/(http|mcp)/', pathNot: '^src/$1/' },
  },
  {
    name: 'edges-know-the-catalogue',
    comment:
      'An edge turns requests into reads of the catalogue, whose resources are data that it may look at. What it took from a platform or from settings by itself would be missing at the other edge.',
    from: { path: '^src/(http|mcp)/' },
    to: {
      path: '^src/[^/]+/',
      pathNot: slices(['http', 'mcp', 'catalogue', 'resources', 'credentials', 'snapshots', 'observability', 'kernel']),
    },
  },
  {
    name: 'catalogue-knows-slices-below',
    comment:
      'The core puts the slices below it together and serves all edges alike, so it knows no edge and no settings file.',
    from: { path: '^src/catalogue/' },
    to: {
      path: '^src/[^/]+/',
      pathNot: slices([
        'catalogue',
        'resources',
        'mapping',
        'snapshots',
        'upstream',
        'credentials',
        'observability',
        'kernel',
      ]),
    },
  },
  {
    name: 'slices-stand-alone',
    comment:
      'Only the catalogue and the files on top put these slices together; so each is read, tested and replaced without the others.',
    from: { path: '^src/(resources|mapping|snapshots|upstream|credentials|fleet)/' },
    to: { path: '^src/[^/]+/', pathNot: '^src/($1|observability|kernel)/' },
  },
  {
    name: 'data-and-mapping-do-no-io',
    comment:
      'Resources are data, mapping and proposals are pure: same input, same items. That is what lets property tests speak for every platform.',
    from: { path: '^src/(resources|mapping|init)/' },
    to: { dependencyTypes: ['core'] },
  },
  {
    name: 'observability-knows-the-kernel',
    comment: 'Every floor logs, so what logs can know none of them.',
    from: { path: '^src/observability/' },
    to: { path: '^src/[^/]+/', pathNot: slices(['observability', 'kernel']) },
  },
  {
    name: 'kernel-knows-nothing',
    comment: 'The kernel is the closed list of words that all floors share. A word that needs a floor belongs there.',
    from: { path: '^src/kernel/' },
    to: { path: '^src/[^/]+/', pathNot: '^src/kernel/' },
  },
  {
    name: 'config-knows-data-only',
    comment:
      'Settings are checked against the resources and with the expression compiler, both pure; whatever else read them there would also read the environment.',
    from: { path: '^src/config/' },
    to: { path: '^src/[^/]+/', pathNot: slices(['config', 'resources', 'mapping', 'kernel']) },
  },
  {
    name: 'init-proposes-from-data',
    comment:
      'A proposal is made from a document or from replies that a command brings: no guess asks anybody, or decides what settings may hold.',
    from: { path: '^src/init/' },
    to: { path: '^src/[^/]+/', pathNot: slices(['init', 'resources', 'mapping', 'kernel']) },
  },
  {
    name: 'demo-is-a-stranger',
    comment:
      'The demo platform stands for a platform of somebody else. If it shared code with Portico, it would prove nothing.',
    from: { path: '^src/demo/' },
    to: { path: '^src/[^/]+/', pathNot: slices(['demo', 'kernel']) },
  },
  {
    name: 'root-files-on-top',
    comment:
      'main.ts, gateway.ts and the files beside them put everything together. Importing one from below closes a circle.',
    from: { path: '^src/[^/]+/', pathNot: '^src/(commands|testing)/' },
    to: { path: ROOT_FILE },
  },
  {
    name: 'commands-are-started-by-main',
    comment: 'A command runs the process, from its signals to its end. Whoever imports a gateway must not get one.',
    from: { path: '^src/', pathNot: '^src/(commands/|main[.]ts$)' },
    to: { path: '^src/commands/' },
  },
  {
    name: 'testing-is-for-tests',
    comment:
      'It starts gateways and platforms for those who test against Portico. What runs in production needs neither.',
    from: { path: '^src/', pathNot: '^src/(testing/|portico-testing[.]ts$)' },
    to: { path: '^src/testing/' },
  },
  {
    name: 'main-is-the-entry',
    comment: 'main.ts runs as soon as it is imported.',
    from: {},
    to: { path: '^src/main[.]ts$' },
  },
  {
    name: 'house-is-closed',
    comment:
      'A folder without a floor is held to no rule. Name its floor here first, or find the slice where the file belongs.',
    from: { path: ROOT_FILE },
    to: { path: '^src/[^/]+/', pathNot: slices(SLICES) },
  },
];

const homes = Object.entries(HOMES).map(([vendor, slicesOf]) => ({
  name: `home-of-${vendor.replace('@', '').replace('/', '-')}`,
  comment: `One slice alone knows a vendor package, so that replacing it touches one place. This one lives in ${slicesOf.join(', ')}.`,
  from: { path: '^src/', pathNot: slices(slicesOf) },
  to: { path: installed(vendor) },
}));

const packages = [
  {
    name: 'no-homeless-package',
    comment: 'A new vendor package gets its one home in HOMES, and a reason in the commit, before the first import.',
    from: { path: '^src/' },
    to: { dependencyTypes: ['npm'], pathNot: Object.keys(HOMES).map(installed) },
  },
  {
    name: 'no-dev-package',
    comment: 'Dev dependencies are not there in production: the import would fail on the first start.',
    from: { path: '^src/' },
    to: { dependencyTypes: ['npm-dev'] },
  },
  {
    name: 'no-undeclared-package',
    comment:
      'A package that package.json does not name is there by luck: the next update of another one may remove it.',
    from: {},
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  },
];

const modules = [
  {
    name: 'sources-ship-alone',
    comment: 'Tests and benchmarks are not in the package, so what is in it cannot import them.',
    from: { path: '^src/' },
    to: { path: '^(test|bench)/' },
  },
  {
    name: 'no-circle',
    comment: 'Modules in a circle load in an order that nobody chose, and can be read only all at once.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'no-orphan',
    comment: 'A module that nothing imports and that imports nothing is dead, or forgotten in a registry.',
    from: { orphan: true, path: '^(src|test|bench)/' },
    to: {},
  },
  {
    name: 'no-unresolvable',
    comment: 'An import that leads nowhere fails when it runs, and until then hides from every other rule here.',
    from: {},
    to: { couldNotResolve: true },
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [...floors, ...homes, ...packages, ...modules].map((rule) => ({ severity: 'error', ...rule })),
  options: {
    // TypeScript 7 has no API that dependency-cruiser can use: without swc it reads no .ts file and passes.
    // With it, type-only imports are read too, without the option for that, which would ask for TypeScript 6.
    parser: 'swc',
    doNotFollow: { path: '(^|/)node_modules/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
    skipAnalysisNotInRules: true,
  },
};
