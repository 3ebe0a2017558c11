/** Every job of the registry, over the demo: taken away after each of its steps in turn, it takes no other. */
import { expect, test } from 'vitest'
import type { Hold } from '#db/database'
import { start } from '#operations/store/files/exports'
import { SystemContext } from '#runtime/context'
import { exampleOf } from '#runtime/documents/example'
import { publish } from '#runtime/documents/publish'
import type { Job } from '#runtime/job'
import { revocable, whileHeld } from '#runtime/jobs/held'
import { worlds } from '#test/support/exports'
import type { Seeded } from './seeded.ts'

/** After which of its steps it is taken away: none, and then less and less often. */
const afterSteps = [0, 1, 2, 3, 5, 8, 13, 21, 34]

/** Whose ids a field of a payload has. */
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

  /** As the demo queued one, or by its schema with ids that there are. */
  const payloadOf = async (each: Job): Promise<unknown> => {
    const [queued] = await app.database.query<{ payload: unknown }>(
      `select data->'payload' as payload from pgboss.job where data->>'job' = $1 and data->>'storeId' = $2
       order by created_on limit 1`,
      [each.name, storeId],
    )
    if (queued) return queued.payload
    if (app.services.wired.exports[each.name]) {
      const [owner] = await app.database.query<{ user_id: string }>(
        `select user_id from memberships where store_id = $1 and role = 'owner'`,
        [storeId],
      )
      const ctx = await new SystemContext(app.services, app.services.log, 'test').forStore(
        storeId,
        owner!.user_id,
      )
      const { asks, asking } = worlds[each.name]!
      const { spec } = app.registry.operations.find(({ spec: { path } }) => path === asks)!
      const query: Record<string, unknown> = spec.input?.query?.parse(asking ?? {}) ?? {}
      return { exportId: (await start(ctx!, each.handle as never, query)).jobId }
    }
    const made = exampleOf(publish(each.handle.payload)) as Record<string, unknown>
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

  test('a job that was taken away takes no other step, wherever it was', async () => {
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
    // Those that the demo has nothing for end by themselves soon.
    expect(taken).toBeGreaterThan(3 * app.registry.jobs.length)
    expect(deep.size).toBeGreaterThan(app.registry.jobs.length / 3)
  })

  /** Runs it with a signal that says nothing, as for a handler that does not listen. */
  async function takenAfter(each: Job, payload: unknown, last: number) {
    const { services } = app
    const taking = new AbortController()
    let steps = 0
    const take = (): void => taking.abort(new Error('taken away'))
    if (last === 0) take()
    /** Below what is refused: what comes here is done. */
    const counting: Hold = {
      throwIfAborted() {
        steps += 1
        if (steps === last) take()
      },
    }
    const calls = { ...counting, aborted: false, addEventListener() {}, removeEventListener() {} }
    const base = {
      ...services,
      database: services.database.patient.whileHeld(counting),
      queue: revocable(services.queue, calls as never),
      adapters: revocable(services.adapters, calls as never),
    }
    const never = new AbortController().signal
    const system = new SystemContext(whileHeld(base, never, taking.signal), services.log, 'test')
    const attempt = { jobId: crypto.randomUUID(), number: 1, isLast: false, signal: never }
    const run = async (): Promise<void> => {
      const ctx = each.store ? (await system.forStore(storeId))! : system
      await each.spec.run(ctx as never, payload as never, attempt)
    }
    await run().catch(() => undefined) // refused, or in want of what the demo has not: its steps are what is looked at
    await new Promise((resolve) => setTimeout(resolve, 1))
    return { steps, isTaken: taking.signal.aborted }
  }
}
