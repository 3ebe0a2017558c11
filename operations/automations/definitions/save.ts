/** Creates, updates and deletes automations. */

import type { Row } from '#db/tables'
import { templates } from '#operations/messaging/index'
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { findRow, refuseDuplicate, requireRow } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { requireReferences } from '#runtime/references'
import { z } from '#runtime/schema'
import { toCanonicalJson } from '#runtime/values/changes'
import { foldText } from '#runtime/values/fold'
import { noSuchAutomation, toAutomation } from '../automations.ts'
import { cancelPending } from '../engine/termination.ts'
import { isSameFlow } from '../flow.ts'
import { defaultTitle } from '../kinds.ts'
import { type AutomationChange, automation, conditions, messageInput } from '../schema.ts'
import type { AutomationMessage, AutomationType, Flow } from '../types.ts'
import {
  buildDefaultDefinition,
  type Definition,
  isSameDefinition,
  listMessages,
  mergeDefinition,
} from './definition.ts'
import { releasePending } from './release-held.ts'
import { addVersion } from './versions.ts'

const getPlace = ({ settings, store }: Context) => ({
  publicUrl: settings.publicUrl,
  currency: store.currency,
})

const maxAutomations = 50

/**
 * Creates an automation and returns its id. Refuses an invalid definition, an unknown template, a taken name, and more
 * than 50 automations.
 */
export async function createAutomation(
  ctx: Context,
  input: AutomationChange & { type: AutomationType },
): Promise<string> {
  const before = { ...buildDefaultDefinition(input.type, ctx.store.locale), flow: null }
  const definition = mergeDefinition(before, input, getPlace(ctx))
  await requireTemplates(ctx, null, definition)
  await ctx.lockStore()
  const names = await readNames(ctx)
  if (names.size >= maxAutomations) {
    throw refuse(
      'conflict',
      `There are ${maxAutomations} automations, and there cannot be more: delete one first`,
    )
  }
  const id = ctx.newId()
  const now = ctx.now()
  const name = definition.name ?? pickFreeName(defaultTitle(input.type, ctx.store.locale), names)
  await unlessNameTaken(name, () =>
    ctx.db
      .insertInto('automations')
      .values({
        id,
        type: definition.type,
        name,
        ...toColumns(definition),
        flow_version: null,
        activated_at: definition.isActive ? now : null,
        created_by: ctx.actor.userId,
        created_at: now,
        updated_at: now,
      })
      .execute(),
  )
  if (definition.flow) await saveFlow(ctx, id, definition.flow)
  await saveFileUses(ctx, id)
  return id
}

/** Creates an inactive abandoned-cart automation with defaults, unless one exists or the limit is reached. */
export async function createFirst(ctx: Context): Promise<void> {
  await ctx.lockStore()
  const all = await ctx.db.selectFrom('automations').select('type').where('deleted_at', 'is', null).execute()
  if (all.length >= maxAutomations || all.some(({ type }) => type === 'abandoned-cart')) return
  await createAutomation(ctx, { type: 'abandoned-cart' })
}

/**
 * Updates an automation; omitted fields keep their value. A changed flow is saved as a new version. Refuses an invalid
 * definition, a taken name, and an unknown template unless the automation already used it.
 */
export async function updateAutomation(ctx: Context, id: string, change: AutomationChange): Promise<void> {
  const row = await lockAutomation(ctx, id)
  const before = toAutomation(row)
  const after = mergeDefinition(before, change, getPlace(ctx))
  if (isSameDefinition(toDefinition(row), after)) return
  await requireTemplates(ctx, before, after)
  const now = ctx.now()
  const name = after.name!
  await unlessNameTaken(name, () =>
    ctx.db
      .updateTable('automations')
      .set({
        name,
        ...toColumns(after),
        activated_at: !after.isActive ? null : (row.activated_at ?? now),
        updated_at: now,
      })
      .where('id', '=', id)
      .execute(),
  )
  if (!isSameFlow(before.flow, after.flow)) await saveFlow(ctx, id, after.flow)
  await saveFileUses(ctx, id)
  if (toCanonicalJson(before.message) !== toCanonicalJson(after.message))
    await releasePending(ctx, id, 'template-pending')
  if (toCanonicalJson(before.quietHours) !== toCanonicalJson(after.quietHours))
    await releasePending(ctx, id, 'quiet-hours')
}

const referenceFields = z.object({ message: messageInput, conditions, flow: automation.shape.flow })

