import { beforeEach, describe, expect, test } from 'vitest'
import { buildHook, type SignedHook } from '#operations/messaging/provider/hook-body'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import * as sending from '#operations/messaging/sending/deliver'
import * as metering from '#operations/store/quota/metering'
import type { Context } from '#runtime/context'
import { newId } from '#runtime/values/ids'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const secret = 'an app secret'
/** Statuses that the sender `st` received. */
let seen: { storeId: string; messageId: string; attempt: number; status: string; code: string | null }[] = []
let inbound: { storeId: string; phone: string; text: string | null; via: string }[] = []
/** The status handler of the sender `ex`. */
let applyOwn: sending.Sender['applyStatuses'] = async () => {}
const app = await testApp(
  { messagingAppSecret: secret, messagingVerifyToken: 'right & proper' },
  {
    extensions: {
      senders: {
        st: {
          messageSource: 'stock-notification',
          async applyStatuses(ctx, statuses) {
            for (const { messageId, attempt, status, failureCode: code } of statuses) {
              seen.push({ storeId: ctx.store.id, messageId, attempt, status, code })
            }
          },
        },
        ex: { messageSource: 'exchange', applyStatuses: (ctx, statuses) => applyOwn(ctx, statuses) },
      },
      inbound: [
        async (ctx, { phone, text, via }) => {
          inbound.push({ storeId: ctx.store.id, phone, text, via })
        },
      ],
    },
  },
)
await app.setClock('2026-11-20T12:00:00.000Z')
const sandbox = getSandbox(app.services.adapters.messaging)

beforeEach(async () => {
  seen = []
  inbound = []
  await app.database.root.deleteFrom('provider_events').execute()
  await app.database.root.deleteFrom('sandbox_messages').execute()
  await app.advance(7_200_000)
})

async function shopOn(type: 'qr' | 'official' | 'shared'): Promise<Context> {
  const ctx = await (await store(app)).context()
  await connectNumber(ctx, { type, phone: '+5511900001111' })
  return ctx
}
/** Inserts a message into the ledger, as if it was sent. */
async function insertSent(ctx: Context, phone = '+5511988887777', source: 'direct' | 'inbox' = 'direct') {
  const messageId = newId(app.clock.ms())
  const message = {
    messageId,
    sourceId: 'a-source',
    sourceName: null,
    phone,
    providerMessageId: `wamid.${messageId}`,
    sentAt: app.clock.now(),
    isKnown: true,
  }
  return {
    ...message,
    key: `st_${messageId}_2`,
    commit: async () =>
      sending.recordSentMessages(ctx, source, await metering.reserve(ctx, 1, source), [message]),
  }
}
type Sent = Awaited<ReturnType<typeof insertSent>>

const toStatus = (message: Sent, status: string, afterMs: number, change: Record<string, unknown> = {}) => ({
  id: message.providerMessageId,
  status,
  timestamp: String((message.sentAt.getTime() + afterMs) / 1000),
  biz_opaque_callback_data: message.key,
  ...change,
})
const changes = (ctx: Context, type: 'qr' | 'shared', statuses: Record<string, unknown>[]) => ({
  numberId: type === 'shared' ? 'sandbox-shared' : `sandbox-${ctx.store.id}`,
  account: 'a',
  statuses,
  messages: [],
  contacts: [],
})
const post = async ({ headers, body }: Pick<SignedHook, 'headers' | 'body'>, provider = 'sandbox') => {
  const response = await app.fetch(
    new Request(`http://localhost/hooks/messaging/${provider}`, {
      method: 'POST',
      headers,
      body: body as never,
    }),
    { ip: '127.0.0.1' },
  )
  return { status: response.status, text: await response.text() }
}
const sendStatus = async (ctx: Context, ...statuses: Record<string, unknown>[]) => {
  expect((await post(buildHook(secret, [changes(ctx, 'qr', statuses)]))).status).toBe(200)
  await app.drainJobs()
}
const readLedger = (ctx: Context) =>
  ctx.db
    .selectFrom('message_ledger')
    .select(['message_id', 'status', 'delivered_at', 'read_at', 'failed_at', 'failure_code'])
    .orderBy('message_id')
    .execute()
const storedEvents = () => app.database.root.selectFrom('provider_events').selectAll().orderBy('id').execute()

