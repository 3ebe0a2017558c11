/** A coupon email that has waited is checked again before it is sent. */

import { expect, test } from 'vitest'
import { unsubscribes } from '#operations/capture/index'
import saveSettings from '#operations/capture/popup/api/save-settings'
import { dayMs } from '#runtime/durations'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { testApp } from '#test/support/app'
import { type PopupShop, popupShop, readSubscribers, tenPercent, visit } from '#test/support/capture'

const app = await testApp()

const changes: Record<string, { change(shop: PopupShop): Promise<unknown>; mails: number }> = {
  nothing: { change: async () => undefined, mails: 1 },
  // The code was promised and exists.
  'the popup was turned off': {
    change: (shop) => shop.call(saveSettings, { body: { isEnabled: false } }),
    mails: 1,
  },
  'the code expired': { change: () => app.advance(2 * dayMs), mails: 0 },
  'the subscriber unsubscribed': {
    async change(shop) {
      const [row] = await readSubscribers(shop)
      const link = new URL(unsubscribes.buildLink(await shop.context(), 'newsletter', row!.id))
      const { pathname, search } = link
      const answer = await visit(shop, 'POST', `${pathname.split(shop.publicId)[1]}${search}`, { body: {} })
      expect(answer.body).toEqual({ status: 'unsubscribed' })
    },
    mails: 0,
  },
  'the subscriber was erased': {
    change: async (shop) => (await shop.context()).db.deleteFrom('newsletter_subscribers').execute(),
    mails: 0,
  },
}

test.each(Object.entries(changes))('a delayed coupon email: %s', async (name, { change, mails }) => {
  await app.setClock('2026-11-20T12:00:00.000Z')
  const shop = await popupShop(app, {
    coupon: { ...tenPercent, prefix: 'OI', validDays: 1 },
    couponDelivery: 'email',
  })
  const email = `waits-${Object.keys(changes).indexOf(name)}@example.com`
  expect((await shop.subscribe({ email })).status).toBe(201)
  const sent = () => listSandboxMail(app.database.root as never, { to: email })
  expect(await sent()).toHaveLength(0)
  await change(shop)
  await app.advance(60_000)
  await app.drainJobs()
  expect(await sent()).toHaveLength(mails)
})
