/** Lists the automations that a member can send to a contact, and sends one (rule 7). */
import {
  type AutomationType,
  type AvailableAutomation,
  available,
  describeMisfit,
  enterManually,
  getAutomation,
  requirementOf,
} from '#operations/automations/index'
import { optOuts, templates } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { id, object, z } from '#runtime/schema'
import { findContactOrder } from '../conversations/contact-orders.ts'
import { type ConversationContact, getConversationContact } from '../conversations/conversation-contact.ts'
import { requireInbox } from '../state.ts'
import { isWindowOpen } from '../window.ts'

const reason = z.enum(['window-closed', 'no-order', 'no-cart', 'template-not-approved', 'opted-out'])
type Reason = z.infer<typeof reason>

export const availableAutomation = object({
  id,
  name: z.string(),
  type: z.string(),
  requires: z.enum(['cart', 'order', 'none']),
  officialapiTemplateId: z.number().int().nullable(),
  preview: z.string().nullable().describe('The text, its variables as they were written'),
  eligible: z.boolean().nullable().describe('For the contact of the conversation; null without one'),
  ineligibleReason: reason.nullable(),
  warning: z
    .string()
    .nullable()
    .describe("Why it hardly suits the contact's newest order, which may be cancelled or paid already"),
})

/**
 * Lists the active automations, newest first, and whether each can be sent to the conversation's contact. Refuses an
 * unknown conversation.
 */
export async function listAvailable(
  ctx: Context,
  conversationId: string | undefined,
): Promise<{ data: z.infer<typeof availableAutomation>[] }> {
  const contact = conversationId === undefined ? null : await getConversationContact(ctx, conversationId)
  const order = contact && (await findContactOrder(ctx, contact.phoneKey))
  const data: z.infer<typeof availableAutomation>[] = []
  for (const automation of await available(ctx)) {
    const { id: automationId, name, type, message } = automation
    const { officialapiTemplateId: templateId, templateParameters } = message
    const template = templateId === null ? null : await templates.get(ctx, templateId)
    const why = contact && (await findIneligibleReason(ctx, automation, contact))
    data.push({
      id: automationId,
      name,
      type,
      requires: automation.requires,
      officialapiTemplateId: templateId,
      preview: template ? templates.render(template, templateParameters).body : message.text,
      eligible: contact && why === null,
      ineligibleReason: why,
      warning: order && requirementOf(type) === 'order' ? describeMisfit(type, order) : null,
    })
  }
  return { data }
}

async function findIneligibleReason(
  ctx: Context,
  { type, message }: Pick<AvailableAutomation, 'type' | 'message'>,
  contact: ConversationContact,
): Promise<Reason | null> {
  const needs = requirementOf(type)
  if (needs === 'order' && !(await findContactOrder(ctx, contact.phoneKey))) return 'no-order'
  if (needs === 'cart' && !(await findCart(ctx, contact.phoneKey))) return 'no-cart'
  const { officialapiTemplateId: templateId } = message
  const template = templateId === null ? null : await templates.get(ctx, templateId)
  const isApproved = template?.status === 'approved'
  const isOpen = isWindowOpen(contact.lastInboundAt, ctx.now())
  // While the window is open, the automation's text is sent instead of a template that is not approved.
  if (templateId !== null && !isApproved && !(isOpen && message.text)) return 'template-not-approved'
  const isUtility = isApproved && template.category === 'utility'
  if (!isUtility && (await optOuts.findOptedOut(ctx, [contact.phoneKey])).size > 0) return 'opted-out'
  return isApproved || isOpen ? null : 'window-closed'
}

/** Finds the contact's newest cart without an order, or the cart with `cartId` if it belongs to the contact. */
function findCart(ctx: Context, phoneKey: string, cartId?: string) {
  let rows = ctx.db.selectFrom('carts').select(['id', 'order_id']).where('phone_key', '=', phoneKey)
  rows = cartId === undefined ? rows.where('order_id', 'is', null) : rows.where('id', '=', cartId)
  return rows.orderBy('last_activity_at', 'desc').limit(1).executeTakeFirst()
}

const reasonMessages: Record<Reason, string> = {
  'window-closed': 'The contact has not written in the last 24 hours: its text may not leave',
  'no-order': 'The contact has no order',
  'no-cart': 'The contact has no cart',
  'template-not-approved': 'Its template is not approved',
  'opted-out': 'The contact does not want messages any more',
}

/**
 * Sends the first message of an automation to the conversation's contact. Refuses if it cannot be sent now. A message
 * that hardly suits its order is sent, because the member has chosen it, and the answer says so.
 */
export async function triggerAutomation(
  ctx: Context,
  conversationId: string,
  input: { automationId: string; orderId?: string | undefined },
) {
  const contact = await getConversationContact(ctx, conversationId)
  const automation = await getAutomation(ctx, input.automationId)
  if (!automation) throw refuse('not_found', 'automationId: there is no such automation')
  const { warning, ...entity } = await findEntity(ctx, automation.type, contact, input.orderId)
  await requireInbox(ctx)
  if (!automation.isActive) throw refuse('conflict', `${automation.name} is not active: activate it first`)
  const why = await findIneligibleReason(ctx, automation, contact)
  if (why) throw refuse('conflict', reasonMessages[why])
  const { jobId, executionId } = await enterManually(ctx, {
    automationId: automation.id,
    phone: contact.phone,
    // With an order or cart, the message uses the name stored there.
    name: entity.orderId || entity.cartId ? null : contact.name,
    userId: ctx.actor.userId,
    ...entity,
  })
  return {
    ...{ jobId, status: 'queued' as const, executionId, messageId: executionId },
    ...(warning ? { warning } : {}),
  }
}

async function findEntity(
  ctx: Context,
  type: AutomationType,
  contact: ConversationContact,
  given: string | undefined,
): Promise<{ orderId?: string; cartId?: string; warning?: string | null }> {
  const needs = requirementOf(type)
  if (needs === 'none') return {}
  const cart = needs === 'cart' ? await findCart(ctx, contact.phoneKey, given) : undefined
  const order = needs === 'order' ? await findContactOrder(ctx, contact.phoneKey, given) : undefined
  if (cart)
    return { cartId: cart.id, warning: cart.order_id === null ? null : 'The cart was ordered already' }
  if (order) return { orderId: order.id, warning: describeMisfit(type, order) }
  if (given !== undefined) throw refuse('not_found', `orderId: is no ${needs} of this contact`)
  return {}
}
