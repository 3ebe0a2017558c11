import { describe, expect, test } from 'vitest'
import {
  countPlaceholders,
  countTemplatePlaceholders,
  fillTemplate,
  type TemplateText,
} from '#operations/messaging/templates/content'

const template = (change: Partial<TemplateText>): TemplateText => ({
  header: null,
  body: 'Hi {{1}}, order {{2}} left today.',
  footer: null,
  buttons: [],
  ...change,
})
const button = (type: string, text: string | null, url: string | null = null) => ({
  type,
  text,
  url,
  phone: null,
})

describe('counting placeholders', () => {
  test.each([
    ['Hello', 0],
    ['Hi {{1}}, order {{2}} left today.', 2],
    ['Hi {{1}}, and {{1}} again', 1],
    ['{{1}} to {{12}}', 2],
    ['{{name}}, {1}, {{ 1 }} and {{1', 0],
  ])('%s: %d', (text, count) => expect(countPlaceholders(text)).toBe(count))

  test('each part is counted on its own; a button counts by its address or its coupon', () => {
    const parts = template({
      header: { text: 'Order {{1}}' },
      buttons: [
        button('quick-reply', 'Yes {{1}}'),
        button('url', 'Track', 'https://shop.example/t/{{1}}'),
        button('url', 'Shop', 'https://shop.example'),
        button('coupon-code', null),
      ],
    })
    expect(countTemplatePlaceholders(parts)).toEqual({ header: 1, body: 2, buttons: 2 })
    expect(countTemplatePlaceholders(template({ header: { text: null }, body: 'Hello' }))).toEqual({
      header: 0,
      body: 0,
      buttons: 0,
    })
  })
})

describe('filling', () => {
  test('placeholders are filled by number, at any position', () => {
    const filled = fillTemplate(
      template({ header: { text: 'Order {{1}}' }, footer: 'Bye', body: '{{2}}: {{1}}, {{2}}' }),
      {
        header: ['1001'],
        body: ['one', 'two'],
        buttons: [],
      },
    )
    expect(filled).toEqual({ header: 'Order 1001', body: 'two: one, two', footer: 'Bye', buttons: [] })
  })

  test('a value is never filled again, nor read as a pattern', () => {
    const filled = fillTemplate(template({ body: '{{1}} and {{2}}' }), {
      header: [],
      body: ['{{2}}', "$& $1 $' \\"],
      buttons: [],
    })
    expect(filled.body).toBe("{{2}} and $& $1 $' \\")
  })

  test('parameters of buttons follow the order of the buttons that take one', () => {
    const buttons = [
      button('quick-reply', 'No'),
      button('coupon-code', null),
      button('url', 'Shop', 'https://shop.example'),
      button('url', 'Track', 'https://shop.example/t/{{1}}'),
    ]
    expect(
      fillTemplate(template({ buttons }), { header: [], body: ['a', 'b'], buttons: ['SAVE10', '1001?x=1'] })
        .buttons,
    ).toEqual([
      { type: 'quick-reply', text: 'No', url: null },
      { type: 'coupon-code', text: 'SAVE10', url: null },
      { type: 'url', text: 'Shop', url: 'https://shop.example' },
      { type: 'url', text: 'Track', url: 'https://shop.example/t/1001?x=1' },
    ])
  })

  test('a missing parameter leaves nothing', () => {
    expect(fillTemplate(template({}), { header: [], body: ['Ana'], buttons: [] }).body).toBe(
      'Hi Ana, order  left today.',
    )
    expect(fillTemplate(template({}), { header: [], body: ['Ana', '1'], buttons: [] }).header).toBeNull()
  })
})
