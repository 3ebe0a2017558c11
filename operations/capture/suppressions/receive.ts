/** Receives the mail provider's reports about addresses. */
import { events } from '#operations/store/index'
import type { SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import type { MailEvent } from '#runtime/ports/mail/port'
import { emailKey } from '#runtime/values/email'
import { isId } from '#runtime/values/ids'
import { suppressedTopics } from './suppressions.ts'

/**
 * Stores the events of an authenticated webhook and returns their number. Refuses an unknown provider, or one without
 * webhooks (404), wrong credentials (401) and a malformed body (400).
 */
export async function receiveMailHook(
  ctx: SystemContext,
  provider: string,
  headers: Headers,
  body: Uint8Array,
): Promise<number> {
  const { mail } = ctx.adapters
  if (provider !== ctx.settings.mailUrl.split(':')[0] || !mail.parseWebhook) {
    throw refuse('not_found', 'No such provider')
  }
  const stored = await Promise.all(read(mail.parseWebhook, headers, body).map((event) => place(ctx, event)))
  await events.accept(ctx, 'mail', provider, stored.flat())
  return stored.flat().length
}

function read(
  parse: (headers: Headers, body: Uint8Array) => MailEvent[],
  headers: Headers,
  body: Uint8Array,
) {
  try {
    return parse(headers, body)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    throw error.code === 'bad-signature'
      ? refuse('unauthorized', error.message)
      : refuse('bad_request', `body: ${error.message}`)
  }
}

/**
 * Finds the stores of an event. Mail names its store; an address that is delivered to again is restored in every store
 * that suppressed it, because the stores share the account at the provider.
 */
async function place(ctx: SystemContext, event: MailEvent): Promise<events.IncomingEvent[]> {
  if (event.kind !== 'restored') {
    const { storeRef } = event
    return storeRef !== null && isId(storeRef) ? [{ ...event, storeId: storeRef }] : []
  }
  const rows = await ctx.root
    .selectFrom('email_unsubscribes')
    .select('store_id')
    .distinct()
    // biome-ignore lint/plugin/contact-spelling: email_unsubscribes holds keys
    .where('email', '=', emailKey(event.data.email))
    .where('topic', 'in', suppressedTopics)
    .execute()
  return rows.map(({ store_id: storeId }) => ({ ...event, key: `${event.key}:${storeId}`, storeId }))
}
