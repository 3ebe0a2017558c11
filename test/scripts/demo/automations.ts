/** Numbers of the demo's automations, and reads that agree with the rows. */
import { expect, test } from 'vitest'
import type { Seeded } from './seeded-demo.ts'

export function automationTests(seeded: Seeded): void {
  const { app, demo, read } = seeded
  test('automations have the planned numbers', async () => {
    const [aurora, borealis] = ['aurora-supply', 'borealis-goods'].map(
      (slug) => demo.stores.find((each) => each.slug === slug)!.id,
    )
    const rows = <T>(text: string, storeId = aurora) => app.database.query<T>(text, [storeId])
    const counts = async (key: string, condition = 'true') => {
      const found = await rows<{ key: string; n: number }>(
        `select ${key} as key, count(*)::int as n from automation_executions e
         join automations a on a.store_id = e.store_id and a.id = e.automation_id
         where e.store_id = $1 and ${condition} group by 1`,
      )
      return Object.fromEntries(found.map((each) => [each.key, each.n]))
    }
    const at = (await seeded.at()).toISOString()

    expect(await counts('e.status')).toEqual({
      sent: 59,
      delivered: 451,
      read: 860,
      failed: 60,
      skipped: 140,
      cancelled: 12,
      pending: 18,
    })
    expect(await counts('(e.sent_at is not null)::text')).toEqual({ true: 1410, false: 190 })
    expect(await counts('e.failure_code', `e.status = 'failed'`)).toEqual({
      undelivered: 28,
      'frequency-capped': 12,
      'not-on-network': 8,
      'window-closed': 6,
      'template-refused': 3,
      'coupon-failed': 3,
    })
    expect(Object.keys(await counts('e.skip_reason', `e.status = 'skipped'`))).toHaveLength(5)
    const pending = `e.status = 'pending'`
    const due = `extract(epoch from e.scheduled_at - '${at}'::timestamptz)`
    expect(
      await counts(
        `case when e.hold_reason is not null then 'held' when e.step_id is not null then 'in the flow'
          when ${due} <= 86400 then 'soon' else 'later' end`,
        pending,
      ),
    ).toEqual({ held: 2, 'in the flow': 5, soon: 6, later: 5 })
    expect(await counts('true', `${pending} and ${due} < 60`)).toEqual({})
    expect(
      await counts('true', `e.sent_at > '${at}' or e.read_at > '${at}' or e.created_at > '${at}'`),
    ).toEqual({})
    // No event of a run precedes its cause.
    expect(
      await counts(
        'true',
        `(e.delivered_at < e.sent_at or e.read_at < e.delivered_at or e.failed_at < e.sent_at
          or e.created_at > coalesce(e.sent_at, e.failed_at, e.scheduled_at))`,
      ),
    ).toEqual({})

    const automations = (await read('aurora-supply', '/automations?limit=100')).data
    expect(automations.filter((each: { isActive: boolean }) => each.isActive)).toHaveLength(6)
    expect(automations).toHaveLength(8)
    let [total, sent, converted] = [0, 0, 0]
    let days = ''
    let firstDay = ''
    for (const { id, stats } of automations) {
      const { summary, byDay, startDate, endDate } = await read('aurora-supply', `/automations/${id}/report`)
      for (const field of ['sent', 'delivered', 'failed', 'skipped', 'converted', 'revenue', 'pending']) {
        expect(stats[field], field).toBe(summary[field])
      }
      expect(byDay.reduce((sum: number, day: { sent: number }) => sum + day.sent, 0)).toBe(summary.sent)
      days = `startDate=${startDate}&endDate=${endDate}`
      firstDay = startDate
      total += summary.total
      sent += summary.sent
      converted += summary.converted
    }
    expect(total).toBe(1000)
    expect(converted).toBeGreaterThan(20)

    const statistics = await read('aurora-supply', `/statistics?${days}`)
    const feature = statistics.byFeature.find((each: { feature: string }) => each.feature === 'automation')
    // Reports use the message's day, statistics the order's: an order may belong to the evening before the first.
    const begin = `'${firstDay}'::timestamp at time zone 'America/Sao_Paulo'`
    const [before] = await rows<{ n: number }>(
      `select count(*)::int as n from conversions v
       join attribution_touches t on t.store_id = v.store_id and t.id = v.touch_id
       where v.store_id = $1 and v.source_type = 'automation' and v.status in ('confirmed', 'partially-refunded')
         and v.placed_at >= ${begin} and t.touched_at < ${begin}`,
    )
    expect([feature.messagesSent, feature.conversions]).toEqual([sent, converted + before!.n])
    const cart = automations.find((each: { type: string }) => each.type === 'abandoned-cart')
    expect(cart).toMatchObject({ flowVersion: 3, warnings: [] })
    const stats = await read('aurora-supply', `/automations/${cart.id}/flow/stats`)
    expect(stats).toMatchObject({ version: 3 })
    expect(stats.runs).toBeGreaterThan(100)
    for (const step of stats.steps) expect(step.entered, step.stepId).toBeGreaterThan(0)
    const [issued] = stats.steps.filter((each: { type: string }) => each.type === 'coupon')
    expect(issued.couponsIssued).toBeGreaterThan(100)
    expect(issued.couponsUsed).toBeGreaterThan(0)
    const waiting = stats.steps.find((each: { stepId: string }) => each.stepId === 'w1')
    expect(waiting.waiting).toBe(5)
    expect((await read('aurora-supply', `/automations/${cart.id}/flow/versions`)).total).toBe(3)
    expect((await read('aurora-supply', `/automations/${cart.id}/failures`)).data.length).toBeGreaterThan(3)

    const [carts] = await rows(
      `select count(*)::int as n, count(order_id)::int as ordered from carts where store_id = $1`,
    )
    expect(carts).toEqual({ n: 45, ordered: 25 })
    const [shared] = await rows(
      `select count(*)::int as n, count(o.phone_key)::int as known from automation_executions e
       left join (select distinct phone_key from orders where store_id <> $1) o on o.phone_key = e.phone_key
       where e.store_id = $1`,
      borealis,
    )
    expect(shared).toEqual({ n: 3, known: 1 })
  })
}
