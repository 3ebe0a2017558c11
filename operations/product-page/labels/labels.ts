/** Stickers and badges as rows: read, made, changed and deleted alike. */
import { isDeepStrictEqual } from 'node:util'
import type { RawBuilder } from 'kysely'
import { files } from '#operations/store/door'
import {
  always,
  type Condition,
  changed,
  conditionFields,
  everyProduct,
  mergedCondition,
  mergedSchedule,
  mergedTargeting,
  requireTargets,
  type Schedule,
  type ScheduleChange,
  type Targeting,
  type TargetingChange,
  targetingFields,
  unconditional,
} from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { fieldsOf, instantOf, jsonObject } from '#runtime/database/json'
import { preparedList } from '#runtime/database/list'
import { oneRow, preparedOne, requireRoom } from '#runtime/database/rows'
import { requireReferences } from '#runtime/references'
import type { z } from '#runtime/schema'
import { given } from '#runtime/values/changes'
import { settledWrite } from '../settled-write.ts'

const labelsAtMost = 50

export type LabelKind = 'sticker' | 'badge'

/** What a kind keeps as `content`: the fields of both, and its own. */
export type LabelContent<Own> = Own & Targeting & Condition

/** What is written of a label. */
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

/** What is a kind's own. */
export interface Kind<Own extends object> {
  name: LabelKind
  /** Its own fields, in the order in which they are shown. */
  fields: z.AnyZodObject
  /** Beside what a new one must give. */
  defaults: Partial<Own>
  /** Its own as it is kept; refuses what cannot be. */
  whole?(own: Own): Own
  /** Whose marks say what it names. */
  schema: z.ZodTypeAny
  /** What its list has beside the labels. */
  beside?(db: Context['db']): Record<string, RawBuilder<unknown>>
}

/** Of a row `l`. */
const labelJson = <Own extends object>(kind: Kind<Own>) =>
  jsonObject({
    id: 'l.id',
    name: 'l.name',
    ...fieldsOf('l.content', Object.keys({ ...targetingFields, ...conditionFields, ...kind.fields.shape })),
    startsAt: instantOf('l.starts_at'),
    endsAt: instantOf('l.ends_at'),
    isActive: 'l.is_active',
    priority: 'l.priority',
    createdAt: instantOf('l.created_at'),
    updatedAt: instantOf('l.updated_at'),
  })

const noSuch = (kind: LabelKind) => `There is no such ${kind}`

/** A kind of labels as its operations have it. */
export const labelKind = <Own extends object, Change extends LabelChange>(kind: Kind<Own>) => ({
  read: preparedOne(noSuch(kind.name), (db, { id }) => ({
    rows: db.selectFrom('product_labels as l').where('l.id', '=', id).where('l.kind', '=', kind.name),
    item: labelJson(kind),
  })),

  /** By priority, then newest. */
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
      extra: kind.beside?.(db) ?? {},
    }
  }),

  /** Answers its id. Not inside a transaction. Refuses the 51st. */
  create: (ctx: Context, input: Change & { name: string }): Promise<string> => createLabel(ctx, kind, input),

  /** What is left out stays; the same again changes nothing. Not inside a transaction. */
  change: (ctx: Context, id: string, change: Change): Promise<void> => changeLabel(ctx, kind, id, change),

  /** In the caller's transaction. */
  remove: (ctx: Context, id: string): Promise<void> => deleteLabel(ctx, kind, id),
})

