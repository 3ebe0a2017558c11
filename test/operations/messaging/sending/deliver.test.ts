import { afterEach, describe, expect, test, vi } from 'vitest'
import type { MessagingPort } from '#operations/messaging/provider/port'
import { getSandbox, type SandboxMode } from '#operations/messaging/provider/sandbox'
import * as sending from '#operations/messaging/sending/deliver'
import * as templates from '#operations/messaging/templates/read'
import * as metering from '#operations/store/quota/metering'
import type { Context } from '#runtime/context'
import { NumberLimit, Refused } from '#runtime/ports/errors'
import { newId } from '#runtime/values/ids'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const sandbox = getSandbox(app.services.adapters.messaging)

async function shopOn(
  type: 'qr' | 'official' | 'shared' | null,
  options: Parameters<typeof store>[1] = {},
): Promise<Context> {
  const shop = await store(app, options)
  const ctx = await shop.context()
  if (type) await connectNumber(ctx, { type, phone: '+5511900001111' })
  // A new context, as reads are cached per context.
  return shop.context()
}
const key = (): string => `tt_${newId(app.clock.ms())}_1`
const text = (words: string, media: sending.Content['media'] = null): sending.Content => ({
  kind: 'text',
  text: words,
  media,
})
const image = { type: 'image' as const, url: 'https://cdn.example.com/a.png', fileName: null }
const phone = '+5511988887777'
const deliver = (ctx: Context, content: sending.Content, to = phone) =>
  sending.deliver(ctx, { phone: to, content }, key())

describe('the selected connection', () => {
  test('no connection is selected until a number connects; then that one is', async () => {
    expect(await sending.findSelected(await shopOn(null))).toBeNull()
    const ctx = await shopOn('qr')
    expect(await sending.findSelected(ctx)).toEqual({
      type: 'qr',
      numberId: `sandbox-${ctx.store.id}`,
      phone: '+5511900001111',
    })
    expect(await sending.findSelected(await shopOn('shared'))).toMatchObject({ numberId: 'sandbox-shared' })
  })

  test('a disconnected number is not selected, and never replaced by another', async () => {
    const ctx = await shopOn('qr')
    await connectNumber(ctx, { type: 'official', phone: '+5511900002222' })
    await ctx.db
      .updateTable('messaging_connections')
      .set({ status: 'error' })
      .where('type', '=', 'official')
      .execute()
    expect(await sending.findSelected(ctx)).toBeNull()
    expect(await sending.isIdempotent(ctx)).toBe(true)
    expect(await deliver(ctx, text('Hello'))).toEqual({ outcome: 'disconnected' })
    expect(await sandbox.outbox(ctx.store.id)).toEqual([])
  })

  test('the official number is selected only with its feature in the plan', async () => {
    expect(await sending.findSelected(await shopOn('official', { plan: 'starter' }))).toBeNull()
    expect(await sending.findSelected(await shopOn('qr', { plan: 'starter' }))).toMatchObject({ type: 'qr' })
    expect(await sending.findSelected(await shopOn('official', { plan: 'growth' }))).toMatchObject({
      type: 'official',
    })
  })
})

