/** Automations: made, changed, deleted. */
import type { Row } from '#db/tables'
import { templates } from '#operations/messaging/door'
import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { findRow, oneRow, unlessTaken } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { requireReferences } from '#runtime/references'
import { z } from '#runtime/schema'
import { canonical } from '#runtime/values/changes'
import { automationOf, noSuchAutomation } from '../automations.ts'
import { cancelPending } from '../engine/endings.ts'
import { isSameFlow } from '../flow.ts'
import { defaultTitle } from '../kinds.ts'
import { type AutomationChange, automation, conditions, messageInput } from '../schema.ts'
import type { AutomationMessage, AutomationType, Flow } from '../types.ts'
import {
  changedDefinition,
  type Definition,
  defaultDefinition,
  isSameDefinition,
  messagesOf,
} from './definition.ts'
import { lookAgain } from './pending.ts'
import { addVersion } from './versions.ts'

const automationsAtMost = 50

/** Makes an automation. Refuses what may not be, an unknown template, a name that is taken, the 51st. Answers its id. */
export async function createAutomation(
  ctx: Context,
  input: AutomationChange & { type: AutomationType },
): Promise<string> {
  const before = { ...defaultDefinition(input.type, ctx.store.locale), flow: null }
  const definition = changedDefinition(before, input, ctx.settings.publicUrl)
  await requireTemplates(ctx, null, definition)
  await ctx.lockStore()
  const names = await namesTaken(ctx)
  if (names.size >= automationsAtMost) {
    throw refuse(
      'conflict',
      `There are ${automationsAtMost} automations, and there cannot be more: delete one first`,
    )
  }
  const id = ctx.newId()
  const now = ctx.now()
  const name = definition.name ?? freeName(defaultTitle(input.type, ctx.store.locale), names)
  await unlessNameTaken(name, () =>
    ctx.db
      .insertInto('automations')
      .values({
        id,
        type: definition.type,
        name,
        ...asColumns(definition),
        flow_version: null,
        activated_at: definition.isActive ? now : null,
        created_by: ctx.actor.userId,
        created_at: now,
        updated_at: now,
      })
      .execute(),
  )
  if (definition.flow) await keepFlow(ctx, id, definition.flow)
  await keepFiles(ctx, id)
  return id
}

/** An abandoned-cart automation with defaults, turned off, unless there is one or no room for one. */
export async function createFirst(ctx: Context): Promise<void> {
  await ctx.lockStore()
  const all = await ctx.db.selectFrom('automations').select('type').where('deleted_at', 'is', null).execute()
  if (all.length >= automationsAtMost || all.some(({ type }) => type === 'abandoned-cart')) return
  await createAutomation(ctx, { type: 'abandoned-cart' })
}

/**
 * Changes an automation; fields left out stay as they are. A changed flow becomes its next version. Refuses what may
 * not be, a template it did not name before and that there is not, a name that is taken.
 */
export async function updateAutomation(ctx: Context, id: string, change: AutomationChange): Promise<void> {
  const row = await lockAutomation(ctx, id)
  const before = automationOf(row)
  const after = changedDefinition(before, change, ctx.settings.publicUrl)
  if (isSameDefinition(definitionOf(row), after)) return
  await requireTemplates(ctx, before, after)
  const now = ctx.now()
  const name = after.name!
  await unlessNameTaken(name, () =>
    ctx.db
      .updateTable('automations')
      .set({
        name,
        ...asColumns(after),
        activated_at: !after.isActive ? null : (row.activated_at ?? now),
        updated_at: now,
      })
      .where('id', '=', id)
      .execute(),
  )
  if (!isSameFlow(before.flow, after.flow)) await keepFlow(ctx, id, after.flow)
  await keepFiles(ctx, id)
  if (canonical(before.message) !== canonical(after.message)) await lookAgain(ctx, id, 'template-pending')
  if (canonical(before.quietHours) !== canonical(after.quietHours)) await lookAgain(ctx, id, 'quiet-hours')
}

const named = z.object({ message: messageInput, conditions, flow: automation.shape.flow })

/**
 * Products, categories and files that a change names for the first time are looked for, at the platform and in the
 * storage too: not inside a transaction. `id` null: the automation is new.
 */
export async function requireNamed(ctx: Context, id: string | null, change: AutomationChange): Promise<void> {
  const saved = ctx.db.selectFrom('automations').select(['message', 'conditions', 'flow'])
  const before = id === null ? null : await findRow(saved, id)
  await requireReferences(ctx, named, { before, after: change, kinds: ['product', 'category', 'file'] })
}

