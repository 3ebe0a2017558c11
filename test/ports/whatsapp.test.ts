import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { SettingsError } from '#db/settings-error'
import { buildHook } from '#operations/messaging/provider/hook-body'
import { sandboxFile } from '#operations/messaging/provider/sandbox-media'
import { readWhatsappUrl, type WhatsappOptions } from '#operations/messaging/provider/whatsapp/options'
import { WhatsappMessaging } from '#operations/messaging/provider/whatsapp/whatsapp'
import { Refused } from '#runtime/ports/errors'
import { readSettings } from '#runtime/server/settings'
import { aMessage, messagingContract } from './messaging.contract.ts'
import { openWhatsapp, type SentBody, type WhatsappStandIn } from './whatsapp-stand-in.ts'

const buildOptions = (standIn: WhatsappStandIn): WhatsappOptions => ({
  graphUrl: standIn.graphUrl,
  dialogUrl: 'https://www.facebook.com/v26.0/dialog/oauth',
  signupVersion: 'v4',
  callbackUrl: 'https://api.example.com/hooks/messaging/whatsapp',
  appId: standIn.appId,
  appSecret: standIn.appSecret,
  configId: '99',
  shared: {
    numberId: standIn.number.id,
    accessToken: standIn.token,
    template: { name: 'store_message', language: 'pt_BR' },
  },
  assistant: { numberId: standIn.number.id, accessToken: standIn.token, phone: '+5511900000010' },
  sendTimeoutMs: 1_000,
  callTimeoutMs: 1_000,
})
const toStore = (standIn: WhatsappStandIn) => ({
  id: randomUUID(),
  credentials: {
    accessToken: standIn.token,
    numberId: standIn.number.id,
    accountId: standIn.account,
    pin: '123456',
  },
})

/** The content in the contract's form. */
function toContractContent(body: SentBody): Record<string, unknown> {
  const media = body[body.type] as { link: string; caption?: string; body?: string }
  if (body.type === 'text') return { text: media.body }
  if (body.type !== 'template') return { text: media.caption, media: { url: media.link } }
  const { name, components } = body.template as {
    name: string
    components: { type: string; parameters: { text: string }[] }[]
  }
  const texts = components.find((each) => each.type === 'body')!.parameters.map((each) => each.text)
  return { template: { name }, parameters: { body: texts } }
}

messagingContract('WhatsApp Business Cloud API', async () => {
  const standIn = await openWhatsapp()
  standIn.files.set('5', Buffer.from(sandboxFile('image')!.bytes))
  const { token } = standIn
  const options = buildOptions(standIn)
  const gone = await openWhatsapp()
  const nowhere = gone.graphUrl
  await gone.close()
  return {
    port: new WhatsappMessaging(options),
    store: toStore(standIn),
    async arrived(phone) {
      const sent = standIn.messages.filter((body) => `+${body.to}` === phone || body.recipient === phone)
      return sent.map((body) => ({
        key: body.biz_opaque_callback_data,
        calls: 1,
        content: toContractContent(body),
      }))
    },
    async setMode(mode) {
      standIn.token = token
      // The service's own errors never prove that nothing was accepted; an unreachable service accepted nothing.
      options.graphUrl = mode === 'down' ? nowhere : standIn.graphUrl
      if (mode === 'throttle') standIn.fail({ status: 429, code: 130429, message: 'Rate limit hit' })
      else standIn.fail(mode === 'timeout' ? 'silence' : null)
    },
    async goThroughSetup(url) {
      return standIn.signUp(url)
    },
    async breakAccess() {
      standIn.token = 'another token'
    },
    mediaId: '5',
    signed: (changes) => buildHook(standIn.appSecret, changes),
    close: () => standIn.close(),
  }
})