describe('delivering', () => {
  test.each<[SandboxMode, unknown]>([
    ['down', { outcome: 'retry', reason: 'provider-unavailable', afterMs: 15_000 }],
    ['throttle', { outcome: 'retry', reason: 'throttled', afterMs: 2_000 }],
    ['timeout', { outcome: 'unknown' }],
  ])('the provider is %s', async (mode, outcome) => {
    const ctx = await shopOn('qr')
    await sandbox.setMode(ctx.store.id, mode)
    expect(await deliver(ctx, text('Hello'))).toEqual(outcome)
  })

  test('an approved template is delivered with its own header or another', async () => {
    const ctx = await shopOn('official')
    const header = { type: 'image' as const, text: null, mediaUrl: 'https://cdn.example.com/own.png' }
    const templateId = await makeTemplate(ctx, { name: 'black_friday', body: 'Hi {{1}}!', header })
    const parameters = { header: [], body: ['Ana'], buttons: [] }
    await deliver(ctx, { kind: 'template', templateId, parameters, media: null })
    await deliver(ctx, { kind: 'template', templateId, parameters, media: image })
    expect(await sandbox.outbox(ctx.store.id)).toMatchObject([
      { kind: 'template', content: { headerMediaUrl: image.url } },
      {
        kind: 'template',
        via: 'official',
        content: {
          template: { name: 'black_friday', language: 'pt_BR' },
          parameters,
          headerMediaUrl: header.mediaUrl,
        },
      },
    ])
  })

  test('a template is refused if it is not approved, missing, of another store, or over another connection', async () => {
    const ctx = await shopOn('official')
    const other = await shopOn('official')
    const overQr = await shopOn('qr')
    const pending = await makeTemplate(ctx, { name: 'one', body: 'Hi', status: 'pending' })
    const foreign = await makeTemplate(other, { name: 'one', body: 'Hi' })
    const onQr = await makeTemplate(overQr, { name: 'one', body: 'Hi' })
    const parameters = { header: [], body: [], buttons: [] }
    for (const [from, templateId] of [
      [ctx, pending],
      [ctx, foreign],
      [ctx, 999_999],
      [ctx, 3e9],
      [overQr, onQr],
    ] as const) {
      expect(await deliver(from, { kind: 'template', templateId, parameters, media: null })).toMatchObject({
        outcome: 'refused',
        code: 'template-refused',
      })
    }
    expect(await sandbox.outbox(ctx.store.id)).toEqual([])
  })

  test('the shared number carries text up to 900 characters, and no media', async () => {
    const ctx = await shopOn('shared')
    expect(await deliver(ctx, text('x'.repeat(900)))).toMatchObject({ outcome: 'accepted' })
    expect(await deliver(ctx, text('x'.repeat(901)))).toMatchObject({ outcome: 'refused', code: 'too-long' })
    expect(await deliver(ctx, text('Look', image))).toMatchObject({
      outcome: 'refused',
      code: 'media-refused',
    })
  })

  describe('a provider of another kind', () => {
    afterEach(() => vi.useRealTimers())
    async function shopWith(sendText: MessagingPort['sendText']): Promise<Context> {
      const ctx = await shopOn('qr')
      const name = `odd-${ctx.store.id}`
      const port: MessagingPort = Object.assign(Object.create(sandbox) as MessagingPort, {
        capabilities: { idempotentSend: false, qr: true, shared: false },
        sendText,
        sendMedia: sandbox.sendMedia,
        sendTemplate: sandbox.sendTemplate,
        sendLimits: async () => ({ perSecond: 1 / 3, perDay: null }),
        verifySignature: () => false,
        parseEvents: () => [],
      })
      ;(app.services.adapters.messaging as Record<string, MessagingPort>)[name] = port
      await ctx.db.updateTable('messaging_connections').set({ provider: name }).execute()
      return ctx
    }

    test('no answer within 8 seconds is an unknown outcome', async () => {
      const ctx = await shopWith(() => new Promise(() => {}))
      expect(await sending.isIdempotent(ctx)).toBe(false)
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      let outcome: unknown = 'none yet'
      const done = deliver(ctx, text('Hello')).then((answer) => {
        outcome = answer
      })
      while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve))
      await vi.advanceTimersByTimeAsync(7_999)
      expect(outcome).toBe('none yet')
      await vi.advanceTimersByTimeAsync(1)
      await done
      expect(outcome).toEqual({ outcome: 'unknown' })
    })

    test("the provider's errors are mapped to ours", async () => {
      const thrown: Error[] = [
        new Refused('recipient-stopped', 'They stopped it'),
        new Refused('something-new', 'Who knows'),
        new Refused('disconnected', 'Logged out'),
        new NumberLimit(),
        new TypeError('a fault of ours'),
      ]
      const ctx = await shopWith(async () => {
        throw thrown.shift()!
      })
      const outcomes = []
      while (thrown.length > 0) outcomes.push(await deliver(ctx, text('Hello')))
      expect(outcomes).toEqual([
        { outcome: 'refused', code: 'recipient-stopped', message: 'They stopped it' },
        { outcome: 'refused', code: 'provider-error', message: 'Who knows' },
        { outcome: 'disconnected' },
        { outcome: 'retry', reason: 'number-limit', afterMs: 86_400_000 },
        { outcome: 'unknown' },
      ])
    })
  })
})

