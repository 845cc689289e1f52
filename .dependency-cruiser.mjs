/**
 * The floors of the sources, and the home of each vendor package. `npm run check:floors` holds the sources to them;
 * `test/floors.test.ts` plants a violation of every rule, since a tool that reads nothing finds nothing.
 */

/** Rooms of the core. Each is read, tested and replaced by itself. */
const ROOMS = ['http', 'mcp', 'reads', 'upstream', 'mapping', 'resources', 'credentials', 'config', 'log', 'kernel'];

/** Where each vendor package may be imported. A package that is not here may be imported nowhere. */
const HOMES = {
  // The issuer of tokens is called through an agent of its own.
  undici: ['core/upstream', 'core/credentials'],
  jose: ['core/credentials', 'capabilities/verification', 'capabilities/token-exchange'],
  opossum: ['core/upstream'],
  'openid-client': ['core/credentials', 'capabilities/token-exchange', 'capabilities/verification'],
  'lru-cache': ['core/kernel', 'core/reads'],
  '@jmespath-community/jmespath': ['core/mapping'],
  koa: ['core/http'],
  '@koa/router': ['core/http'],
  negotiator: ['core/http'],
  '@redis/client': ['capabilities/shared-cache'],
  '@opentelemetry': ['capabilities/tracing'],
  // Settings, and the documents that platforms publish about themselves.
  yaml: ['core/config', 'setup'],
  pino: ['core/log'],
  'prom-client': ['capabilities/metrics'],
  // The boundary schemas: settings, items, JSON-RPC. Inside, types are already true.
  zod: ['core/config', 'core/resources', 'core/mcp', 'capabilities', 'setup'],
};

const ROOT_FILE = '^src/[^/]+[.]ts$';
const installed = (name) => `(^|/)node_modules/${name}/`;
const rooms = (names) => `^src/core/(${names.join('|')})/`;
const folders = (names) => `^src/(${names.join('|')})/`;

