import { describe, expect, test } from 'vitest'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import deleteOptOut from '#operations/campaigns/opt-outs/api/delete-opt-out'
import listOptOuts from '#operations/campaigns/opt-outs/api/list-opt-outs'
import { optOutByReply } from '#operations/campaigns/opt-outs/replies'
import { optOuts } from '#operations/messaging/index'
import { isStopWord } from '#operations/messaging/opt-outs/stop-words'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()

test('a phone is opted out once, however it is written', async () => {
  const shop = await store(app)
  const added = await shop.call(addOptOut, { body: { phone: '(11) 98888-7777', note: 'Asked' } })
  expect(added.status).toBe(201)
  expect(added.body).toMatchObject({
    phone: '+5511988887777',
    note: 'Asked',
    source: 'manual',
    campaignId: null,
  })
  expect((await shop.call(addOptOut, { body: { phone: '+55 11 8888-7777' } })).status).toBe(409)
  const list = await shop.call(listOptOuts, { query: { search: '98888' } })
  expect(list.body).toEqual({ data: [added.body], page: 1, limit: 20, total: 1 })
})

test('a person without a phone is opted out and in by the id that the list shows', async () => {
  const shop = await store(app)
  const id = 'BR.13491208655302741918'
  // As a stop word of such a person does.
  await optOuts.add(await shop.context(), id, 'reply')
  const [shown] = (await shop.call(listOptOuts)).body.data
  expect(shown).toMatchObject({ phone: id, source: 'reply' })
  expect((await shop.call(addOptOut, { body: { phone: shown.phone } })).status).toBe(409)
  expect((await shop.call(deleteOptOut, { params: { phone: shown.phone } })).status).toBe(204)
  // An exported row is taken back.
  expect((await shop.call(addOptOut, { body: { phone: ` ${id} ` } })).body).toMatchObject({ phone: id })
  expect((await shop.call(listOptOuts)).body.total).toBe(1)
  for (const phone of ['BR.', 'br.13491208655302741918', 'BR.1349 1208', 'BRA.1349'])
    expect((await shop.call(addOptOut, { body: { phone } })).status, phone).toBe(400)
})

test('near and far pages are read by different plans, and form one list', async () => {
  const shop = await store(app)
  const other = await store(app)
  for (const [mine, first] of [
    [shop, 1],
    [other, 501],
  ] as const) {
    const phones = Array.from({ length: 253 }, (_, i) => `+55119${91_000_000 + first + i}`)
    await (await mine.context()).db
      .insertInto('opt_outs')
      .values(
        phones.map((phone, i) => ({
          id: newId(app.clock.ms()),
          phone,
          phone_key: phone,
          source: i < 3 ? ('reply' as const) : ('manual' as const),
          created_at: app.clock.now(),
          updated_at: app.clock.now(),
        })),
      )
      .execute()
  }
  const phonesOf = async (page: number, limit: number, query: object = {}) => {
    const { body } = await shop.call(listOptOuts, { query: { page, limit, ...query } })
    return { total: body.total, phones: body.data.map((each: { phone: string }) => each.phone) }
  }
  const newestFirst = Array.from({ length: 253 }, (_, i) => `+55119${91_000_253 - i}`)
  // Twice: the second time the list is known to be short. Page 11 skips 200 rows, page 12 more than that.
  for (let time = 0; time < 2; time += 1) {
    const walked: string[] = []
    for (let page = 1; page <= 13; page += 1) {
      const { total, phones } = await phonesOf(page, 20)
      expect(total).toBe(253)
      walked.push(...phones)
    }
    expect(walked).toEqual(newestFirst)
  }
  expect(await phonesOf(251, 1)).toEqual({ total: 253, phones: [newestFirst[250]] })
  expect(await phonesOf(400, 20)).toEqual({ total: 253, phones: [] })
  expect(await phonesOf(1, 20, { source: 'reply' })).toEqual({ total: 3, phones: newestFirst.slice(-3) })
  expect(await phonesOf(203, 1, { source: 'manual' })).toEqual({ total: 250, phones: [newestFirst[202]] })
})

