/**
 * Every colour that a caller may save says what it is seen on, or stands here with its reason; and whoever saves two
 * that can hardly be told apart is warned, not refused, in one way.
 */
import { describe, expect, test } from 'vitest'
import { groundOf } from '#runtime/contrast'
import { childrenOf } from '#runtime/documents/publish'
import { mayWarn, warningHeader, warningsIn, warningsOf } from '#runtime/gateway/warnings'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { colour, ignoredKeys, z } from '#runtime/schema'
import { testApp, wholeRegistry } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
import { store } from '#test/support/store'
import { bodySchemaOf } from './marks.ts'

const registry = await wholeRegistry()

interface Field {
  path: string
  ground: ReturnType<typeof groundOf>
  /** Of its object. */
  beside: readonly string[]
}

const colourForm = colour._def.checks.find((check) => check.kind === 'regex')!.regex.source
const isColour = (schema: z.ZodTypeAny): boolean =>
  schema instanceof z.ZodString &&
  schema._def.checks.some((check) => check.kind === 'regex' && check.regex.source === colourForm)

/** The colours of a schema: by their form, or by their name where they are free texts. */
function coloursIn(schema: z.ZodTypeAny, path: string, beside: readonly string[] = []): Field[] {
  const ground = groundOf(schema)
  const name = path.split('.').at(-1)!
  if (ground || isColour(schema) || (schema instanceof z.ZodString && /colou?r$/i.test(name))) {
    return [{ path, ground, beside }]
  }
  if (!(schema instanceof z.ZodObject)) {
    return childrenOf(schema).flatMap((child) => coloursIn(child, path, beside))
  }
  const ignored = ignoredKeys(schema)
  const fields = Object.entries(schema.shape as z.ZodRawShape).filter(([key]) => !ignored.has(key))
  const keys = fields.map(([key]) => key)
  return fields.flatMap(([key, field]) => coloursIn(field, path === '' ? key : `${path}.${key}`, keys))
}

const writes = registry.operations.filter(({ spec }) => !spec.readOnly && spec.input?.body)
const coloursOf = (operation: LoadedOperation): Field[] => coloursIn(bodySchemaOf(operation), '')
const all = writes.flatMap((operation) =>
  coloursOf(operation).map((field) => ({
    ...field,
    operation,
    line: `${operation.spec.method} ${operation.spec.path} ${field.path}`,
  })),
)

/** What stands on nothing that is known, or is read with the words beside it. */
const others: readonly [RegExp, string][] = [
  [/ (\/inbox|POST \/inbox)\S* |\/inbox\/\S+ (tiers\.)?color$/, 'of the inbox: no shopper sees it'],
  [/\/newsletter\/\S+ (settings\.)?design\.overlayColor$/, 'lies over the page, and nothing is read on it'],
  [
    /\/newsletter\/\S+ (settings\.)?roulette\.prizes\.color$/,
    'the wheel writes in black or white on it, by its luminance',
  ],
  [
    /\/product-reviews\/settings widget\.buttonColor$/,
    'the button writes in black or white on it, by its luminance',
  ],
  [
    /\/installments\S* (textColor|highlightColor)$/,
    'stands on the shop’s own page; the dot says what the words say',
  ],
  [/\/promotions\S* progressColor$/, 'on a track of ours; the words beside it say how far the cart is'],
  [/\/stock-counter\S* textColor$/, 'stands on the shop’s own page'],
  [/ featuredPrice\.textColor$/, 'stands on the shop’s own page'],
  [/ hotspotColor$/, 'stands on a picture, in a circle with a border'],
  [/ (design\.)?style\.borderColor$/, 'a border says nothing'],
  [/\/stock\S* buttonBorderColor$/, 'a border says nothing'],
]
/** What others are read on: it is they who say so. */
const isGround = ({ path, beside }: Field, fields: readonly Field[]): boolean => {
  const key = path.split('.').at(-1)!
  const before = path.slice(0, path.length - key.length)
  return beside.some((each) =>
    fields.some((field) => field.path === `${before}${each}` && field.ground?.on === key),
  )
}
const unpaired = all.filter(
  (field) =>
    !field.ground &&
    !isGround(
      field,
      all.filter(({ operation }) => operation === field.operation),
    ),
)

describe('every colour of a body', () => {
  test('is compared, or has a reason', () => {
    expect(all.length).toBeGreaterThan(60)
    expect(
      unpaired.map(({ line }) => line).filter((line) => !others.some(([pattern]) => pattern.test(line))),
    ).toEqual([])
  })
  test.each(others)('%s stands for a field that is still there', (pattern) => {
    expect(unpaired.some(({ line }) => pattern.test(line))).toBe(true)
  })
  test('is compared with a field beside it, or a colour that never changes', () => {
    const lost = all.filter(
      ({ ground, beside }) => ground && !/^#[0-9a-f]{6}$/.test(ground.on) && !beside.includes(ground.on),
    )
    expect(lost.map(({ line }) => line)).toEqual([])
  })
  test('is answered by its write, so that it can be warned of', () => {
    const silent = writes.filter(
      (operation) =>
        coloursOf(operation).some(({ ground }) => ground) && !mayWarn(operation.spec.answer.body ?? z.null()),
    )
    // Saves nothing: its page shows what it looks like.
    expect(silent.map(({ spec }) => `${spec.method} ${spec.path}`)).toEqual(['POST /newsletter/preview'])
  })
})

