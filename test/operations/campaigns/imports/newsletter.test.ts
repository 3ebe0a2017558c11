import { expect, test } from 'vitest'
import importNewsletter from '#operations/campaigns/imports/api/import-newsletter'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { makePhone, read, readContacts } from '#test/support/imports'
import { store } from '#test/support/store'

const app = await testApp()

test('an import adds subscribers of these days who consented to messages to their phone', async () => {
  const shop = await store(app)
  const subscriber = async (
    n: number,
    createdAt: string,
    changes: { status?: string; consent_phone?: boolean; phone?: null } = {},
  ): Promise<void> => {
    const phone = changes.phone === null ? null : makePhone(n)
    await app.database.root
      .insertInto('newsletter_subscribers')
      .values({
        store_id: shop.id,
        id: newId(app.clock.ms()),
        email: `s${n}@example.com`,
        phone,
        phone_key: phone,
        name: `S${n}`,
        source: 'popup',
        status: changes.status ?? 'subscribed',
        consent_phone: changes.consent_phone ?? true,
        consent_text: null,
        prize_label: null,
        coupon_code: null,
        coupon_status: null,
        page_url: null,
        device: null,
        created_at: createdAt,
        updated_at: createdAt,
      })
      .execute()
  }
  // São Paulo is three hours behind UTC.
  await subscriber(1, '2026-11-01T02:59:59Z')
  await subscriber(2, '2026-11-01T03:00:00Z')
  await subscriber(3, '2026-11-11T02:59:59Z')
  await subscriber(4, '2026-11-11T03:00:00Z')
  await subscriber(5, '2026-11-05T12:00:00Z', { status: 'unsubscribed' })
  await subscriber(6, '2026-11-05T12:00:00Z', { consent_phone: false })
  await subscriber(7, '2026-11-05T12:00:00Z', { phone: null })
  const filters = { subscribedFrom: '2026-11-01', subscribedTo: '2026-11-10' }
  const asked = await shop.call(importNewsletter, { body: { name: 'November', filters } })
  expect(asked.status).toBe(202)
  expect((await read(shop, asked.body.listId)).import).toMatchObject({ kind: 'newsletter', total: 2 })
  await app.drainJobs()
  const list = await read(shop, asked.body.listId)
  expect(list).toMatchObject({ source: 'newsletter', filters, size: 2, import: { total: 2, added: 2 } })
  const people = await readContacts(shop, asked.body.listId)
  expect(people.map((each: { name: string; source: string }) => [each.name, each.source])).toEqual([
    ['S3', 'newsletter'],
    ['S2', 'newsletter'],
  ])
  const all = await shop.call(importNewsletter, { body: { name: 'All' } })
  await app.drainJobs()
  expect(await read(shop, all.body.listId)).toMatchObject({ size: 4, filters: {} })
  const crossed = await shop.call(importNewsletter, {
    body: { name: 'No', filters: { subscribedFrom: '2026-11-10', subscribedTo: '2026-11-01' } },
  })
  expect([crossed.status, crossed.body.error.message]).toEqual([
    400,
    'filters.subscribedFrom: must not be more than subscribedTo',
  ])
})
