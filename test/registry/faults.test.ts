/** Each check of a declaration, shown to bite; all faults at once, each with its file and its remedy. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { pendingTypes } from '#operations/store/dashboard/home-parts'
import { stepsElsewhere } from '#operations/store/onboarding/onboarding'
import { loadRegistry, operationId, RegistryError, readRegistry, rewired } from '#runtime/registry/registry'
import type { Given } from '#runtime/wiring'
import { clockFaults, type Place } from '#scripts/checks/clocks'
import { importFaults } from '#scripts/checks/imports'
import { loopFaults } from '#scripts/checks/loops'
import { roomFaults } from '#scripts/checks/rooms'
import { ruleFaults } from '#scripts/checks/rules'
import { testFaults } from '#scripts/checks/tests'

const root = join(import.meta.dirname, '../..')
// Inside the project, so that its imports resolve.
const made: string[] = []
const folder = (): string => {
  mkdirSync(join(root, '.tmp'), { recursive: true })
  const path = mkdtempSync(join(root, '.tmp/registry-'))
  made.push(path)
  return path
}
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

const sectionFile = `import { section } from '#runtime/operation'
export default section({ title: 'Things', description: 'Things.', position: 1, order: [] })
`
const operationFile = (changes: Record<string, string> = {}): string => {
  const fields = {
    method: "'GET'",
    path: "'/things'",
    description: "'List things.'",
    scopes: "['platform:read']",
    readOnly: 'true',
    answer: '{ status: 200, body: object({ a: z.string() }) }',
    handler: "() => ({ a: 'b' })",
    ...changes,
  }
  const lines = Object.entries(fields)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `  ${key}: ${value},`)
  return `import { operation, z } from '#runtime/operation'
import { object } from '#runtime/schema'
export default operation({
${lines.join('\n')}
} as never)
`
}

function tree(files: Record<string, string>): string {
  const path = join(folder(), 'operations')
  for (const [name, text] of Object.entries({ 'things/section.ts': sectionFile, ...files })) {
    mkdirSync(join(path, name, '..'), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return path
}

test('two different schemas of one name are a fault, also within others; two alike are none', async () => {
  const withBody = (path: string, body: string) =>
    operationFile({
      path: `'${path}'`,
      answer: `{ status: 200, body: object({ list: z.array(named('Thing', ${body})) }) }`,
    }).replace('import { object }', 'import { named, object }')
  const { faults } = await readRegistry(
    tree({
      'things/api/a.ts': withBody('/a', 'object({ a: z.string() })'),
      'things/api/b.ts': withBody('/b', 'object({ a: z.string() })'),
      'things/api/c.ts': withBody('/c', 'object({ c: z.string() })'),
    }),
  )
  expect(faults).toEqual([
    {
      file: 'operations/things/api/c.ts',
      wrong: expect.stringContaining('two different schemas are named Thing'),
      remedy: expect.any(String),
    },
  ])
})

describe('each fault bites', () => {
  test.each<[string, string, RegExp]>([
    ['no default export', 'export const a = 1', /has no default export → write `export default operation/],
    ['something else', "export default { kind: 'other' }", /its default export is no operation/],
    ['a broken import', "import './nowhere.ts'", /cannot be loaded/],
    ['one that throws nothing much', 'throw null', /cannot be loaded \(null\)/],
    [
      'an unknown scope',
      operationFile({ scopes: "['platform:fly']" }),
      /scope platform:fly is unknown → one of/,
    ],
    ['no scopes', operationFile({ scopes: '' }), /has no scopes/],
    [
      'an extra scope alone',
      operationFile({ scopes: "['messages:send']", readOnly: 'false' }),
      /messages:send stands without platform:write → add platform:write/,
    ],
    [
      'readOnly with write',
      operationFile({ scopes: "['platform:write']" }),
      /is readOnly and asks for platform:write/,
    ],
    ['a write with read', operationFile({ readOnly: 'false' }), /writes and does not ask for platform:write/],
    ['no readOnly', operationFile({ readOnly: '' }), /does not say readOnly/],
    ['no answer', operationFile({ answer: '' }), /has no answer/],
    ['an answer without schema', operationFile({ answer: '{ status: 200 }' }), /its answer has no schema/],
    ['a body with 204', operationFile({ answer: '{ status: 204, body: object({}) }' }), /204 has no body/],
    ['another status', operationFile({ answer: '{ status: 418, body: object({}) }' }), /answers 418/],
    ['a bad method', operationFile({ method: "'FETCH'" }), /method FETCH is none/],
    ['a bad path', operationFile({ path: "'/Things/'" }), /not of the form/],
    ['no description', operationFile({ description: "''" }), /has no description/],
    ['no handler', operationFile({ handler: '' }), /has no handler/],
    ['an unknown role', operationFile({ minimumRole: "'king'" }), /minimumRole king is unknown/],
    [
      'loose input',
      operationFile({ input: '{ query: z.object({ a: z.string() }) }' }),
      /query lets unknown fields pass/,
    ],
    [
      'loose input deep inside',
      operationFile({ input: '{ query: object({ a: z.array(z.object({})).max(3) }) }' }),
      /query\.a lets unknown fields pass/,
    ],
    [
      'a date',
      operationFile({ input: '{ query: object({ a: z.date() }) }' }),
      /query\.a \(ZodDate\) cannot be published/,
    ],
    [
      'a coercion',
      operationFile({ input: '{ query: object({ a: z.coerce.boolean() }) }' }),
      /query\.a \(coerce\) cannot be published/,
    ],
    [
      'a transform',
      operationFile({ input: '{ query: object({ a: z.string().transform(Number) }) }' }),
      /query\.a \(a transform\) cannot be published/,
    ],
    [
      'a list without a bound',
      operationFile({ input: '{ query: object({ a: z.array(z.string()) }) }' }),
      /query\.a is a list without a bound/,
    ],
    [
      'anything without a word',
      operationFile({ input: '{ query: object({ a: z.array(z.any()).max(3) }) }' }),
      /query\.a may be anything → write its shape, or \.describe\(\) why/,
    ],
    [
      'anything below what is described',
      operationFile({
        answer: "{ status: 200, body: object({ a: object({ b: z.unknown() }).describe('A') }) }",
      }),
      /answer\.a\.b may be anything/,
    ],
    ['a GET with a body', operationFile({ input: '{ body: object({}) }' }), /a GET takes no body/],
  ])('%s', async (_name, text, expected) => {
    const { faults } = await readRegistry(tree({ 'things/api/list-things.ts': text }))
    expect(faults.map((fault) => `${fault.wrong} → ${fault.remedy}`).join('\n')).toMatch(expected)
    expect(faults[0]!.file).toBe('operations/things/api/list-things.ts')
  })

  test('two operations of one method and shape, in whatever files', async () => {
    const { faults } = await readRegistry(
      tree({
        'things/api/a.ts': operationFile({ path: "'/things/:id'" }),
        'things/deep/api/b.ts': operationFile({ path: "'/things/:thingId'" }),
      }),
    )
    expect(faults).toHaveLength(1)
    expect(faults[0]!.wrong).toContain('answers the same requests as')
  })

  const jobFile = (name: string, safeTwice = 'it is') => `import { job } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { z } from '#runtime/schema'
export default job(handle('${name}', z.object({})), { description: 'x', retry: { limit: 1, backoffSeconds: 1 },
  timeoutSeconds: 1, safeTwice: '${safeTwice}', async run() {} })`

  test('a job without a reason for safety, and two of one handle', async () => {
    const { faults } = await readRegistry(
      tree({
        'things/jobs/a.ts': jobFile('a', ''),
        'more/section.ts': sectionFile,
        'more/jobs/a.ts': jobFile('a'),
      }),
    )
    expect(faults.map((fault) => fault.wrong).join()).toMatch(/safe to run twice/)
    expect(faults.map((fault) => fault.wrong).join()).toMatch(/takes the handle a, as .* does/)
    expect(faults).toHaveLength(2)
  })

  test('a job that takes the name of what the clock runs for another', async () => {
    const every = 'every: { seconds: 60, stores: () => null }, retry'
    const { faults } = await readRegistry(
      tree({
        'things/jobs/a.ts': jobFile('a').replace('retry', every),
        'things/jobs/a-all.ts': jobFile('a-all'),
      }),
    )
    expect(faults.filter((each) => each.file.includes('/jobs/')).map((each) => each.wrong)).toEqual([
      'takes the handle a-all, as operations/things/jobs/a-all.ts does',
    ])
  })

  test('a job whose file and handle have two names', async () => {
    const { faults } = await readRegistry(tree({ 'things/jobs/a.ts': jobFile('b') }))
    expect(faults).toEqual([
      {
        file: 'operations/things/jobs/a.ts',
        wrong: 'takes the handle b',
        remedy: "name the file b.ts, or take the handle a: jobs lie queued under the handle's name",
      },
    ])
  })

  test('a file without a section', async () => {
    const path = tree({})
    mkdirSync(join(path, 'lost/api'), { recursive: true })
    writeFileSync(join(path, 'lost/api/list-things.ts'), operationFile())
    expect((await readRegistry(path)).faults[0]!.wrong).toContain('has no section.ts')
  })
})

describe('wirings', () => {
  const pointsFile = (
    declared: string,
  ) => `import { byKey, inOrder, listsByKey, points, single } from '#runtime/wiring'
export default points({ ${declared} })
`
  const wiringFile = (given: string) => `import { wiring } from '#runtime/wiring'
export default wiring({ ${given} })
`
  const shelves = pointsFile(`
    things: byKey((thing, { features, jobs, key, all }) => {
      if (!features.has(thing.feature)) return { wrong: \`names \${thing.feature}\`, remedy: 'a feature of a plan' }
      if (thing.job && !jobs.has(key)) return { wrong: 'has no job', remedy: 'add one' }
      return Object.values(all).length > 3 ? { wrong: 'is too much', remedy: 'fewer' } : null
    }),
    told: inOrder(),
    toldOf: listsByKey(),
    one: single(),`)
  const good =
    "entitlement: { features: ['inbox'] }, things: { a: { feature: 'inbox' } }, told: [1, 2], toldOf: { x: [1] }, one: 'it'"

  test('are merged in the order of the sections, and frozen', async () => {
    const { registry, faults } = await readRegistry(
      tree({
        'a/wiring.ts': wiringFile(
          "things: { b: { feature: 'inbox' } }, told: [3], toldOf: { x: [0], y: [5] }",
        ),
        'things/points.ts': shelves,
        'things/wiring.ts': wiringFile(good),
      }),
    )
    expect(faults).toEqual([])
    const wired = registry.wired as unknown as Record<string, Record<string, unknown>>
    expect(JSON.parse(JSON.stringify(wired))).toMatchObject({
      things: { b: { feature: 'inbox' }, a: { feature: 'inbox' } },
      told: [3, 1, 2],
      toldOf: { x: [0, 1], y: [5] },
      one: 'it',
      references: {},
      jobFailed: [],
    })
    expect(Object.keys(wired.things!)).toEqual(['b', 'a'])
    expect(wired.things!.constructor).toBeUndefined()
    for (const part of [wired, wired.things, wired.told, wired.toldOf, wired.toldOf!.x, wired.things!.a]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
    const { registry: empty } = await readRegistry(tree({ 'things/points.ts': shelves }))
    expect(empty.wired).toMatchObject({ things: {}, told: [], toldOf: {}, one: null })
  })

  test.each<[string, string, string]>([
    [
      'a key that another has',
      "things: { a: { feature: 'inbox' } }",
      'wires things.a, which operations/a/wiring.ts has wired → leave it to one of the two',
    ],
    [
      'a single one that another has',
      'one: 2',
      'wires one, which operations/a/wiring.ts has wired → leave it to one of the two',
    ],
    [
      'an unknown point',
      'thingz: { x: 1 }',
      'wires thingz, and there is no such point → one of about, counters, entitlement, gauges, guides, heard, jobFailed, keeps, one, ports, references, resourceMetadata, surfaces, things, told, toldOf, troubledProviders',
    ],
    [
      'a port of the runtime',
      'ports: { mail: {} }',
      'ports.mail is of the runtime → give the port another name',
    ],
    [
      'a surface below another',
      "surfaces: { '/v1/x': {} }",
      'surfaces./v1/x is no path of its own → write it as /name, in small letters',
    ],
    [
      'an unknown feature',
      "things: { x: { feature: 'flight' } }",
      'things.x names flight → a feature of a plan',
    ],
    ['an unknown job', "things: { x: { feature: 'inbox', job: true } }", 'things.x has no job → add one'],
    [
      'an entry that is not there',
      'things: { x: undefined }',
      'things.x is undefined → mend what it is imported from',
    ],
    [
      'a list where keys are',
      'things: []',
      "things is not of its point's form → write things: { key: entry }",
    ],
    ['keys where a list is', 'told: { a: 1 }', "told is not of its point's form → write told: [entry]"],
    [
      'one where a list is',
      'toldOf: { a: 1 }',
      "toldOf is not of its point's form → write toldOf: { key: [entry] }",
    ],
  ])('%s', async (_name, given, expected) => {
    const files = {
      'a/wiring.ts': wiringFile(good),
      'things/jobs/a.ts': 'export default { kind: 1 }',
      'things/points.ts': shelves,
      'things/wiring.ts': wiringFile(given),
    }
    const { faults } = await readRegistry(tree(files))
    const ofWirings = faults.filter(({ file }) => file === 'operations/things/wiring.ts')
    expect(ofWirings.map(({ wrong, remedy }) => `${wrong} → ${remedy}`)).toEqual([expected])
  })

  test('a point that another section has', async () => {
    const files = { 'a/points.ts': pointsFile('told: inOrder()'), 'things/points.ts': shelves }
    expect((await readRegistry(tree(files))).faults).toEqual([
      {
        file: 'operations/things/points.ts',
        wrong: 'declares the point told, which operations/a/points.ts has',
        remedy: 'give one of the two another name',
      },
    ])
  })

  test('what is neither', async () => {
    const files = { 'things/points.ts': 'export default 1', 'things/wiring.ts': 'export const a = 1' }
    expect((await readRegistry(tree(files))).faults.map(({ wrong }) => wrong)).toEqual([
      'its default export is no points',
      'has no default export',
    ])
  })
})

describe("the sections' own wirings", () => {
  const whole = loadRegistry()

  test('leave no point empty, no count of the home page and no step of the onboarding', async () => {
    const { wired, points } = await whole
    expect(pendingTypes.filter((type) => !wired.pending[type])).toEqual([])
    expect(stepsElsewhere.filter((step) => !wired.evidence[step])).toEqual([])
    const all = points.flatMap(({ declared }) => Object.keys(declared)) as (keyof typeof wired)[]
    const isEmpty = (entries: object | string | null) => entries === null || Object.keys(entries).length === 0
    expect(all.filter((name) => typeof wired[name] !== 'function' && isEmpty(wired[name]))).toEqual([])
  })

  test.each<[string, Given, RegExp]>([
    [
      'an export without a job',
      { exports: { 'no-export': {} as never } },
      /exports.no-export has no job → add/,
    ],
    [
      'a widget of no plan',
      { widgets: { x: { feature: 'flight', build: async () => null } } },
      /widgets.x names the feature flight → one of/,
    ],
    [
      'events of no plan',
      { events: { x: { feature: 'flight', types: [] } } },
      /events.x names the feature flight/,
    ],
    [
      'an element that is nowhere',
      { elements: [{ tag: 'store-x', widget: 'x', module: new URL('file:///nowhere.js') }] },
      /elements.\d+ has no \/nowhere.js → write it/,
    ],
    [
      'a switch of no feature',
      { switches: { flight: {} as never } },
      /switches.flight names the feature flight/,
    ],
    [
      'a step that there is not',
      { evidence: { flight: async () => null } as never },
      /evidence.flight is none/,
    ],
    ['a count that there is not', { pending: { flight: {} } as never }, /pending.flight is none/],
    [
      'an event without a port',
      { providerEvents: { told: [async () => {}] } },
      /providerEvents.told is no event/,
    ],
    [
      'conversions of no source',
      { conversionsChanged: { x: [], y: [async () => {}] } as never },
      /conversionsChanged.y is none/,
    ],
    [
      'an upload with an odd name',
      { uploads: { 'A b': {} as never } },
      /uploads.A b is no name of a purpose/,
    ],
    [
      'a sender with a long prefix',
      { senders: { abc: { source: 'direct', applyStatuses: async () => {} } } },
      /senders.abc is no first part of a key/,
    ],
    [
      'a sender of an unknown source',
      { senders: { xx: { source: 'pigeon' as never, applyStatuses: async () => {} } } },
      /senders.xx is of the source pigeon, which the ledger does not know/,
    ],
    [
      'two senders of one source',
      { senders: { xx: { source: 'direct', applyStatuses: async () => {} } } },
      /senders.xx has the source of dm → let one of them send it/,
    ],
    [
      'a second of a single one',
      { reviewRequests: () => null as never },
      /reviewRequests, which operations\/reviews/,
    ],
  ])('%s', async (_name, given, expected) => {
    const registry = await whole
    const wirings = [...registry.wirings, { file: 'a test', given }]
    expect(() => rewired(registry, wirings)).toThrow(expected)
  })
})

test('all faults of all files are thrown at once', async () => {
  const path = tree({
    'things/api/a.ts': operationFile({ scopes: "['nothing']", description: "''" }),
    'things/api/b.ts': 'export const b = 1',
  })
  const error = await loadRegistry(path).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(RegistryError)
  expect((error as RegistryError).message.split('\n').length).toBeGreaterThanOrEqual(3)
})

test('static segments win over parameters, whatever the order of the files', async () => {
  const { registry } = await readRegistry(
    tree({
      'things/api/a.ts': operationFile({ path: "'/things/:id'" }),
      'things/api/b.ts': operationFile({ path: "'/things/special'" }),
      'things/api/c.ts': operationFile({ path: "'/:any/special'" }),
      'things/api/d.ts': operationFile({ path: "'/things/:id/parts'" }),
    }),
  )
  const paths = registry.routes.map((route) => route.spec.path)
  expect(paths.indexOf('/things/special')).toBeLessThan(paths.indexOf('/things/:id'))
  expect(paths.indexOf('/things/:id')).toBeLessThan(paths.indexOf('/:any/special'))
})

test.each([
  ['DELETE', '/stores/team/members/:userId', 'delete_stores_team_members_by_userId'],
  ['GET', '/openapi.json', 'get_openapi_json'],
  ['POST', '/campaigns/:id/messages/:messageId/retry', 'post_campaigns_by_id_messages_by_messageId_retry'],
])('%s %s is %s', (method, path, id) => {
  expect(operationId(method, path)).toBe(id)
})

describe('imports', () => {
  test.each([
    ['runtime/x.ts', "import '#operations/store/door'", /runtime imports operations/],
    ['db/x.ts', "import { a } from '#runtime/errors'", /db imports runtime/],
    [
      'operations/one/api/x.ts',
      "import { a } from '../../two/secret.ts'",
      /go through operations\/two\/door.ts/,
    ],
    ['operations/one/x.ts', "import a from './jobs/b.ts'", /logic imports the job/],
    ['operations/one/api/x.ts', "import a from './y.ts'", /imports the operation/],
  ])('%s may not %s', async (file, code, expected) => {
    const path = folder()
    for (const layer of ['db', 'runtime', 'operations', 'scripts'])
      cpSync(join(root, 'tsconfig.json'), join(path, layer, 'keep'))
    mkdirSync(join(path, file, '..'), { recursive: true })
    writeFileSync(join(path, file), code)
    const [fault] = await importFaults(path)
    expect(`${fault?.wrong} → ${fault?.remedy}`).toMatch(expected)
  })

  const faultsOf = async (files: Record<string, string>) => {
    const path = folder()
    for (const layer of ['db', 'runtime', 'operations', 'scripts'])
      mkdirSync(join(path, layer), { recursive: true })
    for (const [file, code] of Object.entries(files)) {
      mkdirSync(join(path, file, '..'), { recursive: true })
      writeFileSync(join(path, file), code)
    }
    return (await importFaults(path)).map(({ file, wrong, remedy }) => `${file} ${wrong} → ${remedy}`)
  }

  test('what a server imports is installed without devDependencies', async () => {
    const code =
      "import { a } from 'fast-check/b'\nconst later = () => import('@vitest/c')\nimport 'node:fs'\nimport 'zod'"
    const devs = (file: string): string =>
      `${file} imports fast-check, which a server that is installed without devDependencies does not have → put it among the dependencies of package.json`
    const files = { 'operations/one/a.ts': code, 'scripts/bench/a.ts': code, 'scripts/start.ts': code }
    const found = await faultsOf({ 'package.json': '{ "dependencies": { "zod": "1" } }', ...files })
    expect(found).toEqual(
      ['operations/one/a.ts', 'scripts/start.ts'].flatMap((file) => [
        devs(file),
        devs(file).replace('fast-check', '@vitest/c'),
      ]),
    )
  })

  test('doors form no circle', async () => {
    expect(
      await faultsOf({
        'operations/one/a.ts': "import '../two/door.ts'",
        'operations/two/a.ts': "import '../three/door.ts'",
        'operations/three/a.ts': "import '../one/door.ts'",
      }),
    ).toEqual([expect.stringContaining('one → two → three → one')])
  })

  test.each([
    ['db/a.ts', 'db/b.ts', "'./b.ts'", "'#db/a'"],
    ['runtime/a.ts', 'runtime/x/b.ts', "'./x/b.ts'", "'#runtime/a'"],
    ['operations/one/room/a.ts', 'operations/one/room/b.ts', "'./b.ts'", "'./a.ts'"],
    ['scripts/a.ts', 'scripts/seed/b.ts', "'./seed/b.ts'", "'#scripts/a'"],
  ])('%s and %s, by types too', async (one, other, toOther, toOne) => {
    const files = { [one]: `import type { B } from ${toOther}`, [other]: `export type { A } from ${toOne}` }
    expect(await faultsOf(files)).toEqual([
      `${one} files import each other in a circle: ${one} → ${other} → ${one} → ` +
        'put what both need, often a type, into a file of its own that imports neither',
    ])
  })

  test('of a large knot one way round is told, and of two knots both', async () => {
    const faults = await faultsOf({
      'runtime/a.ts': "import './b.ts'\nimport './c.ts'",
      'runtime/b.ts': "import './c.ts'",
      'runtime/c.ts': "import './d.ts'\nimport './a.ts'",
      'runtime/d.ts': "import './b.ts'",
      'runtime/beside.ts': "import './a.ts'",
      'db/a.ts': "import './b.ts'",
      'db/b.ts': "import './a.ts'",
    })
    expect(faults).toHaveLength(2)
    expect(faults.join()).toMatch(
      /db\/a.ts → db\/b.ts → db\/a.ts.*runtime\/a.ts → runtime\/c.ts → runtime\/a.ts/,
    )
  })

  test('rooms of a section form no circle, contracts and the root being of them', async () => {
    const files = {
      'operations/one/a.ts': '',
      'operations/one/b.ts': "import './left/c.ts'",
      'operations/one/left/c.ts': '',
      'operations/one/left/api/list-a.ts': "import '../../a.ts'",
      'operations/one/right/c.ts': "import '../left/c.ts'",
    }
    expect(await faultsOf(files)).toEqual([
      expect.stringMatching(
        /^operations\/one rooms import each other in a circle: operations\/one\/b.ts → operations\/one\/left\/c.ts, operations\/one\/left\/api\/list-a.ts → operations\/one\/a.ts → put what both need/,
      ),
    ])
    const binding = { 'operations/one/door.ts': "export * from './left/c.ts'" }
    const { 'operations/one/b.ts': _without, ...open } = files
    expect(await faultsOf({ ...open, ...binding })).toEqual([])
  })
})

describe('rooms', () => {
  test.each<[string, Record<string, string>, RegExp]>([
    [
      'an operation that nothing finds',
      { 'one/list-things.ts': 'export default operation({})' },
      /one\/list-things.ts declares a operation that nothing finds here → move it to api\//,
    ],
    [
      'a page beside pages/',
      { 'one/room/a.ts': 'const a = page({})' },
      /declares a page .* → move it to pages\//,
    ],
    ['a name that says nothing', { 'one/lib/a.ts': '' }, /is named lib, which says nothing/],
    ['a name said twice', { 'one/tags/tags-schema.ts': '' }, /says tags twice → name it schema.ts/],
    ['a long file', { 'one/api/a.ts': '\n'.repeat(401) }, /has 401 lines/],
    [
      'a long module of a browser',
      { 'one/elements/store-a.js': '\n'.repeat(401) },
      /store-a.js has 401 lines/,
    ],
    [
      'a full room',
      Object.fromEntries(Array.from({ length: 21 }, (_none, n) => [`one/room/f${n}.ts`, ''])),
      /operations\/one\/room has 21 files of logic/,
    ],
    [
      'a full section',
      Object.fromEntries(Array.from({ length: 11 }, (_none, n) => [`one/f${n}.ts`, ''])),
      /operations\/one has 11 files of logic/,
    ],
  ])('%s', async (_name, files, expected) => {
    const faults = await roomFaults(join(tree(files), '..'))
    expect(faults.map(({ file, wrong, remedy }) => `${file} ${wrong} → ${remedy}`).join('\n')).toMatch(
      expected,
    )
  })
})

test('the runtime has full rooms and long files too', async () => {
  const files = Object.fromEntries(Array.from({ length: 21 }, (_none, n) => [`../runtime/room/f${n}.ts`, '']))
  const faults = await roomFaults(join(tree({ ...files, '../db/a.ts': '\n'.repeat(401) }), '..'))
  expect(faults.map(({ file }) => file).sort()).toEqual(['db/a.ts', 'runtime/room'])
})

describe('where tests stand', () => {
  const calls = "import a from '#operations/one/tags/api/a'\n"
  const right: Record<string, string> = {
    'operations/one/tags/api/a.ts': '',
    'operations/one/jobs/b.ts': '',
    'operations/two/door.ts': '',
    'test/operations/everywhere.test.ts': '',
    'test/operations/one/waited.test.ts': '',
    'test/operations/one/support.ts': '',
    'test/operations/one/tags/saving.test.ts': calls,
  }
  const faultsOf = async (changed: Record<string, string>) => {
    const path = folder()
    for (const [file, text] of Object.entries({ ...right, ...changed })) {
      mkdirSync(join(path, file, '..'), { recursive: true })
      writeFileSync(join(path, file), text)
    }
    return (await testFaults(path)).map(({ file, wrong, remedy }) => `${file} ${wrong} → ${remedy}`)
  }

  test('in the rooms of what they test', async () => {
    expect(await faultsOf({})).toEqual([])
  })

  test.each<[string, Record<string, string>, RegExp]>([
    [
      'an operation that no test calls',
      { 'operations/one/tags/api/c.ts': '' },
      /^operations\/one\/tags\/api\/c.ts is called by no test of its section → import it .* test\/operations\/one\//,
    ],
    [
      'one that another section calls alone',
      { 'test/operations/one/tags/saving.test.ts': '', 'test/operations/two/b.test.ts': calls },
      /^operations\/one\/tags\/api\/a.ts is called by no test/,
    ],
    [
      'one that a support file imports alone',
      { 'test/operations/one/tags/saving.test.ts': '', 'test/operations/one/support.ts': calls },
      /^operations\/one\/tags\/api\/a.ts is called by no test/,
    ],
    [
      'one of which a type is imported alone',
      { 'test/operations/one/tags/saving.test.ts': calls.replace('import', 'import type') },
      /^operations\/one\/tags\/api\/a.ts is called by no test/,
    ],
    [
      'a folder that is no room',
      { 'test/operations/one/lib/a.test.ts': '' },
      /^test\/operations\/one\/lib\/a.test.ts stands below lib\/, which is no room of one → move it to/,
    ],
    [
      'a folder of contracts',
      { 'test/operations/one/jobs/b.test.ts': '' },
      /below jobs\/, which is no room of one/,
    ],
    [
      'a folder within a room',
      { 'test/operations/one/tags/api/a.test.ts': '' },
      /below tags\/api\/, which is no room of one/,
    ],
    [
      'a folder that is no section',
      { 'test/operations/three/a.test.ts': '' },
      /three\/, which is no section/,
    ],
    ['a room said twice', { 'test/operations/one/tags/tag-saving.test.ts': '' }, /says tags twice → name it/],
    ['a section said twice', { 'test/operations/two/two.test.ts': '' }, /says two twice/],
  ])('%s', async (_name, changed, expected) => {
    const faults = await faultsOf(changed)
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(expected)
  })
})

describe('rules that stand with the code', () => {
  const readme = (...rules: string[]): string =>
    `# One\n\nIt is for something.\n\n## Rooms\n\n- \`a/\`: it.\n\n## Rules\n\n${rules.join('\n')}\n
## Takes and gives\n\nNothing.\n\n## Where to begin\n\n1. \`a/b.ts\`: all of it.\n`
  const right: Record<string, string> = {
    'operations/one/README.md': readme(
      '1. **First.** It is so.',
      '2. **Second.** (a) This. (b) That, by rule 1.',
    ),
    'operations/one/a/b.ts': '/** What is done (rules 1 and 2b; runtime, rule 1). */',
    'runtime/README.md': '# Runtime\n\n## Rules\n\n1. **All.** For all; see `image/png` and `/v1/things`.\n',
    'runtime/a.ts': '/** (rule 1) */',
    'test/operations/one/a.test.ts': '// By turns (rule\n// 2), as ever.\nconst rows = `§ 3, Rules 9`',
    'scripts/a.ts': '/** In the order of one, rules 1 to 2. */',
    'test/operations/one/b.test.ts': "test.each(rows)('by turns (rule 2)', () => say('scenario 7'))",
  }
  const faultsOf = async (changed: Record<string, string | null>) => {
    const path = folder()
    for (const [file, text] of Object.entries({ ...right, ...changed })) {
      if (text === null) continue
      mkdirSync(join(path, file, '..'), { recursive: true })
      writeFileSync(join(path, file), text)
    }
    return (await ruleFaults(path)).map(({ file, wrong, remedy }) => `${file} ${wrong} → ${remedy}`)
  }

  test('what is cited and named is there', async () => {
    expect(await faultsOf({})).toEqual([])
  })

  test.each<[string, Record<string, string | null>, RegExp]>([
    [
      'a section without a README',
      { 'operations/two/a.ts': '' },
      /^operations\/two\/README.md is not there → write it: .*## Rooms, ## Rules/,
    ],
    [
      'a title of what is not here',
      { 'test/operations/one/b.test.ts': "test('scenario 7: by turns', () => {})" },
      /^test\/operations\/one\/b.test.ts:1 cites "scenario 7", which is not in the repository/,
    ],
    [
      'a title of several tests',
      { 'test/operations/one/b.test.ts': "\ndescribe.each(rows)('by turns (rule 9)', () => {})" },
      /^test\/operations\/one\/b.test.ts:2 cites rule 9, which .* does not have/,
    ],
    ['no README of the runtime', { 'runtime/README.md': null }, /^runtime\/README.md is not there/],
    [
      'a chapter that is missing',
      { 'operations/one/README.md': readme('1. **First.**').replace('## Takes and gives', '## Others') },
      /README.md has no chapter Takes and gives → add ## Takes and gives/,
    ],
    [
      'a room that is not told of',
      { 'operations/one/kept/a.ts': '' },
      /README.md does not tell of the room kept\/ → say in ## Rooms what it holds/,
    ],
    ['a README without rules', { 'operations/one/README.md': readme('None.') }, /has no rule → number them/],
    [
      'a number left out',
      { 'operations/one/README.md': readme('1. **First.**', '3. **Third.**') },
      /has rule 3 where rule 2 is due → count the rules from 1/,
    ],
    [
      'a long README',
      { 'operations/one/README.md': `${readme('1. **First.**', '2. **Second.**')}${'more\n'.repeat(140)}` },
      /has 160 lines, and at most 150 are read → say it shorter/,
    ],
    [
      'a file that is named and gone',
      { 'operations/one/a/b.ts': null, 'operations/one/a/c.ts': '' },
      /README.md names a\/b.ts, which is not there → name what is there/,
    ],
    [
      'a file by its name alone',
      { 'operations/one/README.md': readme('1. **First.** As `gone.ts` says.', '2. **Second.** (a) (b)') },
      /README.md names gone.ts, which is not there/,
    ],
    [
      'a README that cites what is not there',
      { 'operations/one/README.md': readme('1. **First.** See rule\n   3.', '2. **Second.** (a) (b)') },
      /README.md cites rule 3, which operations\/one\/README.md does not have/,
    ],
    [
      'a rule that there is not',
      { 'operations/one/a/b.ts': 'const a = 1\n/** As agreed (rule 3). */' },
      /^operations\/one\/a\/b.ts:2 cites rule 3, which .* does not have → cite a rule that is there/,
    ],
    [
      'a part that there is not',
      { 'operations/one/a/b.ts': 'f(1 /* rule 2c */)' },
      /b.ts:1 cites rule 2c, which operations\/one\/README.md does not have/,
    ],
    [
      'a rule of another section that there is not',
      { 'operations/one/a/b.ts': '// (runtime, rules 1 and 2)' },
      /cites rule 2, which runtime\/README.md does not have/,
    ],
    [
      'a section that there is not',
      { 'operations/one/a/b.ts': '// (three, rule 1)' },
      /cites rule 1 of three, which has no README/,
    ],
    ['a rule of nobody', { 'scripts/a.ts': '// (rule 1)' }, /^scripts\/a.ts:1 cites rule 1 of no section/],
    [
      'a line at the end of a block',
      { 'operations/one/a/b.ts': 'const f = () => {\n  f()\n  // rule 7\n}' },
      /b.ts:3 cites rule 7/,
    ],
    [
      'a broken line',
      { 'operations/one/a/b.ts': '/**\n * What is done (rule\n * 9).\n */' },
      /cites rule 9, which/,
    ],
    ...[
      'the order (conventions §4)',
      'what may be (Rules 9)',
      'what counts (Rules 3 of the page)',
      'how they look (R10)',
      'moderation (scenario 3)',
      "the page's example",
      'as the promotions page says',
    ].map((text): [string, Record<string, string>, RegExp] => [
      `"${text}"`,
      { 'db/a.ts': `/** Thus: ${text}. */` },
      /^db\/a.ts:1 cites ".+", which is not in the repository → say it here, or cite a rule that is there/,
    ]),
  ])('%s is a fault, and its remedy is told', async (_name, changed, expected) => {
    expect((await faultsOf(changed)).join('\n')).toMatch(expected)
  })
})

