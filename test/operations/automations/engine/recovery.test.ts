import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import deleteAutomation from '#operations/automations/definitions/api/delete-automation'
import { claimDue } from '#operations/automations/engine/claim'
import { deliverBatch, recordResults } from '#operations/automations/engine/record'
import { findSendContext } from '#operations/automations/engine/send-context'
import { enterManually } from '#operations/automations/index'
import { type TestApp, testApp } from '#test/support/app'
import { type AutomationShop, automationShop, exampleFlow, never } from '#test/support/automations'
import { setQuota, readUsage as used } from '#test/support/numbers'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

const noon = '2026-11-20T15:00:00.000Z'
const customer = { name: 'Rui Lima', email: 'rui@example.com', phone: '+5511966665555' }
const tick = async (ms: number): Promise<void> => {
  await app.advance(ms)
  await app.drainJobs()
}
const provider = (shop: AutomationShop, mode: string) =>
  shop.sandbox(`/messaging/${shop.id}/provider`, { mode })

/** A shop with one message that is due now, without its job. */
async function due(body: Record<string, unknown> = {}) {
  await app.setClock(noon)
  const shop = await automationShop(app)
  const automation = await shop.automation({ type: 'order-created', delayMinutes: 5, ...body })
  await shop.sell({ customer })
  await app.setClock('2026-11-20T15:05:00.000Z')
  const [execution] = await shop.executions(automation.id)
  return { shop, automation, ctx: await shop.context(), id: execution!.id }
}

describe('after a worker died', () => {
  test('between claim and call, the same key is sent once the claim is dead', async () => {
    const { shop, automation, ctx, id } = await due()
    const { claims } = await claimDue(ctx, await findSendContext(ctx), null)
    expect(claims[0]!.messages.map((message) => message.id)).toEqual([id])
    expect(await used(shop)).toEqual({ used: 0, reserved: 1 })
    await tick(119_000)
    expect(await shop.outbox()).toEqual([])
    await tick(61_000)
    expect(await shop.outbox()).toMatchObject([{ idempotencyKey: `au_${id}_1`, calls: 1 }])
    expect(await shop.executions(automation.id)).toMatchObject([{ status: 'sent', attempts: 1 }])
    expect(await used(shop)).toEqual({ used: 1, reserved: 0 })
  })

  test('between call and commit, a resend under its key is one message, one unit and one next message', async () => {
    const { shop, automation, ctx, id } = await due({ flow: exampleFlow })
    const { claims } = await claimDue(ctx, await findSendContext(ctx), null)
    await deliverBatch(ctx, claims[0]!)
    expect(await shop.outbox()).toMatchObject([{ idempotencyKey: `au_${id}_1`, calls: 1 }])
    // No status comes before the claim is dead.
    await app.database.root.updateTable('sandbox_messages').set({ next_event_at: null }).execute()
    await tick(180_000)
    await tick(1_000)
    expect(await shop.outbox()).toMatchObject([{ idempotencyKey: `au_${id}_1`, calls: 2 }])
    const rows = await shop.executions(automation.id)
    expect(rows.map((row) => [row.sequence, row.status])).toEqual([
      [1, 'sent'],
      [2, 'pending'],
    ])
    expect(await used(shop)).toEqual({ used: 1, reserved: 0 })
  })

  test('an earlier status proves the message: sent, counted and continued once', async () => {
    const { shop, automation, ctx } = await due({ flow: exampleFlow })
    const { claims } = await claimDue(ctx, await findSendContext(ctx), null)
    const { results } = await deliverBatch(ctx, claims[0]!)
    await tick(2_000)
    expect((await shop.executions(automation.id)).map((row) => [row.sequence, row.status])).toEqual([
      [1, 'read'],
      [2, 'pending'],
    ])
    // The worker was slow, not dead.
    await recordResults(ctx, claims[0]!, results)
    expect((await shop.executions(automation.id)).map((row) => row.status)).toEqual(['read', 'pending'])
    expect(await used(shop)).toEqual({ used: 1, reserved: 0 })
    const touches = await ctx.db.selectFrom('attribution_touches').selectAll().execute()
    expect(touches).toMatchObject([{ source_type: 'automation', automation_type: 'order-created' }])
  })

  test('a message claimed by run is sent although its job is lost', async () => {
    const { shop, automation, id } = await due({ delayMinutes: 600 })
    expect((await shop.request('POST', `/automations/executions/${id}/run`)).status).toBe(202)
    await sql`delete from pgboss.job where data->>'job' = 'automation-advance'`.execute(app.database.root)
    await app.drainJobs()
    expect((await shop.executions(automation.id))[0]).toMatchObject({ status: 'sending', message: null })
    await tick(180_000)
    await tick(60_000)
    expect(await shop.outbox()).toMatchObject([{ idempotencyKey: `au_${id}_1`, calls: 1 }])
  })

  test('a message whose answer is always lost is resent for a day, then indeterminate', async () => {
    const { shop, automation } = await due()
    await provider(shop, 'timeout')
    await app.drainJobs()
    const countCallsWithoutStatus = async (ms: number): Promise<number> => {
      await app.database.root.updateTable('sandbox_messages').set({ next_event_at: null }).execute()
      await tick(ms)
      const [message, ...others] = await shop.outbox()
      expect(others).toEqual([])
      return message!.calls
    }
    // If orders are synced only after the recovery, it waits for them.
    const calls = await countCallsWithoutStatus(24 * 3_600_000 - 600_000)
    expect(await countCallsWithoutStatus(300_000)).toBe(calls + 1)
    expect(await shop.executions(automation.id)).toMatchObject([{ status: 'sending' }])
    expect(await countCallsWithoutStatus(300_000)).toBe(calls + 2)
    expect(await shop.executions(automation.id)).toMatchObject([
      { status: 'failed', failure_code: 'unknown-outcome' },
    ])
    expect(await used(shop)).toEqual({ used: 1, reserved: 0 })
  })

  test('two concurrent workers and run send one message', async () => {
    const { shop, automation, ctx, id } = await due()
    const sendContext = await findSendContext(ctx)
    const work = async () => {
      for (const claim of (await claimDue(ctx, sendContext, null)).claims) {
        await recordResults(ctx, claim, (await deliverBatch(ctx, claim)).results)
      }
    }
    await Promise.all([work(), work(), shop.request('POST', `/automations/executions/${id}/run`), work()])
    await tick(1_000)
    await tick(1_000)
    expect(await shop.outbox()).toMatchObject([{ idempotencyKey: `au_${id}_1`, calls: 1 }])
    expect(await shop.executions(automation.id)).toHaveLength(1)
    expect(await used(shop)).toEqual({ used: 1, reserved: 0 })
  })

  test('the sweep finds a due message without a job within a minute', async () => {
    const { shop } = await due()
    await sql`delete from pgboss.job where data->>'job' = 'automation-advance'`.execute(app.database.root)
    await tick(60_000)
    expect(await shop.outbox()).toHaveLength(1)
  })
})

