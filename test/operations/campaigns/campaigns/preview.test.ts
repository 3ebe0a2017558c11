import { describe, expect, test } from 'vitest'
import previewCampaign from '#operations/campaigns/campaigns/api/preview-campaign'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import { makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { makePhone, sendingShop } from '#test/support/campaigns'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00Z')

const ana = {
  phone: makePhone(1),
  name: 'Ana Souza',
  email: 'ana@a.example',
  customFields: { cupom: 'VIP5' },
}

describe('GET /campaigns/:id/preview', () => {
  test('renders a text for the oldest contact, a given one, or a made-up one', async () => {
    const shop = await sendingShop(app)
    const listId = await shop.list([ana, { phone: makePhone(2) }])
    const text = 'Oi {{firstName|cliente}}, use {{cupom}} em {{storeUrl}} ({{email}})'
    const id = await shop.draft(listId, { content: { text, optOutText: 'Reply STOP, {{storeName}}' } })
    const preview = await shop.call(previewCampaign, { params: { id } })
    expect(preview.status).toBe(200)
    const ctx = await shop.context()
    expect(preview.body).toEqual({
      type: 'text',
      header: null,
      text: `Oi Ana, use VIP5 em https://${ctx.store.domain} (ana@a.example)\n\nReply STOP, ${ctx.store.name}`,
      footer: null,
      buttons: [],
      media: null,
      sample: { contactId: expect.any(String), name: 'Ana Souza', phone: makePhone(1) },
      missingVariables: [],
    })
    const [other] = await ctx.db
      .selectFrom('list_contacts')
      .select('id')
      .where('phone', '=', makePhone(2))
      .execute()
    const given = await shop.call(previewCampaign, { params: { id }, query: { contactId: other!.id } })
    expect(given.body).toMatchObject({
      text: `Oi cliente, use em https://${ctx.store.domain}\n\nReply STOP, ${ctx.store.name}`,
      sample: { contactId: other!.id, name: null },
      missingVariables: ['cupom', 'email'],
    })
    const unknown = await shop.call(previewCampaign, { params: { id }, query: { contactId: id } })
    expect(unknown.status).toBe(404)
    const elsewhere = await shop.draft(await shop.list(1), { content: { text } })
    const stranger = { params: { id: elsewhere }, query: { contactId: other!.id } }
    expect((await shop.call(previewCampaign, stranger)).status).toBe(404)

    const empty = await shop.draft(await shop.list(0), { content: { text } })
    expect((await shop.call(previewCampaign, { params: { id: empty } })).body).toMatchObject({
      sample: { contactId: null, name: 'Maria Silva' },
      missingVariables: ['cupom', 'email'],
    })
  })

  test('renders a template with the media of its header', async () => {
    const shop = await sendingShop(app, { connection: 'official' })
    const templateId = await makeTemplate(await shop.context(), {
      name: 'sale',
      header: { type: 'image', text: null, mediaUrl: null },
      body: 'Hi {{1}}, use {{2}} today.',
      footer: 'Bye',
      buttons: [{ type: 'url', text: 'Open', url: 'https://a.example', phone: null }],
    })
    const media = { type: 'image', url: 'https://a.example/x.png', fileName: null }
    const content = {
      type: 'template',
      officialapiTemplateId: templateId,
      templateParameters: { body: ['{{firstName}}', '{{ cupom }}'] },
      media,
    }
    const listId = await shop.list([ana, { phone: makePhone(2), name: 'Bia' }])
    const id = await shop.draft(listId, { content })
    const preview = await shop.call(previewCampaign, { params: { id } })
    expect(preview.body).toMatchObject({
      type: 'template',
      header: null,
      text: 'Hi Ana, use VIP5 today.',
      footer: 'Bye',
      buttons: [{ type: 'url', text: 'Open', url: 'https://a.example' }],
      media,
    })
    // Without a coupon its parameter is empty: that contact is skipped.
    await shop.call(sendCampaign, { params: { id } })
    await app.drainJobs()
    const rows = await app.database.root
      .selectFrom('campaign_messages')
      .select(['name', 'status', 'skip_reason', 'text'])
      .where('campaign_id', '=', id)
      .orderBy('name')
      .execute()
    expect(rows).toEqual([
      { name: 'Ana Souza', status: 'sent', skip_reason: null, text: 'Hi Ana, use VIP5 today.' },
      { name: 'Bia', status: 'skipped', skip_reason: 'missing-variable', text: null },
    ])
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
  })

  test('answers 409 without a text or a template', async () => {
    const shop = await sendingShop(app)
    const listId = await shop.list(0)
    const without = [{}, { type: 'template' }]
    for (const content of without) {
      const id = await shop.draft(listId, { content })
      expect((await shop.call(previewCampaign, { params: { id } })).status).toBe(409)
    }
  })
})
