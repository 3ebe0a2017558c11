import { beforeAll, describe, expect, test } from 'vitest'
import createTemplate from '#operations/messaging/templates/api/create-template'
import uploadHeaderMedia from '#operations/messaging/templates/api/upload-header-media'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

let shop: Shop
let picture: string
beforeAll(async () => {
  shop = await store(app)
  await connectNumber(await shop.context(), { type: 'official', phone: '+551140001000' })
  const { body } = await shop.call(uploadHeaderMedia, {
    body: { fileName: 'a.png', contentType: 'image/png', size: 3 },
  })
  await app.fetch(new Request(body.uploadUrl, { method: 'PUT', headers: body.headers, body: 'abc' }), {
    ip: '127.0.0.1',
  })
  picture = body.fileUrl
})

let counter = 0
async function create(fields: object) {
  counter += 1
  // The hour's limit is another test's.
  await app.database.root.deleteFrom('message_template_creations').execute()
  const base = { name: `t_${counter}`, language: 'pt_BR', category: 'marketing', body: 'Hello there' }
  const { status, body } = await shop.call(createTemplate, { body: { ...base, ...fields } })
  return { status, body, message: body.error?.message as string | undefined }
}
const marks = (n: number, from = 1): string =>
  Array.from({ length: n }, (_none, i) => `{{${i + from}}} a`).join(' ')
const values = (n: number): string[] => Array.from({ length: n }, (_none, i) => `v${i}`)
const quick = (text: string) => ({ type: 'quick-reply', text })
const link = (text: string, url = 'https://a.example/x') => ({ type: 'url', text, url })
const call = (text: string, phone = '+5511988887777') => ({ type: 'phone', text, phone })
const coupon = { type: 'coupon-code' }

describe('a template may have', () => {
  test.each<[string, object]>([
    ['a name of 512', { name: 'x'.repeat(512) }],
    ['a body of 1', { body: 'x' }],
    ['a body of 1024', { body: 'x'.repeat(1024) }],
    ['20 placeholders', { body: `x ${marks(20)}`, examples: { body: values(20) } }],
    ['the same placeholder twice', { body: 'a {{1}} b {{1}} c', examples: { body: ['v'] } }],
    ['placeholders in any order', { body: 'a {{2}} b {{1}} c', examples: { body: ['v', 'w'] } }],
    [
      'the example of the page',
      { body: 'Hi {{1}}, order {{2}} left today.', examples: { body: ['Ana', '7'] } },
    ],
    ['two line breaks in a row', { body: 'a\n\nb\n\nc' }],
    ['a header of 60', { header: { type: 'text', text: 'x'.repeat(60) } }],
    [
      'a header with one placeholder',
      { header: { type: 'text', text: 'Hi {{1}}' }, examples: { header: ['Ana'] } },
    ],
    ['a footer of 60', { footer: 'x'.repeat(60) }],
    ['an example of 200', { body: 'a {{1}} b', examples: { body: ['x'.repeat(200)] } }],
    ['ten buttons', { buttons: Array.from({ length: 10 }, (_none, i) => quick(`b${i}`)) }],
    ['a button of 25', { buttons: [quick('x'.repeat(25))] }],
    [
      'two urls, a phone and a coupon',
      { buttons: [link('a'), link('b'), call('c'), coupon], examples: { buttons: ['C'] } },
    ],
    ['quick replies first', { buttons: [quick('a'), quick('b'), link('c')] }],
    ['quick replies last', { buttons: [link('c'), quick('a'), quick('b')] }],
    [
      'a url with its placeholder at the end',
      { buttons: [link('a', 'https://a.example/{{1}}')], examples: { buttons: ['x'] } },
    ],
    ['a url of 2000', { buttons: [link('a', `https://a.example/${'x'.repeat(1982)}`)] }],
  ])('%s', async (_name, fields) => {
    const { status, message } = await create(fields)
    expect([status, message]).toEqual([201, undefined])
  })

  test('has a picture above, and phones as people write them', async () => {
    const { status, body } = await create({
      header: { type: 'image', mediaUrl: picture },
      buttons: [call('Ring us', '(11) 98888-7777')],
    })
    expect(status).toBe(201)
    expect(body.buttons).toEqual([{ type: 'phone', text: 'Ring us', url: null, phone: '+5511988887777' }])
    const asVideo = await create({ header: { type: 'video', mediaUrl: picture } })
    expect([asVideo.status, asVideo.message]).toEqual([400, expect.stringMatching(/^header\./)])
  })
})

