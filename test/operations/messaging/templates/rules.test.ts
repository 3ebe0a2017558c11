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
  // The hourly limit is tested elsewhere.
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
  test.each<[object]>([
    [{ name: 'x'.repeat(512) }],
    [{ body: 'x' }],
    [{ body: 'x'.repeat(1024) }],
    [{ body: `x ${marks(20)}`, examples: { body: values(20) } }],
    [{ body: 'a {{1}} b {{1}} c', examples: { body: ['v'] } }],
    [{ body: 'a {{2}} b {{1}} c', examples: { body: ['v', 'w'] } }],
    [{ body: 'Hi {{1}}, order {{2}} left today.', examples: { body: ['Ana', '7'] } }],
    [{ body: 'a\n\nb\n\nc' }],
    [{ header: { type: 'text', text: 'x'.repeat(60) } }],
    [{ header: { type: 'text', text: 'Hi {{1}}' }, examples: { header: ['Ana'] } }],
    [{ footer: 'x'.repeat(60) }],
    [{ body: 'a {{1}} b', examples: { body: ['x'.repeat(200)] } }],
    [{ buttons: Array.from({ length: 10 }, (_none, i) => quick(`b${i}`)) }],
    [{ buttons: [quick('x'.repeat(25))] }],
    [{ buttons: [link('a'), link('b'), call('c'), coupon], examples: { buttons: ['C'] } }],
    [{ buttons: [quick('a'), quick('b'), link('c')] }],
    [{ buttons: [link('c'), quick('a'), quick('b')] }],
    [{ buttons: [link('a', 'https://a.example/{{1}}')], examples: { buttons: ['x'] } }],
    [{ buttons: [link('a', `https://a.example/${'x'.repeat(1982)}`)] }],
  ])('values at their limits: case %#', async (fields) => {
    const { status, message } = await create(fields)
    expect([status, message]).toEqual([201, undefined])
  })

  test('a template may have a picture, and phones in local formats', async () => {
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

describe('a template is refused for', () => {
  test.each<[string, object]>([
    ['name', { name: 'x'.repeat(513) }],
    ['name', { name: 'Hello' }],
    ['name', { name: '' }],
    ['language', { language: 'ja' }],
    ['category', { category: 'authentication' }],
    ['body', { body: '' }],
    ['body', { body: ' \n ' }],
    ['body', { body: 'x'.repeat(1025) }],
    ['body', { body: `x ${marks(21)}`, examples: { body: values(20) } }],
    ['body', { body: '{{1}}, hello', examples: { body: ['v'] } }],
    ['body', { body: 'Thanks {{1}}', examples: { body: ['v'] } }],
    ['body', { body: 'a {{1}}{{2}} is here', examples: { body: ['v', 'w'] } }],
    ['body', { body: 'a {{1}} b {{3}} c', examples: { body: ['v', 'w'] } }],
    ['body', { body: 'a {{0}} b', examples: { body: ['v'] } }],
    ['body', { body: 'a {{name}} b' }],
    ['body', { body: 'a { b' }],
    ['body', { body: 'a\n\n\nb' }],
    ['header.text', { header: { type: 'text', text: 'x'.repeat(61) } }],
    ['header.text', { header: { type: 'text', text: '' } }],
    ['header.type', { header: { text: 'x' } }],
    ['header.text', { header: { type: 'text', text: 'a\nb' } }],
    ['header.text', { header: { type: 'text', text: '{{1}} {{2}}' }, examples: { header: ['a', 'b'] } }],
    ['header.type', { header: { type: 'document', mediaUrl: 'https://a.example/a.pdf' } }],
    ['header.mediaUrl', { header: { type: 'image' } }],
    ['header.mediaUrl', { header: { type: 'image', mediaUrl: 'https://a.example/a.png' } }],
    ['header.text', { header: { type: 'image', text: 'a', mediaUrl: 'https://a.example/a.png' } }],
    ['footer', { footer: 'x'.repeat(61) }],
    ['footer', { footer: 'a {{1}} b' }],
    ['examples.body', { body: 'a {{1}} b' }],
    ['examples.body', { examples: { body: ['v'] } }],
    ['examples.body.0', { body: 'a {{1}} b', examples: { body: ['x'.repeat(201)] } }],
    ['examples.body.0', { body: 'a {{1}} b', examples: { body: [''] } }],
    ['buttons', { buttons: Array.from({ length: 11 }, (_none, i) => quick(`b${i}`)) }],
    ['buttons.0.text', { buttons: [quick('x'.repeat(26))] }],
    ['buttons.0.text', { buttons: [quick('')] }],
    ['buttons.1.text', { buttons: [quick('a'), link('a')] }],
    ['buttons', { buttons: [link('a'), link('b'), link('c')] }],
    ['buttons', { buttons: [call('a'), call('b')] }],
    ['buttons', { buttons: [coupon, coupon], examples: { buttons: ['a', 'b'] } }],
    ['buttons', { buttons: [quick('a'), link('b'), quick('c')] }],
    ['buttons', { buttons: [link('a'), quick('b'), call('c')] }],
    ['buttons.0.type', { category: 'utility', buttons: [coupon], examples: { buttons: ['a'] } }],
    ['examples.buttons', { buttons: [coupon] }],
    ['buttons.0.text', { buttons: [{ ...coupon, text: 'a' }], examples: { buttons: ['a'] } }],
    ['buttons.0.url', { buttons: [{ ...quick('a'), url: 'https://a.example' }] }],
    ['buttons.0.url', { buttons: [link('a', `https://a.example/${'x'.repeat(1983)}`)] }],
    ['buttons.0.url', { buttons: [link('a', 'http://a.example')] }],
    ['buttons.0.url', { buttons: [link('a', 'https://a.example/{{1}}/x')], examples: { buttons: ['x'] } }],
    ['buttons.0.url', { buttons: [link('a', 'https://a.example/{{1}}{{2}}')], examples: { buttons: ['x'] } }],
    ['buttons.0.phone', { buttons: [call('a', 'abc')] }],
    ['buttons.0.text', { buttons: [quick('a {{1}}')] }],
  ])('an invalid %s: case %#', async (field, fields) => {
    const { status, message } = await create(fields)
    expect([status, message]).toEqual([
      400,
      expect.stringMatching(new RegExp(`^${field.replaceAll('.', '\\.')}: `)),
    ])
  })
})
