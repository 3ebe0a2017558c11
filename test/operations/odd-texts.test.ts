/** Texts as people write them: surrogate pairs at a truncation, invisible names, characters with a meaning. */
import { expect, test } from 'vitest'
import { formatCustomerName as alertName } from '#operations/bars/alerts/feed'
import { renderNoticeMail, renderNoticeTemplate } from '#operations/exchanges/settings/notice-texts'
import sendMessage from '#operations/inbox/messages/api/send-message'
import createQuickReply from '#operations/inbox/quick-replies/api/create-quick-reply'
import { readCsv } from '#operations/reviews/imports/csv'
import { formatReviewerName, hasBlockedWord } from '#operations/reviews/review-text'
import { getGivenName } from '#runtime/values/public-name'
import { exchangeShop } from '#test/operations/exchanges/shopper'
import { testApp } from '#test/support/app'
import { inboxShop } from '#test/support/inbox'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

const loved = '😍'.repeat(2400)
/** Longer than one read of a file, so that a surrogate pair may be split between two reads. */
const longFile = (before: string): string =>
  `product_id,rating,reviewer_name,text\n${`1001,5,${before}Ana,${loved}\n`.repeat(60)}`

test.each(['A', 'Al', 'Ali', 'Alice'])('a file of reviews is read as it was written (%j)', async (before) => {
  const { rows } = await readCsv(longFile(before))
  expect(rows.filter(({ cells }) => cells[3] === loved)).toHaveLength(60)
})

test('an order whose address is longer than a request keeps can be sent back', async () => {
  const shop = await exchangeShop(app)
  const order = await shop.delivered()
  const shippingAddress = {
    recipient: 'Ana',
    street: `${'R'.repeat(199)}🏠 fundos`,
    city: 'São Paulo',
    state: 'SP',
    postalCode: '01000-000',
    country: 'BR',
  }
  await app.database.query('update sandbox_objects set data = data || $1::jsonb where id = $2', [
    JSON.stringify({ shippingAddress }),
    order.id,
  ])
  expect((await shop.ask(order)).status).toBe(201)
  const { body } = await shop.request('GET', '/product-exchanges/requests')
  const asked = await shop.request('GET', `/product-exchanges/requests/${body.data[0].id}`)
  expect(asked.body.customerAddress).toMatchObject({ recipient: 'Ana', street: `${'R'.repeat(199)}🏠` })
})

test('a name without visible characters is no name', async () => {
  const shop = await inboxShop(app)
  const phone = '+5511987650009'
  const write = (name: string, id: string) => shop.write({ phone, name, text: 'Oi', providerMessageId: id })
  await write('\u3164', 'wamid.odd.1')
  const { id, contactName } = await shop.conversation(phone)
  expect(contactName).toBe(null)
  const text = 'Oi, {{firstName|tudo bem}}?'
  const { body: reply } = await shop.call(createQuickReply, { body: { title: 'Oi', text, shortcut: 'oi' } })
  const sent = await shop.call(sendMessage, { params: { id }, body: { quickReplyId: reply.id } })
  expect([sent.status, sent.body.text]).toEqual([201, 'Oi, tudo bem?'])
  await write('Bia', 'wamid.odd.2')
  await write('\u2800\u200e', 'wamid.odd.3')
  expect(await shop.conversation(phone)).toMatchObject({ id, contactName: 'Bia' })
})

test('a template gets a fallback for an invisible name', () => {
  expect([getGivenName('\u3164'), getGivenName('\u3164 Ana'), getGivenName(null)]).toEqual([
    null,
    'Ana',
    null,
  ])
  expect(formatReviewerName('\u2800', 'full', 'en')).toBe('Someone')
  for (const name of ['\u202aAna Souza\u202c', '\u200eAna \u200b \u200eSouza', '\u2068ana\u2069 souza']) {
    expect(formatReviewerName(name, 'initials', 'en')).toBe('A. S.')
    expect(alertName(name, { nameFormat: 'initial' }, 'en')).toBe('A.')
  }
  const template = {
    placeholders: { header: 0, body: 1, buttons: 0 },
    body: 'Oi {{1}}, tudo bem?',
    buttons: [],
  }
  const { content } = renderNoticeTemplate(
    { id: 1, header: null, footer: null, ...template } as never,
    { customerName: '\u3164' },
    { token: 't', locale: 'pt-BR' },
  )
  expect(content).toMatchObject({ parameters: { body: ['cliente'] } })
})

test('a blocked word is found despite invisible characters in it', () => {
  const texts = ['p\u200besado', 'pe\u00adsado', 'PESADO\ufe0f', 'pesa\u2060do.']
  expect(texts.map((text) => hasBlockedWord([text], ['pesado']))).toEqual([true, true, true, true])
  expect(hasBlockedWord(['pes ado'], ['pesado'])).toBe(false)
})

test('a link in a mail keeps special characters', () => {
  const labelUrl = "https://labels.example/?a=$&b=$$c&d=$'"
  const { html } = renderNoticeMail({ subject: 'Etiqueta', body: 'Aqui: {{labelUrl}}.' }, { labelUrl })
  const shown = 'https://labels.example/?a=$&#38;b=$$c&#38;d=$&#39;'
  expect(html).toContain(`Aqui: <a href="${shown}">${shown}</a>.</div>`)
})
