/** Automations that can be sent by hand (Rules 6b). */
import { sql } from 'kysely'
import { templates } from '#operations/messaging/lib/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { isId } from '#runtime/ids'
import { id, object, z } from '#runtime/schema'
import { enterManually } from './automations-port.ts'
import { type ContactOf, contactOf } from './contact-of.ts'
import { findOrder } from './contact-orders.ts'
import { lockConversation } from './conversations.ts'
import { isWindowOpen } from './send.ts'
import { requireInbox } from './state.ts'

const againAfterMs = 60_000

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
})

interface Message {
  text: string | null
  officialapiTemplateId: number | null
  templateParameters: { header: string[]; body: string[]; buttons: string[] }
}
interface Automation {
  id: string
  name: string
  type: string
  is_active: boolean
  message: Message
}

const requires = (type: string): 'cart' | 'order' | 'none' =>
  type === 'abandoned-cart' ? 'cart' : type === 'birthday' ? 'none' : 'order'

const automationRows = (ctx: Context) =>
  ctx.db
    .selectFrom('automations')
    .select(['id', 'name', 'type', 'is_active', 'message'])
    .where('deleted_at', 'is', null)

/** The active ones, by name. Refuses an unknown conversation. */
export async function listAvailable(
  ctx: Context,
  conversationId: string | undefined,
): Promise<{ data: z.infer<typeof availableAutomation>[] }> {
  const contact = conversationId === undefined ? null : await contactOf(ctx, conversationId)
  const rows = (await automationRows(ctx)
    .where('is_active', '=', true)
    .orderBy(sql`lower(name)`)
    .orderBy('id')
    .execute()) as Automation[]
  const data: z.infer<typeof availableAutomation>[] = []
  for (const automation of rows) {
    const { officialapiTemplateId: templateId } = automation.message
    const template = templateId === null ? null : await templates.get(ctx, templateId)
    const why = contact && (await reasonAgainst(ctx, automation, contact))
    data.push({
      id: automation.id,
      name: automation.name,
      type: automation.type,
      requires: requires(automation.type),
      officialapiTemplateId: templateId,
      preview: template
        ? templates.render(template, automation.message.templateParameters).body
        : automation.message.text,
      eligible: contact && why === null,
      ineligibleReason: why,
    })
  }
  return { data }
}

async function reasonAgainst(
  ctx: Context,
  { type, message }: Automation,
  contact: ContactOf,
): Promise<Reason | null> {
  const needs = requires(type)
  if (needs === 'order' && !(await findOrder(ctx, contact.phoneKey))) return 'no-order'
  if (needs === 'cart' && !(await findCart(ctx, contact.phoneKey))) return 'no-cart'
  const { officialapiTemplateId: templateId } = message
  const template = templateId === null ? null : await templates.get(ctx, templateId)
  if (templateId !== null && template?.status !== 'approved') return 'template-not-approved'
  if (template?.category !== 'utility' && (await isOptedOut(ctx, contact.phoneKey))) return 'opted-out'
  if (!template && !isWindowOpen(contact.lastInboundAt, ctx.now())) return 'window-closed'
  return null
}

async function isOptedOut(ctx: Context, phoneKey: string): Promise<boolean> {
  const row = await ctx.db
    .selectFrom('opt_outs')
    .select('id')
    .where('phone_key', '=', phoneKey)
    .executeTakeFirst()
  return row !== undefined
}

/** Their newest cart, or the one with this id where it is theirs. */
function findCart(ctx: Context, phoneKey: string, cartId?: string) {
  let rows = ctx.db.selectFrom('carts').select('id').where('phone_key', '=', phoneKey)
  rows = cartId === undefined ? rows.where('order_id', 'is', null) : rows.where('id', '=', cartId)
  return rows.orderBy('last_activity_at', 'desc').limit(1).executeTakeFirst()
}

const sentences: Record<Reason, string> = {
  'window-closed': 'The contact has not written in the last 24 hours: its text may not leave',
  'no-order': 'The contact has no order',
  'no-cart': 'The contact has no cart',
  'template-not-approved': 'Its template is not approved',
  'opted-out': 'The contact does not want messages any more',
}

/** Sends the first message of an automation by hand. Refuses what cannot be sent to this contact now. */
export async function trigger(
  ctx: Context,
  conversationId: string,
  input: { automationId: string; orderId?: string | undefined },
) {
  // Locked: of two who trigger at once the second sees what the first did.
  await lockConversation(ctx, conversationId)
  const contact = await contactOf(ctx, conversationId)
  const automation = (await automationRows(ctx)
    .where('id', '=', isId(input.automationId) ? input.automationId : null)
    .executeTakeFirst()) as Automation | undefined
  if (!automation) throw refuse('not_found', 'automationId: there is no such automation')
  await requireInbox(ctx)
  const { orderId, cartId } = await entityFor(ctx, automation, contact, input.orderId)
  if (!automation.is_active) throw refuse('conflict', `${automation.name} is not active: activate it first`)
  const why = await reasonAgainst(ctx, automation, contact)
  if (why) throw refuse('conflict', sentences[why])
  await refuseAgain(ctx, automation, contact)
  const { jobId, executionId } = await enterManually(ctx, {
    automationId: automation.id,
    phone: contact.phone,
    userId: ctx.actor.userId!,
    ...(orderId ? { orderId } : {}),
    ...(cartId ? { cartId } : {}),
  })
  return { jobId, status: 'queued' as const, executionId, messageId: executionId }
}

async function entityFor(
  ctx: Context,
  { type }: Automation,
  contact: ContactOf,
  given: string | undefined,
): Promise<{ orderId?: string; cartId?: string }> {
  const needs = requires(type)
  if (needs === 'none') return {}
  const found =
    needs === 'cart'
      ? await findCart(ctx, contact.phoneKey, given)
      : await findOrder(ctx, contact.phoneKey, given)
  if (!found) {
    if (given !== undefined) throw refuse('not_found', `orderId: is no ${needs} of this contact`)
    return {}
  }
  return needs === 'cart' ? { cartId: found.id } : { orderId: found.id }
}

async function refuseAgain(ctx: Context, automation: Automation, contact: ContactOf): Promise<void> {
  const again = await ctx.db
    .selectFrom('automation_runs as r')
    .leftJoin('automation_executions as e', 'e.run_id', 'r.id')
    .select('r.id')
    .where('r.automation_id', '=', automation.id)
    .where('r.phone_key', '=', contact.phoneKey)
    .where('r.origin', '=', 'manual')
    .where((eb) =>
      eb.or([
        eb('r.created_at', '>', new Date(ctx.clock.ms() - againAfterMs)),
        eb('e.status', 'in', ['pending', 'sending']),
      ]),
    )
    .limit(1)
    .executeTakeFirst()
  if (again) throw refuse('conflict', `${automation.name} was sent to this contact by hand just now`)
}
