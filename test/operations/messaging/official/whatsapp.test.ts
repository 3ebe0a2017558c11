/** A merchant's number at the stand-in of the WhatsApp Business Cloud API: connected, disconnected, connected again. */
import { beforeEach, describe, expect, test } from 'vitest'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import listMessages from '#operations/inbox/messages/api/list-messages'
import sendMessage from '#operations/inbox/messages/api/send-message'
import enable from '#operations/inbox/switch/api/enable'
import { templateSync } from '#operations/messaging/handles'
import { optOuts, sending } from '#operations/messaging/index'
import confirmRedirect from '#operations/messaging/official/api/confirm-redirect'
import disconnect from '#operations/messaging/official/api/disconnect'
import getHealth from '#operations/messaging/official/api/get-phone-health'
import getStatus from '#operations/messaging/official/api/get-status'
import revalidate from '#operations/messaging/official/api/revalidate'
import createTemplate from '#operations/messaging/templates/api/create-template'
import listTemplates from '#operations/messaging/templates/api/list-templates'
import { type Shop, store } from '#test/support/store'
import { whatsappApp } from '#test/support/whatsapp'

const { app, standIn, newNumber, setUp, connected, withInbox, sendHook, metadata, seconds, wamid } =
  await whatsappApp()
const { account } = standIn
beforeEach(newNumber)

describe('the PIN of a number', () => {
  test('a PIN is saved at disconnection, and used when the number connects again', async () => {
    const shop = await connected()
    const { pin } = standIn.number
    expect(pin).toMatch(/^\d{6}$/)
    expect((await shop.call(disconnect)).status).toBe(200)
    const kept = await (await shop.context()).db.selectFrom('number_pins').selectAll().execute()
    expect(kept).toHaveLength(1)
    expect(JSON.stringify(kept)).not.toContain(pin)
    const again = await shop.call(confirmRedirect, { body: await setUp(shop) })
    expect([again.status, again.body.status]).toEqual([200, 'connected'])
    expect(standIn.number.pin).toBe(pin)
  })

  test('a PIN of an earlier connection is saved when it ends, too', async () => {
    const shop = await connected()
    const { pin } = standIn.number
    const { db } = await shop.context()
    await db.deleteFrom('number_pins').execute()
    expect((await shop.call(disconnect)).status).toBe(200)
    const again = await shop.call(confirmRedirect, { body: await setUp(shop) })
    expect([again.status, standIn.number.pin]).toEqual([200, pin])
  })

  test('a PIN that was set elsewhere is asked for by name; the same call with it continues', async () => {
    const shop = await store(app)
    standIn.number.pin = '424242'
    const body = await setUp(shop)
    const asked = await shop.call(confirmRedirect, { body })
    expect(asked).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/^pin: /) } },
    })
    expect((await shop.call(confirmRedirect, { body: { ...body, pin: '111111' } })).status).toBe(400)
    const done = await shop.call(confirmRedirect, { body: { ...body, pin: '424242' } })
    expect(done).toMatchObject({ status: 200, body: { status: 'connected' } })
    const [setup] = await (await shop.context()).db.selectFrom('messaging_setups').select('granted').execute()
    expect(setup).toEqual({ granted: null })
  })

  test('if a PIN cannot be set now, the same code works later, and a new code gets its own grant', async () => {
    const shop = await store(app)
    standIn.registerFault = 133004
    const body = await setUp(shop)
    expect((await shop.call(confirmRedirect, { body })).status).toBe(503)
    expect((await shop.call(confirmRedirect, { body })).status).toBe(503)
    standIn.registerFault = null
    const nothing = await shop.call(confirmRedirect, { body: { ...body, code: 'another code' } })
    expect([nothing.status, nothing.body.error.message]).toEqual([400, expect.stringContaining('code')])
    const done = await shop.call(confirmRedirect, { body })
    expect([done.status, done.body.status]).toEqual([200, 'connected'])
    const [setup] = await (await shop.context()).db.selectFrom('messaging_setups').select('granted').execute()
    expect(setup).toEqual({ granted: null })
  })

  test('a PIN set by a call whose answer was lost is known, even to a new setup', async () => {
    const shop = await store(app)
    standIn.registerFault = 'late'
    expect((await shop.call(confirmRedirect, { body: await setUp(shop) })).status).toBe(503)
    const { pin } = standIn.number
    expect(pin).toMatch(/^\d{6}$/)
    standIn.registerFault = null
    const done = await shop.call(confirmRedirect, { body: await setUp(shop) })
    expect([done.status, done.body.status, standIn.number.pin]).toEqual([200, 'connected', pin])
  })

  test('a PIN is asked for on the page that the merchant returns to', async () => {
    const shop = await store(app)
    standIn.number.pin = '424242'
    const query = new URLSearchParams(await setUp(shop))
    const page = await app.fetch(new Request(`http://localhost/messaging/return?${query}`), {})
    expect(page.status).toBe(400)
    const html = await page.text()
    expect(html).toContain('name="pin"')
    expect(html).toContain('name="state"')
    query.set('pin', '424242')
    const answer = new Request('http://localhost/messaging/return', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: query.toString(),
    })
    const done = await app.fetch(answer, {})
    expect([done.status, await done.text()]).toEqual([200, expect.stringContaining('Connected')])
  })
})

