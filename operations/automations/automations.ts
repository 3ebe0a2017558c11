/** Automations as the engine and other sections need them. */
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
export const noAutomation = () => refuse('not_found', noSuchAutomation)

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
type Found = Pick<Row<'automations'>, (typeof columns)[number]>

const byId = prepared<{ id: string }, Found>(
  (db, values) =>
    db.selectFrom('automations').select(columns).where('id', '=', values.id).where('deleted_at', 'is', null),
  { plan: 'once' },
)

/** An automation of the store, or null: another store's, or deleted. */
export async function getAutomation(ctx: Context, id: string): Promise<AutomationRow | null> {
  if (!isId(id)) return null
  const [row] = await byId(ctx, { id })
  return row ? automationOf(row) : null
}

const find = preparedRow(noSuchAutomation, (db, { id }: { id: string }) =>
  db.selectFrom('automations').select('id').where('id', '=', id).where('deleted_at', 'is', null),
)

/** Refuses an automation that there is not. */
export async function requireAutomation(ctx: Context, id: string): Promise<void> {
  await find(ctx, { id })
}

const ofTypes = prepared<{ types: readonly AutomationType[] }, Found>((db, values) =>
  db
    .selectFrom('automations')
    .select(columns)
    .where('type', '=', sql<string>`any(${values.types}::text[])`)
    .where('is_active', '=', true)
    .where('deleted_at', 'is', null)
    .orderBy('id'),
)

/** The active automations of these types, oldest first. */
export async function automationsOfTypes(
  ctx: Context,
  types: readonly AutomationType[],
): Promise<AutomationRow[]> {
  const rows = types.length === 0 ? [] : await ofTypes(ctx, { types })
  return rows.map(automationOf)
}

export function automationOf(row: Found): AutomationRow {
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

/** An active automation as a member may send it by hand. */
export interface AvailableAutomation {
  id: string
  name: string
  type: AutomationType
  /** What its message speaks of. */
  requires: 'cart' | 'order' | 'none'
  message: AutomationMessage
}

/** The active automations, newest first. */
export async function available(ctx: Context): Promise<AvailableAutomation[]> {
  const all = await automationsOfTypes(ctx, automationTypes)
  return all.reverse().map(({ id, name, type, message }) => ({
    id,
    name,
    type,
    requires: requirementOf(type),
    message,
  }))
}

/** What a message of this type speaks of, which a run by hand has to be given. */
export function requirementOf(type: AutomationType): AvailableAutomation['requires'] {
  if (type === 'birthday') return 'none'
  return kinds[type].entityType === 'cart' ? 'cart' : 'order'
}
