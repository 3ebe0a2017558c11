/** Content blocks: create, change, enable, order and delete. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { files } from '#operations/store/index'
import {
  always,
  deleteCounts,
  everyProduct,
  findTarget,
  getPhase,
  markStorefrontChanged,
  mergeSchedule,
  mergeTargeting,
  requireTargets,
  type Schedule,
} from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import type { Paging } from '#runtime/database/list'
import { countRows, reorder, requireCapacity } from '#runtime/database/rows'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { optimisticWrite } from '../optimistic-write.ts'
import { checkDesign, listAssets, mergeDesign } from './design.ts'
import type { BlockType, Design } from './designs.ts'
import { type Block, type BlockContent, blockList, findBlock, noSuchBlock } from './rows.ts'
import type { BlockChange, NewBlock } from './schema.ts'

const blocksAtMost = 100

/**
 * Lists blocks; with a product, those that target it. Empty for a product that neither the catalog cache nor the
 * platform knows. May call the platform, so not inside a transaction.
 */
export async function listBlocks(
  ctx: Context,
  query: Paging & {
    type?: BlockType | undefined
    isActive?: boolean | undefined
    productId?: string | undefined
  },
): Promise<JsonText> {
  const { productId, ...filters } = query
  const now = ctx.now()
  if (productId === undefined) return blockList(ctx, { ...filters, now })
  const product = await findTarget(ctx, productId)
  if (!product) return emptyPage(query)
  return blockList(ctx, { ...filters, now, productId, categoryIds: [...product.categoryIds] })
}

const emptyPage = ({ page, limit }: Paging): JsonText =>
  new JsonText(JSON.stringify({ data: [], page, limit, total: 0 }))

/** A block after a change, before its references are checked. */
interface Draft extends Schedule {
  name: string
  content: BlockContent
  whole: Design
}

const defaultContent: BlockContent = { ...everyProduct, placement: 'below-description', device: 'all' }

function mergeDraft(ctx: Context, before: Block | null, type: BlockType, change: BlockChange): Draft {
  const base = before?.content ?? defaultContent
  const { name, design, startsAt, endsAt, placement, device, ...targeting } = change
  return {
    name: name ?? before!.name,
    ...mergeSchedule(ctx.now(), before ?? always, { startsAt, endsAt }),
    content: {
      ...mergeTargeting(base, targeting),
      placement: placement ?? base.placement,
      device: device ?? base.device,
    },
    whole: mergeDesign(type, before?.design ?? null, design ?? {}),
  }
}

/** Checks references at the platform and the storage, and cleans the HTML. */
async function checkDraft(ctx: Context, before: Block | null, draft: Draft): Promise<Draft> {
  await requireTargets(ctx, before?.content ?? null, draft.content)
  const saved = before ? ({ type: before.type, design: before.design } as Design) : null
  return { ...draft, whole: await checkDesign(ctx, saved, draft.whole) }
}

const toColumns = ({ name, content, whole, startsAt, endsAt }: Draft) => ({
  name,
  design: JSON.stringify(whole.design),
  content: JSON.stringify(content),
  starts_at: startsAt,
  ends_at: endsAt,
})

const retainFiles = (ctx: Context, id: string, whole: Design | null): Promise<void> =>
  files.setUses(
    ctx,
    `content-block:${id}`,
    (whole ? listAssets(whole) : []).map((use) => ({ ...use, purpose: null })),
    undefined,
    whole,
  )

/** Creates a paused block as the last one and returns its id. Refuses the 101st block. Not inside a transaction. */
export async function createBlock(ctx: Context, input: NewBlock): Promise<string> {
  const { type, ...change } = input
  const draft = await checkDraft(ctx, null, mergeDraft(ctx, null, type, change))
  return ctx.transaction(async (tx) => {
    const full = `There are ${blocksAtMost} blocks, and there cannot be more: delete one first`
    const count = await requireCapacity(tx, tx.db.selectFrom('content_blocks'), blocksAtMost, full)
    const id = tx.newId()
    const now = tx.now()
    const row = { id, type, is_active: false, priority: count + 1, created_at: now, updated_at: now }
    await tx.db
      .insertInto('content_blocks')
      .values({ ...row, ...toColumns(draft) })
      .execute()
    await retainFiles(tx, id, draft.whole)
    await markStorefrontChanged(tx)
    return id
  })
}

/**
 * Changes a block. Fields left out keep their value; an unchanged block is not written. Refuses a change of the type. Not
 * inside a transaction.
 */
