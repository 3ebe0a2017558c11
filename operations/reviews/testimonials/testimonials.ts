/** Manages testimonials: quotes about the store, in an order that the merchant chooses. */
import { files } from '#operations/store/index'
import { markStorefrontChanged } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { reorder, requireCapacity, requireRow } from '#runtime/database/rows'
import type { z } from '#runtime/schema'
import { refuseForeignUrl } from '../uploads.ts'
import {
  type newTestimonial,
  type TestimonialChange,
  testimonial,
  type testimonialSettings,
} from './schema.ts'
import { testimonialWidget } from './settings.ts'

const atMost = 100

type Testimonial = z.input<typeof testimonial>

const columns = [
  'id',
  'position',
  'author_name',
  'author_title',
  'text',
  'rating',
  'photo_url',
  'is_enabled',
  'created_at',
  'updated_at',
] as const

async function findRows(ctx: Context, isEnabled?: boolean) {
  let rows = ctx.db.selectFrom('testimonials').select(columns).orderBy('position')
  if (isEnabled !== undefined) rows = rows.where('is_enabled', '=', isEnabled)
  return rows.execute()
}
type TestimonialRow = Awaited<ReturnType<typeof findRows>>[number]

const toTestimonial = (row: TestimonialRow): Testimonial => ({
  id: row.id,
  position: row.position,
  authorName: row.author_name,
  authorTitle: row.author_title,
  text: row.text,
  rating: row.rating,
  photoUrl: row.photo_url,
  isEnabled: row.is_enabled,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

/** Lists the testimonials by position, with the settings of their widget. */
export async function listTestimonials(
  ctx: Context,
  isEnabled?: boolean,
): Promise<{ data: Testimonial[]; settings: z.input<typeof testimonialSettings> }> {
  const [rows, settings] = [await findRows(ctx, isEnabled), await testimonialWidget.read(ctx)]
  return { data: rows.map(toTestimonial), settings }
}

const noTestimonial = 'There is no such testimonial'

const fileOwner = (id: string): string => `testimonial:${id}`

/** Adds a testimonial at the end. Refuses more than 100. */
export async function createTestimonial(
  ctx: Context,
  input: z.infer<typeof newTestimonial>,
): Promise<Testimonial> {
  const full = `A store has at most ${atMost} testimonials: delete one first`
  const rows = await requireCapacity(ctx, ctx.db.selectFrom('testimonials'), atMost, full)
  const photoUrl = input.photoUrl || null
  const id = ctx.newId()
  await usePhoto(ctx, id, photoUrl)
  const now = ctx.now()
  const row = await ctx.db
    .insertInto('testimonials')
    .values({
      id,
      position: rows + 1,
      author_name: input.authorName,
      author_title: input.authorTitle || null,
      text: input.text,
      rating: input.rating ?? null,
      photo_url: photoUrl,
      is_enabled: input.isEnabled ?? true,
      created_at: now,
      updated_at: now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
  await markStorefrontChanged(ctx)
  return toTestimonial(row)
}

async function usePhoto(ctx: Context, id: string, photoUrl: string | null): Promise<void> {
  refuseForeignUrl(ctx, photoUrl, 'photoUrl')
  await files.trackFiles(ctx, fileOwner(id), testimonial, { before: null, after: { photoUrl } })
}

/** Updates a testimonial; omitted fields keep their value. Refuses an unknown id. */
export async function updateTestimonial(
  ctx: Context,
  id: string,
  change: TestimonialChange,
): Promise<Testimonial> {
  const before = await requireRow(
    ctx.db.selectFrom('testimonials').select(columns).forUpdate(),
    id,
    noTestimonial,
  )
  const kept = <T>(given: T | undefined, was: T): T => (given === undefined ? was : given)
  const after = {
    author_name: kept(change.authorName, before.author_name),
    author_title: kept(change.authorTitle, before.author_title) || null,
    text: kept(change.text, before.text),
    rating: kept(change.rating, before.rating),
    photo_url: kept(change.photoUrl, before.photo_url) || null,
    is_enabled: kept(change.isEnabled, before.is_enabled),
  }
  const isSame = Object.entries(after).every(([key, value]) => before[key as keyof typeof after] === value)
  if (isSame) return toTestimonial(before)
  if (after.photo_url !== before.photo_url) await usePhoto(ctx, before.id, after.photo_url)
  const row = await ctx.db
    .updateTable('testimonials')
    .set({ ...after, updated_at: ctx.now() })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
  await markStorefrontChanged(ctx)
  return toTestimonial(row)
}

/**
 * Sets the order of all testimonials. Refuses repeated or unknown ids, and an incomplete list, because a testimonial may
 * have been added meanwhile.
 */
export async function reorderTestimonials(ctx: Context, given: readonly string[]): Promise<Testimonial[]> {
  const { isMoved } = await reorder(ctx, { table: 'testimonials', place: 'position' }, given, {
    none: noTestimonial,
    leftOut: 'ids: does not name every testimonial: read the list again',
  })
  if (isMoved) await markStorefrontChanged(ctx)
  return (await findRows(ctx)).map(toTestimonial)
}

/** Deletes a testimonial; later ones move up by one. Refuses an unknown id. */
export async function deleteTestimonial(ctx: Context, id: string): Promise<void> {
  await ctx.lockStore()
  const query = ctx.db.deleteFrom('testimonials').returning(['id', 'position'])
  const deleted = await requireRow(query, id, noTestimonial)
  await ctx.db
    .updateTable('testimonials')
    .set((eb) => ({ position: eb('position', '-', 1), updated_at: ctx.now() }))
    .where('position', '>', deleted.position)
    .execute()
  await files.setUses(ctx, fileOwner(deleted.id), [])
  await markStorefrontChanged(ctx)
}
