/** Finds automations for the automation engine and for other sections. */
import { sql } from 'kysely'
import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { preparedRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { isId } from '#runtime/values/ids'
import { kinds } from './kinds.ts'
import { type AutomationMessage, type AutomationRow, type AutomationType, automationTypes } from './types.ts'

export const noSuchAutomation = 'There is no such automation'
export const automationNotFound = () => refuse('not_found', noSuchAutomation)

const columns = [
  'id',
  'type',
  'name',
  'is_active',
  'activated_at',
  'delay_minutes',
  'message',
  'coupon',
  'conditions',
  'skip_if_purchased',
  'quiet_hours',
  'settings',
  'flow',
  'flow_version',
] as const
type AutomationColumns = Pick<Row<'automations'>, (typeof columns)[number]>

const findById = prepared<{ id: string }, AutomationColumns>(
  (db, values) =>
    db.selectFrom('automations').select(columns).where('id', '=', values.id).where('deleted_at', 'is', null),
  { plan: 'once' },
)

/** Finds an automation of the store; null if it is unknown or deleted. */
export async function getAutomation(ctx: Context, id: string): Promise<AutomationRow | null> {
  if (!isId(id)) return null
  const [row] = await findById(ctx, { id })
  return row ? toAutomation(row) : null
}

const findId = preparedRow(noSuchAutomation, (db, { id }: { id: string }) =>
  db.selectFrom('automations').select('id').where('id', '=', id).where('deleted_at', 'is', null),
)

/** Throws `not_found` if the store has no such automation. */
export async function requireAutomation(ctx: Context, id: string): Promise<void> {
  await findId(ctx, { id })
}

const findByTypes = prepared<{ types: readonly AutomationType[] }, AutomationColumns>((db, values) =>
  db
    .selectFrom('automations')
    .select(columns)
    .where('type', '=', sql<string>`any(${values.types}::text[])`)
    .where('is_active', '=', true)
    .where('deleted_at', 'is', null)
    .orderBy('id'),
)

/** Finds the active automations of these types, oldest first. */
export async function findActiveAutomations(
  ctx: Context,
  types: readonly AutomationType[],
): Promise<AutomationRow[]> {
  const rows = types.length === 0 ? [] : await findByTypes(ctx, { types })
  return rows.map(toAutomation)
}

export function toAutomation(row: AutomationColumns): AutomationRow {
  return {
    id: row.id,
    type: row.type as AutomationType,
    name: row.name,
    isActive: row.is_active,
    activatedAt: row.activated_at,
    delayMinutes: row.delay_minutes,
    message: row.message as AutomationRow['message'],
    coupon: row.coupon as AutomationRow['coupon'],
    conditions: row.conditions as AutomationRow['conditions'],
    skipIfPurchased: row.skip_if_purchased,
    quietHours: row.quiet_hours as AutomationRow['quietHours'],
    settings: row.settings as AutomationRow['settings'],
    flow: row.flow as AutomationRow['flow'],
    flowVersion: row.flow_version,
  }
}

/** An active automation that a member can send by hand. */
export interface AvailableAutomation {
  id: string
  name: string
  type: AutomationType
  /** The entity that the variables of its message are filled from. */
  requires: 'cart' | 'order' | 'none'
  message: AutomationMessage
}

/** Lists the active automations, newest first. */
export async function listAvailable(ctx: Context): Promise<AvailableAutomation[]> {
  const all = await findActiveAutomations(ctx, automationTypes)
  return all.reverse().map(({ id, name, type, message }) => ({
    id,
    name,
    type,
    requires: getRequirement(type),
    message,
  }))
}

/** The entity that fills a message's variables. A member who sends the automation by hand must choose one. */
export function getRequirement(type: AutomationType): AvailableAutomation['requires'] {
  if (type === 'birthday') return 'none'
  return kinds[type].entityType === 'cart' ? 'cart' : 'order'
}