test('an opt-out is deleted in any spelling; twice is 404', async () => {
  const shop = await store(app)
  for (const written of ['+5511988887777', '5511988887777', '11 8888-7777', '+551188887777']) {
    await shop.call(addOptOut, { body: { phone: '+5511988887777' } })
    expect((await shop.call(deleteOptOut, { params: { phone: written } })).status, written).toBe(204)
    expect((await shop.call(deleteOptOut, { params: { phone: written } })).status).toBe(404)
  }
  expect((await shop.call(deleteOptOut, { params: { phone: 'abc' } })).status).toBe(404)
  const neighbour = await store(app)
  await neighbour.call(addOptOut, { body: { phone: '+5511988887777' } })
  expect((await shop.call(deleteOptOut, { params: { phone: '+5511988887777' } })).status).toBe(404)
})

describe('the public API', () => {
  test('finds opted-out phones by their match form, and adds one once', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    expect(await optOuts.add(ctx, '+551188887777', 'provider')).toBe(true)
    expect(await optOuts.add(ctx, '+5511988887777', 'manual')).toBe(false)
    const asked = ['+5511988887777', '+551188887777', '+5511988886666']
    expect(await optOuts.findOptedOut(ctx, asked)).toEqual(new Set(['+5511988887777']))
    expect(await optOuts.findOptedOut(ctx, [])).toEqual(new Set())
    expect(await optOuts.findOptedOut(await (await store(app)).context(), asked)).toEqual(new Set())
    expect((await shop.call(listOptOuts)).body.data).toMatchObject([
      { phone: '+551188887777', source: 'provider', note: null },
    ])
  })

  test('a stop word opts out, attributed to the last campaign within 72 hours', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const campaigns = [newId(1), newId(2), newId(3)]
    const now = app.clock.now()
    const sent = async (campaign: string, phone: string, hoursAgo: number) => {
      await app.database.root
        .insertInto('campaign_messages')
        .values({
          store_id: shop.id,
          id: newId(app.clock.ms()),
          campaign_id: campaign,
          contact_id: null,
          phone,
          phone_key: phone,
          name: null,
          email: null,
          status: 'sent',
          skip_reason: null,
          failure_code: null,
          failure_message: null,
          text: null,
          provider_message_id: null,
          claim_id: null,
          reservation_id: null,
          sent_at: new Date(now.getTime() - hoursAgo * 3_600_000),
          created_at: now,
          updated_at: now,
        })
        .execute()
    }
    const phones = ['+5511988880001', '+5511988880002', '+5511988880003']
    await sent(campaigns[0]!, phones[0]!, 71)
    await sent(campaigns[1]!, phones[0]!, 2)
    await sent(campaigns[2]!, phones[0]!, 70)
    await sent(campaigns[0]!, phones[1]!, 73)
    expect(await optOutByReply(ctx, '+551188880001', ' Sair! ', now)).toBe(true)
    expect(await optOutByReply(ctx, phones[0]!, 'STOP', now)).toBe(true)
    expect(await optOutByReply(ctx, phones[1]!, 'PARAR', now)).toBe(true)
    expect(await optOutByReply(ctx, phones[2]!, 'não quero parar', now)).toBe(false)
    const { data } = (await shop.call(listOptOuts)).body
    expect(data).toMatchObject([
      { phone: phones[1], source: 'reply', campaignId: null },
      { phone: '+551188880001', source: 'reply', campaignId: campaigns[1] },
    ])
  })

  test('a stop word must be the whole text, apart from punctuation', () => {
    const words = [
      'stop',
      'STOP.',
      ' *Stop* ',
      'StopAll',
      'unsubscribe',
      'Sáir',
      'PARE!!',
      '¡Baja!',
      'salir',
      '"descadastrar"',
      'stop 🙏',
    ]
    for (const text of words) expect(isStopWord(text), text).toBe(true)
    for (const text of ['stop it', 'parou', 'non-stop', '', '!', 'st op'])
      expect(isStopWord(text), text).toBe(false)
  })
})
