/** Texts, names and options as people write them, in any script. */
import { describe, expect, test } from 'vitest'
import createAutomation from '#operations/automations/definitions/api/create-automation'
import listAutomations from '#operations/automations/definitions/api/list-automations'
import { formatCustomerName } from '#operations/bars/alerts/feed'
import createList from '#operations/campaigns/lists/api/create-list'
import listLists from '#operations/campaigns/lists/api/list-lists'
import updateFormSettings from '#operations/capture/contact-form/api/update-form-settings'
import { getConsentText } from '#operations/capture/contact-form/form-rules'
import { parseSubmission } from '#operations/capture/contact-form/parsed-submission'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import createTag from '#operations/inbox/tags/api/create-tag'
import createTemplate from '#operations/messaging/templates/api/create-template'
import { formatReviewerName, hasBlockedWord } from '#operations/reviews/review-text'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { inboxShop } from '#test/support/inbox'
import { store } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

describe('a name', () => {
  test('is taken if another one differs only by accents, case, spaces or invisible characters', async () => {
    const shop = await store(app)
    const automation = { type: 'order-paid', message: { text: 'Oi' } }
    for (const operation of [createList, createAutomation, createTag]) {
      const body = {
        ...(operation === createAutomation
          ? automation
          : operation === createTag
            ? { color: '#112233' }
            : {}),
      }
      expect((await shop.call(operation, { body: { ...body, name: 'Promoção  VIP' } })).status).toBe(201)
      for (const name of [
        'Promoc\u0327a\u0303o VIP',
        'PROMOCAO VIP',
        'Promoção\u200b VIP',
        'Ｐromoção VIP',
      ]) {
        const refused = await shop.call(operation, { body: { ...body, name } })
        expect([name, refused.status]).toEqual([name, 409])
      }
    }
    for (const operation of [listLists, listAutomations]) {
      const found = await shop.call(operation, { query: { search: 'vip promocao' } })
      expect(found.body.total).toBe(1)
    }
  })

  test.each([
    ['Ana Souza', 'Ana S.', 'A. S.', 'Ana'],
    ['Souza, Ana', 'Ana S.', 'A. S.', 'Ana'],
    ['SOUZA LIMA, Ana Maria', 'Ana L.', 'A. L.', 'Ana'],
    ['Ana Souza, Jr.', 'Ana S.', 'A. S.', 'Ana'],
    ['Ana Souza, MD, PhD', 'Ana S.', 'A. S.', 'Ana'],
    ['Dra. Ana Souza', 'Ana S.', 'A. S.', 'Ana'],
    ['Ana ♥', 'Ana', 'A.', 'Ana'],
    ['Nguyen Van An', 'An N.', 'A. N.', 'An'],
    ['李小龙', '小龙', '小.', '小龙'],
    ['欧阳锋', '锋', '锋.', '锋'],
    ['山田太郎', '太郎', '太.', '太郎'],
    ['山田 太郎', '太郎', '太.', '太郎'],
    ['김민수', '민수', '민.', '민수'],
    ['Nguyễn Văn An', 'An N.', 'A. N.', 'An'],
    ['สมชาย ใจดี', 'สมชาย ใ.', 'ส. ใ.', 'สมชาย'],
    ['E\u0301lodie Durand', 'Élodie D.', 'É. D.', 'Élodie'],
    ['Souza,', 'Souza', 'S.', 'Souza'],
  ])('%s never shows its surname to strangers', (name, initial, initials, first) => {
    expect(formatReviewerName(name, 'first-initial', 'en')).toBe(initial)
    expect(formatReviewerName(name, 'initials', 'en')).toBe(initials)
    expect(formatCustomerName(name, { nameFormat: 'first-name' }, 'en')).toBe(first)
  })
})

