/** Transaction retries after a deadlock or a serialization failure. */
import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Context } from '#runtime/context'
import { retryOnConflict } from '#runtime/database/retry-on-conflict'
import { refuse, sqlState } from '#runtime/errors'
import { operation } from '#runtime/operation'
import { loadOperation } from '#runtime/registry/registry'
import { object, z } from '#runtime/schema'
import { section } from '#runtime/section'
import { silentLog } from '#runtime/server/log'
import { testApp, wholeRegistry } from '#test/support/app'
import { type Shop, store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
/** The embedded database has one session: a second transaction waits for the whole of the first. */
const isServer = app.database.kind !== 'pglite'

describe('two transactions that lock the same rows in opposite order', () => {
  let shop: Shop
  let tags: [string, string]
  beforeAll(async () => {
    shop = await store(app)
    const made = await Promise.all(
      ['one', 'two'].map((name) => shop.request('POST', '/inbox/tags', { body: { name } })),
    )
    tags = made.map(({ body }) => body.id) as [string, string]
  })

  /** Each has its first row before either requests its second. */
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

  test('both commit once', async () => {
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
    // On a busy machine the retry may deadlock once more.
    expect(runs).toBeGreaterThanOrEqual(isServer ? 3 : 2)
    expect(await ctx.db.selectFrom('email_unsubscribes').select('email').execute()).toHaveLength(2)
  })

  test('any other error ends the transaction at once', async () => {
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

test('a failing after-commit hook neither stops the others nor fails the request', async () => {
  const shop = await store(app)
  const ctx = await shop.context()
  const done: string[] = []
  const answer = await ctx.transaction(async (tx) => {
    await tx.afterCommit(async () => {
      throw new Error('the database went away just then')
    })
    await tx.afterCommit(() => void done.push('after it'))
    return 'held'
  })
  expect([answer, done]).toEqual(['held', ['after it']])
})

test('repeated deadlocks fail in the end', async () => {
  const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' })
  let runs = 0
  const always = retryOnConflict(silentLog(), 'a store', async () => {
    runs += 1
    throw deadlock
  })
  expect(sqlState(await always.catch((error: unknown) => error))).toBe('40P01')
  expect(runs).toBe(4)
})

test('all of many concurrent transactions that compare what they read commit', async () => {
  const shop = await store(app)
  const ctx = await shop.context()
  const emails = Array.from({ length: 40 }, (_none, n) => `shopper-${n}@example.com`)
  const written = emails.map((email) =>
    ctx.transaction(async (tx) => {
      await tx.db.selectFrom('email_unsubscribes').select('email').where('email', '=', email).execute()
      await tx.lockStore()
      await tx.db
        .insertInto('email_unsubscribes')
        .values({ email, topic: 'test', created_at: tx.now() })
        .execute()
    }, 'repeatable read'),
  )
  expect((await Promise.allSettled(written)).filter(({ status }) => status === 'rejected')).toEqual([])
  expect(await ctx.db.selectFrom('email_unsubscribes').select('email').execute()).toHaveLength(40)
})

describe('a write that is aborted at its commit', () => {
  /** The actions of its runs before that, in order; after the last one it commits. */
  let acts: ((ctx: Context) => Promise<void> | void)[] = []
  let runs = 0
  async function handler(ctx: Context): Promise<void> {
    const act = acts[runs]
    runs += 1
    await act?.(ctx)
  }
  const endedLater = (ctx: Context): void =>
    ctx.setClosingStatement(async () => {
      await ctx.runPrepared(`do $$ begin raise exception 'ended' using errcode = '40001'; end $$`, [])
    })
  const said = { readOnly: false, scopes: [], refuses: { conflict: 'It is another by now' } } as const
  const change = operation({
    ...said,
    method: 'PUT',
    path: '/made-up/thing',
    description: 'Change a thing.',
    answer: { status: 200, body: object({ id: z.string() }) },
    etag: true,
    handler: (ctx) => handler(ctx).then(() => ({ id: 'thing' })),
  })
  const remove = operation({
    ...said,
    method: 'DELETE',
    path: '/made-up/thing',
    description: 'Delete a thing.',
    answer: { status: 204 },
    handler,
  })
  async function opened(requestTimeoutMs = 30_000) {
    const registry = await wholeRegistry()
    const made = section({ title: 'Made up', description: 'Not there.', position: 99, order: [] })
    const own = [change, remove].map((each, at) => loadOperation(`made-up-${at}.ts`, made, each))
    const other = await testApp(
      { requestTimeoutMs },
      {
        registry: {
          ...registry,
          operations: [...registry.operations, ...own],
          sections: [...registry.sections, made],
        },
      },
    )
    return store(other)
  }

  test.runIf(isFullSuite).each([change, remove])('reports nothing of an aborted run', async (op) => {
    const shop = await opened()
    runs = 0
    acts = [
      endedLater,
      () => {
        throw refuse('conflict', 'It is another by now')
      },
    ]
    const answer = await shop.call(op)
    expect([answer.status, answer.body.error.message]).toEqual([409, 'It is another by now'])
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(answer.headers.get('etag')).toBeNull()
    expect(runs).toBe(2)
  })

  test.runIf(isFullSuite)('is not retried once its request has timed out', async () => {
    const shop = await opened(300)
    runs = 0
    let answered = () => {}
    const isAnswered = new Promise<void>((resolve) => {
      answered = resolve
    })
    acts = [
      async () => {
        await isAnswered
        throw Object.assign(new Error('ended'), { code: '40001' })
      },
    ]
    expect((await shop.call(change)).status).toBe(503)
    answered()
    await wait(100)
    expect(runs).toBe(1)
  })
})
