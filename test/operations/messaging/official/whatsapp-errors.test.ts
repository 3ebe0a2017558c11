/** Errors and reports of the WhatsApp Business Cloud API: what they delay, and what the merchant is notified of. */
import { beforeEach, describe, expect, test } from 'vitest'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import listMessages from '#operations/inbox/messages/api/list-messages'
import sendMessage from '#operations/inbox/messages/api/send-message'
import getStatus from '#operations/messaging/official/api/get-status'
import createTemplate from '#operations/messaging/templates/api/create-template'
import getTemplate from '#operations/messaging/templates/api/get-template'
import listNotifications from '#operations/notifications/api/list-notifications'
import type { Shop } from '#test/support/store'
import { whatsappApp } from '#test/support/whatsapp'

const { app, standIn, newNumber, withInbox, sendHook, metadata, seconds, wamid } = await whatsappApp()
beforeEach(newNumber)

async function receiveMessage(shop: Shop, from = '5511988880007'): Promise<string> {
  await sendHook('messages', {
    messaging_product: 'whatsapp',
    metadata: metadata(),
    contacts: [{ wa_id: from, profile: { name: 'Ana' } }],
    messages: [{ from, id: wamid(), timestamp: seconds(), type: 'text', text: { body: 'Oi' } }],
  })
  const { data } = (await shop.call(listConversations)).body
  return data.find((each: { phone: string }) => each.phone === `+${from}`).id
}
const answer = (shop: Shop, id: string, text = 'Olá') =>
  shop.call(sendMessage, { params: { id }, body: { type: 'text', text } })
const readLastMessage = async (shop: Shop, id: string) =>
  (await shop.call(listMessages, { params: { id } })).body.data[0]
const sends = () => standIn.requests.filter((each) => each.endsWith('/messages')).length
const notices = async (shop: Shop): Promise<{ type: string; title: string; message: string }[]> =>
  (await shop.call(listNotifications)).body.data

describe('a send', () => {
  test("a recipient's rate limit delays that recipient only, not the number", async () => {
    const shop = await withInbox()
    const ana = await receiveMessage(shop)
    const bia = await receiveMessage(shop, '5511988880008')
    standIn.fail({ status: 400, code: 131056, message: 'Pair rate limit hit' })
    await answer(shop, ana)
    await app.drainJobs()
    expect(await readLastMessage(shop, ana)).toMatchObject({ status: 'queued' })
    const held = await app.services.database.root
      .selectFrom('sender_numbers')
      .select('throttled_until')
      .where('throttled_until', 'is not', null)
      .execute()
    expect(held).toEqual([])
    standIn.fail(null)
    await answer(shop, bia)
    await app.drainJobs()
    expect(await readLastMessage(shop, bia)).toMatchObject({ status: 'sent' })
    await app.advance(6_500)
    await app.drainJobs()
    expect(await readLastMessage(shop, ana)).toMatchObject({ status: 'sent', error: null })
  })

  test.each([2, 131016, 131057])('a send that ends with %i is never repeated', async (code) => {
    const shop = await withInbox()
    const id = await receiveMessage(shop)
    standIn.requests = []
    standIn.fail({ status: 500, code, message: 'Service unavailable' })
    await answer(shop, id)
    await app.drainJobs()
    expect(sends()).toBe(1)
    standIn.fail(null)
    for (let minute = 0; minute < 12; minute += 1) {
      await app.advance(60_000)
      await app.drainJobs()
    }
    expect(sends()).toBe(1)
    expect(await readLastMessage(shop, id)).toMatchObject({
      status: 'failed',
      error: { code: 'unknown-outcome' },
    })
  })

  test('a send without access notifies the merchant once', async () => {
    const shop = await withInbox()
    const id = await receiveMessage(shop)
    standIn.fail({ status: 401, code: 190, message: 'The session was invalidated' })
    await answer(shop, id)
    await app.drainJobs()
    expect((await shop.call(getStatus)).body).toMatchObject({
      status: 'error',
      issue: { code: 'token-expired' },
    })
    const received = (await notices(shop)).filter(({ type }) => type === 'official-number-issue')
    expect(received).toHaveLength(1)
  })
})

test('a violation and a scheduled ban are notified, and stop nothing', async () => {
  const shop = await withInbox()
  const ban = { waba_ban_state: 'SCHEDULE_FOR_DISABLE', waba_ban_date: 'December 9, 2026' }
  await sendHook('account_update', {
    ...{ event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'ADULT' } },
  })
  await sendHook('account_update', { event: 'DISABLED_UPDATE', ban_info: ban })
  await sendHook('account_update', { event: 'DISABLED_UPDATE', ban_info: ban })
  const warnings = (await notices(shop)).filter(({ type }) => type === 'official-number-warning')
  expect(warnings.map(({ title }) => title).sort()).toEqual([
    'WhatsApp reports a violation of its policies',
    'WhatsApp will disable your account on December 9, 2026',
  ])
  expect((await shop.call(getStatus)).body).toMatchObject({ status: 'connected', issue: null })
})

describe('a template', () => {
  async function withTemplate() {
    const shop = await withInbox()
    const body = { name: 'pedido', language: 'pt_BR', category: 'utility', body: 'Seu pedido saiu' }
    const { id } = (await shop.call(createTemplate, { body })).body
    const [[providerId]] = [...standIn.templates] as [[string, unknown]]
    const event = async (word: string, more: object = {}) => {
      await app.advance(1_000)
      await sendHook('message_template_status_update', { ...about, event: word, reason: 'NONE', ...more })
      return (await read()).status
    }
    const about = {
      message_template_id: providerId,
      message_template_name: 'pedido',
      message_template_language: 'pt_BR',
    }
    const read = async () => (await shop.call(getTemplate, { params: { id } })).body
    expect(await event('APPROVED')).toBe('approved')
    standIn.templates.get(providerId)!.status = 'APPROVED'
    return { shop, about, read, event }
  }

  test("an announced change of a template's category is notified once", async () => {
    const { shop, about, read } = await withTemplate()
    const change = {
      ...about,
      new_category: 'UTILITY',
      correct_category: 'MARKETING',
      category_update_timestamp: 1_796_000_000,
    }
    await sendHook('template_category_update', change)
    await sendHook('template_category_update', { ...change })
    expect(await read()).toMatchObject({ category: 'utility' })
    const warned = (await notices(shop)).filter(({ type }) => type === 'template-recategorised')
    expect(warned).toMatchObject([
      { title: 'The template pedido becomes marketing', message: expect.stringContaining('2026-11-30') },
    ])
    await sendHook('template_category_update', {
      ...about,
      previous_category: 'UTILITY',
      new_category: 'MARKETING',
    })
    expect(await read()).toMatchObject({ category: 'marketing' })
  })

  test('a template is flagged, locked, archived, and restored', async () => {
    const { shop, event } = await withTemplate()
    expect(await event('FLAGGED', { disable_info: { disable_date: '1796000000' } })).toBe('approved')
    expect(await notices(shop)).toContainEqual(
      expect.objectContaining({ title: 'The template pedido may be disabled on 2026-11-30' }),
    )
    expect(await event('LOCKED', { other_info: { title: 'FIRST_PAUSE' } })).toBe('paused')
    expect(await event('UNLOCKED')).toBe('approved')
    expect(await event('ARCHIVED')).toBe('disabled')
    expect(await event('UNARCHIVED')).toBe('approved')
  })
})
