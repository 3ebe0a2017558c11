/** Every job of the registry, over the demo: cancelled after each of its steps in turn, it takes no further step. */
import { expect, test } from 'vitest'
import type { CancelSignal } from '#db/database'
import { start } from '#operations/store/files/exports'
import { SystemContext } from '#runtime/context'
import { buildExample } from '#runtime/documents/example'
import { publish } from '#runtime/documents/publish'
import type { Job } from '#runtime/job'
import { makeRevocable, scopeServices } from '#runtime/jobs/job-lease'
import { worlds } from '#test/support/exports'
import type { Seeded } from './seeded-demo.ts'

/** The steps after which it is cancelled: with growing distances. */
const afterSteps = [0, 1, 2, 3, 5, 8, 13, 21, 34]

/** The tables of ids in payload fields. */
const tables: Record<string, string> = {
  automationId: 'automations',
  campaignId: 'campaigns',
  contactIds: 'contacts',
  conversationId: 'conversations',
  discountId: 'discounts',
  exchangeId: 'exchange_requests',
  importId: 'review_imports',
  invitationId: 'invitations',
  messageId: 'inbox_messages',
  orderIds: 'orders',
  orders: 'orders',
  reviewId: 'product_reviews',
  submissionId: 'contact_form_submissions',
  subscriberId: 'newsletter_subscribers',
  subscriptionId: 'stock_subscriptions',
}

export function jobTests({ app, demo }: Seeded): void {
  const { id: storeId } = demo.stores.find((each) => each.slug === 'aurora-supply')!

  /** As queued by the demo, or built from its schema with existing ids. */
  const payloadOf = async (each: Job): Promise<unknown> => {
    const [queued] = await app.database.query<{ payload: unknown }>(
      `select data->'payload' as payload from pgboss.job where data->>'job' = $1 and data->>'storeId' = $2
       order by created_on limit 1`,
      [each.name, storeId],
    )
    if (queued) return queued.payload
    if (app.services.extensions.exports[each.name]) {
      const [owner] = await app.database.query<{ user_id: string }>(
        `select user_id from memberships where store_id = $1 and role = 'owner'`,
        [storeId],
      )
      const ctx = await new SystemContext(app.services, app.services.log, 'test').forStore(
        storeId,
        owner!.user_id,
      )
      const { exportPath, exportQuery } = worlds[each.name]!
      const { spec } = app.registry.operations.find(({ spec: { path } }) => path === exportPath)!
      const query: Record<string, unknown> = spec.input?.query?.parse(exportQuery ?? {}) ?? {}
      return { exportId: (await start(ctx!, each.handle as never, query)).jobId }
    }
    const made = buildExample(publish(each.handle.payload)) as Record<string, unknown>
    for (const [field, table] of Object.entries(tables)) {
      if (!(field in made)) continue
      const [row] = await app.database.query<{ id: string }>(
        `select id::text as id from ${table} where store_id = $1 order by id limit 1`,
        [storeId],
      )
      if (row) made[field] = Array.isArray(made[field]) ? [row.id] : row.id
    }
    return made
  }

  test('a cancelled job takes no further step, wherever it was', async () => {
    const tooMany: string[] = []
    let taken = 0
    const deep = new Set<string>()
    for (const each of app.registry.jobs) {
      const payload = each.handle.payload.parse(await payloadOf(each))
      for (const last of afterSteps) {
        const { steps, isTaken } = await takenAfter(each, payload, last)
        if (isTaken && steps > last) tooMany.push(`${each.name}: ${steps} steps, taken after ${last}`)
        if (!isTaken) break
        taken += 1
        if (last > 3) deep.add(each.name)
      }
    }
    expect(tooMany).toEqual([])
    // Jobs without work in the demo end soon.
    expect(taken).toBeGreaterThan(3 * app.registry.jobs.length)
    expect(deep.size).toBeGreaterThan(app.registry.jobs.length / 3)
  })

  /** Runs it with a signal that is never reported, as for a handler that does not check it. */
  async function takenAfter(each: Job, payload: unknown, last: number) {
    const { services } = app
    const taking = new AbortController()
    let steps = 0
    const take = (): void => taking.abort(new Error('taken away'))
    if (last === 0) take()
    /** Below the cancellation check: calls that arrive here are executed. */
    const counting: CancelSignal = {
      throwIfAborted() {
        steps += 1
        if (steps === last) take()
      },
    }
    const calls = { ...counting, aborted: false, addEventListener() {}, removeEventListener() {} }
    const base = {
      ...services,
      database: services.database.longRunning.cancellable(counting),
      queue: makeRevocable(services.queue, calls as never),
      adapters: makeRevocable(services.adapters, calls as never),
    }
    const never = new AbortController().signal
    const system = new SystemContext(scopeServices(base, never, taking.signal), services.log, 'test')
    const attempt = { jobId: crypto.randomUUID(), number: 1, isLast: false, signal: never }
    const run = async (): Promise<void> => {
      const ctx = each.store ? (await system.forStore(storeId))! : system
      await each.spec.run(ctx as never, payload as never, attempt)
    }
    await run().catch(() => undefined) // refused, or missing data in the demo: only its steps matter
    await new Promise((resolve) => setTimeout(resolve, 1))
    return { steps, isTaken: taking.signal.aborted }
  }
}
