import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { buildHook } from '#operations/messaging/provider/hook-body'
import { SandboxMessaging } from '#operations/messaging/provider/sandbox'
import type { ProviderEvent } from '#runtime/ports/provider'
import { newId } from '#runtime/values/ids'
import { freshDatabase } from '#test/support/app'
import { frozenClock, testsBeginAt } from '#test/support/test-clock'
import { aMessage, messagingContract } from './messaging.contract.ts'

const { database } = await freshDatabase()
afterAll(() => database.close())

const appSecret = 'an app secret'
function sandbox() {
  const clock = frozenClock()
  const port = new SandboxMessaging({ db: database.root, clock, appSecret, perSecond: 500 })
  const store = { id: newId(testsBeginAt.getTime()), credentials: null }
  return { port, store, clock }
}

messagingContract('sandbox', async () => {
  const { port, store } = sandbox()
  return {
    port,
    store,
    async arrived(phone) {
      const messages = await port.outbox(store.id, phone)
      return messages.map(({ idempotencyKey: key, calls, content }) => ({ key, calls, content }))
    },
    setMode: (mode) => port.setMode(store.id, mode),
    async goThroughSetup(url) {
      const given = { phone: '+551140001000', displayName: 'Loja', outcome: 'approve' } as const
      return (await port.numbers.endSetup(url.split('/').at(-1)!, given))!.code!
    },
    async breakAccess() {
      await port.numbers.change(store.id, { tokenValid: false })
    },
    mediaId: 'sandbox-image-1',
    signed: (changes) => buildHook(appSecret, changes),
    close: async () => {},
  }
})

/** All due events, parsed like real callbacks. */
async function dueEvents(port: SandboxMessaging, atMost?: number): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = []
  for await (const { headers, body } of port.dueEvents(atMost)) {
    expect(port.verifySignature(headers, body)).toBe(true)
    events.push(...port.parseEvents(body))
  }
  return events
}
const summarize = (events: ProviderEvent[]) =>
  events.map(({ data }) => {
    const { status, text, failureCode } = data as Record<string, string | null | undefined>
    return failureCode ?? status ?? text
  })

describe('sandbox messages', () => {
  beforeEach(async () => {
    await database.root.deleteFrom('sandbox_messages').execute()
  })

  test("a message's statuses depend on the end of its phone", async () => {
    const { port, store, clock } = sandbox()
    const send = (ending: string) => port.sendText(store, { ...aMessage(ending), text: 'Hello' })
    const start = clock.ms()
    clock.frozenAt = start
    await send('0002')
    expect(await dueEvents(port)).toEqual([])
    clock.frozenAt = start + 3_000
    expect(summarize(await dueEvents(port))).toEqual(['undelivered'])

    await send('0003')
    clock.frozenAt += 500
    expect(summarize(await dueEvents(port))).toEqual(['delivered'])
    clock.frozenAt += 2_500
    expect(summarize(await dueEvents(port))).toEqual(['read', 'STOP'])

    const message = { ...aMessage(), text: 'Hello' }
    const { providerMessageId } = await port.sendText(store, message)
    clock.frozenAt += 3_000
    const events = await dueEvents(port)
    expect(events).toMatchObject([
      {
        kind: 'status',
        storeRef: `sandbox-${store.id}`,
        occurredAt: '2026-11-20T12:00:06.500Z',
        data: { providerMessageId, key: message.idempotencyKey, status: 'delivered' },
      },
      { occurredAt: '2026-11-20T12:00:07.000Z', data: { providerMessageId, status: 'read' } },
    ])
    clock.frozenAt += 86_400_000
    expect(await dueEvents(port)).toEqual([])
  })

  test('events come in bodies of limited size, for several stores and numbers', async () => {
    const one = sandbox()
    const other = sandbox()
    for (let i = 0; i < 3; i += 1) await one.port.sendText(one.store, { ...aMessage(), text: 'Hello' })
    await other.port.sendText(other.store, { ...aMessage(), via: 'shared', text: 'Hello' })
    one.clock.frozenAt! += 1_000
    const sizes: number[] = []
    const refs = new Set<string | null>()
    for await (const { body } of one.port.dueEvents(3)) {
      const events = one.port.parseEvents(body)
      sizes.push(events.length)
      for (const event of events) refs.add(event.storeRef)
    }
    expect(sizes).toEqual([6, 2])
    expect(refs).toEqual(new Set([`sandbox-${one.store.id}`, 'sandbox-shared']))
  })

  test('events that a consumer did not finish come again, under the same keys', async () => {
    const { port, store, clock } = sandbox()
    await port.sendText(store, { ...aMessage(), text: 'Hello' })
    clock.frozenAt! += 1_000
    let first: ProviderEvent[] = []
    for await (const { body } of port.dueEvents()) {
      first = port.parseEvents(body)
      break
    }
    expect(first).toHaveLength(2)
    expect((await dueEvents(port)).map((event) => event.key)).toEqual(first.map((event) => event.key))
    expect(await dueEvents(port)).toEqual([])
  })

  test('the modes are per store; after a lost answer the message exists', async () => {
    const { port, store } = sandbox()
    const other = sandbox()
    await port.setMode(store.id, 'timeout')
    const message = { ...aMessage(), text: 'Hello' }
    await expect(port.sendText(store, message)).rejects.toMatchObject({ accepted: 'unknown' })
    await other.port.sendText(other.store, { ...aMessage(), text: 'Hello' })
    expect(await port.outbox(store.id)).toMatchObject([{ idempotencyKey: message.idempotencyKey, calls: 1 }])
    await port.setMode(store.id, 'up')
    const { providerMessageId } = await port.sendText(store, message)
    expect(await port.outbox(store.id)).toMatchObject([
      { providerMessageId, calls: 2, kind: 'text', via: 'official', content: { text: 'Hello' } },
    ])
  })

  test('inbound messages and statuses are sent by hand', async () => {
    const { port, store } = sandbox()
    const { providerMessageId } = await port.sendText(store, { ...aMessage(), text: 'Hello' })
    const inbound = port.inbound({
      numberId: `sandbox-${store.id}`,
      phone: '+5511988887777',
      name: 'Ana',
      text: ' sair! ',
      occurredAt: new Date('2026-11-20T11:59:59.999Z'),
    })
    expect(port.verifySignature(inbound.headers, inbound.body)).toBe(true)
    expect(port.parseEvents(inbound.body)).toMatchObject([
      {
        kind: 'inbound',
        occurredAt: '2026-11-20T11:59:59.999Z',
        data: { phone: '+5511988887777', name: 'Ana', text: ' sair! ' },
      },
    ])
    const pressed = port.inbound({ numberId: 'n', phone: '+5511988887777', type: 'button', text: 'Yes' })
    expect(port.parseEvents(pressed.body)).toMatchObject([{ data: { type: 'button', text: 'Yes' } }])
    const captioned = port.inbound({ numberId: 'n', phone: '+5511988887777', type: 'image', text: 'Look' })
    expect(port.parseEvents(captioned.body)).toMatchObject([{ data: { type: 'image', text: 'Look' } }])

    const failed = await port.status(store.id, { providerMessageId, status: 'failed', code: 'media-refused' })
    expect(port.parseEvents(failed!.body)).toMatchObject([
      { data: { providerMessageId, status: 'failed', failureCode: 'media-refused' } },
    ])
    expect(await port.status(newId(1), { providerMessageId, status: 'read' })).toBeNull()
  })
})
