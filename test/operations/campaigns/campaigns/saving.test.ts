import { describe, expect, test } from 'vitest'
import createCampaign from '#operations/campaigns/campaigns/api/create-campaign'
import deleteCampaign from '#operations/campaigns/campaigns/api/delete-campaign'
import duplicateCampaign from '#operations/campaigns/campaigns/api/duplicate-campaign'
import getCampaign from '#operations/campaigns/campaigns/api/get-campaign'
import listCampaigns from '#operations/campaigns/campaigns/api/list-campaigns'
import listMessages from '#operations/campaigns/campaigns/api/list-messages'
import updateCampaign from '#operations/campaigns/campaigns/api/update-campaign'
import deleteList from '#operations/campaigns/lists/api/delete-list'
import renameList from '#operations/campaigns/lists/api/rename-list'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import { testApp } from '#test/support/app'
import { makePhone, sendingShop } from '#test/support/campaigns'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00Z')

const media = { type: 'image', url: 'https://a.example/x.png' }

describe('POST /campaigns', () => {
  test('creates a draft that may be unfinished', async () => {
    const shop = await sendingShop(app)
    const listId = await shop.list(3)
    const { status, body, headers } = await shop.call(createCampaign, { body: { name: ' Sale ', listId } })
    expect(status).toBe(201)
    expect(headers.get('etag')).toBeTruthy()
    expect(body).toEqual({
      id: body.id,
      name: 'Sale',
      listId,
      listName: expect.stringContaining('List'),
      content: {
        type: 'text',
        text: null,
        optOutText: null,
        officialapiTemplateId: null,
        templateParameters: { header: [], body: [], buttons: [] },
        media: null,
      },
      sendWindow: null,
      status: 'draft',
      pauseReason: null,
      failureReason: null,
      audience: { size: 3, optedOut: 0, reachable: 3 },
      counters: {
        total: 0,
        pending: 0,
        sent: 0,
        delivered: 0,
        read: 0,
        failed: 0,
        skipped: 0,
        cancelled: 0,
        optOuts: 0,
      },
      attributed: { orders: 0, revenue: 0, currency: 'BRL' },
      scheduledAt: null,
      startedAt: null,
      pausedAt: null,
      completedAt: null,
      nextBatchAt: null,
      estimatedFinishAt: null,
      createdBy: { userId: shop.userId, name: 'Olivia Owner' },
      createdAt: '2026-11-20T12:00:00.000Z',
      updatedAt: '2026-11-20T12:00:00.000Z',
    })
    await shop.call(addOptOut, { body: { phone: makePhone(1) } })
    expect((await shop.read(body.id)).audience).toEqual({ size: 3, optedOut: 1, reachable: 2 })
  })

  test.each([
    ['content.text: has a "{{" without its "}}"', { content: { text: 'Hi {{name' } }],
    ['content.text: has the variable {{first name}}', { content: { text: '{{first name}}' } }],
    ['content.text: must have at most 4096 characters', { content: { text: 'x'.repeat(4097) } }],
    ['content.text: must have at most 1024 characters', { content: { text: 'x'.repeat(1025), media } }],
    ['content.templateParameters.body.0: has a "{{"', { content: { templateParameters: { body: ['{{x'] } } }],
    ['content.templateParameters.body:', { content: { templateParameters: { body: Array(21).fill('x') } } }],
    ['content.media.url: must be an https', { content: { media: { ...media, url: 'http://a.example' } } }],
    ['content.media.type: is required', { content: { media: { url: media.url } } }],
    ['content.optOutText: must have at most 200 characters', { content: { optOutText: 'x'.repeat(201) } }],
    ['sendWindow.end: must be after sendWindow.start', { sendWindow: { start: '18:00', end: '09:00' } }],
    ['sendWindow.end: must be after sendWindow.start', { sendWindow: { start: '09:00', end: '09:00' } }],
    ['sendWindow.start: must be a time such as 09:00', { sendWindow: { start: '24:00', end: '25:00' } }],
    ['sendWindow.end: is required', { sendWindow: { start: '09:00' } }],
    ['name: must have at most 120 characters', { name: 'x'.repeat(121) }],
    ['listId: must not be null', { listId: null }],
  ])('a campaign is refused: %s', async (message, change) => {
    const shop = await sendingShop(app)
    const answer = await shop.call(createCampaign, {
      body: { name: 'Sale', listId: await shop.list(0), ...change },
    })
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(message)])
  })
})

describe('PUT /campaigns/:id', () => {
  test('keeps omitted fields, and accepts the unchanged answer of a read', async () => {
    const shop = await sendingShop(app)
    const picture = { ...media, fileName: 'x.png' }
    const id = await shop.draft(await shop.list(1), {
      content: { text: 'Hi', optOutText: 'Reply STOP', media: picture, templateParameters: { body: ['a'] } },
      sendWindow: { start: '09:00', end: '18:00' },
    })
    const before = await shop.read(id)
    await app.advance(1000)
    const same = await shop.call(updateCampaign, { params: { id }, body: before })
    expect([same.status, same.body]).toEqual([200, before])
    const changed = await shop.call(updateCampaign, {
      params: { id },
      body: {
        content: { text: 'Hello', media: { fileName: null }, templateParameters: { header: ['h'] } },
        sendWindow: { end: '20:00' },
      },
    })
    expect(changed.body).toEqual({
      ...before,
      content: {
        ...before.content,
        text: 'Hello',
        media: { ...picture, fileName: null },
        templateParameters: { header: ['h'], body: ['a'], buttons: [] },
      },
      sendWindow: { start: '09:00', end: '20:00' },
      updatedAt: '2026-11-20T12:00:01.000Z',
    })
    const cleared = await shop.call(updateCampaign, {
      params: { id },
      body: { content: { media: null, optOutText: null }, sendWindow: null, listId: null },
    })
    expect(cleared.body).toMatchObject({
      content: { media: null, optOutText: null },
      sendWindow: null,
      listId: null,
    })
  })
})

