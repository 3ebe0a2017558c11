/** The work that a body can ask for is bounded before it is done: counted here, not timed. */
import { describe, expect, test } from 'vitest'
import { parseJson, read, readBodyAs } from '#runtime/gateway/input'
import { boundOf, levelsAtMost, refuseBulk, valuesAtMost } from '#runtime/gateway/json-bounds'
import { bodyAtMost } from '#runtime/http/body'
import { loadRegistry } from '#runtime/registry/registry'
import { line, object, z } from '#runtime/schema'
import { isFullSuite } from '#test/support/suite'

const filled = (piece: string, end = ''): string =>
  piece.repeat(Math.floor((bodyAtMost - 100) / piece.length)) + end
const inName = (piece: string, last: string): string => `{"n\\u0061me":[${filled(piece)}${last}]}`

const { operations } = await loadRegistry()

describe('a body of fifteen MiB', () => {
  // None of them is closed: what is refused for its size was never given to the parser, which would say so.
  test.each([
    ['of empty objects', `{"n\\u0061me":[${filled('{},')}`, 'values'],
    ['of short texts', `{"n\\u0061me":[${filled('"a",')}`, 'values'],
    ['of escaped texts', `{"name":[${filled('"\\n",')}`, 'values'],
    ['of numbers', `[${filled('1,')}`, 'values'],
    ['of one key again and again', `{${filled('"n\\u0061me":1,')}`, 'values'],
    ['of lists in lists', filled('['), 'levels'],
    ['of objects in objects', filled('{"a":'), 'levels'],
  ])('%s is refused before it is parsed', (_shape, body, of) => {
    const sentence =
      of === 'levels'
        ? `body: is nested more than ${levelsAtMost} levels deep`
        : `body: holds more than ${valuesAtMost} values: send it in parts`
    expect(() => parseJson(body)).toThrow(sentence)
  })

  test.runIf(isFullSuite)('is refused so by every operation that takes one', () => {
    const body = inName('{},', '{}')
    for (const { id, spec } of operations) {
      if (!spec.input?.body) continue
      const bound = boundOf(spec.input.body)
      expect(() => readBodyAs(spec.input!.body!, body), id).toThrow(`body: holds more than ${bound} values`)
      expect(() => readBodyAs(spec.input!.body!, filled('[')), id).toThrow('levels deep')
    }
  })

  test('of one text is seen by no pattern', () => {
    let seen = 0
    const watched = z
      .string()
      .max(10, 'must have at most 10 characters')
      .refine(() => ++seen > 0)
    const fault = /: must have at most 10 characters$/
    expect(() => read(object({ a: watched.optional() }), { a: filled('a') }, 'body')).toThrow(fault)
    expect(() => read(object({ a: z.array(watched).max(3) }), { a: [filled('a')] }, 'body')).toThrow(fault)
    expect(() => read(object({ a: z.record(watched) }), { a: { b: 1 } }, 'body')).toThrow()
    expect(seen).toBe(0)
    // Blanks around a text do not count where it is trimmed.
    expect(read(object({ a: line(1, 10) }), { a: filled(' ', 'a') }, 'body')).toEqual({ a: 'a' })
  })
})

describe('the count of values', () => {
  test.each([
    ['1', 1],
    ['[]', 1],
    ['[ \n ]', 1],
    ['{}', 1],
    ['[1]', 2],
    ['[1,[],{}]', 4],
    ['{"a":{"b":[1,2]},"c":3}', 6],
    ['{"a,b[":"]},{\\",\\\\"}', 2],
    ['["\\\\","\\"",""]', 4],
  ])('%s', (text, values) => {
    expect(() => refuseBulk(text, values)).not.toThrow()
    expect(() => refuseBulk(text, values - 1)).toThrow('values')
  })

  test('of levels ends where it is said to', () => {
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
    expect(() => refuseBulk(nested(levelsAtMost))).not.toThrow()
    expect(() => refuseBulk(`[${nested(levelsAtMost)}]`)).toThrow('levels')
    expect(() => refuseBulk(`[${Array(1000).fill('[]').join(',')}]`)).not.toThrow()
    expect(() => refuseBulk(`"${'['.repeat(1000)}"`)).not.toThrow()
  })

  test('follows the lists of a schema', () => {
    const rows = z.array(z.array(z.string()).max(10)).max(10_000)
    expect(boundOf(object({ rows }))).toBe(1 + 1 + 10_000 * 11)
    expect(boundOf(object({ name: z.string() }))).toBe(valuesAtMost)
  })
})

describe('what no text may be', () => {
  test.each([
    ['{"a":{"b":["ok","x\\u0000"]}}', 'a.b.1: must not contain control characters'],
    ['{"a":[{"\\u0007":1}]}', 'must not contain control characters'],
    ['{"a":{"b":"\\ud800"}}', 'a.b: is not valid Unicode text'],
    ['"\\u0000"', 'body: must not contain control characters'],
    ['{"a":[{"__proto__":1}]}', '__proto__: is not allowed as the name of a field'],
  ])('%s', (text, sentence) => {
    expect(() => parseJson(text)).toThrow(sentence)
  })
})
