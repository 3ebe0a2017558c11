/**
 * Rules for every field of every operation, by its meaning: days and instants, day ranges, lists used as sets, and
 * texts. New fields are covered automatically.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as exports from '#operations/store/files/exports'
import { Context } from '#runtime/context'
import { getChildSchemas } from '#runtime/documents/publish'
import { parseInput } from '#runtime/gateway/input'
import { WorkerStopping } from '#runtime/job'
import { loadRegistry } from '#runtime/registry/registry'
import { country, currency, dateSchemas, ignoredKeys, line, object, text, z } from '#runtime/schema'
import {
  addDays,
  daysBetween,
  epochDay,
  firstDay,
  isOffset,
  lastDay,
  listDays,
  toDay,
} from '#runtime/values/days'
import { overrideExtensions, testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()
const { operations, jobs } = await loadRegistry()

interface Field {
  operation: (typeof operations)[number]
  part: 'query' | 'body'
  /** Names from the root; `*` for an entry. */
  path: string[]
  /** The schema as declared in the object. */
  schema: z.ZodTypeAny
}

/** All input fields of all operations. */
function listFields(): Field[] {
  const found: Field[] = []
  const walk = (schema: z.ZodTypeAny, at: Omit<Field, 'schema'>): void => {
    if (schema instanceof z.ZodObject) {
      for (const [key, field] of Object.entries(schema.shape as z.ZodRawShape)) {
        if (ignoredKeys(schema).has(key)) continue
        const place = { ...at, path: [...at.path, key] }
        found.push({ ...place, schema: field })
        walk(field, place)
      }
      return
    }
    for (const child of getChildSchemas(schema)) {
      walk(child, schema instanceof z.ZodArray ? { ...at, path: [...at.path, '*'] } : at)
    }
  }
  for (const operation of operations) {
    for (const part of ['query', 'body'] as const) {
      const schema = operation.spec.input?.[part]
      if (schema) walk(schema, { operation, part, path: [] })
    }
  }
  return found
}
const fields = listFields()

/** The schema without optional, nullable, default and refinements. */
function unwrap(schema: z.ZodTypeAny): z.ZodTypeAny {
  const wraps = [z.ZodEffects, z.ZodOptional, z.ZodNullable, z.ZodDefault]
  return wraps.some((wrap) => schema instanceof wrap) ? unwrap(getChildSchemas(schema)[0]!) : schema
}
/** Compares by pattern: a description copies the schema. */
const getPattern = (schema: z.ZodTypeAny): string | undefined => {
  const bare = unwrap(schema)
  if (!(bare instanceof z.ZodString)) return undefined
  return bare._def.checks.flatMap((check) => (check.kind === 'regex' ? [check.regex.source] : []))[0]
}
const dateForms = new Map([...dateSchemas].map(([name, schema]) => [getPattern(schema)!, name]))
const dated = fields.flatMap((field) => {
  const kind = dateForms.get(getPattern(field.schema) ?? '')
  return kind ? [{ ...field, kind }] : []
})
const formatFieldName = ({ operation, part, path }: Field): string =>
  `${operation.id} ${part}.${path.join('.')}`

const unreal = [
  '9999-12-31',
  '0001-01-15',
  '1999-12-31',
  '2101-01-01',
  '2026-02-30',
  '2026-13-01',
  '2026-00-10',
]
const zones = ['+99:00', '-13:00', '+14:15', '+03:07', '+00:60']
const wrong: Record<string, string[]> = {
  day: [...unreal, '2026-1-1', '10000-01-01', '-000001-01-01', '+002026-01-01', 'today', ''],
  instant: [...unreal.map((day) => `${day}T12:00:00.000Z`), '2026-11-20T24:00:00.000Z', '2026-11-20'],
  offsetInstant: [
    ...unreal.map((day) => `${day}T12:00:00Z`),
    ...zones.map((zone) => `2026-11-20T12:00:00${zone}`),
    '2026-11-20T25:00:00Z',
    '2026-11-20T12:61:00Z',
  ],
  moment: [
    ...unreal.map((day) => `${day}T12:00`),
    ...zones.map((zone) => `2026-11-20T12:00:00${zone}`),
    '2026-11-20T24:00',
  ],
  wallClock: [...unreal.map((day) => `${day}T12:00`), '2026-11-20T24:00'],
}

