/** The work that a body can cause is bounded in advance: counted here, not timed. */
import { describe, expect, test } from 'vitest'
import { parseInput, parseJson, readBodyAs } from '#runtime/gateway/input'
import { getValueLimit, levelsAtMost, refuseTooManyValues, valuesAtMost } from '#runtime/gateway/json-bounds'
import { bodyAtMost } from '#runtime/http/body'
import { loadRegistry } from '#runtime/registry/registry'
import { line, object, z } from '#runtime/schema'
import { isFullSuite } from '#test/support/suite'

const fillBody = (piece: string, end = ''): string =>
  piece.repeat(Math.floor((bodyAtMost - 100) / piece.length)) + end
const nestInName = (piece: string, last: string): string => `{"n\\u0061me":[${fillBody(piece)}${last}]}`

const { operations } = await loadRegistry()

describe('a body of fifteen MiB', () => {
  // None of them is closed: the parser, which would report that, never gets an oversized body.
  test.each([
    ['of empty objects', `{"n\\u0061me":[${fillBody('{},')}`, 'values'],
    ['of short texts', `{"n\\u0061me":[${fillBody('"a",')}`, 'values'],
    ['of escaped texts', `{"name":[${fillBody('"\\n",')}`, 'values'],
    ['of numbers', `[${fillBody('1,')}`, 'values'],
    ['of one key again and again', `{${fillBody('"n\\u0061me":1,')}`, 'values'],
    ['of lists in lists', fillBody('['), 'levels'],
    ['of objects in objects', fillBody('{"a":'), 'levels'],
  ])('%s is refused before it is parsed', (_shape, body, of) => {
    const sentence =
      of === 'levels'
        ? `body: is nested more than ${levelsAtMost} levels deep`
        : `body: holds more than ${valuesAtMost} values: send it in parts`
    expect(() => parseJson(body)).toThrow(sentence)
  })

  test.runIf(isFullSuite)('is refused by every operation that takes one', () => {
    const body = nestInName('{},', '{}')
    for (const { id, spec } of operations) {
      if (!spec.input?.body) continue
      const bound = getValueLimit(spec.input.body)
      expect(() => readBodyAs(spec.input!.body!, body), id).toThrow(`body: holds more than ${bound} values`)
      expect(() => readBodyAs(spec.input!.body!, fillBody('[')), id).toThrow('levels deep')
    }
  })

  test('with one text is matched against no pattern', () => {
    let seen = 0
    const watched = z
      .string()
      .max(10, 'must have at most 10 characters')
      .refine(() => ++seen > 0)
    const fault = /: must have at most 10 characters$/
    expect(() => parseInput(object({ a: watched.optional() }), { a: fillBody('a') }, 'body')).toThrow(fault)
    expect(() => parseInput(object({ a: z.array(watched).max(3) }), { a: [fillBody('a')] }, 'body')).toThrow(
      fault,
    )
    expect(() => parseInput(object({ a: z.record(watched) }), { a: { b: 1 } }, 'body')).toThrow()
    expect(seen).toBe(0)
    // Surrounding blanks do not count if the text is trimmed.
    expect(parseInput(object({ a: line(1, 10) }), { a: fillBody(' ', 'a') }, 'body')).toEqual({ a: 'a' })
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
    expect(() => refuseTooManyValues(text, values)).not.toThrow()
    expect(() => refuseTooManyValues(text, values - 1)).toThrow('values')
  })

  test('levels are limited', () => {
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
    expect(() => refuseTooManyValues(nested(levelsAtMost))).not.toThrow()
    expect(() => refuseTooManyValues(`[${nested(levelsAtMost)}]`)).toThrow('levels')
    expect(() => refuseTooManyValues(`[${Array(1000).fill('[]').join(',')}]`)).not.toThrow()
    expect(() => refuseTooManyValues(`"${'['.repeat(1000)}"`)).not.toThrow()
  })

  test('the limit depends on the lists of a schema', () => {
    const rows = z.array(z.array(z.string()).max(10)).max(10_000)
    expect(getValueLimit(object({ rows }))).toBe(1 + 1 + 10_000 * 11)
    expect(getValueLimit(object({ name: z.string() }))).toBe(valuesAtMost)
  })
})

describe('forbidden text', () => {
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
