/**
 * Every sender signs the links to private files when a message leaves: each upload purpose × each sender, saved eight
 * days before it leaves, so that a signature made earlier would have expired.
 */
import { expect, test } from 'vitest'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import sendTeamMessage from '#operations/inbox/messages/api/send-message'
import createQuickReply from '#operations/inbox/quick-replies/api/create-quick-reply'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import sendSingle from '#operations/messaging/sends/api/send-message'
import sendDispatchesNow from '#operations/reviews/requests/api/send-dispatches-now'
import { files } from '#operations/store/index'
import { dayMs, minuteMs } from '#runtime/durations'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import { exchangeShop } from '#test/operations/exchanges/shopper'
import { approve, requested } from '#test/operations/exchanges/support'
import { reviewShop } from '#test/operations/reviews/shop'
import { testApp } from '#test/support/app'
import { ana, automationShop, never } from '#test/support/automations'
import { sendingShop } from '#test/support/campaigns'
import { inboxShop } from '#test/support/inbox'
import { post } from '#test/support/numbers'
import { stockShop } from '#test/support/stock'
import type { Shop } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp({ publicUrl: 'https://api.example.com', storefrontAcceptedIp: 1000 })
const sandbox = getSandbox(app.services.adapters.messaging)
const { phone, email } = ana
const { senders } = app.services.extensions
const uploads = app.services.extensions.uploads as Readonly<Record<string, files.Purpose>>
const qr = { type: 'qr', phone: '+5511400010001' } as const

interface Uploaded {
  url: string
  contentType: string
}

/** Uploads a file for each purpose and type of file. */
async function uploadAll(shop: Shop): Promise<Uploaded[]> {
  const ctx = await shop.context()
  const all: Uploaded[] = []
  for (const [purpose, { contentTypes }] of Object.entries(uploads)) {
    const contentType = contentTypes[0]!
    const body = { fileName: 'a.bin', contentType, size: purpose.length }
    const { uploadUrl, headers, fileUrl } = await files.createUpload(ctx, purpose, body)
    const put = new Request(uploadUrl, { method: 'PUT', headers, body: purpose })
    expect((await app.fetch(put, { ip: '127.0.0.1' })).status).toBe(200)
    all.push({ url: fileUrl, contentType })
  }
  return all
}

interface Sender {
  shop: Shop
  /** Saves texts and files to send later. */
  save(text: string, image: string): Promise<unknown>
  /** Makes it leave, eight days later. */
  send(): Promise<unknown>
}

const ok = async (answer: Promise<{ status: number; body: unknown }>): Promise<void> => {
  const { status, body } = await answer
  expect([status < 300, status < 300 ? null : body]).toEqual([true, null])
}

async function reviewSender(channel: 'email' | 'messaging', isTest = false): Promise<Sender> {
  const shop = await reviewShop(app)
  await connectNumber(await shop.context(), qr)
  return {
    shop,
    async save(text) {
      await shop.settings({
        request: { isEnabled: true, channel, delayDays: 1 },
        message: { text: `{{reviewUrl}} ${text}` },
        email: { body: text, footerText: `(${text}).` },
      })
      const order = await shop.place({ customer: ana, items: [{ variantId: '2001', quantity: 1 }] })
      await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
    },
    send: () =>
      isTest
        ? ok(shop.request('POST', '/product-reviews/send-test-email', { body: { email } }))
        : shop.call(sendDispatchesNow, { body: { all: true } }),
  }
}

async function noticeSender(channel: 'email' | 'messaging'): Promise<Sender> {
  const shop = await exchangeShop(app)
  await connectNumber(await shop.context(), qr)
  return {
    shop,
    save: (text) =>
      shop.settings({
        messaging: { isEnabled: channel === 'messaging', approved: { text: `${text} {{labelUrl}}` } },
        emails: { approved: { isEnabled: channel === 'email', subject: 'Hi', body: `${text} {{labelUrl}}` } },
      }),
    async send() {
      const request = await requested(shop)
      await app.drainJobs()
      await ok(approve(shop, request.id, { labelUrl: (await uploadAll(shop)).at(-1)!.url }))
    },
  }
}

async function stockSender(contact: object, isTest = false): Promise<Sender> {
  const shop = await stockShop(app)
  return {
    shop,
    async save(text) {
      await ok(shop.save({ templateMessaging: text, templateEmail: { mainContent: text, footerText: text } }))
      await shop.ask(contact)
    },
    send: () =>
      isTest
        ? ok(shop.request('POST', '/stock-notifications/send-test-email', { body: { email } }))
        : post(app, `/sandbox/api/ecommerce/${shop.id}/variants/3001/stock`, { stock: 9 }),
  }
}

async function automationSender(isTest = false): Promise<Sender> {
  const shop = await automationShop(app)
  let id = ''
  return {
    shop,
    async save(text, image) {
      const steps = [
        { id: 'wait', type: 'wait', minutes: 60, next: 'link' },
        { id: 'link', type: 'message', message: { text }, next: null },
      ]
      const made = await shop.automation({
        type: 'abandoned-cart',
        quietHours: never,
        message: { text: 'Hi', mediaUrl: image, mediaType: 'image' },
        flow: { start: 'wait', steps },
      })
      id = made.id
    },
    async send() {
      await shop.cart()
      if (!isTest) {
        await app.advance(61 * minuteMs)
        await app.drainJobs()
        return app.advance(61 * minuteMs)
      }
      const test = (stepId: string | null) =>
        ok(shop.request('POST', `/automations/${id}/test`, { body: { phone, stepId } }))
      await test(null)
      await test('link')
    },
  }
}