test('the merchant chooses among several numbers, or several accounts', async () => {
  const shop = await store(app)
  standIn.number.last_onboarded_time = '2024-01-01T00:00:00+0000'
  const other = { ...structuredClone(standIn.number), id: '77001', display_phone_number: '+55 11 4000-7001' }
  standIn.otherNumbers = [other]
  standIn.accounts = ['999', account]
  const body = await setUp(shop)
  await sendHook('account_update', {
    event: 'PARTNER_ADDED',
    waba_info: { waba_id: account, owner_business_id: '5' },
  })
  const asked = await shop.call(confirmRedirect, { body })
  expect(asked).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringMatching(/^numberId: /) } },
  })
  const done = await shop.call(confirmRedirect, { body: { ...body, numberId: '77001' } })
  expect(done).toMatchObject({ status: 200, body: { phone: '+551140007001' } })
  standIn.accounts = [account]
})

test('if two stores share an account, disconnecting one does not affect the other', async () => {
  const stays = await connected()
  const first = structuredClone(standIn.number)
  first.last_onboarded_time = '2024-01-01T00:00:00+0000'
  newNumber()
  standIn.otherNumbers = [first]
  const goes = await connected()
  const body = { name: 'pedido', language: 'pt_BR', category: 'utility', body: 'Seu pedido saiu' }
  expect((await goes.call(createTemplate, { body })).status).toBe(201)
  await (await stays.context()).queue(templateSync, {})
  await app.drainJobs()
  const templatesOf = async (shop: Shop) => (await shop.call(listTemplates)).body.data.length
  expect(await templatesOf(stays)).toBe(1)
  const [[providerId]] = [...standIn.templates] as [[string, unknown]]
  standIn.templates.get(providerId)!.status = 'APPROVED'
  await sendHook('message_template_status_update', {
    message_template_id: providerId,
    message_template_name: 'pedido',
    message_template_language: 'pt_BR',
    event: 'APPROVED',
  })
  for (const each of [stays, goes]) {
    expect((await each.call(listTemplates)).body.data).toMatchObject([{ status: 'approved' }])
  }
  const restricted = { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } }
  for (const number of [standIn.number, first]) {
    number.health_status = { can_send_message: 'BLOCKED', entities: [] }
  }
  await sendHook('account_update', restricted)
  for (const each of [stays, goes]) {
    expect((await each.call(getStatus)).body).toMatchObject({ issue: { code: 'account-restricted' } })
  }
  for (const number of [standIn.number, first]) delete number.health_status
  for (const each of [stays, goes]) expect((await each.call(revalidate)).status).toBe(200)
  // Refused here and released again: a third store with the same number.
  const third = await store(app)
  const asked = { ...(await setUp(third)), pin: standIn.number.pin }
  expect((await third.call(confirmRedirect, { body: asked })).status).toBe(409)
  await app.drainJobs()
  expect(standIn.isSubscribed).toBe(true)
  expect((await goes.call(disconnect)).status).toBe(200)
  await app.drainJobs()
  expect([standIn.isSubscribed, standIn.templates.size, await templatesOf(stays)]).toEqual([true, 1, 1])
  // The last one releases everything.
  expect((await stays.call(disconnect)).status).toBe(200)
  await app.drainJobs()
  expect([standIn.isSubscribed, standIn.templates.size]).toEqual([false, 0])
})

