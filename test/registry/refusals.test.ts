/**
 * Every field of every operation × every kind of wrong value: each sentence of a 400 names the field, is true of the
 * value, and what it advises is accepted.
 */
import { expect, test } from 'vitest'
import { subscribeBody } from '#operations/stock/subscriptions/subscribe'
import { getChildSchemas, publish } from '#runtime/documents/publish'
import { ApiError } from '#runtime/errors'
import { parseInput, parseJson, readBodyAs } from '#runtime/gateway/input'
import { loadRegistry } from '#runtime/registry/registry'
import { ignoredKeys, keepsEmpty, object, queryInt, queryList, z } from '#runtime/schema'
import { hasVisible } from '#runtime/values/confusables'

const { operations } = await loadRegistry()
type Part = 'query' | 'body'

interface Field {
  place: string
  part: Part
  name: string
  schema: z.ZodTypeAny
}

function listFields(): Field[] {
  const found: Field[] = []
  const walk = (schema: z.ZodTypeAny, part: Part, path: string): void => {
    if (!(schema instanceof z.ZodObject)) {
      for (const child of getChildSchemas(schema)) walk(child, part, path)
      return
    }
    for (const [name, field] of Object.entries(schema.shape as z.ZodRawShape)) {
      if (ignoredKeys(schema).has(name)) continue
      found.push({ place: `${path}.${name}`, part, name, schema: field })
      walk(field, part, `${path}.${name}`)
    }
  }
  for (const { id, spec } of operations) {
    for (const part of ['query', 'body'] as const) {
      if (spec.input?.[part]) walk(spec.input[part], part, `${id} ${part}`)
    }
  }
  return found
}
const fields = listFields()

const identities = new Map<z.ZodTypeAny, number>()
function identify(schema: z.ZodTypeAny): number {
  if (!identities.has(schema)) identities.set(schema, identities.size)
  return identities.get(schema)!
}

/** The sentences with which a field refuses a value; none if it accepts it. */
function refusalsOf({ name, schema, part }: Field, value: unknown): string[] {
  try {
    parseInput(
      object({ [name]: schema }),
      value === undefined ? {} : { [name]: structuredClone(value) },
      part,
    )
    return []
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.message.split('; ')
  }
}

const many = Array.from({ length: 2000 }, (_, i) => `a${i}`)
const wrongValues: Record<Part, unknown[]> = {
  body: [
    ...[undefined, null, 'certainly wrong', '', '   ', '\u200b', 'x'.repeat(11_000)],
    ...[0, -1, 1.23456, 1e15, true, [], [1], [null], many, {}, { surprise: 1 }],
  ],
  query: [
    ...[undefined, '', 'certainly wrong', '-1', '0', '1.5', '2147483647', '99999999999999999999', 'TRUE'],
    ...[['a', 'b'], 'a, b', ',', 'x'.repeat(11_000), many.slice(0, 60).join(',')],
  ],
}

