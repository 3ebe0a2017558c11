/** The batch loader, and the counters and keys that use it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BatchLoader } from '#runtime/gateway/batch-loader'
import { RateLimiter, SharedCounters } from '#runtime/gateway/rate-limit'
import { freshDatabase } from '#test/support/app'
import { runs } from '#test/support/suite'
import { frozenClock } from '#test/support/test-clock'

test('a lone question is loaded at once; later ones are batched, equal ones one at a time, up to the limit', async () => {
  const asked: string[][] = []
  let answer = Promise.withResolvers<void>()
  const loader = new BatchLoader<string, string>(
    async (all) => {
      asked.push([...all])
      await answer.promise
      return all.map((each) => `${each}!`)
    },
    (each) => each,
    3,
  )
  const said = ['a', 'b', 'b', 'c', 'd', 'e'].map((each) => loader.load(each))
  await Promise.resolve()
  const late = ['f', 'g'].map((each) => loader.load(each))
  expect(asked).toEqual([['a', 'b', 'c']])
  answer.resolve()
  expect(await Promise.all([...said, ...late])).toEqual(['a!', 'b!', 'b!', 'c!', 'd!', 'e!', 'f!', 'g!'])
  expect(asked).toEqual([
    ['a', 'b', 'c'],
    ['b', 'd', 'e'],
    ['f', 'g'],
  ])
  answer = Promise.withResolvers()
  const [one, other] = [loader.load('x'), loader.load('x')]
  answer.reject(new Error('The database is away'))
  await expect(one).rejects.toThrow('away')
  await expect(other).rejects.toThrow('away')
  answer = Promise.withResolvers()
  answer.resolve()
  expect(await loader.load('y')).toBe('y!')
})

test('many keys of three instances at once: each counts exactly, few statements', async () => {
  const { database } = await freshDatabase()
  const clock = frozenClock()
  let statements = 0
  const counted = Object.create(database, {
    query: {
      value(...given: Parameters<typeof database.query>) {
        statements += 1
        return database.query(...given)
      },
    },
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ key: fc.nat(20), instance: fc.nat(2), isLate: fc.boolean() }), { maxLength: 200 }),
      async (hits) => {
        clock.advance(120_000)
        const limit = 5
        const three = [0, 1, 2].map(() => new RateLimiter(clock, limit, 'model', new SharedCounters(counted)))
        const passed = new Map<number, number>()
        const waits = []
        for (const { key, instance, isLate } of hits) {
          const verdict = Promise.resolve(three[instance]!.hit(String(key)))
          waits.push(verdict.then(({ allowed }) => allowed && passed.set(key, (passed.get(key) ?? 0) + 1)))
          if (isLate) await verdict
        }
        await Promise.all(waits)
        for (const key of new Set(hits.map((hit) => hit.key))) {
          const all = hits.filter((hit) => hit.key === key).length
          expect([key, passed.get(key) ?? 0]).toEqual([key, Math.min(limit, all)])
        }
      },
    ),
    runs(30),
  )
  clock.advance(120_000)
  statements = 0
  const one = new RateLimiter(clock, 120, 'store', new SharedCounters(counted))
  await Promise.all(Array.from({ length: 400 }, (_, n) => one.hit(`shop ${n}`)))
  expect(statements).toBe(1)
  await database.close()
})
