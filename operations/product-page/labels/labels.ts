/** Labels, which are stickers and badges: one implementation of read, create, change and delete for both kinds. */
import { isDeepStrictEqual } from 'node:util'
import type { RawBuilder } from 'kysely'
import { files } from '#operations/store/index'
import {
  always,
  type Condition,
  conditionFields,
  everyProduct,
  markStorefrontChanged,
  mergeCondition,
  mergeSchedule,
  mergeTargeting,
  requireTargets,
  type Schedule,
  type ScheduleChange,
  type Targeting,
  type TargetingChange,
  targetingFields,
  unconditional,
} from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonFields, jsonObject } from '#runtime/database/json'
import { preparedList } from '#runtime/database/list'
import { preparedOne, requireCapacity, requireRow } from '#runtime/database/rows'
import { requireReferences } from '#runtime/references'
import type { z } from '#runtime/schema'
import { omitUndefined } from '#runtime/values/changes'
import { optimisticWrite } from '../optimistic-write.ts'

const labelsAtMost = 50

export type LabelKind = 'sticker' | 'badge'

/** The `content` of a label: the common fields and the fields of its kind. */
export type LabelContent<Own> = Own & Targeting & Condition

/** The writable fields of a label. */
interface Label<Own> extends Schedule {
  name: string
  isActive: boolean
  priority: number
  content: LabelContent<Own>
}

export interface LabelChange extends TargetingChange, ScheduleChange {
  name?: string | undefined
  isActive?: boolean | undefined
  priority?: number | undefined
  condition?: Condition['condition'] | undefined
  conditionValue?: number | null | undefined
}

/** Describes how a kind of label differs from the other. */
export interface KindSpec<Own extends object> {
  name: LabelKind
  /** The kind's own fields, in the order in which they are shown. */
  fields: z.AnyZodObject
  /** Defaults of fields that a new label may leave out. */
  defaults: Partial<Own>
  /** Normalizes the kind's own fields before they are stored; refuses invalid ones. */
  normalize?(own: Own): Own
  /** Schema of a label. Its reference marks show which products and files the label names. */
  schema: z.ZodTypeAny
  /** Extra columns of the kind's list. */
  extraColumns?(db: Context['db']): Record<string, RawBuilder<unknown>>
}

/** A label `l` as JSON. */
const labelJson = <Own extends object>(kind: KindSpec<Own>) =>
  jsonObject({
    id: 'l.id',
    name: 'l.name',
    ...jsonFields('l.content', Object.keys({ ...targetingFields, ...conditionFields, ...kind.fields.shape })),
    startsAt: isoInstant('l.starts_at'),
    endsAt: isoInstant('l.ends_at'),
    isActive: 'l.is_active',
    priority: 'l.priority',
    createdAt: isoInstant('l.created_at'),
    updatedAt: isoInstant('l.updated_at'),
  })

const noSuch = (kind: LabelKind) => `There is no such ${kind}`

/** Builds the functions that the API operations of a kind call. */
export const labelKind = <Own extends object, Change extends LabelChange>(kind: KindSpec<Own>) => ({
  read: preparedOne(noSuch(kind.name), (db, { id }) => ({
    rows: db.selectFrom('product_labels as l').where('l.id', '=', id).where('l.kind', '=', kind.name),
    item: labelJson(kind),
  })),

  /** The list of labels, by priority, then newest first. */
  list: preparedList<{ isActive?: boolean | undefined }>((db, values, has) => {
    let rows = db.selectFrom('product_labels as l').where('l.kind', '=', kind.name)
    if (has('isActive')) rows = rows.where('l.is_active', '=', values.isActive as boolean)
    return {
      rows,
      item: labelJson(kind),
      page: 'l',
      order: [
        ['l.priority', 'asc'],
        ['l.id', 'desc'],
      ],
      extra: kind.extraColumns?.(db) ?? {},
    }
  }),

  /** Creates a label and returns its id. Refuses the 51st label of the kind. Not inside a transaction. */
  create: (ctx: Context, input: Change & { name: string }): Promise<string> => createLabel(ctx, kind, input),

  /** Changes a label. Fields left out keep their value; an unchanged label is not written. Not inside a transaction. */
  change: (ctx: Context, id: string, change: Change): Promise<void> => changeLabel(ctx, kind, id, change),

  /** Deletes a label, in the caller's transaction. */
  remove: (ctx: Context, id: string): Promise<void> => deleteLabel(ctx, kind, id),
})

