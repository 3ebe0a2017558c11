/** Transactions that wait for each other: the database ends one, and it begins anew. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { Context } from '#runtime/context'
import { untilItHolds } from '#runtime/database/anew'
import { sqlState } from '#runtime/errors'
import { silentLog } from '#runtime/server/log'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
/** The embedded database has one session: there whoever comes second waits for the whole of the first. */
const isServer = app.database.kind !== 'pglite'

describe('two that lock the same rows the other way round', () => {
  let shop: Shop
  let tags: [string, string]
  beforeAll(async () => {
    shop = await store(app)
    const made = await Promise.all(
      ['one', 'two'].map((name) => shop.request('POST', '/inbox/tags', { body: { name } })),
    )
    tags = made.map(({ body }) => body.id) as [string, string]
  })

  /** Each has its first row before either asks for its second. */
  async function crossed(ctx: Context, act: (tx: Context, ids: string[]) => Promise<unknown>) {
    let first = 0
    let bothHave = () => {}
    const met = new Promise<void>((resolve) => {
      bothHave = resolve
    })
    const runs = [0, 0]
    const committed = [0, 0]
    const answers = await Promise.all(
      [tags, tags.toReversed()].map((ids, who) =>
        ctx.transaction(async (tx) => {
          runs[who]! += 1
          for (const [at, id] of ids.entries()) {
            await tx.db.selectFrom('inbox_tags').select('id').where('id', '=', id).forUpdate().execute()
            if (at > 0 || !isServer) continue
            first += 1
            if (first === 2) bothHave()
            await met
          }
          await act(tx, ids)
          await tx.afterCommit(() => {
            committed[who]! += 1
          })
          return who
        }),
      ),
    )
    return { answers, runs: runs[0]! + runs[1]!, committed }
  }

  test('both hold, each once', async () => {
    const ctx = await shop.context()
    const day = app.clock.now()
    const { answers, runs, committed } = await crossed(ctx, (tx, ids) =>
      tx.db
        .insertInto('email_unsubscribes')
        .values({ email: `${ids[0]}@example.com`, topic: 'test', created_at: day })
        .execute(),
    )
    expect(answers).toEqual([0, 1])
    expect(committed).toEqual([1, 1])
    expect(runs).toBe(isServer ? 3 : 2)
    expect(await ctx.db.selectFrom('email_unsubscribes').select('email').execute()).toHaveLength(2)
  })

  test('what a transaction throws otherwise ends it at once', async () => {
    const ctx = await shop.context()
    let runs = 0
    const failing = ctx.transaction(async (tx) => {
      runs += 1
      await tx.db.selectFrom('inbox_tags').select('id').where('id', '=', 'no id').execute()
    })
    await expect(failing).rejects.toMatchObject({ code: '22P02' })
    expect(runs).toBe(1)
  })
})

test('who is ended time and again is told of it in the end', async () => {
  const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' })
  let runs = 0
  const always = untilItHolds(silentLog(), async () => {
    runs += 1
    throw deadlock
  })
  expect(sqlState(await always.catch((error: unknown) => error))).toBe('40P01')
  expect(runs).toBe(4)
})
