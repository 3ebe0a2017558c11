/** A kind of discounts as its operations have it: read, listed, made, changed, switched, deleted. */
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { always, mergedSchedule } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { type ListParts, preparedList } from '#runtime/database/list'
import { preparedOne } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { given } from '#runtime/values/changes'
import type { Draft } from './draft.ts'
import type { Kind } from './kinds.ts'
import { noSuch, type Saved, statusAt, statusIn } from './rows.ts'
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

/** `C`: its content; `Change`: what its operations take. */
interface Own<C extends { combinesWith: object }, Change extends Common> {
  /** One discount `d`. */
  json(db: Context['db'], now: unknown): RawBuilder<unknown>
  order: ListParts['order']
  /** Those that hold a product. */
  holding?(rows: DiscountRows, productId: unknown): DiscountRows
  /** Beside what a POST must give. */
  defaults: Partial<C>
  /** `base` with the fields that are the kind's own laid over it; whole, it must hold together. */
  merged(ctx: Context, base: C, change: Omit<Change, keyof Common>, before: Saved<C> | null): C | Promise<C>
  /** Asks platform and storage for what is new. */
  check?(ctx: Context, before: C | null, after: C): Promise<void>
  /** Refuses to activate what is nothing any more. */
  requireActivable(ctx: Context, content: C): Promise<void>
}

export function discountKind<C extends { combinesWith: object }, Change extends Common>(
  kind: Kind<C>,
  own: Own<C, Change>,
) {
  /** What is left out stays, or is the default. */
  async function merged(ctx: Context, before: Saved<C> | null, change: Change): Promise<Draft<C>> {
    const { name, isActive: _set, startsAt, endsAt, combinesWith, ...fields } = change
    const base = before?.content ?? (own.defaults as C)
    const combined = { ...base, combinesWith: { ...base.combinesWith, ...given(combinesWith ?? {}) } }
    const content = await own.merged(ctx, combined, fields, before)
    const schedule = mergedSchedule(ctx.now(), before ?? always, { startsAt, endsAt })
    const draft = { name: name ?? before!.name, isActive: before?.isActive ?? true, ...schedule, content }
    await own.check?.(ctx, before?.content ?? null, content)
    return draft
  }

  return {
    read: preparedOne<{ now: Date }>(
      noSuch(kind.noun),
      (db, { id, now }) => ({
        rows: db.selectFrom('discounts as d').where('d.id', '=', id).where('d.kind', '=', kind.name),
        item: own.json(db, now),
      }),
      { values: (ctx) => ({ now: ctx.now() }) },
    ),

    list: preparedList<DiscountFilters>(
      (db, values, has) => {
        let rows = db.selectFrom('discounts as d').where('d.kind', '=', kind.name) as DiscountRows
        if (has('status')) rows = rows.where(statusIn(values.now), '=', sql<never>`${values.status}`)
        if (has('search')) rows = rows.where(sql<boolean>`strpos(lower(d.name), lower(${values.search})) > 0`)
        if (has('productId')) rows = own.holding!(rows, values.productId)
        return { rows, item: own.json(db, values.now), page: 'd', order: own.order }
      },
      { text: ['search'] },
    ),

    /** Answers its id. Not inside a transaction. */
    async create(ctx: Context, input: Change & { name: string }): Promise<string> {
      const draft = await merged(ctx, null, input)
      return createDiscount(ctx, kind, { ...draft, isActive: input.isActive ?? true })
    },

    /** Whether it is active stays as it is. Not inside a transaction. */
    change: (ctx: Context, id: string, change: Change): Promise<void> =>
      changeDiscount(ctx, kind, id, (before) => merged(ctx, before, change)),

    /** Not inside a transaction. Refuses to activate what its dates or its limit hold back anyway. */
    setActive: (ctx: Context, id: string, isActive: boolean): Promise<void> =>
      changeDiscount(ctx, kind, id, async (before) => {
        if (isActive && !before.isActive) {
          const status = statusAt(before, ctx.now())
          if (status === 'ended') {
            throw refuse('conflict', `The ${kind.noun} has ended: change its endsAt first`)
          }
          if (status === 'exhausted') {
            throw refuse('conflict', `The ${kind.noun} is used up: raise its usageLimit first`)
          }
          await own.requireActivable(ctx, before.content)
        }
        const { name, startsAt, endsAt, content } = before
        return { name, startsAt, endsAt, content, isActive }
      }),

    /** Takes it off the platform, then away. Not inside a transaction. */
    remove: (ctx: Context, id: string): Promise<void> => deleteDiscount(ctx, kind, id),
  }
}
