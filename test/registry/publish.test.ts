import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { describe, expect, test } from 'vitest'
import { distinctList } from '#runtime/distinct-list'
import { buildExample } from '#runtime/documents/example'
import { findSample } from '#runtime/documents/pattern'
import { type JsonSchema, publish } from '#runtime/documents/publish'
import {
  colour,
  count,
  currency,
  day,
  email,
  freeObject,
  httpsUrl,
  id,
  instant,
  line,
  money,
  named,
  object,
  percent,
  queryFlag,
  queryInt,
  queryList,
  text,
  writeBody,
  z,
} from '#runtime/schema'

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)

/** Refuses a schema that 2020-12 does not allow. */
function accepts(schema: JsonSchema, value: unknown): boolean {
  return ajv.compile(schema)(value)
}

const inner = named('Inner', object({ name: line(1, 20) }))
const outer = named('Outer', object({ one: inner, some: z.array(inner), maybe: inner.nullable() }))
const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })

describe('publish', () => {
  test('a slash in a pattern has no backslash, and an escaped backslash stays', () => {
    expect(publish(z.string().regex(/^\/[^\\/]*\\/)).pattern).toBe('^/[^\\\\/]*\\\\')
  })

  test('a text with a minimum length must not be blank', () => {
    for (const schema of [text(1, 9), line(1, 9), z.string().min(1)]) {
      const published = publish(schema)
      expect([' ', '\n', ' a', 'a b'].map((each) => accepts(published, each))).toEqual([
        false,
        false,
        true,
        true,
      ])
      expect(schema.safeParse(' ').success).toBe(false)
    }
    expect(accepts(publish(line(1, 9)), 'a\nb')).toBe(false)
    expect(publish(text(0, 9))).not.toHaveProperty('pattern')
  })

  test('a list that refuses duplicates has unique items', () => {
    const list = distinctList(z.array(z.string()).max(3), 'must not name one twice').describe('Names')
    expect(publish(list)).toMatchObject({
      type: 'array',
      maxItems: 3,
      uniqueItems: true,
      description: 'Names',
    })
    expect(list.safeParse(['a', 'a']).error?.issues[0]?.message).toBe('must not name one twice')
  })

  test('a named schema occurs once, wherever it is used', () => {
    const components = new Map<string, JsonSchema>()
    expect(publish(z.array(outer), components)).toEqual({ type: 'array', items: reference('Outer') })
    expect(publish(inner, components)).toEqual(reference('Inner'))
    expect(publish(object({ a: inner.optional(), b: z.union([inner, z.null()]) }), components)).toMatchObject(
      {
        properties: { a: reference('Inner'), b: { anyOf: [reference('Inner'), { type: 'null' }] } },
        required: ['b'],
      },
    )
    expect([...components.keys()].sort()).toEqual(['Inner', 'Outer'])
    expect(components.get('Outer')).toMatchObject({
      type: 'object',
      properties: {
        one: reference('Inner'),
        some: { type: 'array', items: reference('Inner') },
        maybe: { anyOf: [reference('Inner'), { type: 'null' }] },
      },
      required: ['one', 'some', 'maybe'],
      additionalProperties: false,
    })
    expect(components.get('Inner')).toMatchObject({ type: 'object', properties: { name: { minLength: 1 } } })
  })

  test('inline publishing has no references', () => {
    const published = publish(object({ outer, again: z.record(outer), pair: z.tuple([inner, inner]) }))
    expect(JSON.stringify(published)).not.toContain('$ref')
    const one = { name: 'a' }
    const value = { one, some: [one], maybe: null }
    expect(accepts(published, { outer: value, again: { x: value }, pair: [one, one] })).toBe(true)
    expect(accepts(published, { outer: value, again: { x: one }, pair: [one, one] })).toBe(false)
    expect(accepts(published, { outer: value, again: {}, pair: [one, one, one] })).toBe(false)
  })

  test('ignored fields are read-only, also below a refinement', () => {
    const body = writeBody({ name: line(1, 20) }, ['id', 'createdAt'], ['name'])
    for (const schema of [body, body.refine(() => true)]) {
      const published = publish(schema)
      expect(published).toMatchObject({
        properties: { id: { readOnly: true }, createdAt: { readOnly: true } },
        required: ['name'],
      })
      expect(published).not.toHaveProperty('properties.name.readOnly')
    }
  })

  test('null is kept in types and enums', () => {
    expect(publish(line(1, 5).nullable())).toMatchObject({ type: ['string', 'null'], maxLength: 5 })
    expect(publish(z.enum(['a', 'b']).nullable())).toEqual({
      type: ['string', 'null'],
      enum: ['a', 'b', null],
    })
    expect(accepts(publish(z.literal('a').nullable()), null)).toBe(true)
    expect(accepts(publish(z.literal('a').nullable()), 'b')).toBe(false)
  })

  test('a name for two different schemas is refused, for equal ones accepted', () => {
    const components = new Map<string, JsonSchema>()
    publish(named('Twin', object({ a: count })), components)
    publish(named('Twin', object({ a: count })), components)
    expect(() => publish(named('Twin', object({ b: count })), components)).toThrow(
      'two different schemas are named Twin',
    )
    expect(() => publish(named('No name', object({})), components)).toThrow('No name is no name of a schema')
  })

  test.each([
    ['a pattern with flags', z.string().regex(/^a$/i), 'without its flags'],
    ['a pattern that others cannot read', z.string().regex(/^[0-9]]$/), 'the flag u'],
    ['startsWith', z.string().startsWith('www'), 'as a regex()'],
    ['a schema that contains itself', z.lazy(() => inner), 'limit its depth'],
    ['a schema that hides errors', z.string().catch('x'), 'leave catch out'],
  ])('refuses %s', (_what, schema, remedy) => {
    expect(() => publish(object({ field: schema }))).toThrow(remedy)
  })
})

