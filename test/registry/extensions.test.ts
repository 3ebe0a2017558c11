/** Extensions of sections: merged in order, and each check of them can fail. */
import { describe, expect, test } from 'vitest'
import { pendingTypes } from '#operations/store/dashboard/home-parts'
import { externalSteps } from '#operations/store/onboarding/onboarding'
import type { SectionExtensions } from '#runtime/extensions'
import { loadRegistry, readRegistry, withExtensions } from '#runtime/registry/registry'
import { createProject } from './project-trees.ts'

describe('extensions', () => {
  const extensionPointsFile = (
    declared: string,
  ) => `import { byKey, extensionPoints, inOrder, listsByKey, single } from '#runtime/extensions'
export default extensionPoints({ ${declared} })
`
  const extensionsFile = (given: string) => `import { extensions } from '#runtime/extensions'
export default extensions({ ${given} })
`
  const declarations = extensionPointsFile(`
    things: byKey((thing, { features, jobs, key, all }) => {
      if (!features.has(thing.feature)) return { wrong: \`names \${thing.feature}\`, remedy: 'a feature of a plan' }
      if (thing.job && !jobs.has(key)) return { wrong: 'has no job', remedy: 'add one' }
      return Object.values(all).length > 3 ? { wrong: 'is too much', remedy: 'fewer' } : null
    }),
    events: inOrder(),
    eventsByKey: listsByKey(),
    one: single(),`)
  const good =
    "entitlement: { features: ['inbox'] }, things: { a: { feature: 'inbox' } }, events: [1, 2], eventsByKey: { x: [1] }, one: 'it'"

  test('extensions are merged in the order of the sections and frozen', async () => {
    const { registry, issues } = await readRegistry(
      createProject({
        'a/extensions.ts': extensionsFile(
          "things: { b: { feature: 'inbox' } }, events: [3], eventsByKey: { x: [0], y: [5] }",
        ),
        'things/extension-points.ts': declarations,
        'things/extensions.ts': extensionsFile(good),
      }),
    )
    expect(issues).toEqual([])
    const merged = registry.extensions as unknown as Record<string, Record<string, unknown>>
    expect(JSON.parse(JSON.stringify(merged))).toMatchObject({
      things: { b: { feature: 'inbox' }, a: { feature: 'inbox' } },
      events: [3, 1, 2],
      eventsByKey: { x: [0, 1], y: [5] },
      one: 'it',
      references: {},
      jobFailed: [],
    })
    expect(Object.keys(merged.things!)).toEqual(['b', 'a'])
    expect(merged.things!.constructor).toBeUndefined()
    for (const part of [
      merged,
      merged.things,
      merged.events,
      merged.eventsByKey,
      merged.eventsByKey!.x,
      merged.things!.a,
    ]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
    const { registry: empty } = await readRegistry(
      createProject({ 'things/extension-points.ts': declarations }),
    )
    expect(empty.extensions).toMatchObject({ things: {}, events: [], eventsByKey: {}, one: null })
  })

  test.each<[string, string, string]>([
    [
      'a key that another section registers',
      "things: { a: { feature: 'inbox' } }",
      'registers things.a, as operations/a/extensions.ts does → leave it to one of the two',
    ],
    [
      'a single extension that another section registers',
      'one: 2',
      'registers one, as operations/a/extensions.ts does → leave it to one of the two',
    ],
    [
      'an unknown extension point',
      'thingz: { x: 1 }',
      'registers thingz, but there is no such extension point → one of about, counters, entitlement, events, eventsByKey, failingProviders, gauges, guides, jobFailed, one, ports, providerOutcome, references, referencesChanged, resourceMetadata, surfaces, things',
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
    ['an undefined entry', 'things: { x: undefined }', 'things.x is undefined → correct its import'],
    [
      'a list instead of keys',
      'things: []',
      'things has not the form of its extension point → write things: { key: entry }',
    ],
    [
      'keys instead of a list',
      'events: { a: 1 }',
      'events has not the form of its extension point → write events: [entry]',
    ],
    [
      'one entry instead of a list',
      'eventsByKey: { a: 1 }',
      'eventsByKey has not the form of its extension point → write eventsByKey: { key: [entry] }',
    ],
  ])('%s', async (_name, given, expected) => {
    const files = {
      'a/extensions.ts': extensionsFile(good),
      'things/jobs/a.ts': 'export default { kind: 1 }',
      'things/extension-points.ts': declarations,
      'things/extensions.ts': extensionsFile(given),
    }
    const { issues } = await readRegistry(createProject(files))
    const extensionIssues = issues.filter(({ file }) => file === 'operations/things/extensions.ts')
    expect(extensionIssues.map(({ wrong, remedy }) => `${wrong} → ${remedy}`)).toEqual([expected])
  })

  test('an extension point that another section declares is an issue', async () => {
    const files = {
      'a/extension-points.ts': extensionPointsFile('events: inOrder()'),
      'things/extension-points.ts': declarations,
    }
    expect((await readRegistry(createProject(files))).issues).toEqual([
      {
        file: 'operations/things/extension-points.ts',
        wrong: 'declares the extension point events, as operations/a/extension-points.ts does',
        remedy: 'give one of the two another name',
      },
    ])
  })

  test('other exports are an issue', async () => {
    const files = {
      'things/extension-points.ts': 'export default 1',
      'things/extensions.ts': 'export const a = 1',
    }
    expect((await readRegistry(createProject(files))).issues.map(({ wrong }) => wrong)).toEqual([
      'its default export is no extension-points',
      'has no default export',
    ])
  })
})

describe("the sections' own extensions", () => {
  const whole = loadRegistry()

  test('every extension point, home page count and onboarding step has an extension', async () => {
    const { extensions: merged, extensionPoints } = await whole
    expect(pendingTypes.filter((type) => !merged.pending[type])).toEqual([])
    expect(externalSteps.filter((step) => !merged.evidence[step])).toEqual([])
    const all = extensionPoints.flatMap(({ declared }) => Object.keys(declared)) as (keyof typeof merged)[]
    const isEmpty = (entries: object | string | null) => entries === null || Object.keys(entries).length === 0
    expect(all.filter((name) => typeof merged[name] !== 'function' && isEmpty(merged[name]))).toEqual([])
  })

  test.each<[string, SectionExtensions, RegExp]>([
    [
      'an export without a job',
      { exports: { 'no-export': {} as never } },
      /exports.no-export has no job → add/,
    ],
    [
      'a widget of an unknown feature',
      { widgets: { x: { feature: 'flight', build: async () => null } } },
      /widgets.x names the feature flight → one of/,
    ],
    [
      'events of an unknown feature',
      { events: { x: { feature: 'flight', types: [] } } },
      /events.x names the feature flight/,
    ],
    [
      'an element without a file',
      { elements: [{ tag: 'store-x', widget: 'x', module: new URL('file:///nowhere.js') }] },
      /elements.\d+ has no \/nowhere.js → write it/,
    ],
    [
      'a switch of an unknown feature',
      { featureActivators: { flight: {} as never } },
      /featureActivators.flight names the feature flight/,
    ],
    [
      'an unknown onboarding step',
      { evidence: { flight: async () => null } as never },
      /evidence.flight is not a known name/,
    ],
    ['an unknown count', { pending: { flight: {} } as never }, /pending.flight is not a known name/],
    ['an event without a port', { providerEvents: { x: [async () => {}] } }, /providerEvents.x is no event/],
    [
      'conversions of an unknown source',
      { conversionsChanged: { x: [], y: [async () => {}] } as never },
      /conversionsChanged.y is not a known name/,
    ],
    [
      'an upload with an invalid name',
      { uploads: { 'A b': {} as never } },
      /uploads.A b is not a valid purpose/,
    ],
    [
      'a sender with a long prefix',
      { senders: { abc: { messageSource: 'direct', applyStatuses: async () => {} } } },
      /senders.abc is no first part of a key/,
    ],
    [
      'a sender of an unknown source',
      { senders: { xx: { messageSource: 'pigeon' as never, applyStatuses: async () => {} } } },
      /senders.xx is of the source pigeon, which the ledger does not know/,
    ],
    [
      'two senders of one source',
      { senders: { xx: { messageSource: 'direct', applyStatuses: async () => {} } } },
      /senders.xx has the source of dm → let one of them send it/,
    ],
    [
      'a second single extension',
      { reviewRequests: () => null as never },
      /registers reviewRequests, as operations\/reviews/,
    ],
  ])('%s', async (_name, given, expected) => {
    const registry = await whole
    const sections = [...registry.sectionExtensions, { file: 'a test', given }]
    expect(() => withExtensions(registry, sections)).toThrow(expected)
  })
})