describe('POST /hooks/messaging/:provider', () => {
  test('a wrong signature is 401, and nothing is parsed', async () => {
    const ctx = await shopOn('qr')
    const message = await insertSent(ctx)
    const { headers, body } = buildHook('another secret', [
      changes(ctx, 'qr', [toStatus(message, 'read', 1)]),
    ])
    expect((await post({ headers, body })).status).toBe(401)
    expect((await post({ headers: new Headers(), body })).status).toBe(401)
    expect((await post({ headers: new Headers(), body: Buffer.from('no json') })).status).toBe(401)
    expect(await storedEvents()).toEqual([])
  })

  test('a signed body is stored and answered 200 with an empty body; a duplicate is stored once', async () => {
    const ctx = await shopOn('qr')
    const message = await insertSent(ctx)
    const hook = buildHook(secret, [changes(ctx, 'qr', [toStatus(message, 'delivered', 1_000)])])
    expect(await post(hook)).toEqual({ status: 200, text: '' })
    expect(await post(hook)).toEqual({ status: 200, text: '' })
    expect(await storedEvents()).toMatchObject([
      { store_id: ctx.store.id, kind: 'status', port: 'messaging' },
    ])
  })

  test('unknown numbers and kinds are 200; an unknown provider is 404, a malformed body 400', async () => {
    const ctx = await shopOn('qr')
    const message = await insertSent(ctx)
    const stranger = { ...changes(ctx, 'qr', [toStatus(message, 'read', 1)]), numberId: 'who' }
    const hook = buildHook(secret, [stranger])
    expect((await post(hook)).status).toBe(200)
    for (const provider of ['nobody', 'constructor', '__proto__'])
      expect((await post(hook, provider)).status).toBe(404)
    const { headers } = buildHook(secret, [])
    const text = Buffer.from('{"entry":1}')
    const { createHmac } = await import('node:crypto')
    headers.set('x-hub-signature-256', `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`)
    expect((await post({ headers, body: text })).status).toBe(400)
    await app.drainJobs()
    expect(seen).toEqual([])
    expect(await storedEvents()).toMatchObject([{ store_id: null, applied_at: app.clock.now() }])
  })

  test('a body over 3 MiB is 413', async () => {
    const body = Buffer.alloc(3 * 1024 * 1024 + 1, 'a')
    expect((await post({ headers: new Headers(), body })).status).toBe(413)
  })

  test('the challenge is answered only with the verify token', async () => {
    const ask = async (query: Record<string, string>) => {
      const response = await app.fetch(
        new Request(`http://localhost/hooks/messaging/sandbox?${new URLSearchParams(query)}`),
        { ip: '127.0.0.1' },
      )
      return [response.status, response.status === 200 ? await response.text() : null]
    }
    const right = {
      'hub.mode': 'subscribe',
      'hub.verify_token': 'right & proper',
      'hub.challenge': '1158201444',
    }
    expect(await ask(right)).toEqual([200, '1158201444'])
    expect(await ask({ ...right, 'hub.verify_token': 'wrong' })).toEqual([403, null])
    expect(await ask({ ...right, 'hub.mode': 'unsubscribe' })).toEqual([403, null])
    expect(await ask({})).toEqual([403, null])
  })
})