async function find<Own>(ctx: Context, kind: LabelKind, id: string): Promise<Label<Own> & { id: string }> {
  const saved = ctx.db
    .selectFrom('product_labels')
    .select(['id', 'name', 'content', 'starts_at', 'ends_at', 'is_active', 'priority'])
    .where('kind', '=', kind)
  const row = await requireRow(saved, id, noSuch(kind))
  return {
    id: row.id,
    name: row.name,
    isActive: row.is_active,
    priority: row.priority,
    startsAt: row.starts_at?.toISOString() ?? null,
    endsAt: row.ends_at?.toISOString() ?? null,
    content: row.content as LabelContent<Own>,
  }
}

function mergeLabel<Own extends object>(
  ctx: Context,
  kind: KindSpec<Own>,
  before: Label<Own> | null,
  change: LabelChange & object,
): Label<Own> {
  const { name, isActive, priority, startsAt, endsAt, condition, conditionValue, ...rest } = change
  const { scope, categoryIds, productIds, excludedProductIds, ...own } = rest
  const saved = before?.content ?? null
  const kept = { ...kind.defaults, ...saved, ...omitUndefined(own) } as Own
  return {
    name: name ?? before!.name,
    isActive: isActive ?? before?.isActive ?? true,
    priority: priority ?? before?.priority ?? 100,
    ...mergeSchedule(ctx.now(), before ?? always, { startsAt, endsAt }),
    content: {
      ...(kind.normalize?.(kept) ?? kept),
      ...mergeTargeting(saved ?? everyProduct, { scope, categoryIds, productIds, excludedProductIds }),
      ...mergeCondition(saved ?? unconditional, { condition, conditionValue }),
    },
  }
}

/** Checks new references at the platform and the storage, so not inside a transaction. */
async function check<Own extends object>(
  ctx: Context,
  kind: KindSpec<Own>,
  before: Label<Own> | null,
  after: Label<Own>,
): Promise<void> {
  await requireTargets(ctx, before?.content ?? null, after.content)
  const named = { before: before?.content, after: after.content }
  await requireReferences(ctx, kind.schema, { ...named, kinds: ['file'] })
}

const toColumns = <Own>({ name, isActive, priority, startsAt, endsAt, content }: Label<Own>) => ({
  name,
  is_active: isActive,
  priority,
  starts_at: startsAt,
  ends_at: endsAt,
  content: JSON.stringify(content),
})

const retainFiles = <Own extends object>(
  ctx: Context,
  kind: KindSpec<Own>,
  id: string,
  named: { before: Own | null; after: Own | null },
) => files.trackFiles(ctx, `product-${kind.name}:${id}`, kind.schema, named)

async function createLabel<Own extends object>(
  ctx: Context,
  kind: KindSpec<Own>,
  input: LabelChange & { name: string },
): Promise<string> {
  const label = mergeLabel(ctx, kind, null, input)
  await check(ctx, kind, null, label)
  return ctx.transaction(async (tx) => {
    const all = tx.db.selectFrom('product_labels').where('kind', '=', kind.name)
    const full = `There are ${labelsAtMost} ${kind.name}s, and there cannot be more: delete one first`
    await requireCapacity(tx, all, labelsAtMost, full)
    const id = tx.newId()
    const now = tx.now()
    await tx.db
      .insertInto('product_labels')
      .values({ id, kind: kind.name, ...toColumns(label), created_at: now, updated_at: now })
      .execute()
    await retainFiles(tx, kind, id, { before: null, after: label.content })
    await markStorefrontChanged(tx)
    return id
  })
}

async function changeLabel<Own extends object>(
  ctx: Context,
  kind: KindSpec<Own>,
  id: string,
  change: LabelChange,
): Promise<void> {
  await optimisticWrite(ctx, {
    read: (at) => find<Own>(at, kind.name, id),
    async prepare(before) {
      const after = mergeLabel(ctx, kind, before, change)
      await check(ctx, kind, before, after)
      return after
    },
    async write(tx, { id: known, ...before }, after) {
      if (isDeepStrictEqual(before, after)) return
      await tx.db
        .updateTable('product_labels')
        .set({ ...toColumns(after), updated_at: tx.now() })
        .where('id', '=', known)
        .execute()
      await retainFiles(tx, kind, known, { before: before.content, after: after.content })
      await markStorefrontChanged(tx)
    },
  })
}

async function deleteLabel<Own extends object>(ctx: Context, kind: KindSpec<Own>, id: string): Promise<void> {
  await ctx.lockStore()
  const { id: known } = await find(ctx, kind.name, id)
  await ctx.db.deleteFrom('product_labels').where('id', '=', known).execute()
  await retainFiles(ctx, kind, known, { before: null, after: null })
  await markStorefrontChanged(ctx)
}
