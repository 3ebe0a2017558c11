/** Bodies that write what was read: read-only fields are accepted and dropped at every depth. */
import { describe, expect, test } from 'vitest'
import { publish } from '#runtime/documents/publish'
import { parseInput } from '#runtime/gateway/input'
import { count, line, object, writeBody, z } from '#runtime/schema'

const step = writeBody({ name: line(1, 20), delay: count }, ['id', 'sent'], ['name'])
const sent = { id: 'x', sent: 3, name: 'one', delay: 2 }
const kept = { name: 'one', delay: 2 }
const parseBody = (schema: z.ZodTypeAny, value: unknown): unknown => parseInput(schema, value, 'body')

describe('read-only fields', () => {
  test('are dropped at every depth: in objects, lists, maps, and behind null, defaults and refinements', () => {
    const body = writeBody(
      {
        first: step.nullable(),
        steps: z.array(step).max(5),
        byName: z.record(step),
        pair: z.tuple([step, z.number()]),
        checked: step.refine((value) => value.name !== 'bad'),
        usual: step.default({ name: 'one' }),
        deep: object({ deeper: object({ deepest: z.array(z.array(step).max(5)).max(5) }) }),
      },
      ['id'],
    )
    const value = {
      id: 1,
      first: { ...sent },
      steps: [{ ...sent }, { ...sent }],
      byName: { a: { ...sent } },
      pair: [{ ...sent }, 1],
      checked: { ...sent },
      usual: { ...sent },
      deep: { deeper: { deepest: [[{ ...sent }]] } },
    }
    expect(parseBody(body, value)).toEqual({
      first: kept,
      steps: [kept, kept],
      byName: { a: kept },
      pair: [kept, 1],
      checked: kept,
      usual: kept,
      deep: { deeper: { deepest: [[kept]] } },
    })
    expect(parseBody(body, { first: null })).toEqual({ first: null })
  })

  test('are dropped by the matching member of a union', () => {
    const wait = writeBody({ type: z.literal('wait'), hours: count }, ['name'], ['type'])
    const send = writeBody({ type: z.literal('send'), name: line(1, 20) }, ['hours'], ['type'])
    const either = object({ step: z.union([wait, send]), told: z.discriminatedUnion('type', [wait, send]) })
    expect(
      parseBody(either, {
        step: { type: 'send', name: 'a', hours: 4 },
        told: { type: 'wait', name: 'a', hours: 4 },
      }),
    ).toEqual({ step: { type: 'send', name: 'a' }, told: { type: 'wait', hours: 4 } })
  })

  test('are dropped in schemas derived from a body', () => {
    const longer = step.extend({ note: line(0, 20).optional() }).strict()
    expect(parseBody(longer, { ...sent, note: 'x' })).toEqual({ ...kept, note: 'x' })
    expect(parseBody(step.partial(), sent)).toEqual(kept)
    expect(parseBody(step.omit({ delay: true }).strict(), { id: 'x', name: 'one' })).toEqual({ name: 'one' })
    expect(publish(longer)).toMatchObject({
      properties: { id: { readOnly: true }, sent: { readOnly: true } },
    })
    const written = step.extend({ sent: count }).strict()
    expect(parseBody(written, sent)).toEqual({ ...kept, sent: 3 })
    expect(() => parseBody(longer, { ...sent, other: 1 })).toThrow('other: is not a known field')
  })

  test('fields of that name elsewhere, and in free JSON, stay', () => {
    const body = object({ step, settings: z.record(z.unknown()), id: z.string() })
    const value = { step: { ...sent }, settings: { id: 1, step: { id: 2 } }, id: 'mine' }
    expect(parseBody(body, value)).toEqual({ step: kept, settings: { id: 1, step: { id: 2 } }, id: 'mine' })
  })
})
