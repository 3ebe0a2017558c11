/** The end of a transaction: each of its statements is in it, awaited or not, or is refused. By model, the seed printed. */
import fc from 'fast-check'
import { sql, type Transaction } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import type { Tables } from '#db/tables'
import { freshDatabase, testApp } from '../support/app.ts'
import { store } from '../support/store.ts'

const { database } = await freshDatabase()
const app = await testApp({}, { database })
const shop = await store(app)
await database.script('create table ends (n int primary key)')

interface Step {
  does: 'writes' | 'fails' | 'waits'
  isAwaited: boolean
}
const step: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom('writes', 'writes', 'fails', 'waits'),
  isAwaited: fc.boolean(),
})

/** All at once, as `Promise.all` does; whoever is not awaited is heard of by nobody. */
async function run(tx: Transaction<Tables>, steps: readonly Step[], told: string[]): Promise<void> {
  const all = steps.map(async ({ does }, n) => {
    try {
      if (does === 'waits') await sql`select pg_sleep(0.002)`.execute(tx)
      else await sql`insert into ends values (${does === 'fails' ? 'none' : n})`.execute(tx)
      told[n] = 'done'
    } catch (error) {
      told[n] = 'refused'
      throw error
    }
  })
  for (const each of all) each.catch(() => undefined)
  await Promise.all(all.filter((_each, n) => steps[n]!.isAwaited))
}

test('whatever fails and whoever waits for it: all of a transaction or nothing', async () => {
  const ctx = await shop.context()
  const quiet: unknown[] = []
  const hear = (error: unknown) => quiet.push(error)
  process.on('unhandledRejection', hear)
  onTestFinished(() => void process.off('unhandledRejection', hear))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), fc.boolean(), async (steps, isOurs) => {
      const told: string[] = []
      const work = (tx: Transaction<Tables>) => run(tx, steps, told)
      const ended = isOurs
        ? ctx.transaction((tx) => work(tx.system as Transaction<Tables>))
        : database.root.transaction().execute(work)
      const holds = await ended.then(
        () => true,
        () => false,
      )
      // Those that come late have come by now.
      await sql`select pg_sleep(0.01)`.execute(database.root)
      const rows = await database.query<{ n: number }>('delete from ends returning n', [])
      const written = steps.flatMap(({ does }, n) => (does === 'writes' && told[n] === 'done' ? [n] : []))
      expect(rows.map(({ n }) => n).toSorted()).toEqual(holds ? written : [])
      // Of a context's, all that was begun is in it.
      if (isOurs && holds) expect(told.filter((each) => each === 'refused')).toEqual([])
    }),
    { numRuns: 150 },
  )
  expect(quiet).toEqual([])
})

test('a statement of a transaction that has ended is refused', async () => {
  let late: Transaction<Tables> | null = null
  await database.root.transaction().execute(async (tx) => {
    late = tx
    await sql`select 1`.execute(tx)
  })
  await expect(sql`insert into ends values (1)`.execute(late!)).rejects.toThrow(/committed|over/)
  expect(await database.query('select * from ends', [])).toHaveLength(0)
})
