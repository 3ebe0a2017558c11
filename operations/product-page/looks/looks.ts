/** Looks: read, create, change and delete. */

import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { files } from '#operations/store/index'
import { deleteCounts, markStorefrontChanged, snapshots } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { preparedList } from '#runtime/database/list'
import { preparedOne, requireCapacity, requireRow } from '#runtime/database/rows'
import { matchesWords } from '#runtime/database/search'
import { refuse } from '#runtime/errors'
import { requireReferences } from '#runtime/references'
import { omitUndefined } from '#runtime/values/changes'
import { optimisticWrite } from '../optimistic-write.ts'
import { checkLook } from './health.ts'
import { containsAny, healthSql, lookJson, problemJson } from './json.ts'
import { type LookContent, type LookInput, look } from './schema.ts'
import { dropFromSections } from './settings.ts'

const looksAtMost = 200

const noSuch = 'There is no such look'

export const readLook = preparedOne<{ currency: string }>(
  noSuch,
  (db, { id, currency }) => ({
    rows: db.selectFrom('looks as l').where('l.id', '=', id),
    item: lookJson(db, currency),
  }),
  { values: (ctx) => ({ currency: ctx.store.currency }) },
)

interface Filters {
  currency: string
  isActive?: boolean | undefined
  health?: string | undefined
  productId?: string | undefined
  search?: string | undefined
}

/** The list of looks, newest first. */
export const listLooks = preparedList<Filters>(
  (db, values, has) => {
    let rows = db.selectFrom('looks as l')
    if (has('isActive')) rows = rows.where('l.is_active', '=', values.isActive as boolean)
    if (has('health')) rows = rows.where('l.health', '=', sql<string>`${values.health}`)
    if (has('productId')) rows = rows.where(containsAny(sql`array[${values.productId}::text]`))
    if (has('search')) rows = rows.where(matchesWords(['l.name'], values.search))
    return { rows, item: lookJson(db, values.currency), page: 'l', order: [['l.id', 'desc']] }
  },
  { text: ['search'] },
)

/** Looks with unavailable items, `broken` before `degraded`, which is also the alphabetical order of the two. */
export const listProblems = preparedList<{ health?: string | undefined }>((db, values, has) => {
  let rows = db.selectFrom('looks as l').where('l.health', '<>', 'healthy')
  if (has('health')) rows = rows.where('l.health', '=', sql<string>`${values.health}`)
  const ofAll = db.selectFrom('looks as a').select(
    sql`json_build_object('healthy', count(*) filter (where a.health = 'healthy'),
        'degraded', count(*) filter (where a.health = 'degraded'),
        'broken', count(*) filter (where a.health = 'broken'))`.as('summary'),
  )
  return {
    rows,
    item: problemJson(db),
    page: 'l',
    order: [
      ['l.health', 'asc'],
      ['l.checked_at', 'asc'],
      ['l.id', 'asc'],
    ],
    extra: { summary: sql`(${ofAll})` },
  }
})

interface Draft {
  name: string
  isActive: boolean
  content: LookContent
}
type Saved = Draft & { id: string }

async function find(ctx: Context, id: string): Promise<Saved> {
  const saved = ctx.db.selectFrom('looks').select(['id', 'name', 'is_active as isActive', 'content'])
  const row = await requireRow(saved, id, noSuch)
  return { ...row, content: row.content as LookContent }
}

/** Creates a look and returns its id. Calls the platform, so not inside a transaction. */
export async function createLook(ctx: Context, input: LookInput): Promise<string> {
  for (const field of ['name', 'imageUrl', 'items'] as const) {
    if (input[field] === undefined) throw refuse('bad_request', `${field}: is required for a new look`)
  }
  const draft = merged(null, input)
  await check(ctx, null, draft.content)
  return ctx.transaction(async (tx) => {
    const full = `There are ${looksAtMost} looks, and there cannot be more: delete one first`
    await requireCapacity(tx, tx.db.selectFrom('looks'), looksAtMost, full)
    const id = tx.newId()
    const now = tx.now()
    await tx.db
      .insertInto('looks')
      .values({
        id,
        ...toColumns(draft),
        // The merchant is notified when a look becomes broken. Created as `broken`, a new look does not notify.
        health: 'broken',
        checked_at: now,
        created_at: now,
        updated_at: now,
      })
      .execute()
    await tx.db
      .updateTable('looks as l')
      .set({ health: healthSql(tx.db) })
      .where('l.id', '=', id)
      .execute()
    await retainFiles(tx, id, { before: null, after: draft.content })
    await markStorefrontChanged(tx)
    return id
  })
}

