/**
 * Every colour that a caller may save has a contrast rule or is exempt here with a reason. Saving two colours with
 * insufficient contrast gives a warning, not an error.
 */
import { describe, expect, test } from 'vitest'
import { getContrastRule } from '#runtime/contrast'
import { getChildSchemas } from '#runtime/documents/publish'
import { findWarnings, mayWarn, parseWarnings, warningHeader } from '#runtime/gateway/warnings'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { colour, ignoredKeys, z } from '#runtime/schema'
import { testApp, wholeRegistry } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
import { store } from '#test/support/store'
import { getBodySchema } from './reference-fields.ts'

const registry = await wholeRegistry()

interface Field {
  path: string
  contrast: ReturnType<typeof getContrastRule>
  /** Keys of the same object. */
  siblings: readonly string[]
}

const colourForm = colour._def.checks.find((check) => check.kind === 'regex')!.regex.source
const isColour = (schema: z.ZodTypeAny): boolean =>
  schema instanceof z.ZodString &&
  schema._def.checks.some((check) => check.kind === 'regex' && check.regex.source === colourForm)

/** Colours of a schema: by their pattern, or by name if they are free texts. */
function findColours(schema: z.ZodTypeAny, path: string, beside: readonly string[] = []): Field[] {
  const ground = getContrastRule(schema)
  const name = path.split('.').at(-1)!
  if (ground || isColour(schema) || (schema instanceof z.ZodString && /colou?r$/i.test(name))) {
    return [{ path, contrast: ground, siblings: beside }]
  }
  if (!(schema instanceof z.ZodObject)) {
    return getChildSchemas(schema).flatMap((child) => findColours(child, path, beside))
  }
  const ignored = ignoredKeys(schema)
  const fields = Object.entries(schema.shape as z.ZodRawShape).filter(([key]) => !ignored.has(key))
  const keys = fields.map(([key]) => key)
  return fields.flatMap(([key, field]) => findColours(field, path === '' ? key : `${path}.${key}`, keys))
}

const writes = registry.operations.filter(({ spec }) => !spec.readOnly && spec.input?.body)
const listBodyColours = (operation: LoadedOperation): Field[] => findColours(getBodySchema(operation), '')
const all = writes.flatMap((operation) =>
  listBodyColours(operation).map((field) => ({
    ...field,
    operation,
    line: `${operation.spec.method} ${operation.spec.path} ${field.path}`,
  })),
)

/** Exempt colours: no known background, or a text next to them has the same meaning. */
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
/** Whether the field is the background of another one. */
const isBackground = ({ path, siblings }: Field, fields: readonly Field[]): boolean => {
  const key = path.split('.').at(-1)!
  const before = path.slice(0, path.length - key.length)
  return siblings.some((each) =>
    fields.some((field) => field.path === `${before}${each}` && field.contrast?.on === key),
  )
}
const unpaired = all.filter(
  (field) =>
    !field.contrast &&
    !isBackground(
      field,
      all.filter(({ operation }) => operation === field.operation),
    ),
)

describe('every colour of a body', () => {
  test('every colour has a contrast rule or a reason', () => {
    expect(all.length).toBeGreaterThan(60)
    expect(
      unpaired.map(({ line }) => line).filter((line) => !others.some(([pattern]) => pattern.test(line))),
    ).toEqual([])
  })
  test.each(others)('the exemption %s matches an existing field', (pattern) => {
    expect(unpaired.some(({ line }) => pattern.test(line))).toBe(true)
  })
  test('a contrast rule refers to a sibling field or a constant colour', () => {
    const lost = all.filter(
      ({ contrast, siblings }) =>
        contrast && !/^#[0-9a-f]{6}$/.test(contrast.on) && !siblings.includes(contrast.on),
    )
    expect(lost.map(({ line }) => line)).toEqual([])
  })
  test('the answer of the write contains the colour, so that it can warn', () => {
    const silent = writes.filter(
      (operation) =>
        listBodyColours(operation).some(({ contrast }) => contrast) &&
        !mayWarn(operation.spec.answer.body ?? z.null()),
    )
    // Saves nothing; its page shows the result.
    expect(silent.map(({ spec }) => `${spec.method} ${spec.path}`)).toEqual(['POST /newsletter/preview'])
  })
})

const app = await testApp()

/** A body with a field and its background in the same grey. */
function buildGreyBody({ path, contrast }: Field): Record<string, unknown> {
  const keys = path.split('.')
  const last = keys.pop()!
  const colours = {
    [last]: '#777777',
    ...(contrast!.on.startsWith('#') ? {} : { [contrast!.on]: '#777777' }),
  }
  const same = contrast!.on.startsWith('#') ? { [last]: contrast!.on } : colours
  return keys.reduceRight<Record<string, unknown>>((inner, key) => ({ [key]: inner }), same)
}