describe("the machine's clock", () => {
  const faultsOf = async (files: Record<string, string>, allowed: Record<string, Place> = {}) => {
    const path = folder()
    for (const layer of ['db', 'runtime', 'operations', 'test'])
      mkdirSync(join(path, layer), { recursive: true })
    for (const [file, code] of Object.entries(files)) {
      mkdirSync(join(path, file, '..'), { recursive: true })
      writeFileSync(join(path, file), code)
    }
    return (await clockFaults(path, allowed)).map(({ file, wrong, remedy }) => `${file} ${wrong} → ${remedy}`)
  }

  test.each([
    ['const a = Date.now()', 'Date.now'],
    ['const a = globalThis.Date.now', 'Date.now'],
    ['const a = new Date()', 'new Date()'],
    ['const a = Date()', 'Date()'],
    ['const a = DateTime.now()', 'DateTime.now'],
    ['const a = DateTime.utc().plus({ days: 1 })', 'DateTime.utc'],
    ['const a = at.diffNow()', 'diffNow'],
    ['const clock = machineClock()', 'machineClock'],
    ['app.clock.frozenAt = null', 'frozenAt = null'],
    ['const a = sql`select 1 where at < now()`', 'now() in SQL'],
    ["const a = sql`select NOW() + interval '1 s'`", 'now() in SQL'],
    ["const a = 'day > current_date - 30'", 'current_date in SQL'],
  ])('%s is a fault, and its remedy is told', async (code, reads) => {
    const [inOperation, inTest, ...others] = await faultsOf({
      'operations/one/x.ts': `// a line before\n${code}`,
      'test/x.test.ts': code,
    })
    expect(inOperation).toContain(
      `operations/one/x.ts:2 reads the machine's clock (${reads}) → ask ctx.clock`,
    )
    expect(inTest).toContain(`test/x.test.ts:1 reads the machine's clock (${reads}) → ask app.clock`)
    expect(others).toEqual([])
  })

  test('a stopwatch may measure the work of an operation, and decides no test', async () => {
    const code = 'const until = performance.now() + 10'
    expect(await faultsOf({ 'operations/one/x.ts': code, 'test/x.test.ts': code })).toEqual([
      expect.stringMatching(/^test\/x.test.ts:1 .*assert what was done/),
    ])
  })

  test('what only looks like it is none', async () => {
    const code = `import { type Clock, machineClock } from '#runtime/clock'
      // Date.now() and now() in a comment
      const a = [new Date(at), ctx.now(), app.clock.now(), await now(), DateTime.utc(2026, 1), 'it is now', 'x.now()']`
    expect(await faultsOf({ 'operations/one/x.ts': code })).toEqual([])
  })

  test('a listed place is let be, and one that has no need of the list is taken off it', async () => {
    const files = { 'test/x.test.ts': 'const a = Date.now()' }
    const place = (reads: string[]) => ({ 'test/x.test.ts': { reads, why: 'it measures' } })
    expect(await faultsOf(files, place(['Date.now']))).toEqual([])
    expect(await faultsOf(files, place(['Date.now', 'new Date()']))).toEqual([
      expect.stringMatching(/^test\/x.test.ts no longer reads new Date\(\) → take it off/),
    ])
  })
})

