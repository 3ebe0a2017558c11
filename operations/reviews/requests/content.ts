/**
 * Builds the content of a request's message, from the settings, the template and the requests as they are now. It is
 * built again at each try, so that corrections reach it, until a call may have reached the provider.
 */
import { type outbox, sending, templates } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { translateBuiltIn } from '#runtime/values/wording'
import { type ReviewSettings, reviewWords } from '../settings/schema.ts'
import { findSettings } from '../settings/settings.ts'
import type { Channel } from './eligibility.ts'
import { buildReviewUrl, createToken } from './links.ts'
import { buildRequestMail, buildRequestMessage } from './texts.ts'
import { buildUnsubscribe } from './unsubscribes.ts'

interface ContentOf {
  id: string
  channel: Channel
  email: string | null
}

/** Returns null if the message's requests were deleted. Adds the token of its link, in the caller's transaction. */
export async function buildContent(
  tx: Context,
  { id, channel, email }: ContentOf,
): Promise<outbox.StoredContent | null> {
  const rows = await tx.db
    .selectFrom('review_dispatches')
    .select(['order_id', 'order_number', 'product_name', 'customer_name'])
    .where('message_id', '=', id)
    .orderBy('id')
    .execute()
  const [first] = rows
  if (!first) return null
  const { token, row } = createToken(tx, first.order_id)
  await tx.db.insertInto('review_tokens').values(row).execute()
  const about = {
    customerName: first.customer_name,
    orderNumber: first.order_number,
    productNames: rows.map((each) => each.product_name),
    storeName: tx.store.name,
    locale: tx.store.locale,
    reviewUrl: buildReviewUrl(tx, token),
    token,
  }
  const { settings: given } = await findSettings(tx)
  const settings = translateBuiltIn<ReviewSettings>(given, reviewWords, tx.store.locale)
  if (channel === 'messaging') {
    const template = await findTemplate(tx, settings)
    return { channel, ...buildRequestMessage(settings, about, template, templates.render) }
  }
  const out = buildUnsubscribe(tx, email!)
  return { channel, ...buildRequestMail(settings, about, out.link), headers: out.headers }
}

/** Finds the template of the messages. Null unless the official number is selected, because only it sends templates. */
async function findTemplate(tx: Context, { message }: ReviewSettings): Promise<templates.Template | null> {
  const connection = await sending.findSelected(tx)
  if (connection?.type !== 'official' || message.officialapiTemplateId === null) return null
  return templates.get(tx, message.officialapiTemplateId)
}
