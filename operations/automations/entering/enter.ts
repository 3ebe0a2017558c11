/** Runs begin: once for each automation and entry key, for ever (rule 4). */
import { sql } from 'kysely'
import { recordset } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { queueAdvance } from '../engine/schedule.ts'
import { kinds } from '../kinds.ts'
import type { AutomationRow } from '../types.ts'

/** What would begin a run, and whom it is about. */
export interface Entry {
  key: string
  entityId: string
  occurredAt: Date
  cartId: string | null
  orderId: string | null
  customerId: string | null
  /** E.164, with its match form. */
  phone: string | null
  phoneKey: string | null
  email: string | null
  name: string | null
}

const noPhone = 'There is no phone number to write to'

const entryTypes = {
  run_id: 'uuid',
  execution_id: 'uuid',
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
  scheduled_at: 'timestamptz',
} as const

/**
 * Begins a run, with its first message and its job, for each entry whose key is new; in the caller's transaction.
 * `at`: when the first message is due, whatever the delay. Answers how many runs began; of an automation that was
 * turned off or deleted meanwhile, none.
 */
export async function enterRuns(
  ctx: Context,
  automation: AutomationRow,
  entries: readonly Entry[],
  at?: Date,
): Promise<number> {
  if (entries.length === 0 || !(await isActive(ctx, automation.id))) return 0
  const now = ctx.now()
  const delayMs = automation.delayMinutes * 60_000
  const rows = entries.map((entry) => ({
    run_id: ctx.newId(),
    execution_id: ctx.newId(),
    entry_key: entry.key,
    entity_id: entry.entityId,
    occurred_at: entry.occurredAt.toISOString(),
    cart_id: entry.cartId,
    order_id: entry.orderId,
    customer_id: entry.customerId,
    phone: entry.phone,
    phone_key: entry.phoneKey,
    email: entry.email,
    contact_name: entry.name,
    scheduled_at: (
      at ?? new Date(Math.max(now.getTime(), entry.occurredAt.getTime() + delayMs))
    ).toISOString(),
  }))
  const entered = await insertRuns(ctx, automation, rows, now)
  if (entered.size === 0) return 0
  const begun = rows.filter((row) => entered.has(row.run_id))
  await insertFirsts(ctx, automation, begun, now)
  await queueAdvance(
    ctx,
    begun.filter((row) => row.phone_key !== null).map((row) => new Date(row.scheduled_at)),
  )
  return entered.size
}

/** Held in share mode: who turns it off or deletes it afterwards sees these runs. */
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

type Rows = readonly Record<keyof typeof entryTypes, string | null>[]

async function insertRuns(
  ctx: Context,
  { id, type, flowVersion }: AutomationRow,
  rows: Rows,
  now: Date,
): Promise<Set<string>> {
  const { event, entityType } = kinds[type]
  const inserted = await ctx.db
    .insertInto('automation_runs')
    .columns([
      'id',
      'entry_key',
      'entity_id',
      'occurred_at',
      'cart_id',
      'order_id',
      'customer_id',
      'phone',
      'phone_key',
      'email',
      'contact_name',
      'automation_id',
      'origin',
      'flow_version',
      'event',
      'entity_type',
      'entered_at',
      'ended_at',
      'created_at',
      'updated_at',
    ])
    .expression((db) =>
      db
        .selectFrom(recordset(entryTypes, rows as never))
        .select([
          'run_id',
          'entry_key',
          'entity_id',
          'occurred_at',
          'cart_id',
          'order_id',
          'customer_id',
          'phone',
          'phone_key',
          'email',
          'contact_name',
          sql<string>`${id}::uuid`.as('automation_id'),
          sql<string>`'event'`.as('origin'),
          sql<number>`${flowVersion}::integer`.as('flow_version'),
          sql<string>`${event}::text`.as('event'),
          sql<string>`${entityType}::text`.as('entity_type'),
          sql<Date>`${now}::timestamptz`.as('entered_at'),
          sql<Date | null>`case when phone_key is null then ${now}::timestamptz end`.as('ended_at'),
          sql<Date>`${now}::timestamptz`.as('created_at'),
          sql<Date>`${now}::timestamptz`.as('updated_at'),
        ] as never)
        // Always in the same order: two who enter the same ones wait for each other and do not lock up.
        .orderBy('entry_key' as never),
    )
    .onConflict((conflict) => conflict.columns(['store_id', 'automation_id', 'entry_key']).doNothing())
    .returning('id')
    .execute()
  return new Set(inserted.map((row) => row.id))
}

/** First messages; who has no phone is skipped at once. */
async function insertFirsts(ctx: Context, automation: AutomationRow, rows: Rows, now: Date): Promise<void> {
  await ctx.db
    .insertInto('automation_executions')
    .values(
      rows.map((row) => ({
        id: row.execution_id!,
        run_id: row.run_id!,
        automation_id: automation.id,
        sequence: 1,
        status: row.phone_key === null ? 'skipped' : 'pending',
        phone: row.phone,
        phone_key: row.phone_key,
        scheduled_at: row.scheduled_at!,
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
        run_id: row.run_id!,
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