describe('the rate of a number', () => {
  const waits = (turns: Date[]): number[] => turns.map((at) => at.getTime() - app.clock.ms())

  test('batches queue at their share of the rate; other shares have their own queue', async () => {
    const ctx = await shopOn('qr')
    const connection = (await sending.findSelected(ctx))!
    expect(await sending.readRatePerSecond(ctx, connection)).toBe(500)
    const turns = []
    for (let i = 0; i < 3; i += 1) turns.push(await sending.reserveRateSlots(ctx, connection, 500, 0.8))
    expect(waits(turns)).toEqual([0, 1_250, 2_500])
    expect(
      waits([
        await sending.reserveRateSlots(ctx, connection, 1, 0.2),
        await sending.reserveRateSlots(ctx, connection, 1, 0.2),
      ]),
    ).toEqual([0, 10])
    await app.advance(60_000)
    expect(waits([await sending.reserveRateSlots(ctx, connection, 400, 0.8)])).toEqual([0])
  })

  test('the rate is shared by parallel workers, and by the stores of one number', async () => {
    const one = await shopOn('shared')
    const other = await shopOn('shared')
    const connection = (await sending.findSelected(one))!
    const turns = await Promise.all(
      [one, other, one, other].map((ctx) => sending.reserveRateSlots(ctx, connection, 40, 0.8)),
    )
    expect(waits(turns).sort((a, b) => a - b)).toEqual([0, 100, 200, 300])
    expect(
      waits([
        await sending.reserveRateSlots(
          await shopOn('qr'),
          (await sending.findSelected(await shopOn('qr')))!,
          40,
          0.8,
        ),
      ]),
    ).toEqual([0])
  })

  test('nothing is sent before a throttle ends', async () => {
    const ctx = await shopOn('qr')
    const connection = (await sending.findSelected(ctx))!
    const until = (ms: number): Date => new Date(app.clock.ms() + ms)
    await sending.reserveRateSlots(ctx, connection, 4, 0.8)
    await sending.pauseNumber(ctx, connection, until(5_000))
    await sending.pauseNumber(ctx, connection, until(2_000))
    expect(waits([await sending.reserveRateSlots(ctx, connection, 4, 0.8)])).toEqual([5_000])
    expect(waits([await sending.reserveRateSlots(ctx, connection, 4, 0.8)])).toEqual([5_010])
    expect(waits([await sending.reserveRateSlots(ctx, connection, 1, 0.2)])).toEqual([5_000])
  })
})

describe('accepted messages', () => {
  const message = (change: Partial<sending.SentMessage> = {}): sending.SentMessage => ({
    messageId: newId(app.clock.ms()),
    sourceId: 'a-campaign',
    sourceName: 'Summer',
    phone,
    providerMessageId: 'wamid.1',
    sentAt: app.clock.now(),
    isKnown: true,
    ...change,
  })
  const ledgerOf = (ctx: Context) =>
    ctx.db.selectFrom('message_ledger').selectAll().orderBy('message_id').execute()
  const touchesOf = (ctx: Context) =>
    ctx.db.selectFrom('attribution_touches').selectAll().orderBy('message_id').execute()

  test('an accepted message counts and creates a touch; an unknown outcome counts as failed, without one', async () => {
    const ctx = await shopOn('qr')
    const reservation = await metering.reserve(ctx, 3, 'messaging-campaign')
    const known = message()
    const unknown = message({ isKnown: false, providerMessageId: null })
    await sending.recordSentMessages(ctx, 'messaging-campaign', reservation, [known, unknown])
    await sending.recordSentMessages(ctx, 'messaging-campaign', reservation, [known, unknown])
    expect(await metering.readUsage(ctx)).toMatchObject({ used: 2, reserved: 1 })
    expect(await ledgerOf(ctx)).toMatchObject([
      { message_id: known.messageId, status: 'sent', source: 'messaging-campaign', source_id: 'a-campaign' },
      { message_id: unknown.messageId, status: 'failed', provider_message_id: null },
    ])
    expect(await touchesOf(ctx)).toMatchObject([
      {
        message_id: known.messageId,
        source_type: 'messaging-campaign',
        source_id: 'a-campaign',
        source_name: 'Summer',
        channel: 'messaging',
        phone_key: phone,
        touched_at: known.sentAt,
      },
    ])
  })

  test('single sends create no touch', async () => {
    const ctx = await shopOn('qr')
    await sending.recordSentMessages(ctx, 'direct', await metering.reserve(ctx, 1, 'direct'), [message()])
    expect(await ledgerOf(ctx)).toHaveLength(1)
    expect(await touchesOf(ctx)).toEqual([])
  })
})

describe('templates', () => {
  test('templates are read with their placeholders, and rendered', async () => {
    const ctx = await shopOn(null)
    const id = await makeTemplate(ctx, {
      name: 'order_shipped',
      language: 'en_US',
      category: 'utility',
      header: { type: 'text', text: 'Order {{1}}', mediaUrl: null },
      body: 'Hi {{1}}, order {{2}} left today.',
      footer: 'Bye',
      buttons: [{ type: 'url', text: 'Track', url: 'https://shop.example/{{1}}', phone: null }],
    })
    const template = (await templates.get(ctx, id))!
    expect(template).toMatchObject({
      id,
      name: 'order_shipped',
      language: 'en_US',
      category: 'utility',
      status: 'approved',
      placeholders: { header: 1, body: 2, buttons: 1 },
    })
    for (const odd of [0, -1, 1.5, Number.NaN, 2 ** 40]) expect(await templates.get(ctx, odd)).toBeNull()
    expect(await templates.get(await shopOn(null), id)).toBeNull()
  })
})