describe('statuses', () => {
  test('statuses go to the sender and the ledger; out of order they end at the highest', async () => {
    const ctx = await shopOn('qr')
    const message = await insertSent(ctx)
    await message.commit()
    await sendStatus(ctx, toStatus(message, 'read', 2_000))
    await sendStatus(ctx, toStatus(message, 'delivered', 1_000))
    await sendStatus(ctx, toStatus(message, 'sent', 0))
    const at = (ms: number): Date => new Date(message.sentAt.getTime() + ms)
    expect(await readLedger(ctx)).toMatchObject([
      { status: 'read', delivered_at: at(2_000), read_at: at(2_000), failed_at: null },
    ])
    expect(seen.map((each) => [each.messageId, each.attempt, each.status])).toEqual(
      ['read', 'delivered', 'sent'].map((status) => [message.messageId, 2, status]),
    )
  })

  test('a failure has its code, and is ignored after delivery', async () => {
    const ctx = await shopOn('qr')
    const failed = await insertSent(ctx)
    await failed.commit()
    const errors = [{ code: 131049, title: 'This message was not delivered to maintain…' }]
    await sendStatus(ctx, toStatus(failed, 'failed', 1_000, { errors }))
    expect(await readLedger(ctx)).toMatchObject([{ status: 'failed', failure_code: 'frequency-capped' }])
    expect(seen).toMatchObject([{ status: 'failed', code: 'frequency-capped' }])
    const late = await insertSent(ctx)
    await late.commit()
    await sendStatus(ctx, toStatus(late, 'delivered', 1_000), toStatus(late, 'failed', 2_000, { errors }))
    expect((await readLedger(ctx))[1]).toMatchObject({ status: 'delivered', failure_code: null })
  })

  test('a status that arrives before our own commit is applied after it', async () => {
    const ctx = await shopOn('qr')
    const message = await insertSent(ctx)
    await sendStatus(ctx, toStatus(message, 'delivered', 500), toStatus(message, 'read', 900))
    expect(await readLedger(ctx)).toEqual([])
    await message.commit()
    await app.advance(1_500)
    await app.drainJobs()
    expect(await readLedger(ctx)).toMatchObject([{ status: 'read' }])
    for (const event of await storedEvents()) expect(event.applied_at).not.toBeNull()
  })

  test("a status without a key is matched by the provider's id", async () => {
    const ctx = await shopOn('qr')
    const message = await insertSent(ctx)
    await message.commit()
    for (const odd of [undefined, 'not a key', 'st_x_1', `st_${'-'.repeat(36)}_1`]) {
      const status = odd === undefined ? 'delivered' : 'read'
      await sendStatus(ctx, toStatus(message, status, 1_000, { biz_opaque_callback_data: odd }))
    }
    expect(await readLedger(ctx)).toMatchObject([{ status: 'read' }])
    expect(seen).toEqual([])
  })

  test('a sender that learns of an accepted message from a status may commit it then', async () => {
    const ctx = await shopOn('qr')
    const message = await insertSent(ctx)
    applyOwn = (within) =>
      within.transaction(async (tx) => {
        await sending.recordSentMessages(tx, 'direct', await metering.reserve(tx, 1, 'direct'), [message])
      })
    const key = `ex_${message.messageId}_1`
    await sendStatus(ctx, toStatus(message, 'delivered', 1_000, { biz_opaque_callback_data: key }))
    expect(await readLedger(ctx)).toMatchObject([{ status: 'delivered' }])
    expect(await storedEvents()).toMatchObject([{ applied_at: app.clock.now(), attempts: 0 }])
  })

  test('unstorable values and impossible times do not affect the other changes of their body', async () => {
    const shop = await shopOn('qr')
    const message = await insertSent(shop)
    await message.commit()
    const odd = [
      { timestamp: '9999999999999' },
      { timestamp: '999999999999' },
      { timestamp: -5 },
      { timestamp: 'soon' },
    ]
    const statuses = [
      ...odd.map((change) => toStatus(message, 'read', 1_000, change)),
      toStatus(message, 'failed', 1_000, { timestamp: 'x', 'a\0b': { 'c\0d': 'e\0f\ud800' } }),
      toStatus(message, 'read', 1_000, {
        id: `${'long '.repeat(5_000)}\0`,
        biz_opaque_callback_data: 'another',
      }),
      toStatus(message, 'delivered', 1_000),
    ]
    await post(buildHook(secret, [changes(shop, 'qr', statuses)]))
    await app.drainJobs()
    expect(await readLedger(shop)).toMatchObject([{ status: 'delivered' }])
  })

  test('one body with changes of two stores: each sees only its own', async () => {
    const one = await shopOn('qr')
    const other = await shopOn('qr')
    const first = await insertSent(one)
    const second = await insertSent(other)
    await first.commit()
    await second.commit()
    // The second store's number also reports about the first store's message.
    const hook = buildHook(secret, [
      changes(one, 'qr', [toStatus(first, 'delivered', 1_000)]),
      changes(other, 'qr', [toStatus(second, 'read', 1_000), toStatus(first, 'read', 1_000)]),
    ])
    await post(hook)
    await app.drainJobs()
    expect(await readLedger(one)).toMatchObject([{ status: 'delivered' }])
    expect(await readLedger(other)).toMatchObject([{ status: 'read' }])
  })

  test('on the shared number a status goes to the store of its message, even before its commit', async () => {
    const one = await shopOn('shared')
    const other = await shopOn('shared')
    const message = await insertSent(other)
    const early = await insertSent(one)
    await message.commit()
    await post(
      buildHook(secret, [changes(one, 'shared', [toStatus(message, 'read', 1), toStatus(early, 'read', 1)])]),
    )
    await app.drainJobs()
    expect(await readLedger(other)).toMatchObject([{ status: 'read' }])
    await early.commit()
    await app.advance(1_500)
    await app.drainJobs()
    expect(await readLedger(one)).toMatchObject([{ status: 'read' }])
    expect(seen.map((each) => each.storeId)).toEqual([other.store.id, one.store.id])
  })
})

