import { describe, expect, test } from 'vitest'
import createConnectCode from '#operations/messaging/assistant/api/create-connect-code'
import deleteBinding from '#operations/messaging/assistant/api/delete-binding'
import getUsage from '#operations/messaging/assistant/api/get-usage'
import listBindings from '#operations/messaging/assistant/api/list-bindings'
import { parseRequest } from '#operations/messaging/assistant/texts'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import removeMember from '#operations/store/team/api/remove-member'
import { dayMs, minuteMs } from '#runtime/durations'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { post } from '#test/support/numbers'
import { type CallInput, type Shop, store } from '#test/support/store'

const app = await testApp({ chatAgentRequests: 5 })
await app.setClock('2026-11-20T12:00:00.000Z')
const sandbox = getSandbox(app.services.adapters.messaging)

let phones = 0
const aPhone = (): string => {
  phones += 1
  return `+55119${String(40_000_000 + phones * 10 + 7)}`
}
const createCode = async (shop: Shop, body: object = {}, input: CallInput = {}): Promise<string> =>
  (await shop.call(createConnectCode, { body, ...input })).body.code

/** Sends a message to the assistant. */
async function inbound(shop: Shop, phone: string, text: string, id?: string): Promise<void> {
  const body = { to: 'assistant', phone, text, ...(id ? { providerMessageId: id } : {}) }
  expect((await post(app, `/sandbox/api/messaging/${shop.id}/inbound`, body)).status).toBe(200)
}
/** Sends a message and answers the assistant's replies since. */
async function write(shop: Shop, phone: string, text: string, id = `wamid.${newId(app.clock.ms())}`) {
  const before = (await sandbox.outbox(shop.id, phone)).length
  await inbound(shop, phone, text, id)
  await app.drainJobs()
  const said = await sandbox.outbox(shop.id, phone)
  return said.slice(0, said.length - before).map(({ content }) => String(content.text))
}
const readBindings = async (shop: Shop) => (await shop.call(listBindings)).body.data
const paired = (shop: Shop, phone: string) =>
  readBindings(shop).then((all) => all.some((b: { phone: string }) => b.phone === phone))

async function pairedShop(locale = 'en-US'): Promise<{ shop: Shop; phone: string }> {
  const shop = await store(app, { locale })
  const phone = aPhone()
  await write(shop, phone, await createCode(shop))
  return { shop, phone }
}

describe('connect codes', () => {
  test('codes are valid for ten minutes, stored only as a hash, and revoke the earlier one', async () => {
    const shop = await store(app)
    const { status, body } = await shop.call(createConnectCode, { body: {} })
    expect(status).toBe(201)
    expect(body).toEqual({
      code: expect.stringMatching(/^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/),
      phone: null,
      name: 'Olivia Owner',
      assistantPhone: '+5511900000010',
      link: `https://wa.me/5511900000010?text=${body.code}`,
      expiresAt: '2026-11-20T12:10:00.000Z',
      createdAt: '2026-11-20T12:00:00.000Z',
    })
    const rows = await app.database.root.selectFrom('chat_agent_codes').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(body.code.replace('-', ''))
    await createCode(shop)
    const phone = aPhone()
    expect(await write(shop, phone, body.code)).toEqual([expect.stringContaining('não é válido')])
    expect(await paired(shop, phone)).toBe(false)
  })

  test('at most ten codes are created in an hour', async () => {
    const shop = await store(app)
    for (let i = 0; i < 10; i += 1) {
      expect((await shop.call(createConnectCode, { body: {} })).status).toBe(201)
    }
    expect((await shop.call(createConnectCode, { body: {} })).status).toBe(409)
    await app.advance(60 * minuteMs)
    expect((await shop.call(createConnectCode, { body: {} })).status).toBe(201)
  })

  test('codes are refused for a paired phone, and beyond ten phones', async () => {
    const { shop, phone } = await pairedShop()
    expect((await shop.call(createConnectCode, { body: { phone } })).status).toBe(409)
    expect((await shop.call(createConnectCode, { body: { phone: 'abc' } })).status).toBe(400)
    const ctx = await shop.context()
    for (let i = 0; i < 9; i += 1) {
      const each = aPhone()
      await ctx.db
        .insertInto('chat_agent_bindings')
        .values({ phone_key: each, phone: each, name: 'X', user_id: shop.userId, paired_at: ctx.now() })
        .execute()
    }
    expect((await shop.call(createConnectCode, { body: {} })).status).toBe(409)
  })
})