async function campaignSender(content: (text: string, image: string) => object): Promise<Sender> {
  const shop = await sendingShop(app)
  let id = ''
  return {
    shop,
    async save(text, image) {
      id = await shop.draft(await shop.list([{ phone, name: 'Ana' }]), { content: content(text, image) })
    },
    send: () => ok(shop.call(sendCampaign, { params: { id } })),
  }
}

/** By the kind of its outbox source, and what it sends. */
const makeSenders: Record<string, () => Promise<Sender>> = {
  async 'dm: a text, a picture and a template'() {
    const shop = await sendingShop(app, { connection: 'official', phone: '+5511300000000' })
    const official = await makeTemplate(await shop.context(), { name: 'link', body: 'See {{1}} now.' })
    let sent: object[] = []
    return {
      shop,
      async save(text, image) {
        await (await inboxLike(shop)).write()
        sent = [
          { text },
          { type: 'image', mediaUrl: image, text: image },
          { officialapiTemplateId: official, templateParameters: { body: [image] } },
        ]
      },
      async send() {
        await (await inboxLike(shop)).write()
        for (const body of sent) await ok(shop.call(sendSingle, { body: { phone, ...body } as never }))
      },
    }
  },
  async 'in: a text, a picture and a quick reply'() {
    const shop = await inboxShop(app)
    let bodies: object[] = []
    return {
      shop,
      async save(text, image) {
        const reply = { shortcut: 'pic', title: 'Pic', text: 'Oi', mediaUrl: image }
        const { body } = await shop.call(createQuickReply, { body: reply })
        bodies = [{ type: 'text', text }, { type: 'image', mediaUrl: image }, { quickReplyId: body.id }]
      },
      async send() {
        await shop.write({ phone, text: 'Oi', occurredAt: app.clock.now() })
        const { id } = await shop.conversation()
        for (const body of bodies)
          await ok(shop.call(sendTeamMessage, { params: { id }, body: body as never }))
      },
    }
  },
  'rv: a message': () => reviewSender('messaging'),
  'rv: an email': () => reviewSender('email'),
  'rv: a test email': () => reviewSender('email', true),
  'ex: a message': () => noticeSender('messaging'),
  'ex: an email': () => noticeSender('email'),
  'st: a message': () => stockSender({ phone }),
  'st: an email': () => stockSender({ email }),
  'st: a test email': () => stockSender({ email }, true),
  'au: a flow': () => automationSender(),
  'au: a test': () => automationSender(true),
  'cm: a text': () => campaignSender((text) => ({ text })),
  'cm: a picture': () =>
    campaignSender((_text, url) => ({ text: `*${url}*`, media: { type: 'image', url, fileName: null } })),
}
const inboxLike = async (shop: Shop) => ({
  write: async () => {
    const body = { phone, type: 'text', text: 'Oi' }
    await post(app, `/sandbox/api/messaging/${shop.id}/inbound`, body)
    await app.drainJobs()
  },
})

test('every outbox source is tested here', () => {
  const kinds = Object.keys(makeSenders).map((name) => name.split(':')[0])
  expect([...new Set(kinds)].sort()).toEqual(Object.keys(senders).sort())
})

const linkPattern = /https:\/\/api\.example\.com\/files\/[^\s"'<>()*]+/g
const readHtml = (text: string): string => text.replaceAll('&#38;', '&').replaceAll('&amp;', '&')

/** All links to our storage that have left for a person. */
async function listLinks(shop: Shop): Promise<string[]> {
  const mails = await listSandboxMail(app.database.root as never, { storeId: shop.id, limit: 100 } as never)
  const left = [
    ...(await sandbox.outbox(shop.id)).map(({ content }) => content),
    ...mails.map(({ subject, html, text }) => ({ subject, html, text })),
  ]
  return left.flatMap(
    (each) =>
      JSON.stringify(each)
        .replaceAll('\\"', '"')
        .replaceAll('\\n', '\n')
        .match(linkPattern)
        ?.map((link) => readHtml(link).replace(/\.$/, '')) ?? [],
  )
}

/** The fast suite tries one sender of each channel. */
const tried = isFullSuite ? Object.keys(makeSenders) : ['cm: a picture', 'st: an email']

test.each(tried)('%s: links to private files open when it leaves', async (name) => {
  await app.setClock('2026-11-20T15:00:00.000Z')
  const { shop, save, send } = await makeSenders[name]!()
  const all = await uploadAll(shop)
  const isPrivate = Object.values(uploads).map(({ visibility }) => visibility === 'private')
  expect(isPrivate.filter(Boolean).length).toBeGreaterThan(4)
  const image = all[Object.keys(uploads).indexOf('inbox-image')]!.url
  const text = all.filter((_file, at) => isPrivate[at]).map(({ url }) => url)
  await save(text.join(' '), image)
  await app.drainJobs()
  // A file that nothing keeps is deleted after a day; those of a conversation are uploaded again.
  await app.advance(8 * dayMs)
  if (/^dm|^in/.test(name)) await app.setClock('2026-11-20T16:00:00.000Z')
  await sandbox.setMode(shop.id, 'down')
  await send()
  await app.drainJobs()
  await sandbox.setMode(shop.id, 'up')
  for (const minutes of [2, 16, 61]) {
    await app.advance(minutes * minuteMs)
    await app.drainJobs()
  }
  const links = await listLinks(shop)
  expect(links.length).toBeGreaterThan(0)
  const answers = await Promise.all(
    [...new Set(links)].map(async (link) => [
      link,
      (await app.fetch(new Request(link), { ip: '127.0.0.1' })).status,
    ]),
  )
  expect(answers.filter(([, status]) => status !== 200)).toEqual([])
})
