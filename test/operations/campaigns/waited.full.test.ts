/** A waiting campaign is checked again before it sends: every cause of waiting with every fact that changed meanwhile. */
import { describe, expect, test } from 'vitest'
import cancelCampaign from '#operations/campaigns/campaigns/api/cancel-campaign'
import deleteCampaign from '#operations/campaigns/campaigns/api/delete-campaign'
import pauseCampaign from '#operations/campaigns/campaigns/api/pause-campaign'
import resumeCampaign from '#operations/campaigns/campaigns/api/resume-campaign'
import retryMessage from '#operations/campaigns/campaigns/api/retry-message'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import removeContact from '#operations/campaigns/lists/api/remove-contact'
import { optOuts } from '#operations/messaging/index'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import updateStore from '#operations/store/profile/api/update-store'
import { testApp } from '#test/support/app'
import { makePhone, runUntil, type SendingShop, sendingShop } from '#test/support/campaigns'

const app = await testApp()
const noon = '2026-11-20T15:00:00.000Z'
/** 22:00 in São Paulo. */
const night = '2026-11-21T01:00:00.000Z'
const sendWindow = { start: '09:00', end: '18:00' }
const sandbox = getSandbox(app.services.adapters.messaging)
const phone = makePhone(7)
const setColumns = (shop: SendingShop, table: 'messaging_connections' | 'subscriptions', set: object) =>
  app.database.root.updateTable(table).set(set).where('store_id', '=', shop.id).execute()
const of = (id: string) => ({ params: { id } })

const causes = {
  'its window': {
    async begin(shop: SendingShop, id: string) {
      await app.setClock(night)
      await shop.call(sendCampaign, of(id))
      await app.drainJobs()
    },
    async end() {
      await app.setClock('2026-11-21T12:00:00.000Z')
    },
  },
  'an outage': {
    async begin(shop: SendingShop, id: string) {
      await sandbox.setMode(shop.id, 'down')
      await shop.call(sendCampaign, of(id))
      await app.drainJobs()
      await sandbox.setMode(shop.id, 'up')
    },
    async end() {
      await app.advance(15_000)
    },
  },
  'a throttle': {
    async begin(shop: SendingShop, id: string) {
      await sandbox.setMode(shop.id, 'throttle')
      await shop.call(sendCampaign, of(id))
      await app.drainJobs()
      await sandbox.setMode(shop.id, 'up')
    },
    async end() {
      await app.advance(15_000)
    },
  },
  'a pause': {
    async begin(shop: SendingShop, id: string) {
      await shop.call(sendCampaign, of(id))
      await shop.call(pauseCampaign, of(id))
      await app.drainJobs()
    },
    async end(shop: SendingShop, id: string) {
      await shop.call(resumeCampaign, of(id))
    },
  },
} as const

const changes: Record<
  string,
  { change(shop: SendingShop, id: string, listId: string): Promise<unknown>; leaves: boolean; is: string }
> = {
  nothing: { change: async () => undefined, leaves: true, is: 'sent' },
  // Later changes to the list do not count (rule 3).
  'the contact was removed from the list': {
    async change(shop, _id, listId) {
      const { id: contactId } = await app.database.root
        .selectFrom('list_contacts')
        .select('id')
        .where('list_id', '=', listId)
        .where('phone', '=', phone)
        .executeTakeFirstOrThrow()
      const answer = await shop.call(removeContact, { params: { id: listId, contactId } })
      expect(answer.status).toBe(204)
    },
    leaves: true,
    is: 'sent',
  },
  'the contact opted out': {
    change: async (shop) => optOuts.add(await shop.context(), phone, 'manual'),
    leaves: false,
    is: 'skipped',
  },
  'it was cancelled': {
    change: (shop, id) => shop.call(cancelCampaign, of(id)),
    leaves: false,
    is: 'cancelled',
  },
  'it was deleted': {
    async change(shop, id) {
      await shop.call(pauseCampaign, of(id))
      expect((await shop.call(deleteCampaign, of(id))).status).toBe(204)
    },
    leaves: false,
    is: 'cancelled',
  },
  'the plan was lost': {
    change: (shop) => setColumns(shop, 'subscriptions', { status: 'paused', paused_at: app.clock.now() }),
    leaves: false,
    is: 'pending',
  },
  'the number was disconnected': {
    change: (shop) => setColumns(shop, 'messaging_connections', { status: 'disconnected' }),
    leaves: false,
    is: 'pending',
  },
}