test('a duplicate is an independent draft; a deleted campaign is gone', async () => {
  const shop = await sendingShop(app)
  const name = 'x'.repeat(119)
  const id = await shop.draft(await shop.list(1), { name })
  const copy = await shop.call(duplicateCampaign, { params: { id } })
  expect(copy.status).toBe(201)
  expect(copy.body).toMatchObject({ name: `${'x'.repeat(113)} (copy)`, status: 'draft' })
  expect(copy.body.content).toEqual((await shop.read(id)).content)
  expect((await shop.call(deleteCampaign, { params: { id } })).status).toBe(204)
  for (const operation of [getCampaign, updateCampaign, deleteCampaign, duplicateCampaign, listMessages]) {
    expect((await shop.call(operation, { params: { id } })).status).toBe(404)
  }
  expect((await shop.call(listCampaigns)).body.data.map((each: { id: string }) => each.id)).toEqual([
    copy.body.id,
  ])
  await app.drainJobs()
  const left = await app.database.root.selectFrom('campaigns').select('id').where('id', '=', id).execute()
  expect(left).toEqual([])
})

test('campaigns are listed newest first, by status and by name', async () => {
  const shop = await sendingShop(app)
  const listId = await shop.list(2)
  const ids: string[] = []
  for (const name of ['Spring', 'Summer sale', 'Autumn', 'WINTER SALE'])
    ids.push(await shop.draft(listId, { name }))
  const setStatus = (id: string, status: string) =>
    app.database.root.updateTable('campaigns').set({ status }).where('id', '=', id).execute()
  await setStatus(ids[1]!, 'sent')
  await setStatus(ids[2]!, 'cancelled')
  const names = async (query: Record<string, string | number>) => {
    const { status, body } = await shop.call(listCampaigns, { query })
    expect(status).toBe(200)
    return [body.total, ...body.data.map((each: { name: string }) => each.name)]
  }
  expect(await names({})).toEqual([4, 'WINTER SALE', 'Autumn', 'Summer sale', 'Spring'])
  expect(await names({ status: 'draft' })).toEqual([2, 'WINTER SALE', 'Spring'])
  expect(await names({ status: 'draft,sent' })).toEqual([3, 'WINTER SALE', 'Summer sale', 'Spring'])
  expect(await names({ status: 'sent,sent,cancelled' })).toEqual([2, 'Autumn', 'Summer sale'])
  expect(await names({ search: 'sale' })).toEqual([2, 'WINTER SALE', 'Summer sale'])
  expect(await names({ search: 'sale', status: 'sent,failed' })).toEqual([1, 'Summer sale'])
  expect(await names({ page: 2, limit: 3 })).toEqual([4, 'Spring'])
  const [first] = (await shop.call(listCampaigns, { query: { limit: 1 } })).body.data
  expect(first).toEqual(await shop.read(first.id))
})

test('counted sales in the store currency are attributed to a campaign', async () => {
  const shop = await sendingShop(app)
  const ctx = await shop.context()
  const listId = await shop.list(1)
  const [id, other] = [await shop.draft(listId), await shop.draft(listId)]
  const sales = [
    ['confirmed', 'BRL', '100.50', id],
    ['partially-refunded', 'BRL', '50.25', id],
    ['cancelled', 'BRL', '10.00', id],
    ['confirmed', 'USD', '10.00', id],
    ['confirmed', 'BRL', '10.00', other],
  ] as const
  for (const [i, [status, currency, revenue, source_id]] of sales.entries()) {
    const now = ctx.now()
    await ctx.db
      .insertInto('conversions')
      .values({
        id: ctx.newId(),
        order_id: String(i),
        order_number: String(i),
        status,
        source_type: 'messaging-campaign',
        source_id,
        channel: 'messaging',
        customer: '{}',
        currency,
        order_total: revenue,
        refunded_total: 0,
        revenue,
        touched_at: now,
        placed_at: now,
        created_at: now,
        updated_at: now,
      })
      .execute()
  }
  expect((await shop.read(id)).attributed).toEqual({ orders: 2, revenue: 150.75, currency: 'BRL' })
})

test('the list name follows the list, and stays when the list is deleted', async () => {
  const shop = await sendingShop(app)
  const listId = await shop.list(1)
  const id = await shop.draft(listId)
  await shop.call(renameList, { params: { id: listId }, body: { name: 'Renamed' } })
  expect((await shop.read(id)).listName).toBe('Renamed')
  expect((await shop.call(deleteList, { params: { id: listId } })).status).toBe(204)
  const campaign = await shop.read(id)
  expect(campaign).toMatchObject({ listId: null, listName: 'Renamed', audience: { size: 0, reachable: 0 } })
  const same = await shop.call(updateCampaign, { params: { id }, body: campaign })
  expect([same.status, same.body]).toEqual([200, campaign])
})
