/** Builds the content of a notice, before each try until a call may have reached the provider. */
import { sending, templates } from '#operations/messaging/index'
import { containsVariant } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { getGivenName } from '#runtime/values/public-name'
import type { Values } from '#runtime/values/variables'
import { listItems } from '../requests/items.ts'
import type { NoticeChannel } from '../requests/notice-queue.ts'
import type { Address } from '../requests/return-address.ts'
import type { RequestRow } from '../requests/transitions.ts'
import {
  findTemplateIssue,
  type NoticeContent,
  renderNoticeMail,
  renderNoticeTemplate,
  renderNoticeText,
} from '../settings/notice-texts.ts'
import type { ExchangeContent, ExchangeEvent } from '../settings/schema.ts'
import { exchangeRules } from '../settings/settings.ts'
import { formatDay, formatPrice } from '../shopper/page-words.ts'
import { addStatusLink, buildStatusUrl } from '../shopper/status-links.ts'

/**
 * Builds the content in the caller's transaction and adds a status link there. Returns `template-refused` when neither an
 * approved template nor a text is available.
 */
export async function buildContent(
  ctx: Context,
  request: RequestRow,
  { event, channel }: { event: ExchangeEvent; channel: NoticeChannel },
): Promise<NoticeContent | 'template-refused'> {
  const settings = await exchangeRules.getForShoppers(ctx)
  const token = await addStatusLink(ctx, request.id)
  const values = await buildValues(ctx, request, event, buildStatusUrl(ctx, token))
  if (channel === 'email') return renderNoticeMail(settings.emails[event], values)
  const { text } = settings.messaging[event]
  const template = await templateFor(ctx, settings, event)
  if (template) return renderNoticeTemplate(template, values, { token, locale: ctx.store.locale })
  return text === null ? 'template-refused' : renderNoticeText(text, values)
}

/** The event's template, or null. Only the official number sends templates, and only approved templates can be sent. */
async function templateFor(
  ctx: Context,
  { messaging }: ExchangeContent,
  event: ExchangeEvent,
): Promise<templates.Template | null> {
  const { officialapiTemplateId } = messaging[event]
  if (officialapiTemplateId === null) return null
  if ((await sending.findSelected(ctx))?.type !== 'official') return null
  const template = await templates.get(ctx, officialapiTemplateId)
  return findTemplateIssue(template) === null ? template : null
}

/** Events that happen once the items are there: their notices name the units that came back. */
const arrivedEvents: ReadonlySet<ExchangeEvent> = new Set(['received', 'completed'])

async function buildValues(
  ctx: Context,
  request: RequestRow,
  event: ExchangeEvent,
  statusUrl: string,
): Promise<Values> {
  const items = await listItems(ctx, request.id)
  const shown = items
    .map((item) => {
      const approved = item.approved_quantity ?? item.quantity
      return { item, units: arrivedEvents.has(event) ? (item.received_quantity ?? approved) : approved }
    })
    .filter(({ units }) => units > 0)
    .map(({ item: { name, variant_name: variant }, units }) => {
      const whole = variant && !containsVariant(name, variant) ? `${name} (${variant})` : name
      return units > 1 ? `${units} × ${whole}` : whole
    })
  return {
    customerName: request.customer_name,
    firstName: getGivenName(request.customer_name),
    requestNumber: request.number,
    orderNumber: request.order_number,
    storeName: ctx.store.name,
    items: shown.join(', '),
    statusUrl,
    returnAddress: request.return_address === null ? null : formatAddress(request.return_address as Address),
    returnCode: request.return_code,
    labelUrl: request.label_url,
    deadline: request.expires_at && formatDay(ctx, request.expires_at),
    rejectionReason: request.rejection_reason,
    refundAmount:
      request.refund_amount === null
        ? null
        : formatPrice(ctx, Number(request.refund_amount), request.currency),
  }
}

function formatAddress(address: Address): string {
  const street = [address.street, address.number].filter(Boolean).join(', ')
  const place = [address.postalCode, address.city, address.state, address.country].filter(Boolean).join(' ')
  const parts = [address.recipient, street, address.complement, address.district, place, address.instructions]
  return parts.filter(Boolean).join(' - ')
}