/**
 * Checks that the products, categories and files that a change adds exist. Call it outside a transaction, because it
 * calls the platform and the storage. `id` is null for a new automation.
 */
export async function requireKnownReferences(
  ctx: Context,
  id: string | null,
  change: AutomationChange,
): Promise<void> {
  const saved = ctx.db.selectFrom('automations').select(['message', 'conditions', 'flow'])
  const before = id === null ? null : await findRow(saved, id)
  await requireReferences(ctx, referenceFields, {
    before,
    after: change,
    kinds: ['product', 'category', 'file'],
  })
}

/**
 * Deletes an automation and cancels its pending messages. The row stays as a tombstone that every read hides, so that
 * sent messages keep the automation's name.
 */
export async function deleteAutomation(ctx: Context, id: string): Promise<void> {
  await lockAutomation(ctx, id)
  const now = ctx.now()
  await ctx.db
    .updateTable('automations')
    .set({ deleted_at: now, is_active: false, activated_at: null, updated_at: now })
    .where('id', '=', id)
    .execute()
  await cancelPending(ctx, id)
  await files.setUses(ctx, toFileOwner(id), [])
}

/** Locks the row until the transaction ends. Refuses an unknown automation. */
function lockAutomation(ctx: Context, id: string): Promise<Row<'automations'>> {
  const there = ctx.db.selectFrom('automations').selectAll().where('deleted_at', 'is', null)
  return requireRow(there.forNoKeyUpdate(), id, noSuchAutomation)
}

function toDefinition(row: Row<'automations'>): Definition {
  const { id, activatedAt, flowVersion, ...definition } = toAutomation(row)
  return definition
}

const toColumns = (definition: Definition) => ({
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
 * Checks a message's template only if the template or its parameters changed: a saved message stays valid if its template
 * was deleted or changed since.
 */
async function requireTemplates(ctx: Context, before: Messages | null, after: Messages): Promise<void> {
  const known = before ? listMessages(before).map(([, message]) => message) : []
  const ids = new Set(known.map(({ officialapiTemplateId }) => officialapiTemplateId))
  const fitted = new Set(known.map(toTemplateKey))
  for (const [field, message] of listMessages(after)) {
    const { officialapiTemplateId: id } = message
    if (id === null || fitted.has(toTemplateKey(message))) continue
    const template = await templates.get(ctx, id)
    if (template)
      templates.refuseMiscounted(template, message.templateParameters, `${field}.templateParameters`)
    else if (!ids.has(id)) {
      throw refuse('not_found', `${field}.officialapiTemplateId: there is no template ${id}`)
    }
  }
}

const toTemplateKey = ({ officialapiTemplateId, templateParameters }: AutomationMessage): string =>
  toCanonicalJson([officialapiTemplateId, templateParameters])

/** Reads the folded names of all automations. */
async function readNames(ctx: Context): Promise<Set<string>> {
  const rows = await ctx.db
    .selectFrom('automations')
    .select((eb) => eb.fn<string>('fold_text', ['name']).as('name'))
    .where('deleted_at', 'is', null)
    .execute()
  return new Set(rows.map(({ name }) => name))
}

/** Returns the title, followed by the lowest free number from 2 on if it is taken. */
function pickFreeName(title: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? title : `${title} ${number}`
    if (!taken.has(foldText(name))) return name
  }
}

const unlessNameTaken = <T>(name: string, write: () => Promise<T>): Promise<T> =>
  refuseDuplicate('automations_name', `name: there is an automation called ${name} already`, write)

async function saveFlow(ctx: Context, id: string, flow: Flow | null): Promise<void> {
  const version = await addVersion(ctx, id, flow)
  await ctx.db.updateTable('automations').set({ flow_version: version }).where('id', '=', id).execute()
}

const toFileOwner = (id: string): string => `automation:${id}`

/**
 * Records which files the automation uses, including files of older flow versions, which unfinished runs still follow.
 */
async function saveFileUses(ctx: Context, id: string): Promise<void> {
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
    listMessages({ message: message as AutomationMessage, flow }),
  )
  const urls = new Set(all.flatMap(([, { mediaUrl }]) => (mediaUrl === null ? [] : [mediaUrl])))
  await files.setUses(
    ctx,
    toFileOwner(id),
    [...urls].map((url) => ({ url, purpose: null, field: 'message.mediaUrl' })),
    undefined,
    all,
  )
}
