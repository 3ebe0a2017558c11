/** Variables, and the choice between text and template (automations, rule 2). */
import { expect, test } from 'vitest'
import { chooseMessage, renderMessage } from '#operations/automations/deciding/message'
import { buildValues, formatItems } from '#operations/automations/deciding/values'
import type { AutomationMessage } from '#operations/automations/types'

const store = {
  name: 'Aurora',
  domain: 'aurora.example.com',
  locale: 'pt-BR',
  timezone: 'America/Sao_Paulo',
  currency: 'BRL',
}
const line = (name: string, quantity: number, total: string) => ({ productId: name, name, quantity, total })
const now = new Date('2026-11-20T12:00:00Z')

test('money, days and items are formatted', () => {
  expect(formatItems([line('Mug', 2, '20'), line('Lamp', 1, '90')])).toBe('2× Mug, 1× Lamp')
  const eight = Array.from({ length: 8 }, (_, i) => line(`P${i}`, 1, '1'))
  expect(formatItems(eight)).toBe('1× P0, 1× P1, 1× P2, 1× P3, 1× P4, +3')
  const values = buildValues(
    {
      person: { name: 'Ana Souza', phone: '+5511988887777', email: null },
      order: null,
      cart: {
        id: '1',
        total: '110',
        currency: 'BRL',
        url: 'https://x/cart',
        order_id: null,
        items: [line('Mug', 2, '20'), line('Lamp', 1, '90')],
      },
      coupon: {
        stepId: 'c1',
        code: 'BACK-1',
        type: 'free-shipping',
        value: null,
        endsAt: new Date('2026-11-21T02:59:59.999Z'),
        isMade: true,
      },
      cashback: null,
    },
    store,
    now,
  )
  expect(values).toMatchObject({
    firstName: 'Ana',
    customerName: 'Ana Souza',
    cartTotal: 'R$ 110,00',
    productName: 'Lamp',
    couponCode: 'BACK-1',
    couponValue: 'frete grátis',
    couponExpiresAt: '20/11/2026',
    storeUrl: 'https://aurora.example.com',
  })
  expect(values).not.toHaveProperty('cashbackAmount')
})

const message: AutomationMessage = {
  text: 'Oi',
  mediaUrl: null,
  mediaType: null,
  officialapiTemplateId: 7,
  templateParameters: { header: [], body: ['{{firstName}}'], buttons: [] },
}
const template = {
  id: 7,
  name: 'cart_reminder',
  language: 'pt_BR',
  category: 'marketing',
  status: 'approved',
  header: null,
  body: 'Oi {{1}}, tudo bem?',
  footer: null,
  buttons: [],
  placeholders: { header: 0, body: 1, buttons: 0 },
}
test('an official number sends the approved template, else the text in an open window, else it holds or fails', () => {
  const held = { ...template, status: 'pending' }
  expect(chooseMessage(message, 'official', template, false).kind).toBe('template')
  expect(chooseMessage(message, 'official', held, true).kind).toBe('text')
  expect(chooseMessage(message, 'official', held, false).kind).toBe('held')
  expect(chooseMessage(message, 'official', null, false)).toMatchObject({ code: 'window-closed' })
  expect(chooseMessage({ ...message, text: null }, 'official', null, true)).toMatchObject({
    code: 'template-refused',
  })
  expect(chooseMessage(message, 'qr', template, false).kind).toBe('text')
  expect(chooseMessage({ ...message, text: null }, 'shared', template, false)).toMatchObject({
    code: 'no-text',
  })
})

test('a message fails with an empty parameter, too few of them, a text of missing values only, or a too long text', () => {
  const rendered = renderMessage(message, template, 'official', { firstName: 'Ana' })
  expect(rendered).toMatchObject({ kind: 'ready', text: 'Oi Ana, tudo bem?', templateId: 7 })
  expect(renderMessage(message, template, 'official', {})).toMatchObject({ code: 'missing-variable' })
  const two = { ...template, placeholders: { header: 0, body: 2, buttons: 0 } }
  expect(renderMessage(message, two, 'official', { firstName: 'Ana' })).toMatchObject({
    code: 'template-refused',
  })
  expect(renderMessage({ ...message, text: '{{firstName}}' }, null, 'qr', {})).toMatchObject({
    code: 'missing-variable',
  })
  const long = { ...message, text: 'x'.repeat(901) }
  expect(renderMessage(long, null, 'shared', {})).toMatchObject({ code: 'too-long' })
  expect(renderMessage(long, null, 'qr', {}).kind).toBe('ready')
})
