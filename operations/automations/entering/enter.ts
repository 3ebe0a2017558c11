/** Starts runs. An entry key starts at most one run of an automation, ever (rule 4). */

import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { insertRows } from '#runtime/database/recordset'
import { minuteMs } from '#runtime/durations'
import { queueAdvance } from '../engine/schedule.ts'
import { kinds } from '../kinds.ts'
import type { AutomationRow } from '../types.ts'

/** The trigger of a run, and the contact that the run writes to. */
export interface Entry {
  key: string
  entityId: string
  occurredAt: Date
  cartId: string | null
  orderId: string | null
  customerId: string | null
  /** E.164. `phoneKey` is the form of the same phone for comparisons. */
  phone: string | null
  phoneKey: string | null
  email: string | null
  name: string | null
}

const noPhone = 'There is no phone number to write to'

const runTypes = {
  id: 'uuid',
  entry_key: 'text',
  entity_id: 'text',
  occurred_at: 'timestamptz',
  cart_id: 'text',
  order_id: 'text',
  customer_id: 'text',
  phone: 'text',
  phone_key: 'text',
  email: 'text',
  contact_name: 'text',
} as const

/**
 * Starts a run for each entry with a new key, and queues its first message, in the caller's transaction. With `at` the
 * message is due then instead of after the delay. Returns how many runs started: 0 if the automation was turned off or
 * deleted meanwhile.
 */
export async function enterRuns(
  ctx: Context,
  automation: AutomationRow,
  entries: readonly Entry[],
  at?: Date,
): Promise<number> {
  if (entries.length === 0 || !(await isActive(ctx, automation.id))) return 0
  const now = ctx.now()
  const delayMs = automation.delayMinutes * minuteMs
  const rows = entries.map((entry) => ({
    id: ctx.newId(),
    entry_key: entry.key,
    entity_id: entry.entityId,
    occurred_at: entry.occurredAt,
    cart_id: entry.cartId,
    order_id: entry.orderId,
    customer_id: entry.customerId,
    phone: entry.phone,
    phone_key: entry.phoneKey,
    email: entry.email,
    contact_name: entry.name,
    scheduled_at: at ?? new Date(Math.max(now.getTime(), entry.occurredAt.getTime() + delayMs)),
  }))
  // Sorted by key to prevent deadlocks between transactions that insert the same keys.
  rows.sort((one, other) => (one.entry_key < other.entry_key ? -1 : 1))
  const entered = await insertRuns(ctx, automation, rows, now)
  if (entered.size === 0) return 0
  const begun = rows.filter((row) => entered.has(row.id))
  await insertFirstMessages(ctx, automation, begun, now)
  await queueAdvance(
    ctx,
    begun.filter((row) => row.phone_key !== null).map((row) => row.scheduled_at),
  )
  return entered.size
}

/**
 * Whether the automation is active. Locks it in share mode, so that a change that turns it off or deletes it waits for
 * these runs.
 */
async function isActive(ctx: Context, id: string): Promise<boolean> {
  const found = await ctx.db
    .selectFrom('automations')
    .select('id')
    .where('id', '=', id)
    .where('is_active', '=', true)
    .where('deleted_at', 'is', null)
    .forShare()
    .execute()
  return found.length > 0
}

type Row = Record<keyof typeof runTypes, string | Date | null> & {
  id: string
  phone: string | null
  phone_key: string | null
  scheduled_at: Date
}

async function insertRuns(
  ctx: Context,
  { id, type, flowVersion }: AutomationRow,
  rows: readonly Row[],
  now: Date,
): Promise<Set<string>> {
  const { event, entityType } = kinds[type]
  const at = sql`${now}::timestamptz`
  const inserted = await insertRows(ctx.db.insertInto('automation_runs'), runTypes, rows, {
    automation_id: sql`${id}::uuid`,
    origin: sql`'event'`,
    flow_version: sql`${flowVersion}::integer`,
    event: sql`${event}::text`,
    entity_type: sql`${entityType}::text`,
    entered_at: at,
    ended_at: sql`case when phone_key is null then ${at} end`,
    created_at: at,
    updated_at: at,
  })
    .onConflict((conflict) => conflict.columns(['store_id', 'automation_id', 'entry_key']).doNothing())
    .returning('id')
    .execute()
  return new Set(inserted.map((row) => row.id))
}

/** Inserts the first messages. The message of an entry without a phone is skipped at once. */
async function insertFirstMessages(
  ctx: Context,
  automation: AutomationRow,
  rows: readonly Row[],
  now: Date,
): Promise<void> {
  await ctx.db
    .insertInto('automation_executions')
    .values(
      rows.map((row) => ({
        id: ctx.newId(),
        run_id: row.id,
        automation_id: automation.id,
        sequence: 1,
        status: row.phone_key === null ? 'skipped' : 'pending',
        phone: row.phone,
        phone_key: row.phone_key,
        scheduled_at: row.scheduled_at,
        skip_reason: row.phone_key === null ? 'no-phone' : null,
        failure_reason: row.phone_key === null ? noPhone : null,
        ended_at: row.phone_key === null ? now : null,
        created_at: now,
        updated_at: now,
      })),
    )
    .execute()
  await ctx.db
    .insertInto('automation_step_log')
    .values(
      rows.map((row) => ({
        run_id: row.id,
        step_id: '',
        automation_id: automation.id,
        flow_version: automation.flowVersion,
        type: 'message',
        entered_at: now,
        left_at: row.phone_key === null ? now : null,
      })),
    )
    .execute()
}