describe('a number of the WhatsApp Business app', () => {
  test('a number of the app brings its contacts and messages, which open no conversation', async () => {
    Object.assign(standIn.number, { is_on_biz_app: true, platform_type: 'CLOUD_API', status: 'CONNECTED' })
    const shop = await connected()
    expect(standIn.syncs).toEqual(['smb_app_state_sync', 'history'])
    expect((await shop.call(getHealth)).body).toMatchObject({ throughput: 20 })
    await shop.call(enable, { body: {} })
    await app.drainJobs()
    const own = standIn.number.display_phone_number as string
    const message = (from: string, body: string, back: number) => ({
      from: from.replace(/\D/g, ''),
      ...(from === own ? { to: '5511988880001' } : {}),
      id: wamid(),
      timestamp: seconds(back),
      type: 'text',
      text: { body },
      history_context: { status: 'READ' },
    })
    await sendHook('history', {
      messaging_product: 'whatsapp',
      metadata: metadata(),
      history: [
        {
          metadata: { phase: 0, chunk_order: 1, progress: 100 },
          threads: [
            {
              id: '5511988880001',
              messages: [message('5511988880001', 'Vocês abrem?', 7200), message(own, 'Sim!', 7100)],
            },
            { id: '5511988880002', messages: [message('5511988880002', 'Alô', 86_400 * 40)] },
          ],
        },
      ],
    })
    await sendHook('smb_app_state_sync', {
      metadata: metadata(),
      state_sync: [
        {
          type: 'contact',
          contact: { full_name: 'Ana Lima', phone_number: '5511988880001' },
          action: 'add',
          metadata: { timestamp: seconds() },
        },
      ],
    })
    const { data } = (await shop.call(listConversations)).body
    expect(data).toHaveLength(2)
    const ana = data.find((each: { phone: string }) => each.phone === '+5511988880001')
    expect(ana).toMatchObject({
      contactName: 'Ana Lima',
      status: 'closed',
      unreadCount: 0,
      waitingSince: null,
      windowOpen: false,
      messageCount: 2,
      lastMessagePreview: 'Sim!',
    })
    const messages = (await shop.call(listMessages, { params: { id: ana.id } })).body.data
    expect(messages.map((each: { text: string; source: string }) => [each.source, each.text])).toEqual([
      ['provider', 'Sim!'],
      ['customer', 'Vocês abrem?'],
    ])
    // A new message opens the conversation; the history does not.
    await sendHook('messages', {
      messaging_product: 'whatsapp',
      metadata: metadata(),
      contacts: [{ wa_id: '5511988880002', profile: { name: 'Bia' } }],
      messages: [
        { from: '5511988880002', id: wamid(), timestamp: seconds(), type: 'text', text: { body: 'Oi' } },
      ],
    })
    const bia = (await shop.call(listConversations)).body.data.find(
      (each: { phone: string }) => each.phone === '+5511988880002',
    )
    expect(bia).toMatchObject({ status: 'open', unreadCount: 1 })
    expect(Date.parse(bia.waitingSince)).toBeGreaterThan(app.clock.ms() - 60_000)
  })
})

