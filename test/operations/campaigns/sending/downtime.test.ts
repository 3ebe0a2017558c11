/** A campaign after downtime (rule 3): it continues by itself for up to three hours. */
import { describe, expect, test } from 'vitest'
import resumeCampaign from '#operations/campaigns/campaigns/api/resume-campaign'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import { measureIdleMs } from '#operations/campaigns/sending/times'
import { testApp } from '#test/support/app'
import { type SendingShop, sendingShop } from '#test/support/campaigns'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
const noon = '2026-11-20T15:00:00.000Z'
const hour = 3_600_000
const sendWindow = { start: '09:00', end: '18:00' }

/** A campaign that has sent one batch. */
async function halfSent(shop: SendingShop, fields: Record<string, unknown> = {}): Promise<string> {
  const id = await shop.draft(await shop.list(510), fields)
  await shop.call(sendCampaign, { params: { id } })
  await app.drainJobs()
  expect((await shop.read(id)).counters).toMatchObject({ sent: 500, pending: 10 })
  return id
}
async function backAfter(ms: number): Promise<void> {
  await app.advance(ms)
  await app.drainJobs()
}

test.runIf(isFullSuite)(
  'a half-sent campaign pauses after days of downtime, and the merchant is notified',
  async () => {
    await app.setClock(noon)
    const shop = await sendingShop(app)
    const id = await halfSent(shop)
    await backAfter(96 * hour)
    expect(await shop.read(id)).toMatchObject({
      status: 'paused',
      pauseReason: 'provider-unavailable',
      counters: { sent: 500, pending: 10 },
    })
    const [notice] = await app.database.root
      .selectFrom('notifications')
      .select(['type', 'message'])
      .where('store_id', '=', shop.id)
      .where('type', '=', 'campaign-paused')
      .execute()
    expect(notice?.message).toContain('nothing was sent for over 3 hours')
    await shop.call(resumeCampaign, { params: { id } })
    await backAfter(2000)
    expect(await shop.read(id)).toMatchObject({ status: 'sent', counters: { sent: 510 } })
  },
)

test('a campaign continues after two hours of downtime', async () => {
  await app.setClock(noon)
  const shop = await sendingShop(app)
  const id = await halfSent(shop)
  await backAfter(2 * hour)
  expect((await shop.read(id)).status).toBe('sent')
})

test('a campaign that was due days ago is not sent', async () => {
  await app.setClock(noon)
  const shop = await sendingShop(app)
  const id = await shop.draft(await shop.list(3))
  await shop.call(sendCampaign, { params: { id } })
  await backAfter(96 * hour)
  expect(await shop.read(id)).toMatchObject({ status: 'failed', failureReason: 'missed-schedule' })
  expect((await shop.outbox()).size).toBe(0)
})

test.runIf(isFullSuite).each([
  ['10:00 the next morning', 16.5, 'sent'],
  ['12:00', 18.5, 'paused'],
])('a closed send window does not count as downtime: back at %s', async (_, hours, status) => {
  // 17:30 in São Paulo, a Friday.
  await app.setClock('2026-11-20T20:30:00.000Z')
  const shop = await sendingShop(app, { phone: `+55114000200${String(hours * 2)}` })
  const id = await halfSent(shop, { sendWindow })
  await backAfter(hours * hour)
  expect((await shop.read(id)).status).toBe(status)
})

describe('idle time within the send window', () => {
  const zone = 'America/Sao_Paulo'
  const at = (text: string) => new Date(text)
  test.each([
    [null, '2026-11-20T15:00:00Z', '2026-11-24T15:00:00Z', 96],
    [null, '2026-11-20T15:00:00Z', '2026-11-20T14:00:00Z', 0],
    [sendWindow, '2026-11-20T20:00:00Z', '2026-11-20T23:00:00Z', 1],
    [sendWindow, '2026-11-20T20:00:00Z', '2026-11-21T13:00:00Z', 2],
    [sendWindow, '2026-11-20T21:00:00Z', '2026-11-21T12:00:00Z', 0],
    [sendWindow, '2026-11-20T20:00:00Z', '2026-11-23T13:00:00Z', 20],
    [{ start: '10:00', end: '10:30' }, '2026-11-20T20:00:00Z', '2026-11-23T20:00:00Z', 1.5],
  ])('%j from %s to %s: %d hours', (window, from, to, hours) => {
    expect(measureIdleMs(window, zone, at(from), at(to)) / hour).toBe(hours)
  })
})