describe('what nobody could end', () => {
  const faultsOf = async (files: Record<string, string>) => {
    const path = folder()
    for (const layer of ['db', 'runtime', 'operations']) mkdirSync(join(path, layer), { recursive: true })
    for (const [file, code] of Object.entries(files)) {
      mkdirSync(join(path, file, '..'), { recursive: true })
      writeFileSync(join(path, file), code)
    }
    return (await loopFaults(path)).map(({ file, wrong, remedy }) => `${file} ${wrong} → ${remedy}`)
  }
  const wait = `import { setTimeout as wait } from 'node:timers/promises'\n`

  test('pages that are gone through as long as a provider says so', async () => {
    const code = 'let next = await read()\ndo { next = await read(next) } while (next)'
    expect(await faultsOf({ 'runtime/ports/x.ts': code, 'operations/one/jobs/x.ts': code })).toEqual([
      expect.stringMatching(/^runtime\/ports\/x.ts:2 goes on .* → go through pages with pagesOf/),
      expect.stringMatching(/^operations\/one\/jobs\/x.ts:2 goes on/),
    ])
  })

  test.each(['await wait(10)', 'await wait(10, undefined)', 'await wait(10, true, { ref: false })'])(
    '%s, in an operation',
    async (code) => {
      expect(await faultsOf({ 'operations/one/x.ts': wait + code, 'runtime/x.ts': wait + code })).toEqual([
        expect.stringMatching(/^operations\/one\/x.ts:2 waits, .* → wait with pause or clockReaches/),
      ])
    },
  )

  test('an adapter waits between the tries of one call', async () => {
    const file = 'operations/store/ecommerce/x.ts'
    expect(await faultsOf({ [file]: `${wait}await wait(10)` })).toEqual([])
  })

  test('what only looks like it is none', async () => {
    const code = `import { setImmediate as others } from 'node:timers/promises'
      // do { wait(1) } while (true)
      await wait(10)
      await others()`
    const heard = `${wait}await wait(10, 'late', { signal: stop.signal })\nawait wait(10, 'late', { signal })`
    expect(await faultsOf({ 'operations/one/x.ts': code, 'operations/one/y.ts': heard })).toEqual([])
  })
})