describe('pairing', () => {
  test('a code pairs one phone, even a millisecond before it expires; then it is used up', async () => {
    const shop = await store(app, { locale: 'en-US' })
    const code = await createCode(shop, { name: 'Olivia' })
    await app.advance(10 * minuteMs - 1)
    const phone = aPhone()
    const typed = ` ${code.toLowerCase().replace('-', ' ')} `
    expect(await write(shop, phone, typed)).toEqual([
      expect.stringContaining(`paired with ${(await shop.context()).store.name}`),
    ])
    const [binding] = await readBindings(shop)
    expect(binding).toEqual({
      phone,
      name: 'Olivia',
      member: { userId: shop.userId, name: 'Olivia Owner' },
      pairedAt: app.clock.now().toISOString(),
      lastUsedAt: null,
      requests: 0,
    })
    const other = aPhone()
    expect(await write(shop, other, code)).toEqual([expect.stringContaining('não é válido')])
    expect(await paired(shop, other)).toBe(false)
  })

  test('a code expires after ten minutes', async () => {
    const shop = await store(app)
    const code = await createCode(shop)
    await app.advance(10 * minuteMs)
    const phone = aPhone()
    await write(shop, phone, code)
    expect(await paired(shop, phone)).toBe(false)
  })

  test('a code works only for its phone; two spellings are one phone', async () => {
    const shop = await store(app)
    const code = await createCode(shop, { phone: '+5511940000000' })
    const other = aPhone()
    expect(await write(shop, other, code)).toEqual([expect.stringContaining('não é válido')])
    await write(shop, '+551140000000', code)
    expect(await readBindings(shop)).toEqual([])
    await write(shop, '+5511940000000', code)
    expect(await readBindings(shop)).toMatchObject([{ phone: '+5511940000000' }])
  })

  test('if two phones use one code at once, only one is paired', async () => {
    const shop = await store(app)
    const code = await createCode(shop)
    await Promise.all([aPhone(), aPhone()].map((phone) => inbound(shop, phone, code)))
    await app.drainJobs()
    expect(await readBindings(shop)).toHaveLength(1)
  })

  test('after five wrong codes the phone gets no answer for an hour, even with the right one', async () => {
    const shop = await store(app)
    const phone = aPhone()
    for (let i = 0; i < 5; i += 1) {
      expect(await write(shop, phone, 'AAAA-BBB2')).toHaveLength(1)
      await app.advance(1_000)
    }
    const silentUntil = app.clock.ms() - 1_000 + 60 * minuteMs
    expect(await write(shop, phone, await createCode(shop))).toEqual([])
    await app.setClock(new Date(silentUntil - 1))
    expect(await write(shop, phone, await createCode(shop))).toEqual([])
    await app.setClock(new Date(silentUntil))
    expect(await write(shop, phone, await createCode(shop))).toHaveLength(1)
    expect(await paired(shop, phone)).toBe(true)
  })

  test('old wrong codes do not count', async () => {
    const shop = await store(app)
    const phone = aPhone()
    for (let i = 0; i < 4; i += 1) await write(shop, phone, 'AAAA-BBB2')
    await app.advance(15 * minuteMs)
    await write(shop, phone, 'AAAA-BBB2')
    expect(await write(shop, phone, await createCode(shop))).toEqual([expect.stringContaining('conectado')])
  })

  test('a phone of another store is refused without naming the store, until it is unpaired', async () => {
    const { shop, phone } = await pairedShop()
    const other = await store(app)
    const [refused] = await write(other, phone, await createCode(other))
    expect(await sandbox.outbox(other.id, phone)).toEqual([])
    expect(refused).toBeUndefined()
    const [said] = await sandbox.outbox(shop.id, phone)
    expect(said!.content.text).toContain('another store')
    expect(said!.content.text).not.toContain((await shop.context()).store.name)
    await write(shop, phone, 'Desconectar')
    expect(await paired(shop, phone)).toBe(false)
    await write(other, phone, await createCode(other))
    expect(await paired(other, phone)).toBe(true)
  })

  test('a stranger without a code is told once a day how to pair', async () => {
    const shop = await store(app)
    const phone = aPhone()
    expect(await write(shop, phone, 'oi')).toEqual([expect.stringContaining('gere um código')])
    expect(await write(shop, phone, 'oi?')).toEqual([])
    await app.advance(dayMs - 1)
    expect(await write(shop, phone, 'oi?')).toEqual([])
    await app.advance(1)
    expect(await write(shop, phone, 'oi?')).toHaveLength(1)
  })

  test('a store whose plan lacks the assistant gets a reply that says so', async () => {
    const { shop, phone } = await pairedShop()
    const code = await createCode(shop)
    const change = (plan: string) =>
      app.database.root
        .updateTable('subscriptions')
        .set({ plan_id: plan })
        .where('store_id', '=', shop.id)
        .execute()
    await change('growth')
    expect(await write(shop, phone, 'help')).toEqual([expect.stringContaining('not in the plan')])
    const other = aPhone()
    expect(await write(shop, other, code)).toEqual([expect.stringContaining('not in the plan')])
    await app.advance(1_000)
    expect((await shop.call(listBindings)).status).toBe(200)
  })
})