export async function changeBlock(ctx: Context, id: string, change: BlockChange): Promise<void> {
  const { type, ...fields } = change
  await optimisticWrite(ctx, {
    read: (at) => findBlock(at, id),
    async prepare(before) {
      if (type !== undefined && type !== before.type) {
        throw refuse('bad_request', `type: is ${before.type} and stays so; create another block instead`)
      }
      return checkDraft(ctx, before, mergeDraft(ctx, before, before.type, fields))
    },
    async write(tx, before, draft) {
      const { name, content, startsAt, endsAt } = before
      const saved: Draft = {
        ...{ name, content, startsAt, endsAt },
        whole: { type: before.type, design: before.design } as Design,
      }
      if (isDeepStrictEqual(saved, draft)) return
      await tx.db
        .updateTable('content_blocks')
        .set({ ...toColumns(draft), updated_at: tx.now() })
        .where('id', '=', before.id)
        .execute()
      await retainFiles(tx, before.id, draft.whole)
      if (before.isActive) await markStorefrontChanged(tx)
    },
  })
}

/**
 * Enables or disables a block, moves it to another position, or both. A position beyond the last one means the last.
 * Refuses a change with neither, and enabling an ended block. Runs in the caller's transaction.
 */
export async function moveBlock(
  ctx: Context,
  id: string,
  { isActive, priority }: { isActive?: boolean | undefined; priority?: number | undefined },
): Promise<void> {
  if (isActive === undefined && priority === undefined) {
    throw refuse('bad_request', 'isActive: give it, or priority, or both')
  }
  await ctx.lockStore()
  const before = await findBlock(ctx, id)
  const turned = isActive ?? before.isActive
  if (turned && !before.isActive && getPhase(before, ctx.now()) === 'ended') {
    throw refuse('conflict', 'The block has ended: change its endsAt first')
  }
  const last = priority === undefined ? 0 : await countRows(ctx.db.selectFrom('content_blocks'))
  const place = priority === undefined ? before.priority : Math.min(priority, last)
  if (turned === before.isActive && place === before.priority) return
  await shiftPriorities(ctx, before.priority, place)
  await ctx.db
    .updateTable('content_blocks')
    .set({ is_active: turned, priority: place, updated_at: ctx.now() })
    .where('id', '=', before.id)
    .execute()
  await markStorefrontChanged(ctx)
}

/** Locks all blocks in the order of their ids. Counting events locks in the same order, so the two cannot deadlock. */
async function lockBlocks(ctx: Context): Promise<void> {
  await ctx.db.selectFrom('content_blocks').select('id').orderBy('id').forUpdate().execute()
}

/** Shifts the blocks between two positions by one, when a block moves from one position to the other. */
async function shiftPriorities(ctx: Context, from: number, to: number): Promise<void> {
  if (from === to) return
  await lockBlocks(ctx)
  const [first, last, step] = from < to ? [from + 1, to, -1] : [to, from - 1, 1]
  await ctx.db
    .updateTable('content_blocks')
    .set({ priority: sql`priority + ${step}::int`, updated_at: ctx.now() })
    .where('priority', '>=', first)
    .where('priority', '<=', last)
    .execute()
}

/**
 * Puts all blocks in a new order. Refuses an unknown id (`not_found`), and a list that lacks a block (`conflict`). Runs in the caller's transaction; concurrent calls run one after the other.
 */
export async function reorderBlocks(
  ctx: Context,
  ids: readonly string[],
): Promise<{ data: { id: string; priority: number }[] }> {
  const order = await reorder(ctx, { table: 'content_blocks', place: 'priority' }, ids, {
    none: noSuchBlock,
    leftOut: 'There are blocks that the order leaves out: read the list again',
  })
  if (order.isMoved) await markStorefrontChanged(ctx)
  return { data: order.ids.map((id, at) => ({ id, priority: at + 1 })) }
}

/** Deletes a block with its counters and closes the gap in the order. Runs in the caller's transaction. */
export async function deleteBlock(ctx: Context, id: string): Promise<void> {
  await ctx.lockStore()
  const { id: known, priority } = await findBlock(ctx, id)
  await lockBlocks(ctx)
  await ctx.db.deleteFrom('content_blocks').where('id', '=', known).execute()
  await ctx.db
    .updateTable('content_blocks')
    .set({ priority: sql`priority - 1`, updated_at: ctx.now() })
    .where('priority', '>', priority)
    .execute()
  await retainFiles(ctx, known, null)
  await deleteCounts(ctx, 'content-block', known)
  await markStorefrontChanged(ctx)
}
