/** Waiting for an answer, unread counts, and changes that a polling client sees (rules 1, 3 and 4). */
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import deleteOptOut from '#operations/campaigns/opt-outs/api/delete-opt-out'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import markRead from '#operations/inbox/conversations/api/mark-read'
import setStatus from '#operations/inbox/conversations/api/set-status'
import sendMessage from '#operations/inbox/messages/api/send-message'
import { failQueued } from '#operations/inbox/sending/outbox-source'
import { sending } from '#operations/messaging/index'
import getOverview from '#operations/store/dashboard/api/get-overview'
import * as metering from '#operations/store/quota/metering'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'
import { runs } from '#test/support/suite'

const app = await testApp()
const noon = '2026-11-20T12:00:00.000Z'
const phone = '+5511987654321'
/** A phone that is not on the network: messages to it fail. */
const nobody = '+5511987650001'
const at = (minutes: number): Date => new Date(Date.parse(noon) + minutes * 60_000)

beforeEach(() => app.setClock(noon))

const answer = async (shop: InboxShop, text = 'Pois não?') => {
  const { id } = await shop.conversation()
  const sent = await shop.call(sendMessage, { params: { id }, body: { type: 'text', text } })
  expect(sent.status).toBe(201)
  return sent.body.id as string
}

/** A message of another section, such as an automation's: its id is older than later inbound messages. */
async function addSectionMessage(shop: InboxShop, messageId: string): Promise<void> {
  const ctx = await shop.context()
  await ctx.transaction(async (tx) => {
    const reservation = await metering.reserve(tx, 1, 'automation')
    await sending.recordSentMessages(tx, 'automation', reservation, [
      {
        messageId,
        sourceId: messageId,
        sourceName: null,
        phone,
        via: 'official',
        providerMessageId: `e.${messageId}`,
        sentAt: tx.now(),
        isKnown: true,
      },
    ])
  })
}

test('the home page counts the unread open conversations', async () => {
  const shop = await inboxShop(app)
  const counted = async () => {
    const { body } = await shop.call(getOverview)
    return body.pendingItems.find(({ type }: { type: string }) => type === 'conversations-unread').count
  }
  expect(await counted()).toBe(0)
  await shop.write({ phone, text: 'Hello' })
  await shop.write({ phone: '+5511987654322', text: 'Hello' })
  expect(await counted()).toBe(2)
  const [{ id }, other] = (await shop.call(listConversations)).body.data
  await shop.call(markRead, { params: { id } })
  expect(await counted()).toBe(1)
  await shop.call(setStatus, { params: { id: other.id }, body: { status: 'closed' } })
  expect(await counted()).toBe(0)
})