describe.each(Object.entries(causes))('a campaign that waited for %s', (cause, { begin, end }) => {
  // Paused before it began, it has no snapshot of its list.
  const known = Object.entries(changes).filter(([name]) => cause !== 'a pause' || !name.includes('list'))
  test.each(known)('%s', async (_name, { change, leaves, is }) => {
    await app.setClock(noon)
    const shop = await sendingShop(app)
    const listId = await shop.list([{ phone }, { phone: makePhone(8) }])
    const id = await shop.draft(listId, { sendWindow })
    await begin(shop, id)
    expect((await shop.outbox()).size).toBe(0)
    await change(shop, id, listId)
    await end(shop, id)
    await app.drainJobs()
    await app.advance(15_000)
    await app.drainJobs()
    expect((await shop.outbox()).has(phone)).toBe(leaves)
    const row = await app.database.root
      .selectFrom('campaign_messages')
      .select(['status', 'sent_at'])
      .where('campaign_id', '=', id)
      .where('phone', '=', phone)
      .executeTakeFirst()
    // A campaign that fails before any attempt drops its snapshot, and so does a deleted one.
    if (row || is === 'sent' || is === 'skipped') {
      expect([row?.sent_at != null, row?.sent_at ? 'sent' : row?.status]).toEqual([leaves, is])
    }
    expect((await shop.usage()).used).toBe(leaves ? 2 : is === 'skipped' ? 1 : 0)
  })
})

describe('a store that moves to another zone', () => {
  /** 02:00 in São Paulo, 14:00 in Tokyo. */
  const asleep = '2026-11-21T05:00:00.000Z'
  const move = (shop: SendingShop) => shop.call(updateStore, { body: { timezone: 'Asia/Tokyo' } })

  test('its campaigns use the new zone', async () => {
    await app.setClock(asleep)
    const shop = await sendingShop(app, { timezone: 'America/Sao_Paulo' })
    const id = await shop.draft(await shop.list(2), { sendWindow })
    await shop.call(sendCampaign, of(id))
    await app.drainJobs()
    expect((await shop.outbox()).size).toBe(0)
    expect((await move(shop)).status).toBe(200)
    await runUntil(app, async () => (await shop.read(id)).status === 'sent', 1000, 10)
    expect((await shop.outbox()).size).toBe(2)
  })

  test('so do retried messages', async () => {
    await app.setClock(noon)
    const shop = await sendingShop(app, { timezone: 'America/Sao_Paulo' })
    const id = await shop.draft(await shop.list([{ phone: '+5511910000001' }]), { sendWindow })
    await shop.call(sendCampaign, of(id))
    await app.drainJobs()
    const message = async () =>
      app.database.root
        .selectFrom('campaign_messages')
        .select(['id', 'attempts'])
        .where('campaign_id', '=', id)
        .executeTakeFirstOrThrow()
    await app.setClock(asleep)
    await shop.call(retryMessage, { params: { id, messageId: (await message()).id } })
    await app.drainJobs()
    expect((await message()).attempts).toBe(1)
    await move(shop)
    await app.drainJobs()
    expect((await message()).attempts).toBe(2)
  })
})

describe('a retry that is due at night', () => {
  /** 17:59:50 in São Paulo: the next try is due after the window. */
  const late = '2026-11-20T20:59:50.000Z'
  test.each(['down', 'throttle'] as const)('waits for the send window: %s', async (mode) => {
    await app.setClock(late)
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list(1), { sendWindow })
    await sandbox.setMode(shop.id, mode)
    await shop.call(sendCampaign, of(id))
    await app.drainJobs()
    await sandbox.setMode(shop.id, 'up')
    // A throttle ends after two seconds: it is checked again at night all the same.
    await app.advance(20_000)
    await app.drainJobs()
    expect((await shop.outbox()).size).toBe(0)
    await app.setClock('2026-11-21T12:00:00.000Z')
    await app.drainJobs()
    expect((await shop.outbox()).size).toBe(1)
  })
})