describe('inbound messages', () => {
  const write = async (ctx: Context, change: Partial<Parameters<typeof sandbox.inbound>[0]> = {}) => {
    const hook = sandbox.inbound({
      numberId: `sandbox-${ctx.store.id}`,
      phone: '+5511988887777',
      text: 'Hello',
      ...change,
    })
    expect((await post(hook)).status).toBe(200)
    await app.drainJobs()
  }
  const windowsOf = (ctx: Context) => ctx.db.selectFrom('contact_windows').selectAll().execute()

  test('an inbound message reaches the extensions', async () => {
    const ctx = await shopOn('qr')
    await write(ctx)
    expect(inbound).toEqual([{ storeId: ctx.store.id, phone: '+5511988887777', text: 'Hello', via: 'qr' }])
  })

  test("an inbound message opens the official number's window by the provider's time; a reaction does not", async () => {
    const ctx = await shopOn('official')
    const at = (ms: number): Date => new Date(app.clock.ms() + ms)
    await write(ctx, { type: 'reaction', text: null })
    expect(await windowsOf(ctx)).toEqual([])
    // The same person with and without the ninth digit.
    await write(ctx, { occurredAt: at(-1_000) })
    await write(ctx, { occurredAt: at(-5_000), phone: '+551188887777' })
    expect(await windowsOf(ctx)).toMatchObject([{ phone_key: '+5511988887777', last_inbound_at: at(-1_000) }])
    await write(ctx, { occurredAt: at(0), phone: '+551188887777' })
    expect(await windowsOf(ctx)).toMatchObject([{ last_inbound_at: at(0) }])
    expect(inbound.map((each) => [each.via, each.text])).toEqual([
      ['official', null],
      ['official', 'Hello'],
      ['official', 'Hello'],
      ['official', 'Hello'],
    ])
    const overQr = await shopOn('qr')
    await write(overQr)
    expect(await windowsOf(overQr)).toEqual([])
  })

  test('an inbound message belongs to the connected official number, even if another is selected', async () => {
    const ctx = await shopOn('official')
    await connectNumber(ctx, { type: 'qr', phone: '+5511900002222' })
    await write(ctx)
    await ctx.db
      .updateTable('messaging_connections')
      .set({ status: 'none' })
      .where('type', '=', 'official')
      .execute()
    await write(ctx)
    expect(inbound.map((each) => each.via)).toEqual(['official', 'qr'])
  })

  test('an inbound message to the shared number goes to the store that last wrote to that phone within 30 days', async () => {
    const one = await shopOn('shared')
    const other = await shopOn('shared')
    const writeShared = (phone = '+5511988887777') => write(one, { numberId: 'sandbox-shared', phone })
    await (await insertSent(one)).commit()
    await app.advance(1_000)
    await (await insertSent(other)).commit()
    await app.advance(30 * 86_400_000 - 1_000)
    await writeShared('+551188887777')
    await writeShared('+5511977776666')
    expect(inbound.map((each) => each.storeId)).toEqual([other.store.id])
    await app.advance(2_000)
    await writeShared()
    expect(inbound).toHaveLength(1)
  })
})

test('the sandbox reports its messages within 3 seconds, through the same webhook', async () => {
  const ctx = await shopOn('qr')
  for (const ending of ['7777', '0002', '0003']) {
    const phone = `+551198888${ending}`
    const message = await insertSent(ctx, phone)
    const content = { kind: 'text', text: 'Hello', media: null } as const
    const { outcome } = await sending.deliver(ctx, { phone, content }, message.key)
    expect(outcome).toBe('accepted')
    await message.commit()
  }
  await app.advance(3_000)
  await app.drainJobs()
  expect((await readLedger(ctx)).map((each) => [each.status, each.failure_code])).toEqual([
    ['read', null],
    ['failed', 'undelivered'],
    ['read', null],
  ])
  expect(inbound).toMatchObject([{ phone: '+5511988880003', text: 'STOP', via: 'qr' }])
  const optOuts = await ctx.db.selectFrom('opt_outs').select(['phone', 'source']).execute()
  expect(optOuts).toEqual([{ phone: '+5511988880003', source: 'reply' }])
})