const floors = [
  {
    name: 'core-knows-no-capability',
    comment:
      'The core answers every request of the contract by itself. What is optional reaches it through the hooks of capabilities/capability.ts.',
    from: { path: '^src/core/' },
    to: { path: '^src/[^/]+/', pathNot: '^src/core/' },
  },
  {
    name: 'capabilities-never-each-other',
    comment:
      'Each capability can be deleted with its folder and its line in index.ts. What two of them need is a core type or an event.',
    from: { path: '^src/capabilities/([^/]+)/' },
    to: { path: '^src/[^/]+/', pathNot: '^src/(core/|capabilities/($1/|capability[.]ts$))' },
  },
  {
    name: 'capabilities-are-named-once',
    comment: 'Only index.ts names the capabilities, so adding or removing one changes one line.',
    from: { path: '^src/', pathNot: '^src/(capabilities|core|setup|demo)/' },
    to: { path: '^src/capabilities/', pathNot: '^src/capabilities/(index|capability|compose)[.]ts$' },
  },
  {
    name: 'only-the-composition-lists',
    comment:
      'composition.ts puts the core and the capabilities together. A second importer would be a second composition.',
    from: { path: '^src/', pathNot: '^src/composition[.]ts$' },
    to: { path: '^src/capabilities/(index|compose)[.]ts$' },
  },
  {
    name: 'edges-never-each-other',
    comment:
      'Each edge must work, and be switched off, without the other. What both need belongs to the reads or below.',
    from: { path: '^src/core/(http|mcp)/' },
    to: { path: '^src/core/(http|mcp)/', pathNot: '^src/core/$1/' },
  },
  {
    name: 'edges-know-the-reads',
    comment:
      'An edge turns requests into reads of the catalogue. What it took from a platform or from settings by itself would be missing at the other edge.',
    from: { path: '^src/core/(http|mcp)/' },
    to: {
      path: '^src/core/[^/]+/',
      pathNot: rooms(['http', 'mcp', 'reads', 'resources', 'credentials', 'kernel']),
    },
  },
  {
    name: 'reads-know-rooms-below',
    comment: 'Reads serve all edges alike, so they know no edge.',
    from: { path: '^src/core/reads/' },
    to: { path: '^src/core/(http|mcp|log)/' },
  },
  {
    name: 'rooms-stand-alone',
    comment:
      'Only the reads and core.ts put these rooms together; so each is read, tested and replaced without the others.',
    from: { path: '^src/core/(resources|mapping|upstream|credentials|log)/' },
    to: { path: '^src/core/[^/]+/', pathNot: '^src/core/($1|kernel)/' },
  },
  {
    name: 'data-and-mapping-do-no-io',
    comment:
      'Resources are data, mapping is pure: same input, same items. That is what lets property tests speak for every platform.',
    from: { path: '^src/core/(resources|mapping)/' },
    to: { dependencyTypes: ['core'] },
  },
  {
    name: 'kernel-knows-nothing',
    comment: 'The kernel is the closed list of types that all rooms share. A type that needs a room belongs there.',
    from: { path: '^src/core/kernel/' },
    to: { path: '^src/[^/]+/', pathNot: '^src/core/kernel/' },
  },
  {
    name: 'config-knows-data-only',
    comment:
      'Settings are checked against the resources and with the expression compiler, both pure; anything else there could also read the environment.',
    from: { path: '^src/core/config/' },
    to: { path: '^src/core/[^/]+/', pathNot: rooms(['config', 'resources', 'mapping', 'kernel']) },
  },
  {
    name: 'rooms-know-no-composition',
    comment: 'The files directly in core/ put its rooms together. Importing one from a room closes a circle.',
    from: { path: '^src/core/[^/]+/' },
    to: { path: '^src/core/[^/]+[.]ts$' },
  },
  {
    name: 'setup-knows-the-core',
    comment:
      'check, probe and init read as the gateway does, through the core and the capabilities that composition.ts opens. They run no server.',
    from: { path: '^src/setup/' },
    to: { path: '^src/', pathNot: '^src/((setup|core)/|composition[.]ts$)' },
  },
  {
    name: 'demo-shares-no-code',
    comment:
      'The demo platform stands for a platform of somebody else. If it shared code with Portico, it would prove nothing.',
    from: { path: '^src/demo/' },
    to: { path: '^src/[^/]+/', pathNot: '^src/(demo/|core/kernel/)' },
  },
  {
    name: 'root-files-on-top',
    comment:
      'main.ts, gateway.ts and the files beside them put everything together. Importing one from below closes a circle.',
    from: { path: '^src/[^/]+/', pathNot: '^src/(commands|setup|testing)/' },
    to: { path: ROOT_FILE },
  },
  {
    name: 'commands-are-started-by-main',
    comment: 'A command runs the process, from its signals to its end. Importing a gateway must not bring one.',
    from: { path: '^src/', pathNot: '^src/(commands/|main[.]ts$)' },
    to: { path: '^src/commands/' },
  },
  {
    name: 'testing-is-for-tests',
    comment: 'It starts gateways and platforms for tests against Portico. Production needs neither.',
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
    name: 'nothing-from-outside',
    comment:
      'A folder without a floor is held to no rule. Name its floor here first, or find the folder where the file belongs.',
    from: {},
    to: {
      path: '^src/[^/]+/',
      pathNot: `^src/(core/(${ROOMS.join('|')})/|core/[^/]+[.]ts$|(capabilities|setup|commands|demo|testing)/)`,
    },
  },
];

const homes = Object.entries(HOMES).map(([vendor, homesOf]) => ({
  name: `home-of-${vendor.replace('@', '').replace('/', '-')}`,
  comment: `A vendor package has one home, so that replacing it changes one place: ${homesOf.join(', ')}.`,
  from: { path: '^src/', pathNot: folders(homesOf) },
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