describe('deleted and cancelled', () => {
  test('delete cancels pending messages; a message being sent finishes and nothing follows', async () => {
    const { shop, automation, ctx } = await due({ flow: exampleFlow })
    const { claims } = await claimDue(ctx, await findSendContext(ctx), null)
    await shop.sell({ customer: { phone: '+5511944443333' } })
    const { id } = automation
    expect((await shop.call(deleteAutomation, { params: { id } })).status).toBe(204)
    await recordResults(ctx, claims[0]!, (await deliverBatch(ctx, claims[0]!)).results)
    expect((await shop.executions(id)).map((row) => [row.status, row.failure_reason])).toEqual([
      ['sent', null],
      ['cancelled', 'automation-deleted'],
    ])
    await tick(86_400_000 * 2)
    expect(await shop.outbox()).toHaveLength(1)
    const open = await ctx.db
      .selectFrom('automation_runs')
      .select('id')
      .where('ended_at', 'is', null)
      .execute()
    expect(open).toEqual([])
  })
})

describe('a message sent by hand', () => {
  test('is sent without delay, conditions, quiet hours and flow, through the official number; its unit is reserved', async () => {
    await app.setClock('2026-11-21T02:00:00.000Z')
    const shop = await automationShop(app, { connection: 'qr' })
    const ctx = await shop.context()
    const automation = await shop.automation({
      type: 'post-purchase',
      quietHours: { isEnabled: true, start: '21:00', end: '08:00' },
      flow: exampleFlow,
    })
    const order = await shop.place({ customer })
    await shop.deliver(order)
    await app.drainJobs()
    const entry = {
      automationId: automation.id,
      phone: customer.phone,
      orderId: order.id,
      userId: shop.userId,
    }
    const { executionId, jobId } = await ctx.transaction((tx) => enterManually(tx, entry))
    expect(jobId).toEqual(expect.any(String))
    expect(await used(shop)).toEqual({ used: 0, reserved: 1 })
    await expect(ctx.transaction((tx) => enterManually(tx, entry))).rejects.toMatchObject({
      code: 'conflict',
    })
    await app.drainJobs()
    // The selected connection is a QR one, but messages sent by hand use the official number.
    const [held] = (await shop.executions(automation.id)).filter((row) => row.id === executionId)
    expect(held).toMatchObject({ status: 'pending', hold_reason: 'not-connected' })
    const { connectNumber } = await import('#scripts/seed/connect-number')
    await connectNumber(ctx, { type: 'official', phone: '+5511400010002' })
    await shop.sandbox(`/messaging/${shop.id}/inbound`, { phone: customer.phone, type: 'text', text: 'Oi' })
    // The customer's message must have arrived, because it opens the window.
    await app.drainJobs()
    await tick(15 * 60_000)
    const [sent] = (await shop.executions(automation.id)).filter((row) => row.id === executionId)
    expect(sent?.sent_at).not.toBeNull()
    expect(await shop.outbox()).toMatchObject([{ phone: customer.phone, via: 'official' }])
    expect(await used(shop)).toEqual({ used: 1, reserved: 0 })
    const runs = await ctx.db
      .selectFrom('automation_runs')
      .select(['origin', 'created_by', 'ended_at'])
      .where('origin', '=', 'manual')
      .execute()
    expect(runs).toEqual([{ origin: 'manual', created_by: shop.userId, ended_at: expect.any(Date) }])
  })

  test('is refused if unknown, inactive, without such an order, or without quota', async () => {
    await app.setClock(noon)
    const shop = await automationShop(app, { connection: 'official' })
    const ctx = await shop.context()
    const automation = await shop.automation({ type: 'order-created', quietHours: never })
    const enter = (entry: object) =>
      ctx.transaction((tx) =>
        enterManually(tx, { automationId: automation.id, phone: customer.phone, userId: null, ...entry }),
      )
    await expect(enter({ automationId: ctx.newId() })).rejects.toMatchObject({ code: 'not_found' })
    await expect(enter({ orderId: 'nope' })).rejects.toMatchObject({ code: 'not_found' })
    await setQuota(shop, 0)
    await expect(enter({})).rejects.toMatchObject({ code: 'forbidden' })
    await shop.request('PUT', `/automations/${automation.id}`, { body: { isActive: false } })
    await expect(enter({})).rejects.toMatchObject({ code: 'conflict' })
  })
})
