import { expect, test } from 'vitest'
import createAutomation from '#operations/automations/definitions/api/create-automation'
import deleteAutomation from '#operations/automations/definitions/api/delete-automation'
import getAutomation from '#operations/automations/definitions/api/get-automation'
import getFailures from '#operations/automations/reports/api/get-failures'
import getFlowStats from '#operations/automations/reports/api/get-flow-stats'
import getReport from '#operations/automations/reports/api/get-report'
import { metering } from '#operations/store/index'
import { testApp } from '#test/support/app'
import { history } from '#test/support/automation-history'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
const now = '2026-11-20T12:00:00.000Z'
await app.setClock(now)

const made = async (shop: Shop, body: object): Promise<string> => {
  const answer = await shop.call(createAutomation, { body: { type: 'abandoned-cart', ...body } })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body.id
}

test('deleting an automation cancels pending messages, ends its runs and releases units; sent messages stay', async () => {
  const shop = await store(app)
  const id = await made(shop, { isActive: true, name: 'Gone' })
  const { ctx, run, execution, log } = await history(shop, id)
  const reservation_id = await metering.reserve(ctx, 1, 'automation')
  const pending: string[] = []
  for (let i = 0; i < 18; i += 1) {
    const runId = await run(i === 0 ? { origin: 'manual' } : {})
    await log(runId, '', 'message')
    pending.push(await execution({ run_id: runId, ...(i === 0 ? { reservation_id } : {}) }))
  }
  const left = await execution({ status: 'sent', sent_at: new Date(now) })
  const sending = await execution({ status: 'sending' })
  expect((await metering.readUsage(ctx)).reserved).toBe(1)
  expect((await shop.call(deleteAutomation, { params: { id } })).status).toBe(204)
  const rows = await ctx.db
    .selectFrom('automation_executions as e')
    .innerJoin('automation_runs as r', 'r.id', 'e.run_id')
    .innerJoin('automations as a', 'a.id', 'e.automation_id')
    .select(['e.id', 'e.status', 'e.failure_reason', 'e.ended_at', 'r.ended_at as run_ended_at', 'a.name'])
    .execute()
  const of = (executionId: string) => rows.find((row) => row.id === executionId)!
  for (const each of pending) {
    expect(of(each)).toMatchObject({
      status: 'cancelled',
      failure_reason: 'automation-deleted',
      ended_at: new Date(now),
      run_ended_at: new Date(now),
    })
  }
  expect(of(left)).toMatchObject({ status: 'sent', name: 'Gone' })
  expect(of(sending)).toMatchObject({ status: 'sending', run_ended_at: null })
  expect((await metering.readUsage(ctx)).reserved).toBe(0)
  expect((await shop.call(getAutomation, { params: { id } })).status).toBe(404)
  expect((await shop.call(deleteAutomation, { params: { id } })).status).toBe(404)
  for (const report of [getReport, getFailures, getFlowStats]) {
    expect((await shop.call(report, { params: { automationId: id } })).status).toBe(404)
  }
  expect(await made(shop, { name: 'gone' })).not.toBe(id)
})