describe('WhatsApp Business Cloud API', async () => {
  const standIn = await openWhatsapp()
  afterAll(() => standIn.close())
  const port = new WhatsappMessaging(buildOptions(standIn))
  const store = toStore(standIn)
  beforeEach(() => {
    standIn.fail(null)
    standIn.messages.length = 0
    standIn.requests.length = 0
    Object.assign(standIn.number, { status: 'CONNECTED', name_status: 'APPROVED', health_status: undefined })
  })
  const failure = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => {
        throw new Error('It did not fail')
      },
      (error: unknown) => error,
    )
  const sendText = () => port.sendText(store, { ...aMessage(), text: 'Oi' })

  test.each([
    [131026, { name: 'Refused', code: 'undelivered' }],
    [130403, { name: 'Refused', code: 'undelivered' }],
    [131047, { name: 'Refused', code: 'window-closed' }],
    [131049, { name: 'Refused', code: 'frequency-capped' }],
    [131050, { name: 'Refused', code: 'recipient-stopped' }],
    [131053, { name: 'Refused', code: 'media-refused' }],
    [132001, { name: 'Refused', code: 'template-refused' }],
    [132005, { name: 'Refused', code: 'too-long' }],
    [132015, { name: 'Refused', code: 'template-refused' }],
    [131009, { name: 'Refused', code: 'provider-error' }],
    [190, { name: 'AccessLost', code: 'token-expired', accepted: 'no' }],
    [200, { name: 'AccessLost', code: 'permission-missing', accepted: 'no' }],
    [131062, { name: 'Refused', code: 'template-refused' }],
    [132018, { name: 'Refused', code: 'template-refused' }],
    [131031, { name: 'Refused', code: 'disconnected' }],
    [131042, { name: 'Refused', code: 'disconnected' }],
    [131037, { name: 'Refused', code: 'disconnected' }],
    [33, { name: 'Refused', code: 'disconnected' }],
    [131005, { name: 'AccessLost', code: 'permission-missing' }],
    [131048, { name: 'NumberLimit' }],
    [130429, { name: 'Throttled', retryAfterMs: 2_000 }],
    [80008, { name: 'Throttled', retryAfterMs: 60_000 }],
    [80007, { name: 'Throttled', retryAfterMs: 60_000 }],
    [131056, { name: 'RecipientThrottled', retryAfterMs: 6_000 }],
    [2, { name: 'Unavailable', accepted: 'unknown' }],
    [131016, { name: 'Unavailable', accepted: 'unknown' }],
    [131057, { name: 'Unavailable', accepted: 'unknown' }],
    [131000, { name: 'Unavailable', accepted: 'unknown' }],
  ])('error %i of a send', async (code, expected) => {
    standIn.fail({ status: code === 131000 ? 500 : 400, code })
    expect(await failure(sendText())).toMatchObject(expected)
    expect(standIn.requests).toHaveLength(1)
  })

  test('the provider says how long to wait; after a gateway error the result is unknown', async () => {
    standIn.fail({ status: 429, code: 130429, headers: { 'retry-after': '7' } })
    expect(await failure(sendText())).toMatchObject({ name: 'Throttled', retryAfterMs: 7_000 })
    standIn.fail({ status: 502, code: -1 })
    expect(await failure(sendText())).toMatchObject({ name: 'Unavailable', accepted: 'unknown' })
  })

  test("a number that is gone is our error, not the message's", async () => {
    standIn.fail({ status: 400, code: 100, subcode: 33, message: 'Object does not exist' })
    expect(await failure(sendText())).toMatchObject({ name: 'Refused', code: 'disconnected' })
    standIn.fail({ status: 400, code: 100, message: 'Invalid parameter' })
    expect(await failure(sendText())).toMatchObject({ name: 'Refused', code: 'provider-error' })
  })

  test('template calls over the limit are retried later, and deleting a missing template succeeds', async () => {
    const template = { name: 'gone', providerId: '404' }
    await port.deleteTemplate(store, template)
    standIn.fail({ status: 400, code: 80008, message: 'Too many calls' })
    expect(await failure(port.deleteTemplate(store, template))).toMatchObject({
      name: 'Unavailable',
      accepted: 'no',
    })
    const slower = { name: 'Unavailable', accepted: 'no', cause: { name: 'Throttled' } }
    expect(await failure(port.listTemplates(store))).toMatchObject(slower)
    for (const code of [4, 80007, 130429]) {
      standIn.fail({ status: 403, code })
      expect(await failure(port.fetchMedia(store, { mediaId: '77' }))).toMatchObject(slower)
      expect(await failure(port.officialState(store))).toMatchObject(slower)
      const setup = { code: 'a code', returnUrl: 'https://api.example.com/messaging/return' }
      const finished = port.finishOfficialSetup({ id: store.id, credentials: null }, setup)
      expect(await failure(finished)).toMatchObject(slower)
    }
  })

  test('a file is fetched in two steps, both with the token; a missing one is reported', async () => {
    standIn.files.set('77', Buffer.from('the file'))
    const { stream, contentType, size } = await port.fetchMedia(store, { mediaId: '77' })
    expect([contentType, size, Buffer.concat(await stream.toArray()).toString()]).toEqual([
      'image/png',
      8,
      'the file',
    ])
    expect(standIn.requests).toEqual(['GET 77', 'GET files/77'])
    expect(await failure(port.fetchMedia(store, { mediaId: '78' }))).toMatchObject({
      name: 'Refused',
      code: 'media-gone',
    })
    for (const code of [368, 131031, 131045]) {
      standIn.fail({ status: 400, code })
      const error = await failure(port.fetchMedia(store, { mediaId: '77' }))
      expect([code, error]).toMatchObject([code, { name: 'Unavailable', accepted: 'no' }])
    }
    standIn.fail(null)
    const other = { ...store, credentials: { ...store.credentials, accessToken: 'EAAother' } }
    expect(await failure(port.fetchMedia(other, { mediaId: '77' }))).toMatchObject({ name: 'AccessLost' })
  })

  test('an answer that is not JSON leaves the result unknown', async () => {
    standIn.fail({ status: 200, code: 0, page: '<html>One moment</html>' })
    expect(await failure(sendText())).toMatchObject({ name: 'Unavailable', accepted: 'unknown' })
    expect(await failure(port.listTemplates(store))).toMatchObject({ name: 'Unavailable' })
  })

  test('a request without an answer is not repeated: the result is unknown', async () => {
    standIn.fail('silence')
    expect(await failure(sendText())).toMatchObject({ name: 'Unavailable', accepted: 'unknown' })
    expect(standIn.requests).toHaveLength(1)
    expect(standIn.messages).toHaveLength(1)
  })

  test('no error contains a token', async () => {
    const other = {
      ...store,
      credentials: { ...store.credentials, accessToken: 'EAAsecretsecretsecretsecret' },
    }
    for (const work of [port.sendText(other, { ...aMessage(), text: 'Oi' }), port.listTemplates(other)]) {
      expect(String(await failure(work))).not.toContain('EAA')
    }
    standIn.fail({ status: 400, code: 131009, message: `Bad token ${standIn.token}` })
    expect(String(await failure(sendText()))).not.toContain(standIn.token)
  })

  test('a template is sent with its header, body and buttons, in their places', async () => {
    const message = aMessage()
    await port.sendTemplate(store, {
      ...message,
      replyTo: 'wamid.before',
      template: { name: 'black_friday', language: 'pt_BR' },
      parameters: { header: [], body: ['Ana'], buttons: ['p/1', 'BF20'] },
      headerMediaUrl: 'https://cdn.example.com/h.png',
      layout: {
        headerMediaType: 'image',
        dynamicButtons: [
          { index: 1, type: 'url' },
          { index: 2, type: 'coupon-code' },
        ],
      },
    })
    expect(standIn.messages).toEqual([
      {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: message.phone.slice(1),
        context: { message_id: 'wamid.before' },
        biz_opaque_callback_data: message.idempotencyKey,
        type: 'template',
        template: {
          name: 'black_friday',
          language: { code: 'pt_BR' },
          components: [
            {
              type: 'header',
              parameters: [{ type: 'image', image: { link: 'https://cdn.example.com/h.png' } }],
            },
            { type: 'body', parameters: [{ type: 'text', text: 'Ana' }] },
            { type: 'button', sub_type: 'url', index: '1', parameters: [{ type: 'text', text: 'p/1' }] },
            {
              type: 'button',
              sub_type: 'copy_code',
              index: '2',
              parameters: [{ type: 'coupon_code', coupon_code: 'BF20' }],
            },
          ],
        },
      },
    ])
  })

  test('a picture has its caption, audio has none', async () => {
    for (const type of ['image', 'audio'] as const) {
      const media = { type, url: 'https://files.example.com/1', fileName: 'one' }
      await port.sendMedia(store, { ...aMessage(), media, text: 'Look' })
    }
    expect(standIn.messages.map((body) => body[body.type])).toEqual([
      { link: 'https://files.example.com/1', caption: 'Look' },
      { link: 'https://files.example.com/1' },
    ])
  })

  test('parameters are sent as the network accepts them: on one line, without repeated spaces', async () => {
    await port.sendTemplate(store, {
      ...aMessage(),
      template: { name: 'order', language: 'pt_BR' },
      parameters: { header: ['Oi\tAna'], body: ['Rua A,\n\n12', 'x       y'], buttons: ['p/1 '] },
      headerMediaUrl: null,
      layout: { headerMediaType: null, dynamicButtons: [{ index: 0, type: 'url' }] },
    })
    const texts = JSON.stringify(standIn.messages[0]!.template)
    for (const text of ['Oi Ana', 'Rua A, 12', 'x y', 'p/1']) expect(texts).toContain(`"${text}"`)
  })

  test('people who wrote to the shared number get plain text; others get the template', async () => {
    await port.sendText(store, { ...aMessage(), via: 'shared', text: '*Loja*\nOi', isWindowOpen: true })
    await port.sendText(store, { ...aMessage(), via: 'shared', text: '*Loja*\nOi' })
    expect(standIn.messages).toMatchObject([
      { type: 'text', text: { body: '*Loja*\nOi' } },
      { type: 'template', template: { components: [{ parameters: [{ text: '*Loja* Oi' }] }] } },
    ])
  })

  test("on the shared number a text is wrapped in the service's template; a document keeps its name", async () => {
    await port.sendText(store, { ...aMessage(), via: 'shared', text: '*Loja* Oi' })
    await port.sendMedia(store, {
      ...aMessage(),
      media: { type: 'document', url: 'https://cdn.example.com/a.pdf', fileName: 'nota.pdf' },
      text: null,
    })
    expect(standIn.messages).toMatchObject([
      {
        template: {
          name: 'store_message',
          components: [{ type: 'body', parameters: [{ type: 'text', text: '*Loja* Oi' }] }],
        },
      },
      { document: { link: 'https://cdn.example.com/a.pdf', filename: 'nota.pdf' } },
    ])
    expect(await failure(port.sendText(store, { ...aMessage(), via: 'qr', text: 'Oi' }))).toBeInstanceOf(
      Refused,
    )
    expect(port.capabilities).toEqual({ idempotentSend: false, qr: false, shared: true })
  })

  test.each([
    [
      { status: 'PENDING', name_status: 'PENDING_REVIEW' },
      { status: 'verifying', displayNameStatus: 'pending' },
    ],
    [
      { status: 'PENDING', name_status: 'DECLINED' },
      { status: 'error', issue: 'display-name-declined' },
    ],
    [
      { status: 'CONNECTED', name_status: 'DECLINED' },
      { status: 'connected', displayNameStatus: 'declined' },
    ],
    [{ status: 'BANNED' }, { status: 'error', issue: 'account-restricted' }],
    [{ status: 'OFFLINE' }, { status: 'error', issue: 'number-removed' }],
    [
      { health_status: { can_send_message: 'BLOCKED', entities: [{ errors: [{ error_code: 141006 }] }] } },
      { status: 'error', issue: 'payment-issue' },
    ],
  ])('a number that is %o', async (change, expected) => {
    Object.assign(standIn.number, change)
    expect(await port.officialState(store)).toMatchObject(expected)
  })

  test('issues reported as errors, and lost callbacks', async () => {
    standIn.isSubscribed = false
    await port.officialState(store)
    expect(standIn.isSubscribed).toBe(true)
    standIn.fail({ status: 400, code: 100, subcode: 33 })
    expect(await port.officialState(store)).toMatchObject({ status: 'error', issue: 'number-removed' })
    standIn.fail({ status: 400, code: 131031 })
    expect(await port.officialState(store)).toMatchObject({ issue: 'account-restricted' })
  })

  test("a header's file is uploaded first", async () => {
    standIn.files.set('9', Buffer.from(sandboxFile('image')!.bytes))
    const image = `data:image/png;base64,${Buffer.from(sandboxFile('image')!.bytes).toString('base64')}`
    await port.createTemplate(store, {
      name: 'with_image',
      language: 'pt_BR',
      category: 'marketing',
      header: { type: 'image', text: null, mediaUrl: image },
      body: 'Olha só isto aqui',
      footer: null,
      buttons: [{ type: 'coupon-code', text: null, url: null, phone: null }],
      examples: { header: [], body: [], buttons: ['BF20'] },
    })
    const { templates } = await port.listTemplates(store)
    expect(templates[0]).toMatchObject({
      header: { type: 'image', mediaUrl: `4::${sandboxFile('image')!.bytes.byteLength}` },
      buttons: [{ type: 'coupon-code', text: null }],
      examples: { buttons: ['BF20'] },
    })
  })
})