test('a blocked word is found in scripts without spaces, and in any form', () => {
  expect(hasBlockedWord(['这是坏词吗？'], ['坏词'])).toBe(true)
  expect(hasBlockedWord(['这是坏 词'], ['坏词'])).toBe(true)
  expect(hasBlockedWord(['คนโกงมาก'], ['โกง'])).toBe(true)
  expect(hasBlockedWord(['So ein Scheiß!'], ['scheiss'])).toBe(true)
  expect(hasBlockedWord(['Ｇｏｌｐｅ'], ['golpe'])).toBe(true)
  expect(hasBlockedWord(['golpes'], ['golpe'])).toBe(false)
})

test('messages in scripts without spaces are found by any part', async () => {
  const shop = await inboxShop(app)
  const phone = '+5511987650011'
  await shop.write({
    phone,
    name: '王小明',
    text: '请问这件红色连衣裙有货吗',
    providerMessageId: 'wamid.zh.1',
  })
  await shop.write({
    phone,
    name: '王小明',
    text: 'Wo ist die Straße in Łódź?',
    providerMessageId: 'wamid.zh.2',
  })
  const search = async (text: string): Promise<number> =>
    (await shop.call(listConversations, { query: { search: text } })).body.total
  for (const text of ['连衣裙', '红色', '小明', '红色连衣裙有货', 'strasse lodz', 'ŁÓDŹ']) {
    expect([text, await search(text)]).toEqual([text, 1])
  }
  expect(await search('绿色')).toBe(0)
})

test('buttons of a template differ in what is seen', async () => {
  const shop = await store(app)
  await connectNumber(await shop.context(), { type: 'official', phone: '+551130000000' })
  const button = (text: string) => ({ type: 'quick-reply', text })
  const template = { name: 'ask', language: 'pt_BR', category: 'marketing', body: 'Quer?' }
  for (const other of ['Sim ', 'Sim\u200b', '\u00a0Sim']) {
    const { status, body } = await shop.call(createTemplate, {
      body: { ...template, buttons: [button('Sim'), button(other)] },
    })
    expect([status, body.error.message]).toEqual([400, 'buttons.1.text: is the text of another button'])
  }
})

describe('the contact form', () => {
  const email = { key: 'email', label: 'Email', type: 'email' }
  const field = (more: object) => ({
    key: 'size',
    label: 'Size',
    type: 'select',
    options: ['P ', 'M'],
    ...more,
  })

  test('trims its options, and takes an answer that is seen as one of them', async () => {
    const shop = await store(app)
    const body = { fields: [email, field({})] }
    const saved = await shop.call(updateFormSettings, { body })
    expect(saved.body.fields[1].options).toEqual(['P', 'M'])
    const stored = { ...saved.body, fields: [{ ...saved.body.fields[1], options: ['P ', 'M'] }] }
    for (const answer of ['P', 'P ', ' P\u200b']) {
      const { values } = parseSubmission(
        stored,
        { values: { size: answer }, consent: true } as never,
        'BR',
      ) as never
      expect(JSON.stringify(values ?? {})).toContain('P')
    }
    const twice = await shop.call(updateFormSettings, {
      body: { fields: [email, field({ options: ['P', 'P '] })] },
    })
    expect(twice.body.error.message).toBe('fields.1.options: must not name an option twice')
  })

  test('refuses a key that no shopper could answer', async () => {
    const shop = await store(app)
    for (const key of ['constructor', 'prototype']) {
      const { status, body } = await shop.call(updateFormSettings, {
        body: { fields: [email, field({ key })] },
      })
      expect([status, body.error.message.split(':')[0]]).toEqual([400, 'fields.1.key'])
    }
  })

  test('shows words at a consent box that is required', async () => {
    const shop = await store(app)
    const { body } = await shop.call(updateFormSettings, {
      body: { consentRequired: true, consentText: ' \u200b ' },
    })
    expect(getConsentText(body, 'en')).toBe('I agree to receive news and offers from this store.')
    expect(getConsentText({ ...body, consentText: '\u2800' }, 'en')).not.toBe('\u2800')
  })
})