const app = await testApp()

/** A body with one field, and what it stands on, in the same grey. */
function grey({ path, ground }: Field): Record<string, unknown> {
  const keys = path.split('.')
  const last = keys.pop()!
  const colours = { [last]: '#777777', ...(ground!.on.startsWith('#') ? {} : { [ground!.on]: '#777777' }) }
  const same = ground!.on.startsWith('#') ? { [last]: ground!.on } : colours
  return keys.reduceRight<Record<string, unknown>>((inner, key) => ({ [key]: inner }), same)
}

describe('whoever saves what can hardly be read', () => {
  test('of any settings is warned of the field, and it is saved', async () => {
    const shop = await connectedStore(app)
    const tried: string[] = []
    for (const { operation, ...field } of all) {
      const { spec } = operation
      const isOfSettings = spec.answer.status === 200 && spec.path.endsWith('/settings')
      if (!field.ground || !isOfSettings || field.path.includes('actions')) continue
      const { status, body, headers } = await shop.request(spec.method, spec.path, { body: grey(field) })
      const { ground, path } = field
      expect([spec.path, path, status, body.error]).toEqual([spec.path, path, 200, undefined])
      const warnings = warningsIn(headers.get('warning') ?? undefined)
      const own = warnings.find((each) => each.startsWith(`${path}: `))
      expect([spec.path, path, own]).toEqual([
        spec.path,
        path,
        expect.stringMatching(
          new RegExp(`has a contrast of 1:1 on .* needs ${ground.least}:1: choose .* such as #`),
        ),
      ])
      expect(body).not.toHaveProperty('warnings')
      tried.push(`${spec.path} ${path}`)
    }
    expect(tried.length).toBeGreaterThan(20)
  })

  test('within a list is told which one, five at most; read again nothing is said', async () => {
    const shop = await store(app)
    const action = { type: 'scroll-top', label: 'Up', backgroundColor: '#ffffff', textColor: '#ffffff' }
    const good = { ...action, textColor: '#000000' }
    const saved = await shop.request('POST', '/action-bar/settings', { body: { actions: [good, action] } })
    expect(warningsIn(saved.headers.get('warning')!)).toEqual([
      'actions.1.textColor: #ffffff has a contrast of 1:1 on actions.1.backgroundColor (#ffffff), and text that ' +
        'everybody can see needs 4.5:1: choose a darker or lighter one, such as #757575',
    ])
    const read = await shop.request('GET', '/action-bar/settings')
    expect([read.status, read.headers.get('warning')]).toEqual([200, null])
    const many = { actions: Array.from({ length: 5 }, () => action), textColor: '#ffffff' }
    const five = await shop.request('POST', '/action-bar/settings', { body: many })
    expect(warningsIn(five.headers.get('warning')!)).toHaveLength(5)
    const mended = await shop.request('POST', '/action-bar/settings', {
      body: { actions: [good], textColor: '#000000' },
    })
    expect(mended.headers.get('warning')).toBeNull()
  })

  test('is told again by the stored answer of a key, and by the tools of assistants', async () => {
    const shop = await store(app)
    const body = { design: { textColor: '#fefefe' } }
    const headers = { 'idempotency-key': 'one' }
    const [first, again] = [
      await shop.request('POST', '/newsletter/settings', { body, headers }),
      await shop.request('POST', '/newsletter/settings', { body, headers }),
    ]
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(first.headers.get('warning')).toMatch(/^299 - "design\.textColor: /)
    expect(again.headers.get('warning')).toBe(first.headers.get('warning'))
    const call = { name: 'call_operation', arguments: { operationId: 'post_newsletter_settings', body } }
    const answer = await app.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${shop.key}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }),
      }),
    )
    const { result } = (await answer.json()) as { result: { structuredContent: { warnings: string[] } } }
    expect(result.structuredContent.warnings).toEqual(warningsIn(first.headers.get('warning')!))
  })
})

test('a header is read as it was written, whatever a sentence holds', () => {
  const sentences = ['a: "quoted", and \\ so on', 'b: 299 - not a warning', 'c: plain']
  expect(warningsIn(warningHeader(sentences))).toEqual(sentences)
  expect(warningsIn(undefined)).toEqual([])
  expect(warningHeader(['ação\nx'])).toBe('299 - "a??o?x"')
})

test('what has no ground of its own says nothing', () => {
  const { spec } = registry.byId('post_newsletter_settings')!
  expect(warningsOf(spec.answer.body!, { design: { textColor: '#fff', backgroundColor: null } })).toEqual([])
  expect(warningsOf(spec.answer.body!, null)).toEqual([])
})
