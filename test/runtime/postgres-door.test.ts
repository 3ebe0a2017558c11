/** The insides of postgres.js that we go through, and what is told where they are others. */
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { doorOf, knownVersion } from '#db/postgres/door'

const query = () => postgres('postgres://nobody@127.0.0.1:1/none').unsafe('') as unknown as object

test('the door of postgres.js is taken where it is known', () => {
  const sql = { unsafe: query } as unknown as Parameters<typeof doorOf>[0]
  expect(doorOf(sql)).toBeTypeOf('function')
})

test('the door of postgres.js is refused with one sentence where it is not', () => {
  const remedy = `install postgres@${knownVersion}`
  const shapes: readonly ((found: Record<string, unknown>) => unknown)[] = [
    (found) => ({ ...found, handler: undefined }),
    (found) => ({ ...found, handler: () => undefined }),
    (found) => ({ ...found, novelty: 1 }),
    ({ state: _state, ...found }) => found,
  ]
  for (const shaped of shapes) {
    const sql = { unsafe: () => shaped(query() as Record<string, unknown>) }
    expect(() => doorOf(sql as never)).toThrow(remedy)
  }
  expect(() => doorOf({ unsafe: query } as never, '3.5.0')).toThrow(
    /^postgres 3\.5\.0 is installed, and db\/postgres\/door\.ts knows the insides of/,
  )
})