describe('days and instants', () => {
  test('day and instant fields are found in queries and bodies', () => {
    expect(new Set(dated.map(({ kind }) => kind))).toEqual(new Set(dateSchemas.keys()))
    expect(dated.length).toBeGreaterThan(90)
  })

  test('every field refuses invalid values with its name', () => {
    for (const field of dated) {
      const name = field.path.at(-1)!
      for (const value of wrong[field.kind]!) {
        const shape = object({ [name]: field.schema })
        expect(
          () => parseInput(shape, { [name]: value }, field.part),
          `${formatFieldName(field)} ${value}`,
        ).toThrow(`${name}: `)
      }
    }
  })

  test('every day range is bounded at both ends and refuses reversed days', async () => {
    const shop = await store(app)
    const ranges = operations.filter(({ spec }) => {
      const query = spec.input?.query ? unwrap(spec.input.query) : null
      return query instanceof z.ZodObject && 'startDate' in query.shape && spec.method === 'GET'
    })
    expect(ranges.length).toBeGreaterThan(28)
    for (const { id, spec } of ranges) {
      const path = spec.path.replace(/:[A-Za-z]+/g, '01980000-0000-7000-8000-000000000000')
      const ask = async (startDate: string, endDate: string) => {
        const query = { ...(spec.example?.query as object), startDate, endDate }
        const { status, body } = await shop.request('GET', path, { query })
        return { status, message: status < 400 ? '' : (body.error.message as string) }
      }
      for (const [first, last, name] of [
        ['9999-12-30', '9999-12-31', 'startDate'],
        ['0001-01-15', '2026-01-01', 'startDate'],
        ['2026-01-01', '0001-01-15', 'endDate'],
        ['2026-01-02', '2026-01-01', 'startDate'],
      ] as const) {
        const { status, message } = await ask(first, last)
        expect([status, message.includes(`${name}: `)], `${id} ${first} ${last}: ${message}`).toEqual([
          400,
          true,
        ])
      }
      const whole = await ask(firstDay, lastDay)
      if (whole.status === 400)
        expect(whole.message, id).toMatch(/startDate: the range may have at most \d+ days/)
      else expect([200, 202, 404, 409], id).toContain(whole.status)
      for (const day of [firstDay, lastDay])
        expect([200, 202, 404, 409], id).toContain((await ask(day, day)).status)
    }
    await app.drainJobs()
  })

  test('no operation defines its own date format', async () => {
    const folder = join(import.meta.dirname, '../../operations')
    const own: string[] = []
    for (const file of await readdir(folder, { recursive: true })) {
      // Providers use their own formats.
      if (!file.endsWith('.ts') || file.startsWith('subscription/provider/')) continue
      const code = await readFile(join(folder, file), 'utf8')
      // A regex with a year, zod's own dates, or a loop over day strings.
      if (/\\d\{4\}-\\d|\.datetime\(|\.string\(\)\.date\(|<= \w+(\.\w+)*; \w+ = (days\.)?addDays/.test(code))
        own.push(file)
    }
    expect(own).toEqual([])
  })

  test('day arithmetic is clamped to four-digit years', () => {
    expect([epochDay('1970-01-01'), toDay(0), epochDay('2000-02-29')]).toEqual([0, '1970-01-01', 11_016])
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01')
    expect([addDays('9999-12-31', 1), addDays('0001-01-01', -1)]).toEqual(['9999-12-31', '0001-01-01'])
    expect(daysBetween({ startDate: '2028-02-28', endDate: '2028-03-01' })).toBe(3)
    expect(listDays({ startDate: '2028-02-28', endDate: '2028-03-01' })).toEqual([
      '2028-02-28',
      '2028-02-29',
      '2028-03-01',
    ])
    expect(listDays({ startDate: '2026-02-02', endDate: '2026-02-01' })).toEqual([])
    expect(() => listDays({ startDate: firstDay, endDate: lastDay })).toThrow('too many')
    for (const none of ['2026-02-30', '9999-99-99', 'x', '']) expect(() => epochDay(none)).toThrow('no day')
    expect(['-12:00', '+14:00', '+05:45', 'Z'].map(isOffset)).toEqual([true, true, true, true])
    expect(['-12:15', '+14:15', '+99:00', '+03:10'].map(isOffset)).toEqual([false, false, false, false])
  })
})

describe('lists used as sets', () => {
  /** Ordered lists, not sets: their operations refuse a duplicate by name, or answer for each entry. */
  const ordered = new Set(['ids', 'lookIds'])
  const sets = fields.flatMap((field) => {
    const list = unwrap(field.schema)
    if (!(list instanceof z.ZodArray) || field.operation.spec.input?.[field.part] === undefined) return []
    const entry = unwrap(list.element)
    const name = field.path.at(-1)!
    const isSet = /(Ids|[pP]ages|[tT]ypes|Methods|[mM]entions|Patterns|[sS]tatus|Words)$/.test(name)
    if (ordered.has(name) || !(entry instanceof z.ZodEnum || isSet)) return []
    return [{ ...field, list, entry }]
  })

  test('duplicates are removed or refused', () => {
    expect(sets.length).toBeGreaterThan(30)
    const sample = (entry: z.ZodTypeAny): unknown =>
      entry instanceof z.ZodEnum
        ? entry.options[0]
        : ['01980000-0000-7000-8000-000000000000', 'abcd1', 'approved'].find(
            (value) => entry.safeParse(value).success,
          )
    for (const field of sets) {
      const value = sample(field.entry)
      const result = field.schema.safeParse([value, value])
      expect(result.success ? result.data : [value], formatFieldName(field)).toEqual([value])
    }
  })
})

describe('texts', () => {
  const blanks = ['   ', '\u200b', '\u00a0\u2003', '\u200d\u2060', '\u3164', '\u2800', '\ufeff', '\u00ad']

  test('required texts need visible characters, in every operation', () => {
    let tried = 0
    for (const field of fields) {
      const schema = unwrap(field.schema)
      if (!(schema instanceof z.ZodString)) continue
      if (!schema._def.checks.some((check) => check.kind === 'min' && check.value > 0)) continue
      // In a nullable field, a blank text is null.
      if (field.schema.safeParse(null).success) continue
      tried += 1
      const name = field.path.at(-1)!
      for (const blank of blanks) {
        const value = blank.repeat(Math.ceil(3 / blank.length))
        const shape = object({ [name]: field.schema })
        expect(
          () => parseInput(shape, { [name]: value }, field.part),
          `${formatFieldName(field)} ${JSON.stringify(blank)}`,
        ).toThrow(`${name}: `)
      }
    }
    expect(tried).toBeGreaterThan(100)
  })

  test('emoji, single letters and other scripts are valid texts', () => {
    const shape = object({
      a: text(1, 20),
      b: line(1, 20),
      c: z.array(text(1, 20)).max(3),
      d: z.record(text(1, 20)),
    })
    for (const value of ['👩‍👩‍👧', '❤️', 'ا', 'न', '.', ' a ']) {
      const given = { a: value, b: value, c: [value], d: { x: value } }
      const text = value.trim()
      expect(parseInput(shape, given, 'body')).toEqual({ a: text, b: text, c: [text], d: { x: text } })
    }
    expect(() => parseInput(shape, { a: 'a', b: 'b', c: ['\u200b'], d: {} }, 'body')).toThrow(
      'c.0: must not be empty',
    )
    expect(() => parseInput(shape, { a: 'a', b: 'b', c: [], d: { x: ' ' } }, 'body')).toThrow(
      'd.x: must not be empty',
    )
  })

  test('every length counts code points', () => {
    const sign = '😀'
    let tried = 0
    for (const field of fields) {
      const schema = unwrap(field.schema)
      if (!(schema instanceof z.ZodString)) continue
      const bounds = schema._def.checks.flatMap((check) => (check.kind === 'max' ? [check.value] : []))
      const [most] = bounds
      const least = schema.minLength ?? 0
      const name = field.path.at(-1)!
      const shape = object({ [name]: field.schema })
      const parse = (length: number) => () => parseInput(shape, { [name]: sign.repeat(length) }, field.part)
      // Not a free text: it has a form that an emoji does not have.
      if (
        most === undefined ||
        most > 20_000 ||
        !field.schema.safeParse(sign.repeat(Math.max(least, 1))).success
      )
        continue
      tried += 1
      expect(parse(most), formatFieldName(field)).not.toThrow()
      expect(parse(most + 1), formatFieldName(field)).toThrow(`${name}: `)
      if (least > 1) expect(parse(least - 1), formatFieldName(field)).toThrow(`${name}: `)
    }
    expect(tried).toBeGreaterThan(200)
  })

  test('names, labels, options and patterns are trimmed', () => {
    const stored =
      /^(?:name|label|title|\w+Title|\w+Name|\w+Label|text|\w+Text|options|pagePatterns|placeholder|heading|subtitle|footer)$/
    const untrimmed: string[] = []
    let tried = 0
    for (const field of fields) {
      const [schema, name] = [unwrap(field.schema), field.path.filter((each) => each !== '*').at(-1)!]
      const item = schema instanceof z.ZodArray ? unwrap(schema.element) : schema
      if (field.part !== 'body' || !stored.test(name) || !(item instanceof z.ZodString)) continue
      const read = item.safeParse(' a b ')
      if (!read.success) continue
      tried += 1
      if (read.data !== 'a b') untrimmed.push(formatFieldName(field))
    }
    // A store's fields are parsed one by one, so that an unchanged field is not validated.
    expect(untrimmed).toEqual(['patch_store body.name'])
    expect(tried).toBeGreaterThan(50)
  })

  test('only valid country codes are accepted', () => {
    const all = Array.from({ length: 26 * 26 }, (_, i) =>
      String.fromCharCode(65 + Math.floor(i / 26), 65 + (i % 26)),
    )
    const named = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
    const taken = all.filter((code) => country.safeParse(code).success)
    expect(taken).toHaveLength(249)
    for (const code of taken) expect(named.of(code), code).toBeTruthy()
    for (const none of ['ZZ', 'EU', 'UN', 'XX', 'br', 'BRA', ''])
      expect(country.safeParse(none).success).toBe(false)
  })

  test.each([
    [/country/i, ['ZZ', 'XX', 'br', 'BRA']],
    [/currency/i, ['ZZZ', 'XXX', 'brl', 'BR']],
  ] as const)('fields named %s refuse invalid codes', (called, codes) => {
    const taking = fields.filter(
      ({ path, schema }) => called.test(path.at(-1)!) && unwrap(schema) instanceof z.ZodString,
    )
    expect(taking.length).toBeGreaterThan(1)
    for (const field of taking) {
      const name = field.path.at(-1)!
      for (const none of codes) {
        expect(
          () => parseInput(object({ [name]: field.schema }), { [name]: none }, field.part),
          `${formatFieldName(field)} ${none}`,
        ).toThrow(`${name}: `)
      }
    }
  })

  test('only valid currency codes are accepted in every currency field', () => {
    const alphabet = Array.from({ length: 26 }, (_, i) => String.fromCharCode(65 + i))
    const all = alphabet.flatMap((a) => alphabet.flatMap((b) => alphabet.map((c) => a + b + c)))
    const known = new Set(Intl.supportedValuesOf('currency'))
    const taken = all.filter((code) => currency.safeParse(code).success)
    expect(taken).toHaveLength(160)
    for (const code of taken) expect(known.has(code), code).toBe(true)
    const taking = fields.filter(({ schema }) => getPattern(schema) === getPattern(currency))
    expect(taking.length).toBeGreaterThan(2)
    for (const field of taking) {
      const name = field.path.at(-1)!
      const shape = object({ [name]: field.schema })
      expect(parseInput(shape, { [name]: 'EUR' }, field.part), formatFieldName(field)).toEqual({
        [name]: 'EUR',
      })
      for (const none of ['ZZZ', 'XXX', 'XTS', 'XAU', 'XDR', 'DEM', 'brl', 'BR', '']) {
        expect(
          () => parseInput(shape, { [name]: none }, field.part),
          `${formatFieldName(field)} ${none}`,
        ).toThrow(`${name}: `)
      }
    }
  })
})

describe('exports', () => {
  test('every export stops between two batches when its job ends, and is not marked as failed', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const names = jobs.map((job) => job.name).filter((name) => app.services.extensions.exports[name])
    expect(names.length).toBeGreaterThan(9)
    for (const name of names) {
      let batches = 0
      const stop = new AbortController()
      async function* endless() {
        for (;;) {
          batches += 1
          if (batches === 3) stop.abort(new WorkerStopping())
          if (batches > 10) throw new Error(`${name} does not hear its signal`)
          yield [['a']]
        }
      }
      const source = { ...app.services.extensions.exports[name]!, columns: () => ['a'], rows: endless }
      const { extensions } = overrideExtensions(app.registry, { exports: { [name]: source } })
      const within = new Context({ ...app.services, extensions }, ctx.store, ctx.actor, ctx.log)
      const id = ctx.newId()
      const row = { id, name, user_id: shop.userId, query_hash: id, email: shop.email, query: '{}' }
      const times = { created_at: ctx.now(), updated_at: ctx.now() }
      await ctx.db
        .insertInto('exports')
        .values({ ...row, ...times })
        .execute()
      const attempt = { isLast: true, signal: stop.signal }
      await expect(exports.run(within, name, id, attempt), name).rejects.toThrow('the worker is stopping')
      const after = await ctx.db
        .selectFrom('exports')
        .select('status')
        .where('id', '=', id)
        .executeTakeFirst()
      expect([name, after?.status, batches]).toEqual([name, 'running', 3])
    }
  })
})