describe('MESSAGING_URL', () => {
  const url = 'whatsapp://4711@graph.facebook.com/v26.0?config=99'
  test('MESSAGING_URL names the app, its configuration, and the numbers of the server', () => {
    expect(readWhatsappUrl(url, 'secret')).toMatchObject({
      graphUrl: 'https://graph.facebook.com/v26.0',
      dialogUrl: 'https://www.facebook.com/v26.0/dialog/oauth',
      signupVersion: 'v4',
      appId: '4711',
      configId: '99',
      shared: null,
      assistant: null,
    })
    const numbers =
      'shared=1:abc&sharedTemplate=store_message/pt_BR&assistant=2:def&assistantPhone=%2B5511900000010'
    expect(readWhatsappUrl(`${url}&${numbers}`, 'secret')).toMatchObject({
      shared: { numberId: '1', accessToken: 'abc', template: { name: 'store_message', language: 'pt_BR' } },
      assistant: { numberId: '2', phone: '+5511900000010' },
    })
  })

  test('errors are reported with the other settings', async () => {
    const read = (env: Record<string, string>) => readSettings({ SECRET_KEY: 'x'.repeat(32), ...env })
    await expect(read({ MESSAGING_URL: url })).rejects.toThrow(/MESSAGING_APP_SECRET: is required/)
    const faulty = read({ MESSAGING_URL: 'whatsapp://graph.facebook.com', PORT: 'x' })
    await expect(faulty).rejects.toThrow(SettingsError)
    await expect(faulty).rejects.toThrow(/PORT.*\n?.*MESSAGING_URL/s)
    expect(await read({ MESSAGING_URL: url, MESSAGING_APP_SECRET: 's' })).toMatchObject({ messagingUrl: url })
  })
})
