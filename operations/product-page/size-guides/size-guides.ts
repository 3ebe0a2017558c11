/** Size guides: read, create, change and delete. */

import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { files } from '#operations/store/index'
import {
  everyProduct,
  findTarget,
  markStorefrontChanged,
  mergeTargeting,
  requireAssets,
  requireTargets,
  targetingFields,
} from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonFields, jsonObject } from '#runtime/database/json'
import { type Paging, preparedList } from '#runtime/database/list'
import { preparedOne, requireCapacity, requireRow } from '#runtime/database/rows'
import { matchesWords } from '#runtime/database/search'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { requireReferences } from '#runtime/references'
import { omitUndefined } from '#runtime/values/changes'
import { getEnglishTexts } from '#runtime/values/wording'
import { cleanHtml } from '../html.ts'
import { optimisticWrite } from '../optimistic-write.ts'
import { cleanTexts, listUsedPictures } from '../rich-text.ts'
import { findGuide } from './choice.ts'
import {
  guideWords,
  instructionsAtMost,
  type SizeGuideChange,
  type SizeGuideContent,
  sizeGuide,
} from './schema.ts'

const guidesAtMost = 200

const content = (...keys: (keyof SizeGuideContent)[]) => jsonFields('g.content', keys)
const guideJson = jsonObject({
  id: 'g.id',
  name: 'g.name',
  ...jsonFields('g.content', Object.keys(targetingFields)),
  ...content('unit', 'showUnitSwitch', 'tables', 'instructionsHtml', 'imageUrl', 'display', 'linkText'),
  isActive: 'g.is_active',
  createdAt: isoInstant('g.created_at'),
  updatedAt: isoInstant('g.updated_at'),
})

const noSuch = 'There is no such size guide'

export const readGuide = preparedOne(noSuch, (db, { id }) => ({
  rows: db.selectFrom('size_guides as g').where('g.id', '=', id),
  item: guideJson,
}))

const guideList = preparedList<{ search?: string | undefined; id?: string | undefined }>(
  (db, values, has) => {
    let rows = db.selectFrom('size_guides as g')
    if (has('id')) rows = rows.where('g.id', '=', sql<string>`${values.id}`)
    if (has('search')) rows = rows.where(matchesWords(['g.name'], values.search))
    return { rows, item: guideJson, page: 'g', order: [['g.id', 'desc']] }
  },
  { text: ['search'] },
)

/**
 * Lists guides, newest first; with a product, only the guide that is shown for it. May fetch the product from the
 * platform, so not inside a transaction.
 */
export async function listGuides(
  ctx: Context,
  query: Paging & { search?: string | undefined; productId?: string | undefined },
): Promise<JsonText> {
  const { productId, ...filters } = query
  if (productId === undefined) return guideList(ctx, filters)
  const product = await findTarget(ctx, productId)
  const [shown] = product ? await findGuide(ctx, product) : []
  if (shown) return guideList(ctx, { ...filters, id: shown.id })
  const { page, limit } = query
  return new JsonText(JSON.stringify({ data: [], page, limit, total: 0 }))
}

interface Draft {
  name: string
  isActive: boolean
  content: SizeGuideContent
}

const defaults: Omit<SizeGuideContent, 'tables'> = {
  ...everyProduct,
  unit: 'cm',
  showUnitSwitch: false,
  instructionsHtml: null,
  imageUrl: null,
  display: 'modal',
  ...getEnglishTexts(guideWords),
}

async function find(ctx: Context, id: string): Promise<Draft & { id: string }> {
  const saved = ctx.db.selectFrom('size_guides').select(['id', 'name', 'is_active as isActive', 'content'])
  const row = await requireRow(saved, id, noSuch)
  return { ...row, content: row.content as SizeGuideContent }
}

/** Creates a guide and returns its id. Not inside a transaction. */
export async function createGuide(
  ctx: Context,
  input: SizeGuideChange & Required<Pick<SizeGuideChange, 'name' | 'tables'>>,
): Promise<string> {
  const draft = await prepare(ctx, null, input)
  return ctx.transaction(async (tx) => {
    const full = `There are ${guidesAtMost} size guides, and there cannot be more: delete one first`
    await requireCapacity(tx, tx.db.selectFrom('size_guides'), guidesAtMost, full)
    const id = tx.newId()
    const now = tx.now()
    await tx.db
      .insertInto('size_guides')
      .values({ id, ...toColumns(draft), created_at: now, updated_at: now })
      .execute()
    await retainFiles(tx, id, { before: null, after: draft.content })
    await markStorefrontChanged(tx)
    return id
  })
}