describe('insufficient contrast', () => {
  test('any settings warn about the field and save it', async () => {
    const shop = await connectedStore(app)
    const tried: string[] = []
    for (const { operation, ...field } of all) {
      const { spec } = operation
      const isOfSettings = spec.answer.status === 200 && spec.path.endsWith('/settings')
      if (!field.contrast || !isOfSettings || field.path.includes('actions')) continue
      const { status, body, headers } = await shop.request(spec.method, spec.path, {
        body: buildGreyBody(field),
      })
      const { contrast, path } = field
      expect([spec.path, path, status, body.error]).toEqual([spec.path, path, 200, undefined])
      const warnings = parseWarnings(headers.get('warning') ?? undefined)
      const own = warnings.find((each) => each.startsWith(`${path}: `))
      expect([spec.path, path, own]).toEqual([
        spec.path,
        path,
        expect.stringMatching(
          new RegExp(`has a contrast of 1:1 on .* needs ${contrast.minimum}:1: choose .* such as #`),
        ),
      ])
      expect(body).not.toHaveProperty('warnings')
      tried.push(`${spec.path} ${path}`)
    }
    expect(tried.length).toBeGreaterThan(20)
  })

  test('a warning names the list entry, at most five; reads have no warning', async () => {
    const shop = await store(app)
    const action = { type: 'scroll-top', label: 'Up', backgroundColor: '#ffffff', textColor: '#ffffff' }
    const good = { ...action, textColor: '#000000' }
    const saved = await shop.request('POST', '/action-bar/settings', { body: { actions: [good, action] } })
    expect(parseWarnings(saved.headers.get('warning')!)).toEqual([
      'actions.1.textColor: #ffffff has a contrast of 1:1 on actions.1.backgroundColor (#ffffff), and text that ' +
        'everybody can see needs 4.5:1: choose a darker or lighter one, such as #757575',
    ])
    const read = await shop.request('GET', '/action-bar/settings')
    expect([read.status, read.headers.get('warning')]).toEqual([200, null])
    const many = { actions: Array.from({ length: 5 }, () => action), textColor: '#ffffff' }
    const five = await shop.request('POST', '/action-bar/settings', { body: many })
    expect(parseWarnings(five.headers.get('warning')!)).toHaveLength(5)
    const mended = await shop.request('POST', '/action-bar/settings', {
      body: { actions: [good], textColor: '#000000' },
    })
    expect(mended.headers.get('warning')).toBeNull()
  })

  test('the warning is repeated by a stored idempotent answer and by assistant tools', async () => {
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
    expect(result.structuredContent.warnings).toEqual(parseWarnings(first.headers.get('warning')!))
  })
})

/** Removes every colour, so that its default is saved. */
function withoutColours(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutColours)
  if (value === null || typeof value !== 'object') return value
  const kept = Object.entries(value).filter(([key]) => !/colou?r$/i.test(key))
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutColours(each)]))
}

test('default colours give no warning', async () => {
  const shop = await connectedStore(app)
  const saved: string[] = []
  const warnings: string[] = []
  for (const { spec } of writes) {
    if (spec.path.includes(':') || !mayWarn(spec.answer.body ?? z.null())) continue
    const line = `${spec.method} ${spec.path}`
    const { status, headers } = await shop.request(spec.method, spec.path, {
      body: withoutColours(spec.example?.body ?? {}),
    })
    // A change of an entry needs its id; its creation is tried.
    if (status < 300) saved.push(line)
    warnings.push(...parseWarnings(headers.get('warning') ?? undefined).map((each) => `${line} ${each}`))
  }
  expect(warnings).toEqual([])
  const settings = writes.filter(
    ({ spec }) => spec.path.endsWith('/settings') && mayWarn(spec.answer.body ?? z.null()),
  )
  expect(saved).toEqual(expect.arrayContaining(settings.map(({ spec }) => `${spec.method} ${spec.path}`)))
  expect(saved.length).toBeGreaterThan(17)
})

test('a warning header round-trips any text', () => {
  const sentences = ['a: "quoted", and \\ so on', 'b: 299 - not a warning', 'c: plain']
  expect(parseWarnings(warningHeader(sentences))).toEqual(sentences)
  expect(parseWarnings(undefined)).toEqual([])
  expect(warningHeader(['ação\nx'])).toBe('299 - "a??o?x"')
})

test('a colour without a contrast rule gives no warning', () => {
  const { spec } = registry.byId('post_newsletter_settings')!
  expect(findWarnings(spec.answer.body!, { design: { textColor: '#fff', backgroundColor: null } })).toEqual(
    [],
  )
  expect(findWarnings(spec.answer.body!, null)).toEqual([])
})
