/** What a notice says, made once, when it is about to leave for the first time. */
import { sending, templates } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import type { Values } from '#runtime/values/variables'
import { itemsOf } from '../requests/items.ts'
import type { RequestRow } from '../requests/moves.ts'
import type { Address } from '../requests/return-address.ts'
import type { NoticeChannel } from '../requests/tell.ts'
import {
  type NoticeContent,
  noticeMail,
  noticeTemplate,
  noticeText,
  templateFault,
} from '../settings/notice-texts.ts'
import type { ExchangeContent, ExchangeEvent } from '../settings/schema.ts'
import { exchangeRules } from '../settings/settings.ts'
import { dayOf, priceOf } from '../shopper/page-words.ts'
import { addStatusLink, statusUrlOf } from '../shopper/status-links.ts'

/** In the caller's transaction, which keeps its link. A code where the settings or the number have no way to say it. */
export async function contentOf(
  ctx: Context,
  request: RequestRow,
  { event, channel }: { event: ExchangeEvent; channel: NoticeChannel },
): Promise<NoticeContent | 'template-refused'> {
  const settings = await exchangeRules.forShoppers(ctx)
  const token = await addStatusLink(ctx, request.id)
  const values = await valuesOf(ctx, request, statusUrlOf(ctx, token))
  if (channel === 'email') return noticeMail(settings.emails[event], values)
  const { text } = settings.messaging[event]
  const template = await templateFor(ctx, settings, event)
  if (template) return noticeTemplate(template, values, { token, locale: ctx.store.locale })
  return text === null ? 'template-refused' : noticeText(text, values)
}

/** Only the official number sends templates, and only those that are approved. */
async function templateFor(
  ctx: Context,
  { messaging }: ExchangeContent,
  event: ExchangeEvent,
): Promise<templates.Template | null> {
  const { officialapiTemplateId } = messaging[event]
  if (officialapiTemplateId === null) return null
  if ((await sending.selected(ctx))?.type !== 'official') return null
  const template = await templates.get(ctx, officialapiTemplateId)
  return templateFault(template) === null ? template : null
}

async function valuesOf(ctx: Context, request: RequestRow, statusUrl: string): Promise<Values> {
  const items = await itemsOf(ctx, request.id)
  const shown = items
    .map((item) => ({ item, units: item.approved_quantity ?? item.quantity }))
    .filter(({ units }) => units > 0)
    .map(({ item: { name, variant_name: variant }, units }) => {
      const whole = variant && !name.includes(variant) ? `${name} (${variant})` : name
      return units > 1 ? `${units} × ${whole}` : whole
    })
  return {
    customerName: request.customer_name,
    firstName: request.customer_name?.trim().split(/\s+/)[0] ?? null,
    requestNumber: request.number,
    orderNumber: request.order_number,
    storeName: ctx.store.name,
    items: shown.join(', '),
    statusUrl,
    returnAddress: request.return_address === null ? null : inOneLine(request.return_address as Address),
    returnCode: request.return_code,
    labelUrl: request.label_url,
    deadline: request.expires_at && dayOf(ctx, request.expires_at),
    rejectionReason: request.rejection_reason,
    refundAmount:
      request.refund_amount === null ? null : priceOf(ctx, Number(request.refund_amount), request.currency),
  }
}

function inOneLine(address: Address): string {
  const street = [address.street, address.number].filter(Boolean).join(', ')
  const place = [address.postalCode, address.city, address.state, address.country].filter(Boolean).join(' ')
  const parts = [address.recipient, street, address.complement, address.district, place, address.instructions]
  return parts.filter(Boolean).join(' - ')
}