/** Gone from every read; what has not left never will. Its messages that left keep its name. */
export async function deleteAutomation(ctx: Context, id: string): Promise<void> {
  await lockAutomation(ctx, id)
  const now = ctx.now()
  await ctx.db
    .updateTable('automations')
    .set({ deleted_at: now, is_active: false, activated_at: null, updated_at: now })
    .where('id', '=', id)
    .execute()
  await cancelPending(ctx, id)
  await files.setUses(ctx, ownerOf(id), [])
}

/** The row, locked until the transaction ends; refuses one that there is not. */
function lockAutomation(ctx: Context, id: string): Promise<Row<'automations'>> {
  const there = ctx.db.selectFrom('automations').selectAll().where('deleted_at', 'is', null)
  return oneRow(there.forNoKeyUpdate(), id, noSuchAutomation)
}

function definitionOf(row: Row<'automations'>): Definition {
  const { id, activatedAt, flowVersion, ...definition } = automationOf(row)
  return definition
}

const asColumns = (definition: Definition) => ({
  is_active: definition.isActive,
  delay_minutes: definition.delayMinutes,
  message: JSON.stringify(definition.message),
  coupon: definition.coupon && JSON.stringify(definition.coupon),
  conditions: JSON.stringify(definition.conditions),
  skip_if_purchased: definition.skipIfPurchased,
  quiet_hours: JSON.stringify(definition.quietHours),
  settings: JSON.stringify(definition.settings),
  flow: definition.flow && JSON.stringify(definition.flow),
})

type Messages = { message: AutomationMessage; flow: Flow | null }
/**
 * Looked up where it or its parameters are new: one that was deleted or changed since stays until it is changed here.
 */
async function requireTemplates(ctx: Context, before: Messages | null, after: Messages): Promise<void> {
  const known = before ? messagesOf(before).map(([, message]) => message) : []
  const ids = new Set(known.map(({ officialapiTemplateId }) => officialapiTemplateId))
  const fitted = new Set(known.map(asFitted))
  for (const [field, message] of messagesOf(after)) {
    const { officialapiTemplateId: id } = message
    if (id === null || fitted.has(asFitted(message))) continue
    const template = await templates.get(ctx, id)
    if (template)
      templates.refuseMiscounted(template, message.templateParameters, `${field}.templateParameters`)
    else if (!ids.has(id)) {
      throw refuse('not_found', `${field}.officialapiTemplateId: there is no template ${id}`)
    }
  }
}

const asFitted = ({ officialapiTemplateId, templateParameters }: AutomationMessage): string =>
  canonical([officialapiTemplateId, templateParameters])

/** Names in use, without case. */
async function namesTaken(ctx: Context): Promise<Set<string>> {
  const rows = await ctx.db
    .selectFrom('automations')
    .select((eb) => eb.fn<string>('lower', ['name']).as('name'))
    .where('deleted_at', 'is', null)
    .execute()
  return new Set(rows.map(({ name }) => name))
}

/** The title, or the title and the first number that makes it free. */
function freeName(title: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? title : `${title} ${number}`
    if (!taken.has(name.toLowerCase())) return name
  }
}

const unlessNameTaken = <T>(name: string, write: () => Promise<T>): Promise<T> =>
  unlessTaken('automations_name', `name: there is an automation called ${name} already`, write)

async function keepFlow(ctx: Context, id: string, flow: Flow | null): Promise<void> {
  const version = await addVersion(ctx, id, flow)
  await ctx.db.updateTable('automations').set({ flow_version: version }).where('id', '=', id).execute()
}

const ownerOf = (id: string): string => `automation:${id}`

/** Media that it sends, or that runs under way by an older version will. */
async function keepFiles(ctx: Context, id: string): Promise<void> {
  const { message, flows } = await ctx.db
    .selectFrom('automations as a')
    .select((eb) => [
      'a.message',
      eb
        .selectFrom('automation_flow_versions as v')
        .select((inner) => inner.fn.jsonAgg('v.flow').as('flows'))
        .whereRef('v.automation_id', '=', 'a.id')
        .as('flows'),
    ])
    .where('a.id', '=', id)
    .executeTakeFirstOrThrow()
  const all = [null, ...((flows as (Flow | null)[] | null) ?? [])].flatMap((flow) =>
    messagesOf({ message: message as AutomationMessage, flow }),
  )
  const urls = new Set(all.flatMap(([, { mediaUrl }]) => (mediaUrl === null ? [] : [mediaUrl])))
  await files.setUses(
    ctx,
    ownerOf(id),
    [...urls].map((url) => ({ url, purpose: null, field: 'message.mediaUrl' })),
    undefined,
    all,
  )
}
