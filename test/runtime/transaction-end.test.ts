/**
 * The end of a transaction: each of its statements, awaited or not, belongs to it or is refused. By model, with the
 * seed printed.
 */
import fc from 'fast-check'
import { sql, type Transaction } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import type { Tables } from '#db/tables'
import { sqlState } from '#runtime/errors'
import { runs } from '#test/support/suite'
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

/** All at once, as with `Promise.all`; errors of unawaited statements are ignored. */
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

test('whatever fails and is awaited: a transaction commits all statements or none', async () => {
  const ctx = await shop.context()
  const quiet: unknown[] = []
  const record = (error: unknown) => quiet.push(error)
  process.on('unhandledRejection', record)
  onTestFinished(() => void process.off('unhandledRejection', record))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), fc.boolean(), async (steps, isOurs) => {
      const outcomes: string[] = []
      const work = (tx: Transaction<Tables>) => run(tx, steps, outcomes)
      const ended = isOurs
        ? ctx.transaction((tx) => work(tx.system as Transaction<Tables>))
        : database.root.transaction().execute(work)
      const holds = await ended.then(
        () => true,
        () => false,
      )
      // Late statements have arrived by now.
      await sql`select pg_sleep(0.01)`.execute(database.root)
      const rows = await database.query<{ n: number }>('delete from ends returning n', [])
      const written = steps.flatMap(({ does }, n) => (does === 'writes' && outcomes[n] === 'done' ? [n] : []))
      expect(rows.map(({ n }) => n).toSorted()).toEqual(holds ? written : [])
      // In a context's transaction, every started statement is included.
      if (isOurs && holds) expect(outcomes.filter((each) => each === 'refused')).toEqual([])
    }),
    runs(150),
  )
  expect(quiet).toEqual([])
})

/** Chains of unawaited statements, and the outcome of the closing statement. */
const unawaitedChains = fc.record({
  chains: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
  closing: fc.constantFrom('writes', 'fails'),
})

test('the closing statement belongs to the transaction, whatever else is still being written', async () => {
  const ctx = await shop.context()
  await fc.assert(
    fc.asyncProperty(unawaitedChains, async ({ chains, closing }) => {
      const ended = ctx.transaction(async (tx) => {
        const db = tx.system as Transaction<Tables>
        for (const [at, length] of chains.entries()) {
          const chain = async () => {
            for (let n = 0; n < length; n += 1)
              await sql`insert into ends values (${at * 10 + n})`.execute(db)
          }
          chain().catch(() => undefined)
        }
        await sql`insert into ends values (1000)`.execute(db)
        const text = closing === 'writes' ? 'insert into ends values (1001)' : 'select 1 / 0'
        tx.setClosingStatement(() => tx.runPrepared(text, []).then(() => undefined))
      })
      const outcomes = await ended.then(
        () => 'it holds',
        (error) => sqlState(error) ?? error,
      )
      await sql`select pg_sleep(0.005)`.execute(database.root)
      const rows = await database.query<{ n: number }>('delete from ends returning n', [])
      expect(outcomes).toBe(closing === 'writes' ? 'it holds' : '22012')
      if (closing === 'writes') expect(rows.map(({ n }) => n)).toEqual(expect.arrayContaining([1000, 1001]))
      else expect(rows).toHaveLength(0)
    }),
    runs(150),
  )
})

test('the reason of a failure is reported, even if the error was caught', async () => {
  const ctx = await shop.context()
  const failing = ctx.transaction(async (tx) => {
    const db = tx.system as Transaction<Tables>
    const twice = async () => sql`insert into ends values (1), (1)`.execute(db)
    await twice().catch(() => undefined)
  })
  expect(sqlState(await failing.catch((error) => error))).toBe('23505')
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
