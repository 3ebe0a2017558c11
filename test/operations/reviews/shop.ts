/** Test store with review requests: a shop on the sandbox platform, its catalog cache, and inserted reviews. */

import type { Row } from '#db/tables'
import saveSettings from '#operations/reviews/settings/api/save-settings'
import { buildReviewSearchText } from '#operations/reviews/submitting/submit'
import { putProduct } from '#operations/store/ecommerce/sandbox-catalog'
import { productSnapshotsRefresh } from '#operations/storefront/handles'
import { listSandboxMail, type SandboxMail } from '#runtime/ports/mail/sandbox'
import { newId } from '#runtime/values/ids'
import type { TestApp } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'
import type { store } from '#test/support/store'

export interface ReviewShop extends ConnectedShop {
  settings(change: Record<string, unknown>): Promise<void>
  /** Dispatches in the order of planning. */
  dispatches(): Promise<Row<'review_dispatches'>[]>
  /** Emails sent to an address, newest first. */
  mails(to: string): Promise<SandboxMail[]>
  /** Stores a review and returns its id. */
  review(values?: Partial<Reviewed>): Promise<string>
  reviewRow(id: string): Promise<Row<'product_reviews'>>
  notices(type: string): Promise<{ data: Record<string, unknown>; message: string | null }[]>
}

interface Reviewed {
  productId: string
  rating: number
  status: string
  text: string | null
  email: string | null
  name: string
  source: string
  reviewedAt: Date
  verified: boolean
  phoneKey: string | null
}

/** Has a third product, `1003` (variant `2004`), that is free. */
export async function reviewShop(
  app: TestApp,
  options: Parameters<typeof store>[1] = {},
): Promise<ReviewShop> {
  // Other tests may have run the schedules at a later clock time than this one's.
  await app.database.root.deleteFrom('job_schedules').execute()
  app.worker.clockMoved()
  const shop = await connectedStore(app, { locale: 'en-US', ...options })
  await putProduct(shop.platform, {
    id: '1003',
    name: 'Amostra',
    variants: [{ id: '2004', sku: 'AMO-1', price: 0, stock: 50 }],
  })
  const ctx = await shop.context()
  await ctx.queue(productSnapshotsRefresh, { productIds: ['1003'] })
  await app.drainJobs()
  const { root } = app.database
  return {
    ...shop,
    async settings(change) {
      const answer = await shop.call(saveSettings, { body: { isEnabled: true, ...change } })
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    },
    dispatches: () =>
      root
        .selectFrom('review_dispatches')
        .selectAll()
        .where('store_id', '=', shop.id)
        .orderBy('id')
        .execute(),
    mails: (to) => listSandboxMail(root as never, { to }),
    async review(values = {}) {
      const id = newId(app.clock.ms())
      const now = app.clock.now()
      const { productId = '1001', name = 'Bia Reis', email = `${id}@example.com`, text = 'Gostei' } = values
      const source = values.source ?? 'storefront'
      await root
        .insertInto('product_reviews')
        .values({
          store_id: shop.id,
          id,
          product_id: productId,
          product_name: 'Caneca',
          customer_name: name,
          customer_email: email,
          phone_key: values.phoneKey ?? null,
          rating: values.rating ?? 5,
          text,
          status: values.status ?? 'pending',
          verified: values.verified ?? false,
          source,
          search_text: buildReviewSearchText({ name, email, title: null, text, productName: 'Caneca' }),
          reviewed_at: values.reviewedAt ?? now,
          created_at: values.reviewedAt ?? now,
          updated_at: now,
        } as never)
        .execute()
      return id
    },
    reviewRow: (id) =>
      root
        .selectFrom('product_reviews')
        .selectAll()
        .where('store_id', '=', shop.id)
        .where('id', '=', id)
        .executeTakeFirstOrThrow(),
    async notices(type) {
      const rows = await root
        .selectFrom('notifications')
        .select(['data', 'message'])
        .where('store_id', '=', shop.id)
        .where('type', '=', type)
        .orderBy('id')
        .execute()
      return rows as { data: Record<string, unknown>; message: string | null }[]
    },
  }
}

/** The token in the link of an email. */
export const findToken = (mail: SandboxMail): string =>
  decodeURIComponent(/[?&]token=([\w.%-]+)/.exec(mail.text)![1]!)