describe('waiting', () => {
  test('a contact waits since the first message was written, whichever arrived first', async () => {
    const shop = await inboxShop(app)
    await app.setClock(at(5))
    await shop.write({ phone, text: 'Second', occurredAt: at(4) })
    await shop.write({ phone, text: 'First', occurredAt: at(1) })
    expect(await shop.conversation()).toMatchObject({ waitingSince: at(1).toISOString(), unreadCount: 2 })
  })

  test('a contact keeps waiting when the answer fails, until another one is sent', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone: nobody, text: 'Oi' })
    await app.advance(60_000)
    await answer(shop)
    expect(await shop.conversation()).toMatchObject({ waitingSince: null, lastMessageStatus: 'queued' })
    await app.drainJobs()
    expect(await shop.conversation()).toMatchObject({ waitingSince: noon, lastMessageStatus: 'failed' })
    const open = await shop.call(listConversations, { query: { waiting: 'true' } })
    expect(open.body.total).toBe(1)
  })

  test('closing ends the waiting for good, whatever fails after it', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone: nobody, text: 'Before' })
    await app.advance(60_000)
    const { id } = await shop.conversation()
    await shop.call(setStatus, { params: { id }, body: { status: 'closed' } })
    await app.advance(60_000)
    await answer(shop)
    await app.drainJobs()
    expect(await shop.conversation()).toMatchObject({ status: 'closed', waitingSince: null })
    await app.advance(60_000)
    await shop.write({ phone: nobody, text: 'After' })
    await app.advance(60_000)
    await answer(shop)
    await app.drainJobs()
    expect(await shop.conversation()).toMatchObject({ status: 'open', waitingSince: at(3).toISOString() })
  })

  test('waiting matches a model for any sequence of messages, answers, failures, closings and late arrivals', async () => {
    const step = fc.oneof(
      fc.record({ is: fc.constant('write' as const), late: fc.integer({ min: 0, max: 5 }) }),
      fc.record({ is: fc.constant('answer' as const), fails: fc.boolean() }),
      fc.record({ is: fc.constant('close' as const) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
        await app.setClock(noon)
        const shop = await inboxShop(app)
        await shop.write({ phone, text: 'Oi' })
        const inbound = [{ written: +at(0), stored: +at(0) }]
        let [answered, settled, minute] = [-1, -1, 0]
        let isOpen = true
        for (const each of steps) {
          minute += 1
          await app.setClock(at(minute))
          const { id } = await shop.conversation()
          if (each.is === 'write') {
            const written = at(Math.max(0, minute - each.late))
            await shop.write({ phone, text: 'Oi', occurredAt: written })
            inbound.push({ written: +written, stored: +at(minute) })
            isOpen = true
          } else if (each.is === 'answer') {
            await answer(shop)
            // Like a disconnect before the message could be sent.
            if (each.fails) await failQueued(await shop.context())
            await app.drainJobs()
            if (!each.fails) answered = +at(minute)
          } else {
            await shop.call(setStatus, { params: { id }, body: { status: 'closed' } })
            if (isOpen) settled = +at(minute)
            isOpen = false
          }
          const waiting = inbound.filter((one) => one.written > answered && one.stored > settled)
          const since =
            waiting.length === 0 || !isOpen ? null : Math.min(...waiting.map((one) => one.written))
          const { waitingSince } = await shop.conversation()
          expect(waitingSince && Date.parse(waitingSince)).toBe(since)
        }
      }),
      runs(5),
    )
  })
})

test('reading up to the newest message leaves nothing unread, with or without a recent automation message', async () => {
  const shop = await inboxShop(app)
  const ctx = await shop.context()
  const early = ctx.newId()
  await app.advance(1000)
  await shop.write({ phone, text: 'Oi' })
  await app.advance(1000)
  await addSectionMessage(shop, early)
  const { id } = await shop.conversation()
  const upTo = (upToMessageId: string) => shop.call(markRead, { params: { id }, body: { upToMessageId } })
  expect((await upTo(early)).body.unreadCount).toBe(0)
  await app.advance(1000)
  await shop.write({ phone, text: 'Mais' })
  expect((await upTo(early)).body.unreadCount).toBe(1)
})

test('a polling client sees opt-outs, opt-ins and a new name', async () => {
  const shop = await inboxShop(app)
  await shop.write({ phone, text: 'Oi' })
  const changed = async () => {
    await app.advance(1000)
    const since = app.clock.now().toISOString()
    return async () => (await shop.call(listConversations, { query: { updatedSince: since } })).body.data
  }
  let news = await changed()
  expect(await news()).toEqual([])
  await shop.call(addOptOut, { body: { phone: '(11) 98765-4321' } })
  expect(await news()).toMatchObject([{ optedOut: true }])
  news = await changed()
  await shop.call(addOptOut, { body: { phone } })
  expect(await news()).toEqual([])
  await shop.call(deleteOptOut, { params: { phone } })
  expect(await news()).toMatchObject([{ optedOut: false }])
  const other = await inboxShop(app)
  await other.write({ phone, text: 'Oi' })
  news = await changed()
  await other.call(addOptOut, { body: { phone } })
  expect(await news()).toEqual([])
})