describe('a template is refused with', () => {
  test.each<[string, string, object]>([
    ['a name of 513', 'name', { name: 'x'.repeat(513) }],
    ['a name with capitals', 'name', { name: 'Hello' }],
    ['no name', 'name', { name: '' }],
    ['another language', 'language', { language: 'ja' }],
    ['authentication', 'category', { category: 'authentication' }],
    ['an empty body', 'body', { body: '' }],
    ['a blank body', 'body', { body: ' \n ' }],
    ['a body of 1025', 'body', { body: 'x'.repeat(1025) }],
    ['21 placeholders', 'body', { body: `x ${marks(21)}`, examples: { body: values(20) } }],
    ['a placeholder at the start', 'body', { body: '{{1}}, hello', examples: { body: ['v'] } }],
    ['a placeholder at the end', 'body', { body: 'Thanks {{1}}', examples: { body: ['v'] } }],
    ['two that touch', 'body', { body: 'a {{1}}{{2}} is here', examples: { body: ['v', 'w'] } }],
    ['a gap', 'body', { body: 'a {{1}} b {{3}} c', examples: { body: ['v', 'w'] } }],
    ['numbers from 0', 'body', { body: 'a {{0}} b', examples: { body: ['v'] } }],
    ['a name as placeholder', 'body', { body: 'a {{name}} b' }],
    ['a lone brace', 'body', { body: 'a { b' }],
    ['three line breaks in a row', 'body', { body: 'a\n\n\nb' }],
    ['a header of 61', 'header.text', { header: { type: 'text', text: 'x'.repeat(61) } }],
    ['an empty header', 'header.text', { header: { type: 'text', text: '' } }],
    ['a header without type', 'header.type', { header: { text: 'x' } }],
    ['a header of two lines', 'header.text', { header: { type: 'text', text: 'a\nb' } }],
    [
      'a header with two placeholders',
      'header.text',
      { header: { type: 'text', text: '{{1}} {{2}}' }, examples: { header: ['a', 'b'] } },
    ],
    [
      'a document above',
      'header.type',
      { header: { type: 'document', mediaUrl: 'https://a.example/a.pdf' } },
    ],
    ['a picture without file', 'header.mediaUrl', { header: { type: 'image' } }],
    [
      'a picture from elsewhere',
      'header.mediaUrl',
      { header: { type: 'image', mediaUrl: 'https://a.example/a.png' } },
    ],
    [
      'a picture with text',
      'header.text',
      { header: { type: 'image', text: 'a', mediaUrl: 'https://a.example/a.png' } },
    ],
    ['an empty footer', 'footer', { footer: '' }],
    ['a footer of 61', 'footer', { footer: 'x'.repeat(61) }],
    ['a footer with a placeholder', 'footer', { footer: 'a {{1}} b' }],
    ['too few examples', 'examples.body', { body: 'a {{1}} b' }],
    ['too many examples', 'examples.body', { examples: { body: ['v'] } }],
    ['an example of 201', 'examples.body.0', { body: 'a {{1}} b', examples: { body: ['x'.repeat(201)] } }],
    ['an empty example', 'examples.body.0', { body: 'a {{1}} b', examples: { body: [''] } }],
    ['eleven buttons', 'buttons', { buttons: Array.from({ length: 11 }, (_none, i) => quick(`b${i}`)) }],
    ['a button of 26', 'buttons.0.text', { buttons: [quick('x'.repeat(26))] }],
    ['a button without text', 'buttons.0.text', { buttons: [quick('')] }],
    ['two buttons alike', 'buttons.1.text', { buttons: [quick('a'), link('a')] }],
    ['three urls', 'buttons', { buttons: [link('a'), link('b'), link('c')] }],
    ['two phones', 'buttons', { buttons: [call('a'), call('b')] }],
    ['two coupons', 'buttons', { buttons: [coupon, coupon], examples: { buttons: ['a', 'b'] } }],
    ['quick replies around a url', 'buttons', { buttons: [quick('a'), link('b'), quick('c')] }],
    ['quick replies between', 'buttons', { buttons: [link('a'), quick('b'), call('c')] }],
    [
      'a coupon in a utility',
      'buttons.0.type',
      { category: 'utility', buttons: [coupon], examples: { buttons: ['a'] } },
    ],
    ['a coupon without example', 'examples.buttons', { buttons: [coupon] }],
    [
      'a coupon with a text',
      'buttons.0.text',
      { buttons: [{ ...coupon, text: 'a' }], examples: { buttons: ['a'] } },
    ],
    ['a quick reply with a url', 'buttons.0.url', { buttons: [{ ...quick('a'), url: 'https://a.example' }] }],
    ['a url of 2001', 'buttons.0.url', { buttons: [link('a', `https://a.example/${'x'.repeat(1983)}`)] }],
    ['a url without https', 'buttons.0.url', { buttons: [link('a', 'http://a.example')] }],
    [
      'a url with its placeholder within',
      'buttons.0.url',
      { buttons: [link('a', 'https://a.example/{{1}}/x')], examples: { buttons: ['x'] } },
    ],
    [
      'a url with two placeholders',
      'buttons.0.url',
      { buttons: [link('a', 'https://a.example/{{1}}{{2}}')], examples: { buttons: ['x'] } },
    ],
    ['no phone', 'buttons.0.phone', { buttons: [call('a', 'abc')] }],
    ['a placeholder in a button', 'buttons.0.text', { buttons: [quick('a {{1}}')] }],
  ])('%s', async (_name, field, fields) => {
    const { status, message } = await create(fields)
    expect([status, message]).toEqual([
      400,
      expect.stringMatching(new RegExp(`^${field.replaceAll('.', '\\.')}: `)),
    ])
  })
})
