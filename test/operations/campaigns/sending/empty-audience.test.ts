/** Campaigns that reach nobody: refused before they start, reported as failed afterwards; and a retry in the send window. */
import { describe, expect, test } from 'vitest'
import previewCampaign from '#operations/campaigns/campaigns/api/preview-campaign'
import retryMessage from '#operations/campaigns/campaigns/api/retry-message'
import scheduleCampaign from '#operations/campaigns/campaigns/api/schedule-campaign'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import { optOuts } from '#operations/messaging/index'
import { testApp } from '#test/support/app'
import { makePhone, sendingShop } from '#test/support/campaigns'
import { readNotices } from '#test/support/imports'

const app = await testApp()
const noon = '2026-11-20T15:00:00.000Z'

const long = { a: 'x'.repeat(500) }
const unfit = {
  'too-long': { content: { text: '{{a|b}}'.repeat(9) }, customFields: long },
  'missing-variable': { content: { text: '{{a}}' }, customFields: {} },
} as const

describe.each(Object.entries(unfit))('%s for everybody', (reason, { content, customFields }) => {
  test('is refused before it starts, and the preview says so', async () => {
    await app.setClock(noon)
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list([1, 2].map((n) => ({ phone: makePhone(n), customFields }))), {
      content,
    })
    const preview = await shop.call(previewCampaign, { params: { id } })
    expect(preview.body).toMatchObject({ skipReason: reason, nobodyReason: reason })
    const refused = await shop.call(sendCampaign, { params: { id } })
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringMatching(/^content: .*on the list/),
    ])
    expect(await shop.read(id)).toMatchObject({ status: 'draft' })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 0 })
  })

  test('fails with the reason when scheduled', async () => {
    await app.setClock(noon)
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list([{ phone: makePhone(1), customFields }]), { content })
    const scheduledAt = '2026-11-20T16:00:00.000Z'
    expect((await shop.call(scheduleCampaign, { params: { id }, body: { scheduledAt } })).status).toBe(200)
    await app.setClock(scheduledAt)
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({ status: 'failed', failureReason: 'content-unfit' })
    expect(await readNotices(shop)).toMatchObject([{ type: 'campaign-failed', level: 'error' }])
  })

  test('is sent if it fits one contact', async () => {
    await app.setClock(noon)
    const shop = await sendingShop(app)
    const fits = { phone: makePhone(2), customFields: { a: 'y' } }
    const id = await shop.draft(await shop.list([{ phone: makePhone(1), customFields }, fits]), { content })
    const preview = await shop.call(previewCampaign, { params: { id } })
    expect(preview.body).toMatchObject({ skipReason: reason })
    expect(preview.body).not.toHaveProperty('nobodyReason')
    expect((await shop.call(sendCampaign, { params: { id } })).status).toBe(202)
    // The only contact it fits opts out before it is sent.
    await optOuts.add(await shop.context(), fits.phone, 'manual')
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({ status: 'failed', failureReason: 'content-unfit' })
    expect(await readNotices(shop)).toMatchObject([{ type: 'campaign-failed', level: 'error' }])
    expect(await shop.usage()).toEqual({ used: 0, reserved: 0 })
  })
})

test('a campaign that reached nobody is not reported as a success', async () => {
  await app.setClock(noon)
  const shop = await sendingShop(app)
  const id = await shop.draft(await shop.list([{ phone: '+5511910000001' }]))
  await shop.call(sendCampaign, { params: { id } })
  await app.drainJobs()
  expect(await shop.read(id)).toMatchObject({ status: 'sent', counters: { sent: 0, failed: 1 } })
  expect(await readNotices(shop)).toMatchObject([
    { type: 'campaign-failed', level: 'error', title: 'Campaign reached nobody: Sale' },
  ])
})

test('a retry waits for the send window', async () => {
  await app.setClock(noon)
  const shop = await sendingShop(app)
  const id = await shop.draft(await shop.list([{ phone: '+5511910000001' }]), {
    sendWindow: { start: '09:00', end: '18:00' },
  })
  await shop.call(sendCampaign, { params: { id } })
  await app.drainJobs()
  const message = async () =>
    app.database.root
      .selectFrom('campaign_messages')
      .select(['id', 'status', 'attempts'])
      .where('campaign_id', '=', id)
      .executeTakeFirstOrThrow()
  const { id: messageId } = await message()
  await app.setClock('2026-11-21T01:00:00.000Z')
  expect((await shop.call(retryMessage, { params: { id, messageId } })).status).toBe(202)
  await app.drainJobs()
  expect(await message()).toMatchObject({ status: 'pending', attempts: 1 })
  await app.setClock('2026-11-21T12:00:00.000Z')
  await app.drainJobs()
  expect(await message()).toMatchObject({ status: 'failed', attempts: 2 })
})