/** Changes a look. Fields left out keep their value; an unchanged look is not written. Not inside a transaction. */
export async function changeLook(ctx: Context, id: string, input: LookInput): Promise<void> {
  await optimisticWrite(ctx, {
    read: (at) => find(at, id),
    async prepare(before) {
      const after = merged(before, input)
      await check(ctx, before.content, after.content)
      return after
    },
    async write(tx, { id: known, ...before }, after) {
      if (isDeepStrictEqual(before, after)) return
      await tx.db
        .updateTable('looks')
        .set({ ...toColumns(after), updated_at: tx.now() })
        .where('id', '=', known)
        .execute()
      if (!isDeepStrictEqual(before.content.items, after.content.items)) await checkLook(tx, known)
      await retainFiles(tx, known, { before: before.content, after: after.content })
      await markStorefrontChanged(tx)
    },
  })
}

/** Deletes a look and removes it from the sections of the home page. Runs in the caller's transaction. */
export async function deleteLook(ctx: Context, id: string): Promise<void> {
  await ctx.lockStore()
  const { id: known } = await find(ctx, id)
  await ctx.db.deleteFrom('looks').where('id', '=', known).execute()
  await deleteCounts(ctx, 'look', known)
  await retainFiles(ctx, known, { before: null, after: null })
  await dropFromSections(ctx, known)
  await markStorefrontChanged(ctx)
}

/**
 * Checks the look's items at the platform now. Throws `Unavailable` if the platform does not answer; then the last result
 * stays. Not inside a transaction.
 */
export async function revalidateLook(ctx: Context, id: string): Promise<void> {
  const { id: known, content } = await find(ctx, id)
  await snapshots.readLive(ctx, listProductIds(content))
  await ctx.transaction((tx) => checkLook(tx, known))
}

const listProductIds = ({ items }: LookContent): string[] => [...new Set(items.map((item) => item.productId))]

/** Merges a change. Fields left out keep their value; in a new look they get the default. */
function merged(before: Draft | null, input: LookInput): Draft {
  const { name, isActive, description, imageUrl, imageAlt, items, showOnProductPages } = input
  const content = {
    ...(before?.content ?? { description: null, imageAlt: null, showOnProductPages: true }),
    ...omitUndefined({ description, imageUrl, imageAlt, showOnProductPages }),
  } as LookContent
  if (items) {
    content.items = items.map(({ productId, variantId = null, quantity = 1, hotspot = null }) => ({
      ...{ productId, variantId, quantity, hotspot },
    }))
  }
  refuseDuplicates(content)
  return { name: name ?? before!.name, isActive: isActive ?? before?.isActive ?? true, content }
}

const toItemKey = ({ productId, variantId }: { productId: string; variantId: string | null }): string =>
  JSON.stringify([productId, variantId])

function refuseDuplicates({ items }: LookContent): void {
  const seen = new Set<string>()
  for (const [at, item] of items.entries()) {
    if (seen.has(toItemKey(item))) {
      throw refuse('bad_request', `items.${at}: names the product and variant of another item`)
    }
    seen.add(toItemKey(item))
  }
}

/** Checks that new items exist, and that a new picture is https or an upload. Calls the platform and the storage. */
async function check(ctx: Context, before: LookContent | null, after: LookContent): Promise<void> {
  await requireReferences(ctx, look, { before, after, kinds: ['file'] })
  if (isDeepStrictEqual(before?.items, after.items)) return
  const known = new Set(before?.items.map(toItemKey))
  const products = await snapshots.readLive(ctx, listProductIds(after))
  for (const [at, item] of after.items.entries()) {
    const { productId, variantId } = item
    if (known.has(toItemKey(item)) || snapshots.getStatus(products.get(productId), variantId) !== 'missing')
      continue
    throw products.get(productId)?.exists
      ? refuse('bad_request', `items.${at}.variantId: product ${productId} has no variant ${variantId}`)
      : refuse('bad_request', `items.${at}.productId: your platform has no product ${productId}`)
  }
}

const toColumns = ({ name, isActive, content }: Draft) => ({
  name,
  is_active: isActive,
  content: JSON.stringify(content),
})

const retainFiles = (
  ctx: Context,
  id: string,
  named: { before: LookContent | null; after: LookContent | null },
): Promise<void> => files.trackFiles(ctx, `look:${id}`, look, named)