describe('exampleOf', () => {
  const cases: Record<string, z.ZodTypeAny> = {
    id,
    instant,
    day,
    money,
    currency,
    percent,
    colour,
    count,
    httpsUrl,
    email,
    freeObject,
    line: line(3, 80),
    text: text(200, 300),
    short: line(1, 2),
    phone: z.string().regex(/^\+[1-9]\d{6,14}$/),
    hour: z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/),
    handle: z.string().regex(/^[a-z0-9-]{5,60}$/),
    bothPatterns: z
      .string()
      .regex(/^[A-Z]+\d$/)
      .regex(/^.{4}$/),
    host: z.string().ip(),
    choice: z.enum(['a', 'b']).nullable(),
    literal: z.literal(7),
    withDefault: z.number().int().default(3),
    open: z.number().gt(0).lt(1),
    above: z.number().int().gt(41),
    steps: z.number().multipleOf(15).min(20),
    pair: z.tuple([z.string(), z.number()]).rest(z.boolean()),
    several: z.array(z.enum(['a', 'b', 'c'])).min(3),
    record: z.record(z.enum(['red', 'blue']), count),
    keys: z.record(z.string().regex(/^[a-z]{2}$/), day),
    union: z.union([z.null(), object({ a: count }), z.string()]),
    nested: object({ outer, list: z.array(object({ on: day.nullable() })) }),
    query: object({ page: queryInt(1, 9).default(1), on: queryFlag, of: queryList(z.enum(['x', 'y'])) }),
    body: writeBody({ name: line(1, 20), note: text(0, 9).nullable() }, ['id', 'createdAt'], ['name']),
    nothing: z.null(),
    anything: z.unknown(),
  }

  test.each(Object.entries(cases))('the example of %s is valid and deterministic', (name, schema) => {
    const published = publish(schema)
    const example = buildExample(published, new Map(), name)
    expect(accepts(published, example), JSON.stringify(example)).toBe(true)
    expect(schema.safeParse(example).error?.issues).toBeUndefined()
    expect(buildExample(published, new Map(), name)).toEqual(example)
  })

  test('examples follow references', () => {
    const components = new Map<string, JsonSchema>()
    const schema = publish(z.array(outer), components)
    expect(buildExample(schema, components)).toEqual([
      { one: { name: 'Name' }, some: [{ name: 'Name' }], maybe: { name: 'Name' } },
    ])
  })

  test('body examples omit read-only fields', () => {
    expect(buildExample(publish(cases.body!))).toEqual({ name: 'Name', note: 'Note' })
  })

  test('a missing example is reported with its field', () => {
    const published = publish(object({ secret: z.string().regex(/^(.)\1\1$/) }))
    expect(() => buildExample(published)).toThrow('secret: no example is found of the pattern')
  })
})

test.each([
  ['^[a-z0-9-]{1,60}$', 0, 60],
  ['^(?:mon|tue)-(\\d+)$', 10, 20],
  ['^[^\\s]+$', 3, 9],
  ['\\p{Lu}{2}', 0, 9],
  ['^[\\]\\-x]$', 0, 1],
  ['^(?<year>\\d{4})-W\\d\\d$', 0, 20],
  ['^(?!abc)[a-z]{3}$', 0, 3],
  ['^[^!-~]$', 0, 1],
  ['', 0, 0],
])('sampleOf %s', (pattern, min, max) => {
  const sample = findSample(pattern, (text) => text.length >= min && text.length <= max)!
  expect(sample).toMatch(new RegExp(pattern, 'u'))
  expect(sample.length).toBeGreaterThanOrEqual(min)
  expect(sample.length).toBeLessThanOrEqual(max)
})

test('sampleOf finds none where the bounds leave none', () => {
  expect(findSample('^a{3}$', (text) => text.length > 3)).toBeNull()
})