/** Changes a guide. Fields left out keep their value; an unchanged guide is not written. Not inside a transaction. */
export async function changeGuide(ctx: Context, id: string, change: SizeGuideChange): Promise<void> {
  await optimisticWrite(ctx, {
    read: (at) => find(at, id),
    prepare: (before) => prepare(ctx, before, change),
    async write(tx, { id: known, ...before }, after) {
      if (isDeepStrictEqual(before, after)) return
      await tx.db
        .updateTable('size_guides')
        .set({ ...toColumns(after), updated_at: tx.now() })
        .where('id', '=', known)
        .execute()
      await retainFiles(tx, known, { before: before.content, after: after.content })
      await markStorefrontChanged(tx)
    },
  })
}

/** Deletes a guide, in the caller's transaction. */
export async function deleteGuide(ctx: Context, id: string): Promise<void> {
  await ctx.lockStore()
  const { id: known } = await find(ctx, id)
  await ctx.db.deleteFrom('size_guides').where('id', '=', known).execute()
  await retainFiles(ctx, known, { before: null, after: null })
  await markStorefrontChanged(ctx)
}

const toColumns = ({ name, isActive, content: kept }: Draft) => ({
  name,
  is_active: isActive,
  content: JSON.stringify(kept),
})

/** Merges a change, validates and cleans the result, and checks the products, categories and files that it names. */
async function prepare(ctx: Context, before: Draft | null, change: SizeGuideChange): Promise<Draft> {
  const { name, isActive, tables, instructionsHtml, ...rest } = change
  const { scope, categoryIds, productIds, excludedProductIds, ...own } = rest
  const saved = before?.content ?? null
  const after = {
    ...(saved ?? defaults),
    ...omitUndefined(own),
    ...mergeTargeting(saved ?? everyProduct, { scope, categoryIds, productIds, excludedProductIds }),
    instructionsHtml:
      instructionsHtml === undefined
        ? (saved?.instructionsHtml ?? null)
        : await cleanInstructions(ctx, instructionsHtml),
    tables: tables
      ? tables.map(({ title = null, columns, rows }) => ({ title, columns, rows }))
      : saved!.tables,
  }
  requireConsistent(after)
  await requireTargets(ctx, saved, after)
  await requireReferences(ctx, sizeGuide, { before: saved, after, kinds: ['file'] })
  const known = new Set(saved ? listPictures(saved).map(({ url }) => url) : [])
  await requireAssets(
    ctx,
    listPictures(after).filter(({ url }) => !known.has(url)),
  )
  return { name: name ?? before!.name, isActive: isActive ?? before?.isActive ?? true, content: after }
}

/** Cleans the HTML; null if nothing remains. */
async function cleanInstructions(ctx: Context, html: string | null): Promise<string | null> {
  if (html === null || cleanHtml(html, () => true).trim() === '') return null
  const [clean] = await cleanTexts(ctx, [{ field: 'instructionsHtml', html, atMost: instructionsAtMost }])
  return clean!
}

function requireConsistent({ unit, showUnitSwitch, tables }: SizeGuideContent): void {
  if (unit === 'none' && showUnitSwitch) {
    throw refuse('bad_request', 'showUnitSwitch: needs a unit of cm or in')
  }
  for (const [at, { columns, rows }] of tables.entries()) {
    const wrong = rows.findIndex((row) => row.length !== columns.length)
    if (wrong >= 0) {
      throw refuse(
        'bad_request',
        `tables.${at}.rows.${wrong}: must have ${columns.length} cells, one for each column`,
      )
    }
  }
}

/** Pictures in the guide's HTML. The schema's reference marks find the references of all other fields, but not these. */
const listPictures = ({ instructionsHtml }: SizeGuideContent): { url: string; field: string }[] =>
  instructionsHtml === null ? [] : listUsedPictures('instructionsHtml', instructionsHtml)

const retainFiles = (
  ctx: Context,
  id: string,
  named: { before: SizeGuideContent | null; after: SizeGuideContent | null },
): Promise<void> =>
  files.trackFiles(ctx, `size-guide:${id}`, sizeGuide, {
    ...named,
    also: named.after ? listPictures(named.after) : [],
  })
