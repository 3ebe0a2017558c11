/** Renders quick replies for a contact (rule 6). */

import type { Context } from '#runtime/context'
import { formatMoney } from '#runtime/values/localized'
import { getGivenName } from '#runtime/values/public-name'
import { parseVariables, renderText, type Values } from '#runtime/values/variables'
import { findContactOrder } from '../conversations/contact-orders.ts'
import { memberName } from '../conversations/conversations.ts'

const orderVariables = ['orderNumber', 'orderTotal', 'orderStatus', 'trackingCode', 'trackingUrl'] as const
export const replyVariables: ReadonlySet<string> = new Set([
  'customerName',
  'name',
  'firstName',
  'phone',
  'agentName',
  'storeName',
  'storeUrl',
  ...orderVariables,
])

/** Returns the distinct names of the variables in a text. */
export function findVariables(text: string): string[] {
  const parsed = parseVariables(text)
  if ('issue' in parsed) return []
  return [...new Set(parsed.parts.flatMap((part) => (typeof part === 'string' ? [] : [part.name])))]
}

/** Reads the values of the variables for a conversation's contact; null for an unknown conversation. */
export async function loadReplyValues(ctx: Context, conversationId: string): Promise<Values | null> {
  const contact = await ctx.db
    .selectFrom('conversations as c')
    .innerJoin('contacts as k', 'k.id', 'c.contact_id')
    .select(['k.phone', 'k.phone_key', 'k.given_name', 'k.profile_name', 'k.order_name'])
    .where('c.id', '=', conversationId)
    .executeTakeFirst()
  if (!contact) return null
  const order = await findContactOrder(ctx, contact.phone_key)
  const name = contact.given_name ?? contact.profile_name ?? contact.order_name
  const { userId } = ctx.actor
  return {
    customerName: name,
    name,
    firstName: getGivenName(name),
    phone: contact.phone.startsWith('+') ? contact.phone : null,
    agentName: userId === null ? null : await memberName(ctx, userId),
    storeName: ctx.store.name,
    storeUrl: `https://${ctx.store.domain}`,
    orderNumber: order?.number ?? null,
    orderTotal: order ? formatMoney(order.total, order.currency, ctx.store.locale) : null,
    orderStatus: order?.status ?? null,
    trackingCode: order?.tracking_code ?? null,
    trackingUrl: order?.tracking_url ?? null,
  }
}

/**
 * Renders the text. `lacking` has the order variables without value and fallback. If there are any, the reply cannot be
 * sent.
 */
export function renderReply(text: string, values: Values): { text: string; lacking: string[] } {
  const rendered = renderText(text, values)
  const lacking = rendered.missing.filter((name) => (orderVariables as readonly string[]).includes(name))
  return { text: rendered.text.trim(), lacking }
}
