/** Templates of stores with an official number: submission, review, changes and provider callbacks. */

import { getSandbox } from '#operations/messaging/provider/sandbox'
import createTemplate from '#operations/messaging/templates/api/create-template'
import getTemplate from '#operations/messaging/templates/api/get-template'
import updateTemplate from '#operations/messaging/templates/api/update-template'
import { connectNumber } from '#scripts/seed/connect-number'
import type { TestApp } from './app.ts'
import { newPhone, post } from './numbers.ts'
import { type Answer, type Shop, store } from './store.ts'

const greeting = {
  name: 'greeting',
  language: 'pt_BR',
  category: 'utility',
  body: 'Hi {{1}}, order {{2}} left today.',
  examples: { body: ['Ana', '1001'] },
}

/** As stored at the provider. */
export const greetingThere = {
  ...greeting,
  header: null,
  footer: null,
  buttons: [],
  examples: { header: [], body: ['Ana', '1'], buttons: [] },
}

export const create = (shop: Shop, change: object = {}): Promise<Answer> =>
  shop.call(createTemplate, { body: { ...greeting, ...change } })
export const read = async (shop: Shop, id: number): Promise<Answer['body']> =>
  (await shop.call(getTemplate, { params: { id: String(id) } })).body
export const edit = (shop: Shop, id: number, body: object): Promise<Answer> =>
  shop.call(updateTemplate, { params: { id: String(id) }, body })

export function templateHelpers(app: TestApp) {
  const sandbox = getSandbox(app.services.adapters.messaging)
  return {
    sandbox,
    /** Each with its own number: one shared by two stores fails when it is revalidated. */
    async officialShop(): Promise<Shop> {
      const shop = await store(app)
      await connectNumber(await shop.context(), { type: 'official', phone: newPhone() })
      return shop
    },
    review: (shop: Shop, id: number, body: object) =>
      post(app, `/sandbox/api/messaging/${shop.id}/templates/${id}/review`, body),
    /** Reviewed at the provider, without a callback yet. */
    async decided(shop: Shop, id: number, word: Parameters<typeof sandbox.templates.review>[2]) {
      const { provider_id } = await app.database.root
        .selectFrom('message_templates')
        .select('provider_id')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return sandbox.templates.review(shop.id, provider_id!, word)
    },
    async reviewed(ms = 5_000): Promise<void> {
      await app.advance(ms)
      await app.drainJobs()
    },
    async noticesOf(shop: Shop): Promise<string[]> {
      const rows = await app.database.root
        .selectFrom('notifications')
        .select('type')
        .where('store_id', '=', shop.id)
        .orderBy('id')
        .execute()
      return rows.map((row) => row.type)
    },
  }
}
