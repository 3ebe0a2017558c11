/** Who may import whom. Types count: a reader of one file has to read them, too. */

/** What other sections may import of a section. */
const publicApi = '^operations/[^/]+/index\\.ts$'
/** What the registry finds: nothing else imports it. */
const contracts = ['^operations/.+/(?:api|jobs|pages)/[^/]+$', '^operations/[^/]+/(?:section|extension-points|extensions)\\.ts$']
const operations = '^operations/.+/api/[^/]+$'
/** What no server and no command of an operator runs. */
const forDevelopers = '^scripts/(?:bench|checks)/|^scripts/(?:bench|check|new|with-[a-z]+)\\.ts$'
const section = '^operations/[^/]+$'
/** A concept of a section, its contracts included. */
const module = '^operations/[^/]+/(?!(?:api|jobs|pages)(?:/|$))[^/]+$'

export default {
  forbidden: [
    {
      name: 'db-imports-db-only',
      comment: 'db/ may import db/ only.',
      from: { path: '^db/' },
      to: { path: '^(?:runtime|operations|scripts|test)/' },
    },
    {
      name: 'runtime-is-generic',
      comment: 'runtime/ may import runtime/ and db/ only: what a section adds is an extension (extensions.ts).',
      from: { path: '^runtime/' },
      to: { path: '^(?:operations|scripts|test)/' },
    },
    {
      name: 'operations-import-no-tools',
      comment: 'operations/ may import operations/, runtime/ and db/ only.',
      from: { path: '^operations/' },
      to: { path: '^(?:scripts|test)/' },
    },
    {
      name: 'sections-by-public-api',
      comment: 'Import another section by its index.ts.',
      from: { path: '^operations/([^/]+)/' },
      to: { path: '^operations/', pathNot: ['^operations/$1/', publicApi] },
    },
    {
      name: 'logic-imports-no-contract',
      comment: 'Queue a job by its handle, which is logic: ctx.queue(inboxSend, …).',
      from: { path: '^operations/', pathNot: contracts },
      to: { path: contracts },
    },
    {
      name: 'operations-import-no-operation',
      comment: 'Move what both need to the logic of their module.',
      from: { path: '^operations/' },
      to: { path: operations },
    },
    {
      name: 'no-circle-of-files',
      comment: 'Put what both need, often a type, into a file of its own that imports neither.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-circle-of-modules',
      comment: "Put what both need at the section's root, or pass it as an argument.",
      scope: 'folder',
      from: { path: module },
      to: { path: module, circular: true },
    },
    {
      name: 'no-circle-of-sections',
      comment: 'Let one of them extend the other (its extensions.ts, and their extension-points.ts).',
      scope: 'folder',
      from: { path: section },
      to: { path: section, circular: true },
    },
    {
      name: 'deployed-packages-only',
      comment: 'A server is installed without devDependencies: put the package among the dependencies.',
      from: { path: '^(?:db|runtime|operations|scripts)/', pathNot: forDevelopers },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
  ].map((rule) => ({ severity: 'error', ...rule })),
  options: {
    doNotFollow: { path: ['node_modules', '^test/'] },
    // A browser's scripts are modules of one theme, not of sections.
    exclude: { path: '^operations/.+\\.js$' },
    moduleSystems: ['es6'],
    tsPreCompilationDeps: true,
    skipAnalysisNotInRules: true,
  },
}