describe('people with a username', () => {
  const userId = 'BR.13491208655302741918'
  const inbound = (from: object, body: string, contact: object) =>
    sendHook('messages', {
      messaging_product: 'whatsapp',
      metadata: metadata(),
      contacts: [contact],
      messages: [{ ...from, id: wamid(), timestamp: seconds(), type: 'text', text: { body } }],
    })
  const conversations = async (shop: Shop) => (await shop.call(listConversations)).body.data

  test('people without a phone get a conversation, and are answered by their id', async () => {
    const shop = await withInbox()
    const contact = { user_id: userId, profile: { name: 'Rita', username: 'rita.s' } }
    await inbound({ from_user_id: userId }, 'Olá', contact)
    await inbound({ from_user_id: userId }, 'Tudo bem?', contact)
    const [only, ...others] = await conversations(shop)
    expect(others).toEqual([])
    expect(only).toMatchObject({ phone: null, contactName: 'Rita', unreadCount: 2, windowOpen: true })
    const sent = await shop.call(sendMessage, {
      params: { id: only.id },
      body: { type: 'text', text: 'Oi!' },
    })
    expect(sent.status).toBe(201)
    await app.drainJobs()
    expect(standIn.messages).toMatchObject([{ recipient: userId, text: { body: 'Oi!' } }])
    expect(standIn.dropped).toEqual([])
    // An opt-out applies to people without a phone, too.
    await inbound({ from_user_id: userId }, 'STOP', contact)
    expect((await conversations(shop))[0]).toMatchObject({ optedOut: true })
  })

  test('people remain the same when they hide their phone, and when they show it', async () => {
    const shop = await withInbox()
    const phone = '5511977770001'
    const hidden = { user_id: userId, profile: { name: 'Rita', username: 'rita.s' } }
    await inbound({ from_user_id: userId }, 'Olá', hidden)
    const [before] = await conversations(shop)
    const ctx = await shop.context()
    await optOuts.add(ctx, userId, 'reply')
    await inbound({ from: phone, from_user_id: userId }, 'Agora sim', { ...hidden, wa_id: phone })
    const [shown, ...others] = await conversations(shop)
    expect(others).toEqual([])
    expect(shown).toMatchObject({ id: before.id, phone: `+${phone}`, messageCount: 2, optedOut: true })
    await inbound({ from_user_id: userId }, 'E de novo', hidden)
    expect(await conversations(shop)).toMatchObject([{ id: before.id, phone: `+${phone}`, messageCount: 3 }])
    expect(await sending.findConnection(ctx, 'official')).not.toBeNull()
  })

  test('people are recognized by a status of a message to their phone', async () => {
    const shop = await withInbox()
    const status = {
      id: wamid(),
      status: 'delivered',
      timestamp: seconds(),
      recipient_id: '5511977770002',
      recipient_user_id: 'BR.22222',
    }
    await sendHook('messages', { messaging_product: 'whatsapp', metadata: metadata(), statuses: [status] })
    await inbound({ from_user_id: 'BR.22222' }, 'Oi', { user_id: 'BR.22222', profile: { name: 'Caio' } })
    expect(await conversations(shop)).toMatchObject([{ phone: '+5511977770002', contactName: 'Caio' }])
  })

  test('people who change their number take their conversation with them', async () => {
    const shop = await withInbox()
    const contact = { wa_id: '5511977770003', profile: { name: 'Davi' } }
    await inbound({ from: '5511977770003' }, 'Oi', contact)
    await sendHook('messages', {
      messaging_product: 'whatsapp',
      metadata: metadata(),
      messages: [
        {
          from: '5511977770003',
          id: wamid(),
          timestamp: seconds(),
          type: 'system',
          system: { type: 'user_changed_number', body: 'changed', wa_id: '5511977770004' },
        },
      ],
    })
    expect(await conversations(shop)).toMatchObject([{ phone: '+5511977770004', messageCount: 1 }])
  })

  describe('an id that changes alone', () => {
    const changeId = (previous: string, now: string, more: object = {}) =>
      sendHook('messages', {
        messaging_product: 'whatsapp',
        metadata: metadata(),
        messages: [
          {
            ...{ id: wamid(), timestamp: seconds(), type: 'system', ...more },
            system: {
              ...{ type: 'user_changed_user_id', body: 'changed' },
              ...{ previous_user_id: previous, user_id: now },
            },
          },
        ],
      })

    test('a person keeps name and opt-out, also with the phone that is shown later', async () => {
      const shop = await withInbox()
      const [old, next] = ['5511977770010', '5511977770011']
      const profile = { profile: { name: 'Gil' } }
      await inbound({ from: old, from_user_id: 'BR.100' }, 'Oi', {
        wa_id: old,
        user_id: 'BR.100',
        ...profile,
      })
      const [before] = await conversations(shop)
      await optOuts.add(await shop.context(), `+${old}`, 'reply')
      // The sender's id is the new one.
      await changeId('BR.100', 'BR.101', { from_user_id: 'BR.101' })
      const about = { id: before.id, contactName: 'Gil', optedOut: true }
      // The old phone may be somebody else's by now.
      expect(await conversations(shop)).toMatchObject([{ ...about, phone: null }])
      await inbound({ from_user_id: 'BR.101' }, 'Olá', { user_id: 'BR.101', ...profile })
      expect(await conversations(shop)).toMatchObject([{ ...about, messageCount: 2 }])
      await inbound({ from: next, from_user_id: 'BR.101' }, 'Oi', {
        wa_id: next,
        user_id: 'BR.101',
        ...profile,
      })
      expect(await conversations(shop)).toMatchObject([{ ...about, phone: `+${next}`, messageCount: 3 }])
    })

    test('a person whose phone stays the same loses nothing', async () => {
      const shop = await withInbox()
      const phone = '5511977770012'
      await inbound({ from: phone, from_user_id: 'BR.200' }, 'Oi', { wa_id: phone, user_id: 'BR.200' })
      const [before] = await conversations(shop)
      await changeId('BR.200', 'BR.201')
      await inbound({ from: phone, from_user_id: 'BR.201' }, 'De novo', { wa_id: phone, user_id: 'BR.201' })
      expect(await conversations(shop)).toMatchObject([
        { id: before.id, phone: `+${phone}`, messageCount: 2 },
      ])
    })

    test('a person who was never seen with a phone takes the conversation along', async () => {
      const shop = await withInbox()
      await inbound({ from_user_id: 'BR.300' }, 'Oi', { user_id: 'BR.300', profile: { name: 'Isa' } })
      const [before] = await conversations(shop)
      await changeId('BR.300', 'BR.301')
      await inbound({ from_user_id: 'BR.301' }, 'De novo', { user_id: 'BR.301' })
      expect(await conversations(shop)).toMatchObject([
        { id: before.id, contactName: 'Isa', messageCount: 2 },
      ])
    })
  })
})

describe('limits and quality by callback', () => {
  test('the limit is reported for the business, the rate for the number', async () => {
    const shop = await connected()
    // The periodic job has already asked the provider.
    await app.drainJobs()
    await sendHook('business_capability_update', {
      max_daily_conversations_per_business: 100_000,
      max_phone_numbers_per_waba: 25,
    })
    await sendHook('phone_number_quality_update', {
      display_phone_number: String(standIn.number.display_phone_number).replace(/\D/g, ''),
      event: 'THROUGHPUT_UPGRADE',
      current_limit: 'TIER_UNLIMITED',
    })
    expect((await shop.call(getHealth)).body).toMatchObject({
      messagingLimitTier: 'tier-100k',
      throughput: 1_000,
    })
  })
})