async function find<Own>(ctx: Context, kind: LabelKind, id: string): Promise<Label<Own> & { id: string }> {
  const saved = ctx.db
    .selectFrom('product_labels')
    .select(['id', 'name', 'content', 'starts_at', 'ends_at', 'is_active', 'priority'])
    .where('kind', '=', kind)
  const row = await oneRow(saved, id, noSuch(kind))
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

function merged<Own extends object>(
  ctx: Context,
  kind: Kind<Own>,
  before: Label<Own> | null,
  change: LabelChange & object,
): Label<Own> {
  const { name, isActive, priority, startsAt, endsAt, condition, conditionValue, ...rest } = change
  const { scope, categoryIds, productIds, excludedProductIds, ...own } = rest
  const saved = before?.content ?? null
  const kept = { ...kind.defaults, ...saved, ...given(own) } as Own
  return {
    name: name ?? before!.name,
    isActive: isActive ?? before?.isActive ?? true,
    priority: priority ?? before?.priority ?? 100,
    ...mergedSchedule(ctx.now(), before ?? always, { startsAt, endsAt }),
    content: {
      ...(kind.whole?.(kept) ?? kept),
      ...mergedTargeting(saved ?? everyProduct, { scope, categoryIds, productIds, excludedProductIds }),
      ...mergedCondition(saved ?? unconditional, { condition, conditionValue }),
    },
  }
}

/** Asks platform and storage for what is new: not inside a transaction. */
async function check<Own extends object>(
  ctx: Context,
  kind: Kind<Own>,
  before: Label<Own> | null,
  after: Label<Own>,
): Promise<void> {
  await requireTargets(ctx, before?.content ?? null, after.content)
  const named = { before: before?.content, after: after.content }
  await requireReferences(ctx, kind.schema, { ...named, kinds: ['file'] })
}

const columnsOf = <Own>({ name, isActive, priority, startsAt, endsAt, content }: Label<Own>) => ({
  name,
  is_active: isActive,
  priority,
  starts_at: startsAt,
  ends_at: endsAt,
  content: JSON.stringify(content),
})

const keepFiles = <Own extends object>(
  ctx: Context,
  kind: Kind<Own>,
  id: string,
  named: { before: Own | null; after: Own | null },
) => files.keepNamed(ctx, `product-${kind.name}:${id}`, kind.schema, named)

async function createLabel<Own extends object>(
  ctx: Context,
  kind: Kind<Own>,
  input: LabelChange & { name: string },
): Promise<string> {
  const label = merged(ctx, kind, null, input)
  await check(ctx, kind, null, label)
  return ctx.transaction(async (tx) => {
    const all = tx.db.selectFrom('product_labels').where('kind', '=', kind.name)
    const full = `There are ${labelsAtMost} ${kind.name}s, and there cannot be more: delete one first`
    await requireRoom(tx, all, labelsAtMost, full)
    const id = tx.newId()
    const now = tx.now()
    await tx.db
      .insertInto('product_labels')
      .values({ id, kind: kind.name, ...columnsOf(label), created_at: now, updated_at: now })
      .execute()
    await keepFiles(tx, kind, id, { before: null, after: label.content })
    await changed(tx)
    return id
  })
}

async function changeLabel<Own extends object>(
  ctx: Context,
  kind: Kind<Own>,
  id: string,
  change: LabelChange,
): Promise<void> {
  await settledWrite(ctx, {
    read: (at) => find<Own>(at, kind.name, id),
    async prepare(before) {
      const after = merged(ctx, kind, before, change)
      await check(ctx, kind, before, after)
      return after
    },
    async write(tx, { id: known, ...before }, after) {
      if (isDeepStrictEqual(before, after)) return
      await tx.db
        .updateTable('product_labels')
        .set({ ...columnsOf(after), updated_at: tx.now() })
        .where('id', '=', known)
        .execute()
      await keepFiles(tx, kind, known, { before: before.content, after: after.content })
      await changed(tx)
    },
  })
}

async function deleteLabel<Own extends object>(ctx: Context, kind: Kind<Own>, id: string): Promise<void> {
  await ctx.lockStore()
  const { id: known } = await find(ctx, kind.name, id)
  await ctx.db.deleteFrom('product_labels').where('id', '=', known).execute()
  await keepFiles(ctx, kind, known, { before: null, after: null })
  await changed(ctx)
}
