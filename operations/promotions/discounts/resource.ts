/** Builds the operations of a kind of discounts: read, list, create, change, activate, delete. */

import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { always, mergeSchedule } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { type ListParts, preparedList } from '#runtime/database/list'
import { preparedOne } from '#runtime/database/rows'
import { matchesWords } from '#runtime/database/search'
import { refuse } from '#runtime/errors'
import { omitUndefined } from '#runtime/values/changes'
import type { Draft } from './draft.ts'
import type { Kind } from './kinds.ts'
import { getStatus, notFoundMessage, type Saved, statusSql } from './rows.ts'
import { changeDiscount, createDiscount, deleteDiscount } from './writes.ts'

interface Common {
  name?: string | undefined
  isActive?: boolean | undefined
  startsAt?: string | null | undefined
  endsAt?: string | null | undefined
  combinesWith?: object | undefined
}

export interface DiscountFilters {
  now: Date
  status?: string | undefined
  search?: string | undefined
  productId?: string | undefined
}

type DiscountRows = SelectQueryBuilder<TenantTables & { d: TenantTables['discounts'] }, 'd', object>

/** `C` is the content of the kind, `Change` the input of its operations. */
interface KindOperations<C extends { combinesWith: object }, Change extends Common> {
  /** JSON of one discount `d`. */
  json(db: Context['db'], now: unknown): RawBuilder<unknown>
  order: ListParts['order']
  /** Filters discounts that contain a product. */
  filterByProduct?(rows: DiscountRows, productId: unknown): DiscountRows
  /** Defaults of the fields that a POST may omit. */
  defaults: Partial<C>
  /** Merges the fields specific to the kind into `base`, and validates the result as a whole. */
  mergeContent(
    ctx: Context,
    base: C,
    change: Omit<Change, keyof Common>,
    before: Saved<C> | null,
  ): C | Promise<C>
  /** Checks new references at the platform and in the storage. */
  check?(ctx: Context, before: C | null, after: C): Promise<void>
  /** Refuses to activate a discount if the products that it needs no longer exist. */
  requireActivatable(ctx: Context, content: C): Promise<void>
}

export function buildKindOperations<C extends { combinesWith: object }, Change extends Common>(
  kind: Kind<C>,
  own: KindOperations<C, Change>,
) {
  /** Merges a change and checks the result. Omitted fields keep their value; in a new discount they get the default. */
  async function mergeDraft(ctx: Context, before: Saved<C> | null, change: Change): Promise<Draft<C>> {
    const { name, isActive: _set, startsAt, endsAt, combinesWith, ...fields } = change
    const base = before?.content ?? (own.defaults as C)
    const combined = { ...base, combinesWith: { ...base.combinesWith, ...omitUndefined(combinesWith ?? {}) } }
    const content = await own.mergeContent(ctx, combined, fields, before)
    const schedule = mergeSchedule(ctx.now(), before ?? always, { startsAt, endsAt })
    const draft = { name: name ?? before!.name, isActive: before?.isActive ?? true, ...schedule, content }
    await own.check?.(ctx, before?.content ?? null, content)
    return draft
  }

  return {
    read: preparedOne<{ now: Date }>(
      notFoundMessage(kind.noun),
      (db, { id, now }) => ({
        rows: db.selectFrom('discounts as d').where('d.id', '=', id).where('d.kind', '=', kind.name),
        item: own.json(db, now),
      }),
      { values: (ctx) => ({ now: ctx.now() }) },
    ),

    list: preparedList<DiscountFilters>(
      (db, values, has) => {
        let rows = db.selectFrom('discounts as d').where('d.kind', '=', kind.name) as DiscountRows
        if (has('status')) rows = rows.where(statusSql(values.now), '=', sql<never>`${values.status}`)
        if (has('search')) rows = rows.where(matchesWords(['d.name'], values.search))
        if (has('productId')) rows = own.filterByProduct!(rows, values.productId)
        return { rows, item: own.json(db, values.now), page: 'd', order: own.order }
      },
      { text: ['search'] },
    ),

    /** Creates a discount and returns its id. Not inside a transaction. */
    async create(ctx: Context, input: Change & { name: string }): Promise<string> {
      const draft = await mergeDraft(ctx, null, input)
      return createDiscount(ctx, kind, { ...draft, isActive: input.isActive ?? true })
    },

    /** Changes the fields of a discount, except `isActive`. Not inside a transaction. */
    change: (ctx: Context, id: string, change: Change): Promise<void> =>
      changeDiscount(ctx, kind, id, (before) => mergeDraft(ctx, before, change)),

    /** Activates or pauses a discount. Refuses to activate one that has ended or is used up. Not inside a transaction. */
    setActive: (ctx: Context, id: string, isActive: boolean): Promise<void> =>
      changeDiscount(ctx, kind, id, async (before) => {
        if (isActive && !before.isActive) {
          const status = getStatus(before, ctx.now())
          if (status === 'ended') {
            throw refuse('conflict', `The ${kind.noun} has ended: change its endsAt first`)
          }
          if (status === 'exhausted') {
            throw refuse('conflict', `The ${kind.noun} is used up: raise its usageLimit first`)
          }
          await own.requireActivatable(ctx, before.content)
        }
        const { name, startsAt, endsAt, content } = before
        return { name, startsAt, endsAt, content, isActive }
      }),

    /** Removes a discount from the platform, then deletes it here. Not inside a transaction. */
    remove: (ctx: Context, id: string): Promise<void> => deleteDiscount(ctx, kind, id),
  }
}
