/** What sections give to the points of others: merged in order, and each check of it shown to bite. */
import { describe, expect, test } from 'vitest'
import { pendingTypes } from '#operations/store/dashboard/home-parts'
import { stepsElsewhere } from '#operations/store/onboarding/onboarding'
import { loadRegistry, readRegistry, rewired } from '#runtime/registry/registry'
import type { Given } from '#runtime/wiring'
import { tree } from './trees.ts'

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
