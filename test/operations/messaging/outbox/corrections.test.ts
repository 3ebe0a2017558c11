/** Corrected texts reach every message that waits for an outage to end, in every source and channel; its link works. */
import { describe, expect, test, vi } from 'vitest'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import sendDispatchesNow from '#operations/reviews/requests/api/send-dispatches-now'
import { Unavailable } from '#runtime/ports/errors'
import { unwrapAdapter } from '#runtime/ports/instrumentation'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { connectNumber } from '#scripts/seed/connect-number'
import { exchangeShop } from '#test/operations/exchanges/shopper'
import { approve, requested } from '#test/operations/exchanges/support'
import { reviewShop } from '#test/operations/reviews/shop'
import { testApp } from '#test/support/app'
import { ana } from '#test/support/automations'
import { stockShop } from '#test/support/stock'
import type { Shop } from '#test/support/store'

const app = await testApp({ storefrontAcceptedIp: 1000 })
const sandbox = getSandbox(app.services.adapters.messaging)
const qr = { type: 'qr', phone: '+5511400010001' } as const

interface Started {
  shop: Shop
  /** Makes its message due. */
  go(): Promise<unknown>
  correct(): Promise<unknown>
}
type Channel = 'messaging' | 'email'

const drivers: Record<string, (channel: Channel) => Promise<Started>> = {
  async 'a review request'(channel) {
    const shop = await reviewShop(app)
    await connectNumber(await shop.context(), qr)
    await shop.settings({ request: { isEnabled: true, channel, delayDays: 1 } })
    const order = await shop.place({ customer: ana, items: [{ variantId: '2001', quantity: 1 }] })
    await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
    await app.drainJobs()
    return {
      shop,
      go: () => shop.call(sendDispatchesNow, { body: { all: true } }),
      correct: () =>
        shop.settings({
          message: { text: 'Corrected {{reviewUrl}}' },
          email: { subject: 'Corrected', body: '{{reviewUrl}}' },
        }),
    }
  },
  async 'a notice of an exchange'(channel) {
    const shop = await exchangeShop(app, {
      messaging: { isEnabled: channel === 'messaging', approved: { text: 'Typo {{statusUrl}}' } },
    })
    await connectNumber(await shop.context(), qr)
    const request = await requested(shop)
    await app.drainJobs()
    return {
      shop,
      go: () => approve(shop, request.id),
      correct: () =>
        shop.settings({
          messaging: { approved: { text: 'Corrected {{statusUrl}}' } },
          emails: { approved: { subject: 'Corrected', body: '{{statusUrl}}' } },
        }),
    }
  },
  async 'a stock alert'(channel) {
    const shop = await stockShop(app)
    await shop.ask(channel === 'email' ? { email: ana.email } : { phone: ana.phone })
    return {
      shop,
      go: () => shop.restock(9),
      correct: () =>
        shop.save({ templateEmail: { subject: 'Corrected' }, templateMessaging: 'Corrected {{productUrl}}' }),
    }
  },
}

const setMail = (isUp: boolean): void => {
  if (isUp) return void vi.restoreAllMocks()
  vi.spyOn(unwrapAdapter(app.services.adapters.mail), 'send').mockRejectedValue(
    new Unavailable('no', 'The mail server is down'),
  )
}
const advance = async (...minutes: number[]): Promise<void> => {
  for (const each of minutes) {
    await app.advance(each * 60_000)
    await app.drainJobs()
  }
}
/** Texts of the messages, or subjects of the emails, that were sent to Ana. */
async function read(shop: Shop, channel: Channel): Promise<string[]> {
  if (channel === 'messaging')
    return (await sandbox.outbox(shop.id)).map(({ content }) => String(content.text ?? ''))
  const mails = await listSandboxMail(app.database.root as never, { to: ana.email })
  return mails
    .filter((mail) => mail.storeId === shop.id)
    .map(({ subject, text }) => `${subject} ${/https?:\S+/.exec(text)?.[0] ?? ''}`)
}

describe.each(Object.entries(drivers))('%s', (_name, start) => {
  test.each(['messaging', 'email'] as const)('%s', async (channel) => {
    await app.setClock('2026-11-20T15:00:00.000Z')
    const { shop, go, correct } = await start(channel)
    const before = (await read(shop, channel)).length
    if (channel === 'email') setMail(false)
    else await sandbox.setMode(shop.id, 'down')
    try {
      await go()
      await app.drainJobs()
      await advance(1)
      expect(await read(shop, channel)).toHaveLength(before)
      await correct()
      await app.drainJobs()
    } finally {
      setMail(true)
      await sandbox.setMode(shop.id, 'up')
    }
    await advance(5, 16, 31, 61)
    const sent = await read(shop, channel)
    expect(sent).toHaveLength(before + 1)
    const [text] = sent.filter((each) => each.startsWith('Corrected'))
    expect(text, sent.join('\n')).toMatch(/^Corrected/)
    const link = /https?:\/\/localhost\S+/.exec(text!)?.[0]
    if (link) expect((await app.fetch(new Request(link), { ip: '10.0.0.1' })).status).toBe(200)
  })
})