/** Words of zod or JavaScript, and wrong plurals, which no sentence may have. */
const foreign =
  /\b1 (?:entries|characters|fields|rows|cells|decimals)\b| \| |Expected|Invalid|Required|undefined|NaN|\[object/

const isBlank = (value: unknown): boolean =>
  [value].flat().some((each) => typeof each === 'string' && !hasVisible(each.replaceAll(',', '')))
/** The values that a sentence claims to be wrong: the whole one, its entries, and the entries of a list in a query. */
const partsOf = (value: unknown, part: Part): unknown[] => [
  value,
  ...(Array.isArray(value) ? value : []),
  ...(part === 'query' && typeof value === 'string' ? value.split(',').map((each) => each.trim()) : []),
  ...(typeof value === 'object' && value !== null ? [...Object.values(value), undefined] : []),
]

/** Whether a sentence is true of the value; `null` for a sentence that no rule here knows. */
function isTrue(sentence: string, value: unknown, part: Part): boolean | null {
  const parts = partsOf(value, part)
  const some = (is: (each: unknown) => boolean): boolean => parts.some(is)
  if (sentence === 'is required') return some((each) => each === undefined)
  if (sentence === 'must not be null') return some((each) => each === null)
  if (sentence === 'must not be empty') return isBlank(value) || parts.some(isBlank)
  if (sentence === 'must be text') return some((each) => typeof each !== 'string')
  if (sentence === 'must be a number') return some((each) => typeof each !== 'number')
  if (sentence === 'must be a whole number')
    return some((each) => !(part === 'query' ? /^-?\d+$/.test(String(each)) : Number.isInteger(each)))
  if (sentence === 'must be a list') return some((each) => !Array.isArray(each))
  if (sentence === 'must be given once') return Array.isArray(value)
  const [, word, bound, unit] =
    /^must (?:be|have) (at least|at most) ([\d.-]+)(?: (\w+))?$/.exec(sentence) ?? []
  if (word === undefined) return null
  const measure = (each: unknown): number =>
    unit === undefined ? Number(each) : ((each as { length?: number } | null)?.length ?? Number.NaN)
  return some((each) => (word === 'at least' ? measure(each) < Number(bound) : measure(each) > Number(bound)))
}

/** The values that a sentence advises to send instead; none if it advises nothing that can be tried. */
function advisedBy(sentence: string): unknown[] {
  const oneOf = /^must be one of (.+)$/.exec(sentence)?.[1]
  if (oneOf) return oneOf.split(', ')
  const example = /such as (\S+)$/.exec(sentence)?.[1]
  if (example) return [example]
  const bound = /^must be at (?:least|most) ([\d.-]+)$/.exec(sentence)?.[1]
  return bound ? [Number(bound)] : []
}

test('a refusal names the field, is true, and its advice is accepted', () => {
  const lies = new Set<string>()
  let tried = 0
  // Several operations share a schema: each is tried once by its name.
  const each = new Map(
    fields.map((field) => [`${field.name} ${field.part} ${identify(field.schema)}`, field]),
  )
  for (const field of each.values()) {
    for (const value of wrongValues[field.part]) {
      for (const refusal of refusalsOf(field, value)) {
        tried += 1
        const [path = '', ...rest] = refusal.split(': ')
        const sentence = rest.join(': ')
        const report = `${field.place} ${JSON.stringify(value)?.slice(0, 40)}: ${refusal.slice(0, 200)}`
        if (path.split('.')[0] !== field.name || foreign.test(sentence)) lies.add(report)
        if (isTrue(sentence, value, field.part) === false) lies.add(report)
        // Advice about an entry is tried as an entry.
        const isEntry = path.includes('.') && Array.isArray(value)
        for (const advice of path === field.name || isEntry ? advisedBy(sentence) : []) {
          const given = field.part === 'query' ? String(advice) : advice
          const again = refusalsOf(field, isEntry ? [given] : given)
          if (again.some((each) => each === refusal)) lies.add(`${report} → ${given}: ${again}`)
        }
      }
    }
  }
  expect([...lies]).toEqual([])
  expect(tried).toBeGreaterThan(10_000)
})

test('a wrong choice is answered with all values that are accepted', () => {
  let tried = 0
  for (const field of fields) {
    const {
      enum: values,
      items,
      anyOf,
    } = publish(field.schema) as Record<string, never> as {
      enum?: unknown[]
      items?: { enum?: unknown[] }
      anyOf?: unknown[]
    }
    const choices = (values ?? items?.enum)?.filter((each) => each !== null)
    if (!choices || anyOf) continue
    tried += 1
    for (const value of field.part === 'query' ? ['certainly wrong'] : ['certainly wrong', 1.5, true]) {
      const [refusal] = refusalsOf(field, items ? [value] : value)
      const listed = refusal?.replace(/^[^:]*: must be (?:one of )?/, '')
      expect(new Set(listed?.split(', ')), field.place).toEqual(new Set(choices.map(String)))
    }
  }
  expect(tried).toBeGreaterThan(150)
})

test('an empty text in a nullable field is null, except where it has a meaning of its own', () => {
  const kept = new Set<string>()
  const isKept = (schema: z.ZodTypeAny): boolean =>
    keepsEmpty(schema) || getChildSchemas(schema).some(keepsEmpty)
  let tried = 0
  for (const { place, part, name, schema } of fields) {
    const published = publish(schema) as { type?: unknown; enum?: unknown; anyOf?: { type?: unknown }[] }
    const types = [published, ...(published.anyOf ?? [])].flatMap(({ type }) => type)
    if (part === 'query' || !types.includes('string') || !types.includes('null') || published.enum) continue
    if (isKept(schema)) {
      kept.add(place.split(' ')[0]!)
      continue
    }
    tried += 1
    for (const empty of ['', ' ', '\u200b\u00a0']) {
      const read = parseInput(object({ [name]: schema }), { [name]: empty }, 'body') as Record<
        string,
        unknown
      >
      expect(read[name], `${place} ${JSON.stringify(empty)}`).toBe(null)
    }
  }
  expect(tried).toBeGreaterThan(100)
  expect([...kept]).toEqual(['patch_product_reviews_by_reviewId_reply', 'post_stock_notifications_settings'])
})

test('the form of a stock alert takes an empty name, and null as its body is refused', () => {
  const given = { variantId: '1', email: 'ana@example.com', source: 'product-page' }
  expect(parseInput(subscribeBody, { ...given, name: '' }, 'body')).toEqual({ ...given, name: null })
  for (const body of ['null', '[]', '"text"', '1'])
    expect(() => readBodyAs(subscribeBody, body), body).toThrow('body: must be an object')
})

test('a list in a query may have blanks after its commas', () => {
  const list = object({ ids: queryList(z.string().max(4)), rating: queryList(queryInt(1, 5)).optional() })
  expect(parseInput(list, { ids: '1001, 1002 ,1003,,', rating: ['1 ', '2, 3'] }, 'query')).toEqual({
    ids: ['1001', '1002', '1003'],
    rating: [1, 2, 3],
  })
})

test('numbers beyond 2^53 are refused by their path, in any notation; longer texts and decimals are not', () => {
  const read = (json: string) => () => parseJson(json)
  for (const number of ['9007199254740992', '-9007199254740993', '12345678901234567890.5', '1e16', '1e400'])
    expect(read(`{"a":{"b":[1,${number}]}}`), number).toThrow(
      /^a\.b\.1: must be a number up to 9007199254740991; .* send it as text$/,
    )
  for (const json of ['9007199254740991', '0.12345678901234567', '"9007199254740993"', '1e2', '"1e400"'])
    expect(read(`{"a":${json}}`), json).not.toThrow()
})

test('unions of values are one list, and a field that says which object it is names all of them', () => {
  const either = object({
    status: z.union([z.enum(['a', 'b']), z.literal('all')]),
    step: z.discriminatedUnion('type', [
      object({ type: z.literal('wait') }),
      object({ type: z.literal('message') }),
    ]),
    least: z.array(z.number()).min(1),
    pair: z.array(z.number()).length(2),
  })
  const wrong = { status: 'c', step: { type: 'x' }, least: [], pair: [] }
  expect(() => parseInput(either, wrong, 'body')).toThrow(
    'status: must be one of a, b, all; step.type: must be one of wait, message; ' +
      'least: must have at least 1 entry; pair: must have exactly 2 entries',
  )
  expect(() => parseInput(either, { ...wrong, status: undefined, step: {} }, 'body')).toThrow(
    'status: is required; step.type: must be one of wait, message',
  )
  for (const body of [null, [], 'text', 1])
    expect(() => parseInput(either, body, 'body')).toThrow('body: must be an object')
})