describe('a paired phone', () => {
  test('a paired phone is answered in the language of its store, by the first known word', async () => {
    const { shop, phone } = await pairedShop('pt-BR')
    expect(await write(shop, phone, 'bom dia, quais campanhas?')).toEqual(['Ainda não há campanhas.'])
    expect(await write(shop, phone, 'xyz')).toEqual([expect.stringContaining('Escreva: vendas')])
    expect(parseRequest('ola, VENDAS ontem')).toEqual({ topic: 'sales', period: 'yesterday' })
    expect(parseRequest('ventas 30')).toEqual({ topic: 'sales', period: '30' })
    expect(parseRequest('campañas')).toEqual({ topic: 'campaigns', period: 'today' })
    expect(parseRequest('constructor')).toEqual({ topic: 'help', period: 'today' })
  })

  test('a paired phone gets the figures of the read operations', async () => {
    const { shop, phone } = await pairedShop()
    const [said] = await write(shop, phone, 'sales today')
    const today = '2026-11-20'
    const { body } = await shop.request('GET', '/statistics', { query: { startDate: today, endDate: today } })
    expect(said).toContain(`${body.conversions} orders`)
    expect(said).toContain(`sent: ${body.messagesSent}`)
  })

  test('each message is one request and one reply, even if it is delivered repeatedly', async () => {
    const { shop, phone } = await pairedShop()
    expect(await write(shop, phone, 'help', 'wamid.the-same')).toHaveLength(1)
    expect(await write(shop, phone, 'help', 'wamid.the-same')).toEqual([])
    const { status, body } = await shop.call(getUsage)
    expect(status).toBe(200)
    expect(body).toMatchObject({ limit: 5, used: 1, remaining: 4, bindings: 1 })
    expect(body.byDay.at(-1)).toMatchObject({ requests: 1 })
    expect(await readBindings(shop)).toMatchObject([
      { requests: 1, lastUsedAt: app.clock.now().toISOString() },
    ])
    const cycle = await app.database.root
      .selectFrom('usage_cycles')
      .select(['used', 'reserved'])
      .where('store_id', '=', shop.id)
      .execute()
    expect(cycle.every(({ used, reserved }) => used === 0 && reserved === 0)).toBe(true)
  })

  test('the days of a cycle end today, even across a midnight that the clocks skip', async () => {
    await app.setClock('2027-08-20T15:00:00.000Z')
    const shop = await store(app, { timezone: 'America/Santiago' })
    // 5 September 2027 begins at 1:00.
    await app.setClock('2027-09-10T03:30:00.000Z')
    const { byDay } = (await shop.call(getUsage)).body as { byDay: { date: string }[] }
    expect(byDay).toHaveLength(22)
    expect([byDay[0], byDay.at(-1)]).toMatchObject([{ date: '2027-08-20' }, { date: '2027-09-10' }])
    // If the trial has ended, its days continue until today, for a year at most.
    await app.database.root
      .updateTable('subscriptions')
      .set({ plan_id: 'trial', trial_ends_at: new Date('2027-09-03T15:00:00.000Z') })
      .where('store_id', '=', shop.id)
      .execute()
    expect((await shop.call(getUsage)).body.byDay.at(-1).date).toBe('2027-09-10')
    await app.setClock('2031-09-10T03:30:00.000Z')
    const over = (await shop.call(getUsage)).body
    expect([over.byDay.length, over.byDay.at(-1).date]).toEqual([366, '2028-08-19'])
  })

  test('beyond the limit there is one notice a day', async () => {
    const { shop, phone } = await pairedShop()
    for (let i = 0; i < 5; i += 1) expect(await write(shop, phone, 'help')).toHaveLength(1)
    expect(await write(shop, phone, 'help')).toEqual([expect.stringContaining('5 times')])
    expect(await write(shop, phone, 'help')).toEqual([])
    await app.advance(dayMs)
    expect(await write(shop, phone, 'help')).toHaveLength(1)
    expect((await shop.call(getUsage)).body).toMatchObject({ used: 5, remaining: 0 })
  })

  test('an unavailable provider is retried under the same key', async () => {
    const { shop, phone } = await pairedShop()
    await sandbox.setMode(shop.id, 'timeout')
    await inbound(shop, phone, 'help')
    await app.drainJobs({ allowFailures: true })
    await sandbox.setMode(shop.id, 'up')
    await app.advance(15_000)
    await app.drainJobs({ allowFailures: true })
    const said = await sandbox.outbox(shop.id, phone)
    expect(said.filter(({ content }) => String(content.text).startsWith('Write:'))).toMatchObject([
      { calls: 2 },
    ])
    expect((await shop.call(getUsage)).body.used).toBe(1)
  })

  test('a phone is unpaired at once when its binding or its member is removed', async () => {
    const { shop, phone } = await pairedShop()
    const remove = (text: string) => shop.call(deleteBinding, { params: { phone: text } })
    expect((await remove('+5511999990000')).status).toBe(404)
    expect((await remove(phone.slice(1))).status).toBe(204)
    expect((await remove(phone)).status).toBe(404)
    expect(await write(shop, phone, 'campaigns')).toEqual([expect.stringContaining('gere um código')])

    const marco = await shop.person('member')
    const his = aPhone()
    await write(shop, his, await createCode(shop, {}, { key: marco.key }))
    const unused = await createCode(shop, {}, { key: marco.key })
    expect(await paired(shop, his)).toBe(true)
    expect((await shop.call(removeMember, { params: { userId: marco.userId } })).status).toBe(204)
    expect(await readBindings(shop)).toEqual([])
    expect(await write(shop, his, 'campaigns')).toEqual([expect.stringContaining('gere um código')])
    expect(await write(shop, his, unused)).toEqual([expect.stringContaining('não é válido')])
  })
})
