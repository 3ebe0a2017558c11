/** Sends one message of an automation by hand, from the inbox (rule 4). */

import { metering } from '#operations/store/index'
import type { Context, Queued } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { refuse } from '#runtime/errors'
import { phoneKey } from '#runtime/values/phone'
import { automationNotFound, getAutomation } from '../automations.ts'
import { lockAutomations } from '../engine/claim.ts'
import { queueExecution } from '../engine/schedule.ts'
import type { AutomationRow } from '../types.ts'

export interface ManualEntry {
  automationId: string
  /** E.164. */
  phone: string
  name?: string | null
  orderId?: string | null
  cartId?: string | null
  userId: string | null
}

const minGapMs = minuteMs

/**
 * Starts a separate run with one message, without delay, conditions and flow. Reserves the message's quota unit and
 * queues its job, in the caller's transaction. The message will have the execution's id. Refuses:
 * - an unknown automation, order or cart (404);
 * - an automation that is turned off (409);
 * - an automation that a member has sent to this phone within the last minute, or whose message is still pending (409);
 * - an exhausted quota (403).
 */
export async function enterManually(
  ctx: Context,
  entry: ManualEntry,
): Promise<Queued & { executionId: string }> {
  const automation = await getAutomation(ctx, entry.automationId)
  if (!automation) throw automationNotFound()
  if (!automation.isActive) throw refuse('conflict', 'The automation is turned off: turn it on first')
  const subject = await findSubject(ctx, entry)
  return ctx.transaction(async (tx) => {
    await lockAutomations(tx)
    await refuseRepeat(tx, entry)
    const reservationId = await metering.reserve(tx, 1, 'automation')
    const executionId = await insertRun(tx, automation, entry, subject, reservationId)
    return { ...(await queueExecution(tx, executionId)), executionId }
  })
}

interface Subject {
  entityType: 'order' | 'cart' | 'customer'
  entityId: string
  customerId: string | null
  email: string | null
  name: string | null
}

async function findSubject(ctx: Context, { orderId, cartId, phone, name }: ManualEntry): Promise<Subject> {
  const id = orderId ?? cartId
  if (id == null) {
    const entityId = phoneKey(phone)
    return { entityType: 'customer', entityId, customerId: null, email: null, name: name ?? null }
  }
  const entityType = orderId == null ? 'cart' : 'order'
  const row = await ctx.db
    .selectFrom(entityType === 'order' ? 'orders' : 'carts')
    .select(['customer_id', 'customer_email', 'customer_name'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw refuse('not_found', `There is no such ${entityType}`)
  return {
    entityType,
    entityId: id,
    customerId: row.customer_id,
    email: row.customer_email,
    name: name ?? row.customer_name,
  }
}

async function refuseRepeat(tx: Context, { automationId, phone }: ManualEntry): Promise<void> {
  const since = new Date(tx.clock.ms() - minGapMs)
  const other = await tx.db
    .selectFrom('automation_runs as r')
    .innerJoin('automation_executions as e', 'e.run_id', 'r.id')
    .select('r.id')
    .where('r.automation_id', '=', automationId)
    .where('r.phone_key', '=', phoneKey(phone))
    .where('r.origin', '=', 'manual')
    .where((eb) => eb.or([eb('r.entered_at', '>', since), eb('e.status', 'in', ['pending', 'sending'])]))
    .limit(1)
    .execute()
  if (other.length > 0) {
    throw refuse('conflict', 'The automation was sent to this customer a moment ago, or is about to be')
  }
}

async function insertRun(
  tx: Context,
  automation: AutomationRow,
  { phone, orderId, cartId, userId }: ManualEntry,
  subject: Subject,
  reservationId: string,
): Promise<string> {
  const now = tx.now()
  const [runId, executionId] = [tx.newId(), tx.newId()]
  const common = { automation_id: automation.id, phone, phone_key: phoneKey(phone) }
  await tx.db
    .insertInto('automation_runs')
    .values({
      ...common,
      id: runId,
      entry_key: `manual:${runId}`,
      origin: 'manual',
      flow_version: null,
      event: 'manual',
      entity_type: subject.entityType,
      entity_id: subject.entityId,
      occurred_at: now,
      cart_id: cartId ?? null,
      order_id: orderId ?? null,
      customer_id: subject.customerId,
      email: subject.email,
      contact_name: subject.name,
      created_by: userId,
      entered_at: now,
      created_at: now,
      updated_at: now,
    })
    .execute()
  await tx.db
    .insertInto('automation_executions')
    .values({
      ...common,
      id: executionId,
      run_id: runId,
      sequence: 1,
      status: 'pending',
      scheduled_at: now,
      reservation_id: reservationId,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return executionId
}
